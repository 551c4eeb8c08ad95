package rpc

import (
	"cmp"
	"time"

	"github.com/hermes-nvim/hermes/runtime/transport"
)

// Limits bounds what a peer can make a connection hold, and how long it can
// keep it waiting. A zero member means its default.
//
// Limits that do not belong to a connection are set elsewhere:
//
//   - all connections together, 256 MiB: [Budget] and [DefaultBudget]
//   - what an agent says on stderr, the last 256 KiB in lines of 8 KiB:
//     StderrTail and StderrLine of package
//     [github.com/hermes-nvim/hermes/runtime/launch]
//   - restarts of an agent, 4 in 3 minutes after pauses of 0.5 to 8 s:
//     [github.com/hermes-nvim/hermes/runtime/launch.Restarts]
//   - output of a terminal, 1 MiB unless the agent asks for less:
//     [github.com/hermes-nvim/hermes/runtime/terminal.DefaultMaxOutput]
//   - a file that an agent reads, 64 MiB:
//     [github.com/hermes-nvim/hermes/runtime/files.DefaultMaxRead]
//
// Nothing limits the wait for a login (authenticate) or for the end of a turn
// but the context of the call: a person may take any time.
type Limits struct {
	// Message is the size of one message in bytes, in either direction: 160 MiB,
	// which holds a file of 64 MiB with its escapes.
	Message int
	// Notice is the size from which a message is reported (FaultLarge), because
	// other implementations stop at a few of these: 8 MiB.
	Notice int
	// Depth is how far arrays and objects may be nested in a message of the
	// peer: 512, which is also the most. SendDepth is the same for this side: 100,
	// because others stop near 128. Deeper messages are not sent (*TooDeepError).
	Depth     int
	SendDepth int
	// Messages and Bytes bound what has been read and not yet handled: 10,000
	// messages, and 8 MiB of buffers that hold them. Above either the connection
	// stops reading until handlers catch up; one message of any allowed size
	// always passes.
	Messages int
	Bytes    int
	// Ahead is how many times Messages and Bytes may be exceeded while a
	// handler waits for an answer of the peer, which may be behind what
	// is not read: 8. Beyond that the handler's call fails with *BacklogError.
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
	// ID is the length of a request id in bytes: 1,024. A number must be an
	// integer: of 64 bits, as it is echoed the way it came, or up to 2^53 when it
	// is written with a fraction or an exponent.
	ID int
	// Stall is how long a write may make no progress before the connection
	// ends with *StalledError, and how long a peer may stop inside a message
	// before that is reported: 60 s.
	Stall time.Duration
	// Initialize and NewSession are how long a call of initialize and of
	// session/new waits for the answer when its context has no deadline: 60 s each.
	// Then it fails with *TimeoutError. Negative: forever.
	Initialize time.Duration
	NewSession time.Duration
	// Grace is how long an ending connection waits for handlers to return and
	// for queued messages to be written, each: 1 s.
	Grace time.Duration
}

func (l Limits) withDefaults() Limits {
	l.Message = cmp.Or(l.Message, transport.DefaultMaxMessage)
	l.Notice = cmp.Or(l.Notice, 8<<20)
	l.Depth = cmp.Or(l.Depth, 512)
	l.SendDepth = cmp.Or(l.SendDepth, 100)
	l.Messages = cmp.Or(l.Messages, 10_000)
	l.Bytes = cmp.Or(l.Bytes, 8<<20)
	l.Ahead = cmp.Or(l.Ahead, 8)
	l.QueueMessages = cmp.Or(l.QueueMessages, 10_000)
	l.QueueBytes = cmp.Or(l.QueueBytes, 64<<20)
	l.Requests = cmp.Or(l.Requests, 1024)
	l.Questions = cmp.Or(l.Questions, 64)
	l.ID = cmp.Or(l.ID, 1024)
	l.Stall = cmp.Or(l.Stall, time.Minute)
	l.Initialize = cmp.Or(l.Initialize, 60*time.Second)
	l.NewSession = cmp.Or(l.NewSession, time.Minute)
	l.Grace = cmp.Or(l.Grace, time.Second)
	return l
}
