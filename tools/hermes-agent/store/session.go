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
	"slices"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/atomicfile"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// Session is one stored session, which nobody else has open. Its owner serializes the calls.
type Session struct {
	Info     Info
	Messages []model.Message     // what the model sees, valid for endpoints
	Updates  []acp.SessionUpdate // what the user saw
	Calls    int                 // that the model has made, also those that it no longer sees
	Results  map[string]string   // of these calls, by their ids

	store *Store
	log   *os.File
	open  updates // that may still change
}

// line is one line of a session's file.
type line struct {
	Message *model.Message  `json:"message,omitempty"`
	Update  json.RawMessage `json:"update,omitempty"`
	Replace []model.Message `json:"replace,omitempty"` // what the model sees from here on
}

// Create begins a session.
func (s *Store) Create(info Info) (*Session, error) {
	session, err := s.open(info)
	if err != nil {
		return nil, err
	}
	if err := session.SetInfo(info); err != nil {
		return nil, errors.Join(err, session.closeLog())
	}
	return session, nil
}

// Load opens a session. It fails with ErrBusy while somebody else has it open.
func (s *Store) Load(id acp.SessionID) (*Session, error) {
	info, err := s.info(id)
	if err != nil {
		return nil, err
	}
	session, err := s.open(info)
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(session.log.Name())
	if err == nil {
		err = session.read(b)
	}
	if err == nil && len(b) > 0 && b[len(b)-1] != '\n' {
		err = session.append([]byte("\n")) // the program was killed while it wrote this line
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("session %s: %w", id, err), session.closeLog())
	}
	return session, nil
}

// open opens the log of a session and locks it.
func (s *Store) open(info Info) (*Session, error) {
	path, err := s.path(info.ID, ".jsonl")
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", info.ID, err)
	}
	if err := lock(log); err != nil {
		return nil, errors.Join(fmt.Errorf("session %s: %w", info.ID, err), log.Close())
	}
	return &Session{Info: info, Results: map[string]string{}, store: s, log: log}, nil
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
		if l.Replace != nil {
			s.Messages = l.Replace
		}
		if l.Message != nil {
			s.take(*l.Message)
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

// History returns all messages of a session, also those that the model no longer sees. The
// session may be open.
func (s *Store) History(id acp.SessionID) (Info, []model.Message, error) {
	info, err := s.info(id)
	if err != nil {
		return info, nil, err
	}
	path, _ := s.path(id, ".jsonl") // s.info has checked the id
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return info, nil, fmt.Errorf("session %s: %w", id, err)
	}
	var all []model.Message
	for text := range bytes.Lines(b) {
		var l line
		if json.Unmarshal(text, &l) == nil && l.Message != nil {
			all = append(all, *l.Message)
		}
	}
	return info, model.Repair(all), nil
}

// Fork copies a session, which may be open, and opens the copy. change makes the facts of
// the copy from the facts of the session.
func (s *Store) Fork(id acp.SessionID, change func(*Info)) (*Session, error) {
	info, err := s.info(id)
	if err != nil {
		return nil, err
	}
	path, _ := s.path(id, ".jsonl") // s.info has checked the id
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("session %s: %w", id, err)
	}
	b = b[:bytes.LastIndexByte(b, '\n')+1]
	change(&info)
	fork, err := s.Create(info)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(fork.append(b), fork.read(b)); err != nil {
		return nil, errors.Join(err, fork.Close())
	}
	return fork, nil
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
	err = atomicfile.File(path, 0o600, func(w io.Writer) error {
		_, err := w.Write(append(b, '\n'))
		return err
	})
	if err != nil {
		return fmt.Errorf("session %s: %w", info.ID, err)
	}
	s.Info = info
	return nil
}

// AddMessage adds to what the model sees.
func (s *Session) AddMessage(m model.Message) error {
	s.take(m)
	return s.appendLine(line{Message: &m})
}

func (s *Session) take(m model.Message) {
	s.Messages = append(s.Messages, m)
	s.Calls += len(m.Calls)
	if m.Role == model.Tool {
		s.Results[m.CallID] = m.Text
	}
}

// Replace changes what the model sees to at least one message; the user still sees
// everything. It is one line, so a program that is killed leaves the old messages or the
// new ones.
func (s *Session) Replace(messages []model.Message) error {
	s.Messages = slices.Clip(messages)
	return s.appendLine(line{Replace: messages})
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
	return errors.Join(s.Flush(), s.closeLog())
}

// lock keeps other agents from a file until it is closed. Where there are no locks, nothing
// does.
func lock(f *os.File) error {
	if errors.Is(atomicfile.TryLock(f), atomicfile.ErrLocked) {
		return ErrBusy
	}
	return nil
}

func (s *Session) closeLog() error {
	atomicfile.Unlock(s.log) // a process that is being started may have a copy
	return s.log.Close()
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
	if _, err := s.log.Write(b); err != nil {
		return fmt.Errorf("session %s: %w", s.Info.ID, err)
	}
	return nil
}
