package lint

import (
	"crypto/sha256"
	"hash/maphash"
	"time"

	"github.com/hermes-nvim/hermes/internal/jtree"
	"github.com/hermes-nvim/hermes/internal/shape"
)

// Limits of the history of a connection. Above a limit the oldest entry is dropped.
const (
	maxRequests   = 4096      // that are not answered, for each party
	maxAnswered   = 4096      // ids that were answered lately, for each party
	maxSessions   = 1024      // sessions, closed ones too
	maxToolCalls  = 8192      // tool calls of all sessions
	maxTerminals  = 4096      // terminals of all sessions, released ones too
	maxID         = 1024      // bytes of an id, a name or a path; longer ones end in a hash
	maxRoots      = 64        // additional directories of a session
	maxParams     = 256 << 10 // bytes of params that are kept for the answer
	maxParamsAll  = 16 << 20  // of all requests together
	maxCapability = 1 << 20   // bytes of the params and the result of initialize
)

// History is what is known of a connection. Rules read it and do not change it.
type History struct {
	// Version is the one that the connection speaks. Before initialize is answered it is
	// the one that the client asked for. In a capture without initialize it is All until
	// something shows which it is.
	Version    Versions
	Negotiated bool // initialize was answered with a version
	// Whole reports whether the capture has the connection from its beginning.
	Whole bool
	// Closed reports whether the capture has the end of the connection, and ClosedBy who
	// ended it, if it is known.
	Closed   bool
	ClosedBy Party
	// ClosedAfter is the number of the last message before the end, and ClosedTime its
	// time, zero if it is not known.
	ClosedAfter int
	ClosedTime  time.Time

	LastTime time.Time // of the last message

	Initialize *Request // nil before it
	// Initialized is the number of the message that answered initialize; 0 before it.
	Initialized int
	// The params and the result of initialize, and the capabilities in them. They
	// are absent if a side sent none or the capture does not have them.
	ClientHello, AgentHello               Value
	ClientCapabilities, AgentCapabilities Value

	Edition *Edition // the schema of the version, nil if there is none

	Sessions  *Bounded[string, *Session]
	ToolCalls *Bounded[Of, *ToolCall]
	Terminals *Bounded[Of, *Terminal]

	sides      [3]side // by the Party that sent the requests
	paramBytes int
	hellos     [2]jtree.Tree
	recent     recent
}

// side is what is known of the requests of one party.
type side struct {
	requests *Bounded[string, *Request]  // not answered, by id
	answered *Bounded[string, *Answered] // by id
}

// Answered is a request that was answered.
type Answered struct {
	Method string
	Number int // of the answer
	Time   time.Time
	Failed bool
	// Owed is how many more answers the id has coming, because the sender had used it for
	// other requests that were not answered.
	Owed int
}

// Request is a request that is not answered, or is being answered.
type Request struct {
	From      Party
	ID        string // as a key, see Key
	Method    string
	Number    int // of the message
	Line      int
	Time      time.Time
	SessionID string // of the params
	Batch     bool   // it was an element of a batch
	// Cancelled is the number of the $/cancel_request for it, 0 without one.
	Cancelled     int
	CancelledTime time.Time

	displaced int // requests with the same id that were not answered when it was sent

	params []byte
	tree   *jtree.Tree
}

// Params returns the params of a request. They are absent if there were none, or if
// they were too large to be kept.
func (r *Request) Params() Value {
	if r.params == nil {
		return Value{}
	}
	if r.tree == nil {
		r.tree = &jtree.Tree{}
		_ = r.tree.Parse(r.params) // it was parsed before
	}
	return r.tree.Root()
}

// SessionState is what happened to a session.
type SessionState uint8

// The states of a session.
const (
	Opening SessionState = iota // a load or resume is not answered yet
	Open
	Closed
	Deleted
)

// Session is a session of the connection.
type Session struct {
	ID     string
	State  SessionState
	Opened int      // number of the message that made it known
	Ended  int      // number of the answer to close or delete; 0 while it is open
	By     string   // the method that opened it: session/new, session/load, …
	Cwd    string   // empty if it is not known
	Roots  []string // additionalDirectories
	// Turn is the running turn, and Last the one before it. Both may be nil. In version 2
	// a turn lasts from the prompt to the state idle.
	Turn, Last *Turn
	// Status is the last state of version 2: running, idle, requires_action.
	Status string
}

