package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// Session is one stored session. Its owner serializes the calls.
type Session struct {
	Info     Info
	Messages []model.Message     // what the model sees, valid for endpoints
	Updates  []acp.SessionUpdate // what the user saw

	store *Store
	log   *os.File
	open  updates // that may still change
}

// line is one line of a session's file.
type line struct {
	Message *model.Message  `json:"message,omitempty"`
	Update  json.RawMessage `json:"update,omitempty"`
	Forget  bool            `json:"forget,omitempty"` // the model forgets what came before
}

// Create begins a session.
func (s *Store) Create(info Info) (*Session, error) {
	session := &Session{Info: info, store: s}
	if err := session.SetInfo(info); err != nil {
		return nil, err
	}
	return session, session.append(nil)
}

// Load opens a session.
func (s *Store) Load(id acp.SessionID) (*Session, error) {
	info, err := s.info(id)
	if err != nil {
		return nil, err
	}
	session := &Session{Info: info, store: s}
	path, _ := s.path(id, ".jsonl") // s.info has checked the id
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("session %s: %w", id, err)
	}
	if err := session.read(b); err != nil {
		return nil, fmt.Errorf("session %s: %w", id, err)
	}
	if len(b) > 0 && b[len(b)-1] != '\n' {
		err = session.append([]byte("\n")) // the program was killed while it wrote this line
	} else {
		err = session.append(nil)
	}
	return session, err
}

func (s *Session) read(b []byte) error {
	lines := bufio.NewReader(bytes.NewReader(b))
	for {
		text, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break // and an incomplete line is none
		} else if err != nil {
			return err
		}
		var l line
		if json.Unmarshal(text, &l) != nil {
			continue // the rest of a line that a kill cut off
		}
		if l.Forget {
			s.Messages = nil
		}
		if l.Message != nil {
			s.Messages = append(s.Messages, *l.Message)
		}
		if l.Update != nil {
			u, err := acp.DecodeSessionUpdate(l.Update)
			if err != nil {
				continue // of a version that had other updates
			}
			s.Updates = append(s.Updates, u)
		}
	}
	s.Messages = model.Repair(s.Messages)
	return nil
}

// Fork copies a session to a new id and folder, and opens the copy.
func (s *Store) Fork(id acp.SessionID, info Info) (*Session, error) {
	source, err := s.Load(id)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	fork, err := s.Create(info)
	if err != nil {
		return nil, err
	}
	for _, m := range source.Messages {
		err = errors.Join(err, fork.AddMessage(m))
	}
	for _, u := range source.Updates {
		err = errors.Join(err, fork.write(u))
	}
	return fork, err
}

// SetInfo changes the facts of the session.
func (s *Session) SetInfo(info Info) error {
	path, err := s.store.path(info.ID, ".json")
	if err != nil {
		return err
	}
	b, err := json.Marshal(info)
	if err != nil {
		return fmt.Errorf("session %s: %w", info.ID, err)
	}
	if err := os.WriteFile(path+".new", append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("session %s: %w", info.ID, err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("session %s: %w", info.ID, err)
	}
	s.Info = info
	return nil
}

// AddMessage adds to what the model sees.
func (s *Session) AddMessage(m model.Message) error {
	s.Messages = append(s.Messages, m)
	return s.appendLine(line{Message: &m})
}

// Forget makes the model forget everything; the user still sees it.
func (s *Session) Forget() error {
	s.Messages = nil
	return s.appendLine(line{Forget: true})
}

// Show adds to what the user saw. Pieces of a text and changes of a tool call are stored
// once they are complete, at the latest by Flush.
func (s *Session) Show(u acp.SessionUpdate) error {
	var err error
	for _, whole := range s.open.add(u) {
		err = errors.Join(err, s.write(whole))
	}
	return err
}

// Flush stores the updates that may still change. Call it at the end of a turn.
func (s *Session) Flush() error {
	var err error
	for _, whole := range s.open.rest() {
		err = errors.Join(err, s.write(whole))
	}
	return err
}

// Close ends the use of the session.
func (s *Session) Close() error {
	return errors.Join(s.Flush(), s.log.Close())
}

func (s *Session) write(u acp.SessionUpdate) error {
	s.Updates = append(s.Updates, u)
	return s.appendLine(line{Update: acp.AppendSessionUpdate(nil, u)})
}

func (s *Session) appendLine(l line) error {
	b, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("session %s: %w", s.Info.ID, err)
	}
	return s.append(append(b, '\n'))
}

func (s *Session) append(b []byte) error {
	if s.log == nil {
		path, err := s.store.path(s.Info.ID, ".jsonl")
		if err != nil {
			return err
		}
		if s.log, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
			return fmt.Errorf("session %s: %w", s.Info.ID, err)
		}
	}
	if len(b) == 0 {
		return nil
	}
	if _, err := s.log.Write(b); err != nil {
		return fmt.Errorf("session %s: %w", s.Info.ID, err)
	}
	return nil
}
