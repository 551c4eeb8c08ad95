// Package feed takes reports about files from programs outside of Hermes: hooks of
// agents, wrappers around agents, anything that knows what an agent changes. They
// come over a Unix socket that only the user can reach.
//
// # The wire
//
// Each line is a JSON-RPC message. A notification is enough; a request is answered
// once the report has been handled.
//
//	{"jsonrpc":"2.0","method":"fs/write_text_file","params":{"path":"/w/a.go","content":"…"}}
//	{"jsonrpc":"2.0","method":"fs/remove","params":{"path":"/w/a.go"}}
//	{"jsonrpc":"2.0","method":"fs/rename","params":{"oldPath":"/w/a.go","newPath":"/w/b.go"}}
//	{"jsonrpc":"2.0","method":"fs/read_text_file","params":{"path":"/w/a.go"}}
//
// Paths are absolute. The params of each may have a sessionId, and a _meta with the
// member "hermes", an object whose members are all optional:
//
//	phase       "pre": is about to happen; "post": has happened, the default;
//	            "failed": was announced but did not happen; "ask": happens only if
//	            the answer allows it
//	source      who reports, such as "shim" or "hook"; "socket" if absent
//	fidelity    "exact", the default, or "inferred"
//	agent, sessionId, turnId, toolCallId, pid
//	            whose change it is
//	user        true: the user has saved the file
//	before      what the file was: {"exists":false}, or {"hash":…,"size":…} with the
//	            SHA-256 in hexadecimal, or {"content":…}
//	            it may have a "mode", its permissions in octal: {"content":…,"mode":"755"}
//	after       what it is now, in the same form; for content that is binary or
//	            too long for a message
//	at          when it happened, in milliseconds since 1970; now if absent
//	producer, seq
//	            the name of this stream of reports, and the number of the report
//	            in it, from 1
//
// A program that is asked about connections asks with the host, as an address and a port, or
// with the path of a socket:
//
//	{"jsonrpc":"2.0","id":1,"method":"_hermes/connect","params":{"host":"192.0.2.1:443","_meta":{"hermes":{"phase":"ask"}}}}
//
// One that is asked about waiting for connections from other machines asks with the method
// _hermes/accept, and the host that they would connect to.
//
// A question ("ask") is a request without a number. It may have a "reason": what is special about
// the change. Its answer comes when the user
// has decided: a result allows the change, an error denies it. Whoever asks closes
// the connection to take the question back.
//
// A report with a sequence number that is not above the last one handled is
// answered with {"duplicate":true} and not handled again. A producer that connects
// again asks where to go on:
//
//	{"jsonrpc":"2.0","id":1,"method":"_hermes/resume","params":{"producer":"…"}}
//	{"jsonrpc":"2.0","id":1,"result":{"seq":41}}
//
// A producer that knows that it has not seen everything says so, and why:
//
//	{"jsonrpc":"2.0","method":"_hermes/unseen","params":{"reason":"…"}}
//
// With "whole":true the reason is about everything that it reports, and not about one
// change: how it finds changes, for example.
//
// A program asks the one that has the review of the project to give it up. A result
// means that it does so right after the answer; an error says why not:
//
//	{"jsonrpc":"2.0","id":1,"method":"_hermes/yield","params":{"program":"…","pid":4711}}
//
// A producer that may know more than it has reported, such as an editor whose user saves
// files, is asked for it before the user decides about hunks. It says that it wants to be
// asked, once, and again after each question, when it has reported all that it knew:
//
//	{"jsonrpc":"2.0","method":"_hermes/flushed","params":{"flush":0}}
//	{"jsonrpc":"2.0","method":"_hermes/flush","params":{"flush":1}}
//	{"jsonrpc":"2.0","method":"_hermes/flushed","params":{"flush":1}}
//
// A producer that knows that something has changed, but not what, asks for a look at all
// files:
//
//	{"jsonrpc":"2.0","method":"_hermes/scan","params":{"sessionId":"…"}}
//
// A line that is not such a message is answered with an error that names the
// member, with a null id if the line has none, and the connection stays open.
//
// Reports are claims. What they say about contents is a hint; the disk decides
// what a file is.
package feed

import (
	"io/fs"
	"time"

	"github.com/hermes-nvim/hermes/runtime/review"
)

// Kind is what happened to a file. Its value is the method of the message.
type Kind string

// The kinds of reports.
const (
	Write  Kind = "fs/write_text_file"
	Remove Kind = "fs/remove"
	Rename Kind = "fs/rename"
	Read   Kind = "fs/read_text_file" // changes nothing
	// Unseen says that something may have changed that is not reported. It has no path.
	Unseen Kind = "_hermes/unseen"
	// Scan says that something may have changed that the report cannot name, so all files are
	// looked at. It has no path.
	Scan Kind = "_hermes/scan"
	// Connect is always a question: about a connection to a Host, or to the socket at Path.
	Connect Kind = "_hermes/connect"
	// Accept is always a question: about connections of other machines to a Host.
	Accept Kind = "_hermes/accept"
)

const (
	resume  = "_hermes/resume"  // asks for the last sequence number
	yield   = "_hermes/yield"   // asks for the review
	flush   = "_hermes/flush"   // asks a producer for what it has not reported
	flushed = "_hermes/flushed" // says that it has
)

// Phase is when a report comes.
type Phase string

// The phases.
const (
	Pre    Phase = "pre"
	Post   Phase = "post"
	Failed Phase = "failed"
	Ask    Phase = "ask" // is about to happen, if it is allowed
)

// Report is what a producer says about a file.
type Report struct {
	Kind  Kind
	Path  string // absolute and clean; of a Rename, the new one
	From  string // of a Rename: the old path
	Host  string // of a Connect or an Accept: an address and a port, or the name of a socket without a path
	Phase Phase
	// Author is who changes the file. Its source is never empty.
	Author review.Author
	Agent  string
	PID    int
	User   bool     // the user has saved the file, from Before to After
	Before *Version // what the file was, nil if it is not said
	After  *Version // what it is, nil if it is not said

	At time.Time // when it happened; zero: now

	Reason string // of Unseen: why something was not seen; of a question: what is special about it
	Whole  bool   // of Unseen: it is about all that this producer reports, not about one change

	Producer string
	Seq      uint64 // 0 if reports are not numbered
	// Missed says that there were reports before this one that never came.
	Missed bool
}

// Version is what a producer says about the content of a file.
type Version struct {
	Absent bool         // there is no file
	Hash   review.Hash  // zero if it is not said
	Size   int64        // bytes; -1 if it is not said
	Text   *string      // nil if it is not said
	Mode   *fs.FileMode // its permissions, nil if they are not said
}

// The limits on messages.
const (
	MaxMessage = 16 << 20 // bytes
	maxPath    = 32 << 10 // bytes
	maxName    = 1 << 10  // bytes of every other text
	maxDepth   = 32
)
