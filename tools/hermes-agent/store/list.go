package store

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/acp"
)

// List returns the sessions, of one working directory if cwd is not empty, those that
// changed last first. The directory may be spelt in another way, such as through a link.
func (s *Store) List(cwd string) ([]Info, error) {
	list, _, err := s.Page(cwd, "", 0)
	return list, err
}

// ErrCursor says that a cursor is not one of Page.
var ErrCursor = errors.New("unknown cursor")

// Page returns some sessions in the order of List, at most so many (0: all), and the cursor
// of those that follow; it is empty if none do. The first page has an empty cursor. Sessions
// that change between two pages may be missing on the later one, and none is there twice.
func (s *Store) Page(cwd, cursor string, most int) (list []Info, next string, err error) {
	all, err := s.places()
	if err != nil {
		return nil, "", err
	}
	if cursor != "" {
		last, err := parsePlace(cursor)
		if err != nil {
			return nil, "", err
		}
		at, found := slices.BinarySearchFunc(all, last, place.compare)
		if found {
			at++
		}
		all = all[at:]
	}
	here := sameFolder(cwd)
	for _, at := range all {
		info, err := s.info(at.id)
		if err != nil || cwd != "" && !here(info.Cwd) { // one that is damaged must not hide the others
			continue
		}
		if most > 0 && len(list) == most {
			return list, next, nil
		}
		list, next = append(list, info), at.String()
	}
	return list, "", nil
}

// place is where a session is in the list.
type place struct {
	at time.Time
	id acp.SessionID
}

func (p place) compare(other place) int {
	return cmp.Or(other.at.Compare(p.at), cmp.Compare(other.id, p.id))
}

func (p place) String() string { return fmt.Sprintf("%d-%s", p.at.UnixNano(), p.id) }

func parsePlace(cursor string) (place, error) {
	at, id, _ := strings.Cut(cursor, "-")
	n, err := strconv.ParseInt(at, 10, 64)
	if err != nil || !validID.MatchString(id) {
		return place{}, fmt.Errorf("%w %q", ErrCursor, cursor)
	}
	return place{time.Unix(0, n), acp.SessionID(id)}, nil
}

// places lists where all sessions are, without their facts: reading those of thousands of
// sessions takes long.
func (s *Store) places() ([]place, error) {
	names, err := filepath.Glob(filepath.Join(s.dir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("session store: %w", err)
	}
	list := make([]place, len(names))
	for i, name := range names {
		list[i] = place{updated(name), acp.SessionID(strings.TrimSuffix(filepath.Base(name), ".json"))}
	}
	slices.SortFunc(list, place.compare)
	return list, nil
}

// sameFolder returns a function that reports whether a path leads to the
// folder.
func sameFolder(folder string) func(path string) bool {
	known := map[string]bool{folder: true}
	here, err := os.Stat(folder)
	return func(path string) bool {
		same, looked := known[path]
		if !looked && err == nil {
			there, err := os.Stat(path)
			same = err == nil && os.SameFile(here, there)
			known[path] = same
		}
		return same
	}
}
