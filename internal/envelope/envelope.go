// Package envelope reads the parts of a JSON-RPC message that every party needs:
// the method, the id and the session. It checks the text on the way, once.
package envelope

import (
	"encoding/json"
	"errors"

	"github.com/hermes-nvim/hermes/internal/jx"
)

// Envelope is what a message says about itself. Its slices alias the message,
// except strings that are written with escapes.
type Envelope struct {
	Version   bool            // "jsonrpc":"2.0" is present
	Method    []byte          // nil if absent
	ID        json.RawMessage // raw; nil if absent
	Params    json.RawMessage // raw; nil if absent
	Result    json.RawMessage // raw; nil if absent
	Error     json.RawMessage // raw; nil if absent
	Answers   bool            // there is a result or an error, read or not
	SessionID []byte          // of the params or the result; nil if absent
	Problem   string          // why it is not a message; "" if it is one
}

// Reasons why a text is not a message.
const (
	isBatch     = "JSON-RPC batches are not supported"
	isNotObject = "not an object"
)

// ErrBatch is the error of Parse for an array.
var ErrBatch = errors.New(isBatch)

// Parse reads a message. The error says why it is not one.
func Parse(msg []byte) (e Envelope, err error) {
	var d jx.Dec
	d.Reset(msg)
	switch err = e.Read(&d); {
	case err != nil:
	case e.Problem == isBatch:
		err = ErrBatch
	case e.Problem != "":
		err = errors.New(e.Problem)
	case e.Method != nil && len(e.Method) == 0:
		err = errors.New("method is empty")
	}
	if err != nil {
		return Envelope{}, err
	}
	return e, nil
}

// Beginning reads a message that cannot be read to its end, as far as it goes.
func Beginning(msg []byte) (e Envelope) {
	var d jx.Dec
	d.Reset(msg)
	_ = e.Read(&d)
	return e
}

// Read checks that the text of d is one JSON value, and reads the envelope. The
// error is a *jx.Error that says why it is not JSON. Even then e holds what could
// be read.
func (e *Envelope) Read(d *jx.Dec) error {
	*e = Envelope{}
	switch d.Peek() {
	case '{':
		e.members(d)
	case '[':
		e.Problem = isBatch
		d.Skip()
	default:
		e.Problem = isNotObject
		d.Skip()
	}
	return d.Close()
}

func (e *Envelope) members(d *jx.Dec) {
	var version, method json.RawMessage
	d.Obj()
	for name, more := d.Next(); more; name, more = d.Next() {
		var raw *json.RawMessage
		switch string(name) {
		case "jsonrpc":
			raw = &version
		case "method":
			raw = &method
		case "id":
			raw = &e.ID
		case "params":
			raw = &e.Params
		case "result":
			raw, e.Answers = &e.Result, true
		case "error":
			raw, e.Answers = &e.Error, true
		default:
			d.Skip()
			continue
		}
		switch start := d.Pos(); {
		case *raw != nil:
			e.problem("duplicate member " + string(name))
			d.Skip()
		case (raw == &e.Params || raw == &e.Result) && d.Peek() == '{':
			e.session(d)
			*raw = d.Since(start)
		default:
			*raw = d.Token()
		}
	}
	if len(version) > 0 && version[0] == '"' {
		e.Version = string(jx.Unquote(version)) == "2.0"
	}
	if len(method) > 0 && method[0] == '"' {
		e.Method = jx.Unquote(method)
	} else if method != nil {
		e.Method = []byte{}
		e.problem("method is not a string")
	}
}

// session skips params or a result and notes their session.
func (e *Envelope) session(d *jx.Dec) {
	d.Obj()
	for name, more := d.Next(); more; name, more = d.Next() {
		if string(name) == "sessionId" && d.Peek() == '"' && e.SessionID == nil {
			e.SessionID = d.StrBytes()
		} else {
			d.Skip()
		}
	}
}

// problem notes what is wrong; the first problem counts.
func (e *Envelope) problem(text string) {
	if e.Problem == "" {
		e.Problem = text
	}
}

// IsRequest reports whether the message asks for an answer.
func (e *Envelope) IsRequest() bool { return e.Method != nil && e.ID != nil }

// IsAnswer reports whether the message is the answer to a request.
func (e *Envelope) IsAnswer() bool { return e.Method == nil && e.ID != nil }

// Session returns the sessionId of the params, "" if there is none.
func (e *Envelope) Session() string {
	if e.Params == nil {
		return ""
	}
	return string(e.SessionID)
}

// NewSession returns the sessionId of the result, "" if there is none.
func (e *Envelope) NewSession() string {
	if e.Result == nil {
		return ""
	}
	return string(e.SessionID)
}

// Key returns the id as a map key: its text, "" if there is none or it is null.
func (e *Envelope) Key() string {
	if e.ID == nil || e.ID[0] == 'n' {
		return ""
	}
	if e.ID[0] == '"' {
		return string(jx.AppendReplaced(nil, string(jx.Unquote(e.ID))))
	}
	return string(e.ID)
}
