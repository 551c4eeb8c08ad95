package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hermes-nvim/hermes/internal/envelope"
	"github.com/hermes-nvim/hermes/internal/jx"
)

type kind uint8

const (
	noise kind = iota
	request
	response
	notification
)

// message holds the relevant parts of a JSON-RPC message. Its slices alias the
// message.
type message struct {
	kind   kind
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
}

// parse reads a message. Anything else is noise.
func parse(b []byte) *message {
	e, err := envelope.Parse(b)
	if err != nil {
		return new(message)
	}
	m := &message{ID: e.ID, Method: string(e.Method), Params: e.Params, Result: e.Result, Error: e.Error}
	switch {
	case e.IsRequest() && string(m.ID) != "null":
		m.kind = request
	case e.Method != nil:
		m.kind = notification
	case e.IsAnswer() && (m.Result != nil || m.Error != nil):
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
	ours     bool            // sent by the played side
	done     bool            // has been sent
	request  *cue            // that a response answers; nil if the recording lacks it
	answer   *cue            // to a request; nil if the recording lacks it
	answered bool            // the peer has answered
	live     json.RawMessage // id of the peer's request in this play
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

// script turns records into cues: what side sends, and what it waits for.
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

// replaceID gives a response another id. Everything else stays as it is.
func replaceID(msg []byte, id json.RawMessage) []byte {
	edit := jx.Edit{Source: msg}
	var d jx.Dec
	d.Reset(msg)
	d.Obj()
	for name, more := d.Next(); more; name, more = d.Next() {
		start := d.Pos()
		d.Skip()
		if string(name) == "id" {
			edit.Replace(start, d.Pos(), id)
			break
		}
	}
	return edit.Result()
}

func errorAnswer(id json.RawMessage, text string) []byte {
	msg, _ := json.Marshal(text) // strings always encode
	return slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"error":{"code":-32603,"message":`), msg, []byte(`}}`))
}

// member returns a string member of an object, "" if there is none.
func member(object json.RawMessage, name string) string {
	var d jx.Dec
	d.Reset(object)
	text, _ := d.Tag(name)
	return string(text)
}

// substitutions replace recorded values with the values of this play.
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

// path maps a folder and every path in it, wherever they occur.
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
