// Package tree takes pictures of a project's files, so that a review can tell
// what changed and bring it back.
//
// A picture has each file below the root with its mode, its hash, and for a
// link where it leads. The contents go to a store. Files that git ignores are
// left out, and git itself is neither run nor touched. Links are never followed.
// Names are the bytes that the system has.
//
// Files that did not change since the last picture are not read again.
package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/store"
)

// Entry is a regular file or a symbolic link.
type Entry struct {
	Path    string      // below the root, with slashes
	Mode    fs.FileMode // its permissions; for a link fs.ModeSymlink
	Size    int64       // of a file, in bytes
	ModTime time.Time   // of a file; zero in a snapshot from Load, unless Hash is too
	Link    string      // where a link leads
	Hash    store.Hash  // of a file's content; zero if it is larger than Limits.Hashed
	Kept    bool        // the store had the content when the snapshot was made
}

// IsLink reports whether the entry is a symbolic link.
func (e *Entry) IsLink() bool { return e.Mode&fs.ModeSymlink != 0 }

// Reason says why something is left out of a snapshot.
type Reason uint8

// The reasons.
const (
	Ignored    Reason = 1 + iota // by git
	Special                      // a socket, a device or a named pipe
	Unreadable                   // an error, or it changed again and again
	TooMany                      // above Limits.Files
	TooDeep                      // above Limits.Depth
	Loop                         // a directory inside itself, by a mount
)

var reasons = [...]string{Ignored: "ignored", Special: "not a file", Unreadable: "unreadable", TooMany: "too many files", TooDeep: "too deep", Loop: "a loop"}

func (r Reason) String() string {
	if r == 0 || int(r) >= len(reasons) {
		return fmt.Sprintf("reason %d", uint8(r))
	}
	return reasons[r]
}

// Left is a path that is left out, with everything below it.
type Left struct {
	Path   string
	Reason Reason
	id     identity // of what is Unreadable, if that is known; a snapshot from Load has none
}

// Snapshot is a picture of a project. It must not be changed.
type Snapshot struct {
	Entries []Entry // sorted by path
	Left    []Left  // sorted by path
	// Dirs are the directories below the root, sorted. A snapshot from Load has
	// none.
	Dirs []string
	// Unkept is the first error of the store, if there was one. The snapshot is
	// complete, but it may not be possible to bring every content back. That
	// files larger than Limits.Kept are not in the store is not an error.
	Unkept error
}

// Entry returns the entry of a path.
func (s *Snapshot) Entry(path string) (Entry, bool) {
	i, ok := slices.BinarySearchFunc(s.Entries, path, func(e Entry, path string) int { return strings.Compare(e.Path, path) })
	if !ok {
		return Entry{}, false
	}
	return s.Entries[i], true
}

// LeftOut reports whether a path, or a directory it is in, is left out, and why.
// Whether it exists is then unknown.
func (s *Snapshot) LeftOut(path string) (Reason, bool) {
	for {
		if l, ok := s.leftAt(path); ok {
			return l.Reason, true
		}
		if path == "." {
			return 0, false
		}
		path = parent(path)
	}
}

func parent(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return "."
}

// What is a set of ways in which a path changed.
type What uint8

// The ways.
const (
	Created What = 1 << iota
	Deleted
	Content // the bytes of a file
	Mode    // its permissions
	Link    // where a link leads, or a file became a link, or a link a file
)

// Change is a path that differs between two snapshots.
type Change struct {
	Path     string
	What     What
	Old, New Entry // zero if there is none
}

// Compare returns what changed from one snapshot to another, sorted by path. A
// path that either of them leaves out is not a change: nobody knows.
func Compare(old, new *Snapshot) []Change {
	var changes []Change
	a, b := old.Entries, new.Entries
	for len(a) > 0 || len(b) > 0 {
		order := 0
		switch {
		case len(a) == 0:
			order = 1
		case len(b) == 0:
			order = -1
		default:
			order = strings.Compare(a[0].Path, b[0].Path)
		}
		switch {
		case order < 0:
			if _, left := new.LeftOut(a[0].Path); !left {
				changes = append(changes, Change{Path: a[0].Path, What: Deleted, Old: a[0]})
			}
			a = a[1:]
		case order > 0:
			if _, left := old.LeftOut(b[0].Path); !left {
				changes = append(changes, Change{Path: b[0].Path, What: Created, New: b[0]})
			}
			b = b[1:]
		default:
			if what := differ(&a[0], &b[0]); what != 0 {
				changes = append(changes, Change{Path: a[0].Path, What: what, Old: a[0], New: b[0]})
			}
			a, b = a[1:], b[1:]
		}
	}
	return changes
}

func differ(a, b *Entry) (what What) {
	if a.IsLink() || b.IsLink() {
		if a.IsLink() != b.IsLink() || a.Link != b.Link {
			return Link
		}
		return 0
	}
	switch {
	case a.Size != b.Size:
		what |= Content
	case a.Hash.IsZero() || b.Hash.IsZero():
		if !a.ModTime.Equal(b.ModTime) {
			what |= Content
		}
	case a.Hash != b.Hash:
		what |= Content
	}
	if a.Mode != b.Mode {
		what |= Mode
	}
	return what
}

// Limits bound a snapshot. Zero values mean the defaults.
type Limits struct {
	Files  int   // entries, directories and what is left out: 100,000
	Depth  int   // directories in one another: 200
	Kept   int64 // the largest file that goes to the store, in bytes: 4 MiB
	Hashed int64 // the largest file that is read, in bytes: 64 MiB; of larger ones, size and time count
}

func (l Limits) withDefaults() Limits {
	if l.Files == 0 {
		l.Files = 100_000
	}
	if l.Depth == 0 {
		l.Depth = 200
	}
	if l.Kept == 0 {
		l.Kept = 4 << 20
	}
	if l.Hashed == 0 {
		l.Hashed = 64 << 20
	}
	l.Kept = min(l.Kept, l.Hashed)
	return l
}

// Error is the error of a scan.
type Error struct {
	Op   string
	Path string
	Err  error
}

func (e *Error) Error() string { return e.Op + " " + e.Path + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

var errNotDir = errors.New("not a directory")
