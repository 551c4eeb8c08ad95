// Package journal writes and reads what package shim records: the changes that a
// program makes, in order, and what the files were before and after. It knows nothing
// of how they are found out, so that who reads a journal works on every system.
package journal

import (
	"time"

	"github.com/hermes-nvim/hermes/internal/review/store"
)

// Op is what happens to a path.
type Op string

// The operations. Open for writing is one with the writes and the close that
// follow: Write.
const (
	Write   Op = "write"
	Remove  Op = "remove"
	Rename  Op = "rename"
	Link    Op = "link"    // another name for a file
	Symlink Op = "symlink" // a symbolic link
	Mkdir   Op = "mkdir"
	Rmdir   Op = "rmdir"
	Chmod   Op = "chmod" // other permissions
	// Connect is a connection to a program outside, by a Unix socket. Only a Denied one
	// is recorded; see Unseen.
	Connect Op = "connect"
	// Start is the first event of a journal. Path is the root of the project, and
	// Text names the stream of reports to editors.
	Start Op = "start"
	// Unseen says that something may have changed that is not in the journal.
	// Event.Text says why. It is numbered and reported like a change.
	Unseen Op = "unseen"
	// Note is something that the reader of the journal should know. Event.Text
	// says what.
	Note Op = "note"
)

// Phase is when an event comes.
type Phase string

// The phases.
const (
	Pre    Phase = "pre"    // is about to happen
	Post   Phase = "post"   // has happened
	Failed Phase = "failed" // was about to happen, and did not
	Denied Phase = "denied" // was about to happen, and was not allowed
)

// Event is a line of the journal.
type Event struct {
	Time time.Time `json:"time"`
	// Seq numbers the changes, from 1. Events of other phases have none.
	Seq    uint64   `json:"seq,omitempty"`
	Phase  Phase    `json:"phase,omitempty"`
	Op     Op       `json:"op"`
	Path   string   `json:"path,omitempty"` // absolute; of a Rename, the new one
	From   string   `json:"from,omitempty"` // of a Rename or a Link
	Before *Version `json:"before,omitempty"`
	After  *Version `json:"after,omitempty"`
	PID    int      `json:"pid,omitempty"`
	// Inferred says that the content before or after was not seen at the moment
	// of the change.
	Inferred bool `json:"inferred,omitempty"`
	// Whole says of an Unseen that it is about the whole record, not about one change.
	Whole   bool   `json:"whole,omitempty"`
	Text    string `json:"text,omitempty"`
	Agent   string `json:"agent,omitempty"`   // of a Start: who runs
	Session string `json:"session,omitempty"` // of a Start
}

// Version is what a file was or is. The journal has its content under the hash (see
// Reader.Content), unless the file is too large.
type Version struct {
	Absent bool       `json:"absent,omitempty"`
	Dir    bool       `json:"dir,omitempty"`
	Link   string     `json:"link,omitempty"` // where a symbolic link leads
	Size   int64      `json:"size"`
	Hash   store.Hash `json:"hash,omitzero"`
	Mode   string     `json:"mode,omitempty"` // the permissions of a file, in octal
}
