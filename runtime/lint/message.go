package lint

import (
	"net/http"
	"time"

	"github.com/hermes-nvim/hermes/internal/jtree"
	"github.com/hermes-nvim/hermes/internal/shape"
)

// Value is a value in a message.
type Value = jtree.Value

// Tree is a parsed message.
type Tree = jtree.Tree

// Edition is the schema of a version of the protocol.
type Edition = shape.Edition

// Method is a method in the schema of a version.
type Method = shape.Method

// Problem is something in a message that does not fit the schema of a version.
type Problem = shape.Problem

// Party is one of the two ends of a connection.
type Party uint8

// The parties. Nobody is the sender of a record whose direction is not known.
const (
	Nobody Party = iota
	Client
	Agent
)

// String returns client or agent.
func (p Party) String() string { return [...]string{"nobody", "client", "agent"}[p] }

// Peer returns the other party.
func (p Party) Peer() Party {
	if p == Nobody {
		return p
	}
	return 3 - p
}

// Source is what a record holds.
type Source uint8

// The sources.
const (
	Wire      Source = iota // a line or message of the connection
	Stderr                  // a line of the agent's standard error
	End                     // the connection ended; From says who ended it, if it is known
	Beginning               // the capture has the connection from its beginning
)

// Record is one line of a capture.
type Record struct {
	Source Source
	From   Party     // Nobody: the linter finds out by the methods
	Time   time.Time // zero if it is not known
	Bytes  []byte    // without the line end; the linter does not keep or change them
	Cut    bool      // the line has no end: the sender stopped inside it
	Left   int       // bytes of a message that was too large to be read; Bytes is empty
	Line   int       // in the file, from 1; 0 if there is none
	// Tree is Bytes without a byte order mark, if somebody has parsed it.
	Tree *Tree
	// Transport is stdio, websocket, http, tcp, … ; empty if it is not known.
	Transport string
	HTTP      *HTTP // how it travelled, if the capture says so; then Bytes may be empty
	// Beyond says that the record is from the other side of a proxy: from between the
	// proxy and the agent, while the others are from between the client and the proxy.
	Beyond bool
}

// HTTP is the request or response that carried a record, or the frame of a WebSocket.
// For an event of a stream, only the exchange of its GET is set.
type HTTP struct {
	Exchange int         `json:"exchange"` // the same for a request and its response
	Method   string      `json:"method"`   // of a request; empty for a response
	URL      string      `json:"url"`      // of a request
	Proto    string      `json:"proto"`    // HTTP/1.1, HTTP/2.0
	Status   int         `json:"status"`   // of a response; 0 for a request
	Header   http.Header `json:"header"`   // with canonical names
	Opcode   int         `json:"opcode"`   // of a WebSocket frame: 1 text, 2 binary; 0 for anything else
}

// Frame is a record with what the scan found: every line, even if it is not a message.
// Frames and Messages are valid only during the call of the handler.
type Frame struct {
	Record
	Number int   // of the frame in the capture, from 1
	Err    error // why Bytes is not one JSON value: a *jx.Error, jtree.ErrValues or errTooLarge
	Root   Value
}

// Kind is the kind of a message.
type Kind uint8

// The kinds. A Malformed message is an object, but neither of the others.
const (
	Malformed Kind = iota
	RequestMessage
	NotificationMessage
	AnswerMessage
)

// Message is a JSON-RPC message. Values are absent if the message does not have them.
type Message struct {
	*Frame
	Kind   Kind
	Batch  bool // it is an element of a batch
	Root   Value
	Method string // of an answer: the method of the request, empty if it is not known
	ID     Value
	Params Value
	Result Value
	Error  Value

	Answers   *Request // the request that an answer is for; nil if it is not known
	SessionID string   // of params, or of the request that an answer is for
	Session   *Session // nil if it is not known
	Update    Value    // of session/update
	UpdateTag string   // its sessionUpdate

	problems []Problem
	checked  bool
	meta     uint8 // as plain
	plain    uint8 // 1: no, 2: yes, 0: not known yet

	// Known is the method in the schema of the version, nil if it has none or there is
	// no schema for the version.
	Known *Method
}

// Failed reports whether an answer is an error.
func (m *Message) Failed() bool { return m.Kind == AnswerMessage && m.Error.Set() }

// ErrorCode returns the code of an answer that is an error, 0 otherwise.
func (m *Message) ErrorCode() int64 {
	n, _ := m.Error.Get("code").Int()
	return n
}

// maxProblems bounds how many problems of one message are looked at.
const maxProblems = 64

// Problems is what the schema of the version says about the params or the result of a
// message, 64 at most. It is empty if there is no schema for it. A null result or null
// params count as an empty object.
func (m *Message) Problems() []Problem {
	if m.checked {
		return m.problems
	}
	m.checked = true
	s, v := m.shape()
	if s == nil || !v.Exists() {
		return nil
	}
	s.Check(v, func(p shape.Problem) bool {
		if p.Kind != shape.Extended {
			m.problems = append(m.problems, p)
		}
		return len(m.problems) < maxProblems
	})
	return m.problems
}

// unknown returns the words of a message that the schema of the version does not have,
// with what they describe.
func (m *Message) unknown() (words []shape.Problem) {
	if s, v := m.shape(); s != nil && v.Exists() {
		s.Check(v, func(p shape.Problem) bool {
			if p.Kind >= shape.Invented {
				words = append(words, p)
			}
			return len(words) < maxProblems
		})
	}
	return words
}

// shape returns the schema of what a message carries, and the value to check.
func (m *Message) shape() (*shape.Shape, Value) {
	if m.Known == nil {
		return nil, Value{}
	}
	switch m.Kind {
	case RequestMessage:
		return m.Known.Request, m.payload(m.Params, m.Known.Request)
	case NotificationMessage:
		return m.Known.Notification, m.payload(m.Params, m.Known.Notification)
	case AnswerMessage:
		if !m.Failed() {
			return m.Known.Result, m.payload(m.Result, m.Known.Result)
		}
	}
	return nil, Value{}
}

func (m *Message) payload(v Value, s *shape.Shape) Value {
	if s == nil || !v.Set() && !s.Requires() {
		return Value{}
	}
	if !v.Exists() {
		return m.Root // lacks what the payload has to have
	}
	return v
}

// Mismatch reports whether what a message carries breaks the schema of the version.
func (m *Message) Mismatch() bool {
	for _, p := range m.Problems() {
		if p.Kind < shape.Undeclared {
			return true
		}
	}
	return false
}
