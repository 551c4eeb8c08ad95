// Package envelope reads what carrying a JSON-RPC message needs to know of it,
// and nothing else: its method, its id and the session it belongs to.
package envelope

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/hermes-nvim/hermes/acp"
)

// Envelope is what a message says of itself. The raw members alias the message.
type Envelope struct {
	Method string          // empty for answers
	ID     json.RawMessage // raw; nil when absent
	Params json.RawMessage // raw; nil when absent
	Result json.RawMessage // raw; nil when absent
	Error  json.RawMessage // raw; nil when absent
}

// Errors of Parse.
var (
	ErrSyntax = errors.New("not JSON")
	ErrBatch  = errors.New("JSON-RPC batches are not supported")
	ErrObject = errors.New("not a JSON object")
	ErrMember = errors.New("a member of the envelope occurs twice or has the wrong type")
)

// Parse checks that msg is one JSON object and reads its envelope.
func Parse(msg []byte) (Envelope, error) {
	var e Envelope
	if !json.Valid(msg) {
		return e, ErrSyntax
	}
	msg = bytes.TrimLeft(msg, " \t\r\n")
	switch msg[0] {
	case '{':
	case '[':
		return e, ErrBatch
	default:
		return e, ErrObject
	}
	var method json.RawMessage
	err := members(msg, func(name string, value json.RawMessage) error {
		var at *json.RawMessage
		switch name {
		case "method":
			at = &method
		case "id":
			at = &e.ID
		case "params":
			at = &e.Params
		case "result":
			at = &e.Result
		case "error":
			at = &e.Error
		default:
			return nil
		}
		if *at != nil {
			return ErrMember
		}
		*at = value
		return nil
	})
	if err != nil {
		return Envelope{}, err
	}
	if method != nil && (json.Unmarshal(method, &e.Method) != nil || e.Method == "") {
		return Envelope{}, ErrMember
	}
	return e, nil
}

// IsRequest reports whether the message asks for an answer.
func (e *Envelope) IsRequest() bool { return e.Method != "" && e.ID != nil }

// IsAnswer reports whether the message is the answer to a request.
func (e *Envelope) IsAnswer() bool { return e.Method == "" && e.ID != nil }

// Key returns the id as a map key: its text, "" when there is none or it is
// null.
func (e *Envelope) Key() string {
	if e.ID == nil || e.ID[0] == 'n' {
		return ""
	}
	if e.ID[0] == '"' && bytes.IndexByte(e.ID, '\\') >= 0 {
		var s string
		json.Unmarshal(e.ID, &s)
		b, _ := json.Marshal(s)
		return string(b)
	}
	return string(e.ID)
}

// Session returns the sessionId of the params, "" when there is none.
func (e *Envelope) Session() string { return session(e.Params) }

// NewSession returns the sessionId of the result, "" when there is none.
func (e *Envelope) NewSession() string { return session(e.Result) }

func session(raw json.RawMessage) string {
	if len(raw) == 0 || raw[0] != '{' {
		return ""
	}
	id, _ := acp.SessionOf(raw)
	return id
}

// members calls f for each member of the valid JSON object b.
func members(b []byte, f func(name string, value json.RawMessage) error) error {
	p := Space(b, 1)
	for b[p] != '}' {
		end := Value(b, p)
		name := Text(b[p:end])
		p = Space(b, Space(b, end)+1) // past the colon
		end = Value(b, p)
		if err := f(name, b[p:end]); err != nil {
			return err
		}
		if p = Space(b, end); b[p] == ',' {
			p = Space(b, p+1)
		}
	}
	return nil
}

// Text returns what a valid JSON string says.
func Text(token []byte) (s string) {
	if bytes.IndexByte(token, '\\') < 0 {
		return string(token[1 : len(token)-1])
	}
	json.Unmarshal(token, &s)
	return s
}

// Space returns where the space at p of a valid JSON text ends.
func Space(b []byte, p int) int {
	for b[p] <= ' ' {
		p++
	}
	return p
}

// Value returns where the valid JSON value at p ends.
func Value(b []byte, p int) int {
	depth := 0
	for {
		switch b[p] {
		case '"':
			p = str(b, p)
		case '{', '[':
			depth++
			p++
		case '}', ']':
			depth--
			p++
		case ',', ':', ' ', '\t', '\r', '\n':
			p++
			continue
		default:
			for p < len(b) && b[p] > ' ' && b[p] != ',' && b[p] != '}' && b[p] != ']' {
				p++
			}
		}
		if depth == 0 {
			return p
		}
	}
}

func str(b []byte, p int) int {
	for p++; ; {
		i := bytes.IndexByte(b[p:], '"')
		n := 0
		for j := p + i - 1; j >= p && b[j] == '\\'; j-- {
			n++
		}
		p += i + 1
		if n%2 == 0 {
			return p
		}
	}
}
