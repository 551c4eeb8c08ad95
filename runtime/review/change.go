package review

import (
	"errors"
	"fmt"
	"time"
)

// Author says who made a change and how it is known.
type Author struct {
	Session  string    `json:"session,omitempty"`
	Turn     string    `json:"turn,omitempty"` // the prompt
	ToolCall string    `json:"toolCall,omitempty"`
	Source   string    `json:"source,omitempty"`   // how the change is known, such as write, tool, disk, socket, shim
	Inferred bool      `json:"inferred,omitempty"` // from circumstances, such as a session that was running
	At       time.Time `json:"at,omitzero"`
}

// better reports whether a says more about the author of a change than known
// does.
func (a Author) better(known Author) bool {
	switch {
	case known.Inferred && !a.Inferred:
		return true
	case a.Session != known.Session || a.Inferred != known.Inferred:
		return false
	}
	return known.ToolCall == "" && a.ToolCall != ""
}

// ErrUnknown refuses a change of a file whose contents before the change are
// not known.
var ErrUnknown = errors.New("what the file was before is not known")

// ErrOpaque refuses an edit by lines of a file that has none, because it is
// binary or too large.
var ErrOpaque = errors.New("the file has no lines: it is binary or too large")

// ErrNothing says that nothing pending was selected.
var ErrNothing = errors.New("nothing is pending there")

// ErrStale says that a file has changed since a plan was made for it.
var ErrStale = errors.New("the file has changed meanwhile")

// ChangedError refuses to decide about what an agent has changed since it was shown: see
// Selection.Version.
type ChangedError struct {
	Path string
	Hunk uint64
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("an agent has changed %s since it was shown; look at it again", e.Path)
}

// TouchedError refuses to reject hunks into which the user has written. No byte
// of the user would be lost, but what is left may need care.
type TouchedError struct {
	Path  string
	Hunk  uint64
	Lines []int // of the user, in the current text, from 0
}

func (e *TouchedError) Error() string {
	return fmt.Sprintf("reject a change of %s: you have changed %d of its lines since", e.Path, len(e.Lines))
}

// MixedError refuses to reject a change of a binary file that the user has
// changed since, because bytes of both cannot be put together.
type MixedError struct{ Path string }

func (e *MixedError) Error() string {
	return fmt.Sprintf("reject a change of %s: the file is binary, and you have changed it since", e.Path)
}
