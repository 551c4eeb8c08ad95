// Package store keeps sessions on the disk: for each one a file of facts and a file of
// JSON lines, which is only ever appended to. A program that is killed loses at most the
// line that it was writing.
package store

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/atomicfile"
)

// Store is the sessions in one folder. It is safe for concurrent use.
type Store struct{ dir string }

// Info is the facts of a session.
type Info struct {
	ID      acp.SessionID `json:"id"`
	Cwd     string        `json:"cwd"`
	Roots   []string      `json:"roots,omitempty"` // besides Cwd
	Title   string        `json:"title,omitempty"`
	Mode    string        `json:"mode,omitempty"`
	Model   string        `json:"model,omitempty"`
	Cost    float64       `json:"cost,omitempty"` // in dollars, of all turns
	Created time.Time     `json:"created"`
	Updated time.Time     `json:"-"` // the time of the last message
}

// Open returns the store in a folder, which is made if it is missing. Sessions hold
// source code and output of commands, so only the user may read them.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("session store: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("session store: %w", err)
	}
	defer root.Close()
	atomicfile.Sweep(root) // what killed programs have left
	return &Store{dir: dir}, nil
}

// ErrUnknown says that there is no session with an id.
var ErrUnknown = errors.New("unknown session")

// ErrBusy says that a session is open in another agent.
var ErrBusy = errors.New("it is open in another agent")

// NewID returns an id that no other session has. Ids sort by time.
func NewID() acp.SessionID {
	return acp.SessionID(time.Now().UTC().Format("20060102-150405-") + strings.ToLower(rand.Text()[:8]))
}

var validID = regexp.MustCompile(`^[0-9a-z-]{1,64}$`)

// path returns the file of a session. Ids come from clients, so they must not lead out
// of the folder.
func (s *Store) path(id acp.SessionID, ext string) (string, error) {
	if !validID.MatchString(string(id)) {
		return "", fmt.Errorf("%w %q", ErrUnknown, id)
	}
	return filepath.Join(s.dir, string(id)+ext), nil
}

func (s *Store) info(id acp.SessionID) (Info, error) {
	path, err := s.path(id, ".json")
	if err != nil {
		return Info{}, err
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Info{}, fmt.Errorf("%w %q", ErrUnknown, id)
	} else if err != nil {
		return Info{}, fmt.Errorf("session %s: %w", id, err)
	}
	var info Info
	if err := json.Unmarshal(b, &info); err != nil {
		return Info{}, fmt.Errorf("session %s: %w", id, err)
	}
	info.ID, info.Updated = id, updated(path)
	return info, nil
}

// updated is the time of the last message of the session whose facts are in a file.
func updated(facts string) time.Time {
	for _, name := range []string{strings.TrimSuffix(facts, ".json") + ".jsonl", facts} {
		if at, err := os.Stat(name); err == nil {
			return at.ModTime()
		}
	}
	return time.Time{}
}

// Delete removes a session. It is not an error if there is none. It fails with ErrBusy
// while somebody has the session open.
func (s *Store) Delete(id acp.SessionID) error {
	info, err := s.info(id)
	if errors.Is(err, ErrUnknown) {
		return nil
	}
	info.ID = id // also of one that is damaged
	open, err := s.open(info)
	if err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	if err := open.closeLog(); err != nil { // before it is removed, as Windows demands
		return fmt.Errorf("delete session %s: %w", id, err)
	}
	for _, ext := range []string{".json", ".jsonl"} {
		path, err := s.path(id, ext)
		if err != nil {
			return nil
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete session %s: %w", id, err)
		}
	}
	return nil
}
