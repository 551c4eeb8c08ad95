package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

type kind uint8

const (
	noise kind = iota
	request
	response
	notification
)

// message is what matters of a JSON-RPC message.
type message struct {
	kind   kind
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// parse reads a message. What is none is noise.
func parse(b []byte) *message {
	m := new(message)
	if len(b) == 0 || b[0] != '{' || json.Unmarshal(b, m) != nil {
		return new(message)
	}
	switch hasID := len(m.ID) > 0; {
	case m.Method != "" && hasID && string(m.ID) != "null":
		m.kind = request
	case m.Method != "":
		m.kind = notification
	case hasID && (m.Result != nil || m.Error != nil):
		m.kind = response
	}
	return m
}

func (m *message) describe() string {
	if m.kind == request {
		return "the request " + m.Method
	}
	return "the notification " + m.Method
}

func (m *message) outcome() string {
	if m.Error != nil {
		return fmt.Sprintf("the error %.200s", m.Error)
	}
	return fmt.Sprintf("the result %.200s", m.Result)
}

// cue is a record in a play.
type cue struct {
	Record
	message
	ours     bool            // said by the side that is played
	done     bool            // said
	request  *cue            // that a response answers; nil when the recording lacks it
	answer   *cue            // to a request; nil when the recording lacks it
	answered bool            // the peer has answered
	live     json.RawMessage // id of the peer's request as it is now
}

// String says what is expected.
func (c *cue) String() string {
	if c.kind == response {
		if c.request != nil {
			return "the answer to " + c.request.Method + " to be " + c.outcome()
		}
		return "an answer"
	}
	return c.describe()
}

// script turns records into cues: what side says, and what it waits for.
func script(records []Record, side Side) []*cue {
	var cues []*cue
	var open []*cue // requests without an answer yet
	for _, r := range records {
		if r.Cut {
			continue
		}
		c := &cue{Record: r, message: message{}}
		switch r.Direction {
		case ToAgent, ToClient:
			c.message = *parse(r.Bytes)
			c.ours = r.Direction == side.out()
		case Stderr:
			c.ours = side == Agent
		}
		switch {
		case c.kind == request:
			open = append(open, c)
		case c.kind == response:
			if i := slices.IndexFunc(open, func(q *cue) bool {
				return q.Direction != c.Direction && string(q.ID) == string(c.ID)
			}); i >= 0 {
				c.request, open[i].answer = open[i], c
				open = slices.Delete(open, i, i+1)
			}
		}
		said := c.Direction == ToAgent || c.Direction == ToClient
		switch {
		case c.ours && (said || c.Direction == Stderr),
			said && c.kind == request,
			said && c.kind == notification && side == Agent,
			said && c.kind == response && c.request != nil:
			cues = append(cues, c)
		}
	}
	return cues
}

// replaceID gives a response another id. Everything else stays.
func replaceID(msg []byte, id json.RawMessage) []byte {
	w := walker{b: msg}
	var replaced []byte
	w.members(func(name string) {
		start := w.p
		w.skip()
		if name == "id" && replaced == nil {
			replaced = slices.Concat(msg[:start], id, msg[w.p:])
		}
	})
	if replaced == nil {
		return msg
	}
	return replaced
}

// skip passes over one value.
func (w *walker) skip() {
	depth := 0
	for {
		w.space()
		switch c := w.b[w.p]; c {
		case '"':
			w.str()
		case '{', '[':
			depth++
			w.p++
			continue
		case '}', ']':
			depth--
			w.p++
		case ',', ':':
			w.p++
			continue
		default:
			for w.p < len(w.b) && bytes.IndexByte([]byte(",]} \t\r"), w.b[w.p]) < 0 {
				w.p++
			}
		}
		if depth == 0 {
			return
		}
	}
}

func errorAnswer(id json.RawMessage, text string) []byte {
	msg, _ := json.Marshal(text) // strings always encode
	return slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"error":{"code":-32603,"message":`), msg, []byte(`}}`))
}

// member returns a member of an object that is a string.
func member(object json.RawMessage, name string) string {
	var members map[string]json.RawMessage
	var s string
	if json.Unmarshal(object, &members) != nil || json.Unmarshal(members[name], &s) != nil {
		return ""
	}
	return s
}

// substitutions turn what was recorded into what is so now.
type substitutions struct {
	pairs [][2][]byte
	seen  map[string]bool
}

func (s *substitutions) add(recorded, live []byte) {
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	s.seen[string(recorded)] = true
	s.pairs = append(s.pairs, [2][]byte{recorded, live})
}

// value maps a whole string.
func (s *substitutions) value(recorded, live string) {
	from, to := quoted(recorded), quoted(live)
	if recorded == "" || live == "" || recorded == live || s.seen[string(from)] {
		return
	}
	s.add(from, to)
}

// path maps a folder, and what is in it wherever it is named.
func (s *substitutions) path(recorded, live string) {
	if len(recorded) < 2 || live == "" || recorded == live {
		return
	}
	from, to := quoted(recorded), quoted(live)
	from, to = from[1:len(from)-1], to[1:len(to)-1]
	for _, end := range []string{`"`, "/", ":", " ", `\n`, ")", "`"} {
		if f := string(from) + end; !s.seen[f] {
			s.add([]byte(f), []byte(string(to)+end))
		}
	}
}

func (s *substitutions) apply(msg []byte) []byte {
	for _, p := range s.pairs {
		msg = bytes.ReplaceAll(msg, p[0], p[1])
	}
	return msg
}

func quoted(s string) []byte {
	b, _ := json.Marshal(s) // strings always encode
	return b
}