// Of names something of a session, such as a tool call, by the ids of both.
type Of struct{ Session, ID string }

// Turn is what an agent does for a prompt.
type Turn struct {
	Session *Session
	Prompt  *Request
	Started time.Time
	// Cancelled is the number of the session/cancel, 0 without one.
	Cancelled     int
	CancelledTime time.Time
	// Ended is the number of the message that ended the turn, 0 while it runs.
	Ended      int
	EndedTime  time.Time
	StopReason string // empty if there was none, for instance because of an error
	Failed     bool   // the prompt was answered with an error
}

// ToolCall is a tool call of a session.
type ToolCall struct {
	ID      string
	Session *Session
	Turn    *Turn // in which it was first heard of; may be nil
	First   int   // number of the first message about it
	Last    int   // number of the last message about it
	Created bool  // by a tool_call, or in version 2 by any update
	Asked   bool  // by a permission request
	Status  string
	Kind    string
	Title   string
	Name    string
	Input   bool // rawInput, content or locations were given
}

// Done reports whether a tool call has a final status.
func (t *ToolCall) Done() bool {
	return t.Status == "completed" || t.Status == "failed" || t.Status == "cancelled"
}

// Terminal is a terminal of version 1 that the client runs for a session.
type Terminal struct {
	ID       string
	Session  *Session
	Created  int // number of the answer to terminal/create
	Line     int
	Released int // number of the answer to terminal/release, 0 before
}

func newHistory(version Versions) *History {
	h := &History{
		Sessions:  NewBounded[string, *Session](maxSessions),
		ToolCalls: NewBounded[Of, *ToolCall](maxToolCalls),
		Terminals: NewBounded[Of, *Terminal](maxTerminals),
		recent:    recent{seed: maphash.MakeSeed()},
	}
	for i := range h.sides {
		h.sides[i] = side{NewBounded[string, *Request](maxRequests), NewBounded[string, *Answered](maxAnswered)}
	}
	h.setVersion(version)
	return h
}

func (h *History) setVersion(v Versions) {
	h.Version, h.Edition = v, nil
	switch v {
	case V1:
		h.Edition = shape.V1()
	case V2a:
		h.Edition = shape.V2Draft()
	case V2b:
		h.Edition = shape.V2()
	}
}

// Outstanding ranges over the requests of a party that are not answered, oldest first.
func (h *History) Outstanding(from Party) *Bounded[string, *Request] {
	return h.sides[from].requests
}

// AnsweredLately finds a request of a party that was answered, by its id.
func (h *History) AnsweredLately(from Party, id string) *Answered {
	a, _ := h.sides[from].answered.Get(id)
	return a
}

// Complete reports whether the history has all requests of a party so far. If not, an
// id that is not known proves nothing.
func (h *History) Complete(from Party) bool {
	return h.Whole && !h.sides[from].requests.Lost() && !h.sides[from].answered.Lost()
}

// Key returns an id as a map key. Ids of different types never have the same key.
func Key(id Value) string {
	text := id.Text()
	if id.IsString() {
		text = append([]byte{'"'}, id.Bytes()...)
	} else if n, ok := id.Int(); ok {
		text = appendInt(nil, n)
	}
	return bounded(text)
}

// recent are texts that were kept lately, by a hash. Ids, paths and states come again and
// again, and need no new memory.
type recent struct {
	seed  maphash.Seed
	texts [256]string
}

// bounded is the function bounded for text that probably was there before.
func (r *recent) bounded(text []byte) string {
	if len(text) > maxID {
		return bounded(text)
	}
	at := &r.texts[maphash.Bytes(r.seed, text)%uint64(len(r.texts))]
	if *at != string(text) {
		*at = string(text)
	}
	return *at
}

// bounded returns text of a message that is short enough to be kept.
func bounded(text []byte) string {
	if len(text) > maxID {
		sum := sha256.Sum256(text)
		return string(text[:64]) + string(sum[:])
	}
	return string(text)
}
