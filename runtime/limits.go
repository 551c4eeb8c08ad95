package runtime

import (
	"cmp"
	"time"

	"github.com/hermes-nvim/hermes/runtime/transport"
)

// Limits bounds what a peer can make a connection hold, and how long it can
// keep it waiting. A zero member means its default. Budget bounds several
// connections together; package agent has the limits of processes.
type Limits struct {
	// Message is the size of one message in bytes, in either direction: 64 MiB.
	Message int
	// Notice is the size from which a message is reported (FaultLarge), because
	// other implementations stop at a few of these: 8 MiB.
	Notice int
	// Depth is how far arrays and objects may be nested in a message: 512.
	Depth int
	// Messages and Bytes bound what has been read and not yet handled: 10,000
	// messages and 64 MiB. Above either the connection stops reading until
	// handlers catch up; one message of any allowed size always passes.
	Messages int
	Bytes    int
	// Ahead is how many times Messages and Bytes may be exceeded while a
	// handler waits for an answer of the peer, which may be behind what
	// is not read: 4. Beyond that the handler's call fails with *BacklogError.
	Ahead int
	// QueueMessages and QueueBytes bound what waits to be written: 10,000
	// messages and 64 MiB. Above either Call, Notify and answers wait.
	QueueMessages int
	QueueBytes    int
	// Requests is how many requests of the peer may be unanswered: 1,024. More
	// are answered with an error at once.
	Requests int
	// Questions is how many of those may be for the user, permissions and
	// elicitations: 64.
	Questions int
	// ID is the length of a request id in bytes: 1,024.
	ID int
	// Stall is how long a write may make no progress before the connection
	// ends with *StalledError, and how long a peer may stop inside a message
	// before that is reported: 60 s.
	Stall time.Duration
	// Grace is how long an ending connection waits for handlers to return and
	// for queued messages to be written, each: 1 s.
	Grace time.Duration
}

func (l Limits) withDefaults() Limits {
	l.Message = cmp.Or(l.Message, transport.DefaultMaxMessage)
	l.Notice = cmp.Or(l.Notice, 8<<20)
	l.Depth = cmp.Or(l.Depth, 512)
	l.Messages = cmp.Or(l.Messages, 10_000)
	l.Bytes = cmp.Or(l.Bytes, 64<<20)
	l.Ahead = cmp.Or(l.Ahead, 4)
	l.QueueMessages = cmp.Or(l.QueueMessages, 10_000)
	l.QueueBytes = cmp.Or(l.QueueBytes, 64<<20)
	l.Requests = cmp.Or(l.Requests, 1024)
	l.Questions = cmp.Or(l.Questions, 64)
	l.ID = cmp.Or(l.ID, 1024)
	l.Stall = cmp.Or(l.Stall, time.Minute)
	l.Grace = cmp.Or(l.Grace, time.Second)
	return l
}
