package rpc

import (
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/acp"
)

// frame is one parsed JSON-RPC message. Its slices alias the message.
type frame struct {
	method  []byte // text, nil when absent
	id      []byte // raw, nil when absent
	key     acp.RequestID
	params  []byte // raw, nil when absent
	result  []byte // raw, nil when absent
	err     []byte // raw, nil when absent
	session []byte // text of the sessionId in params or result, nil when absent
	version bool   // "jsonrpc":"2.0" was there
	problem string // what is wrong with the envelope, "" when nothing is

	scan scanner // here, so that a frame is all a message costs
	seen int
}

// parse checks that msg is one JSON value in UTF-8 and reads the envelope. An
// error means it is no JSON; f.problem means it is no JSON-RPC message. What
// could be read of the envelope is in f either way. Unpaired surrogate escapes
// in msg are replaced in place.
func (f *frame) parse(msg []byte, lim *Limits) error {
	*f = frame{scan: scanner{b: msg, lim: lim}}
	if !utf8.Valid(msg) {
		return badUTF8(msg)
	}
	s := &f.scan
	if first := s.peek(); first != '{' {
		if !s.value(0) {
			return s.err()
		}
		f.problem = "not an object"
		if first == '[' {
			f.problem = "JSON-RPC batches are not supported"
		}
	} else if !s.members(0, f) {
		return s.err()
	}
	if s.peek() != 0 || s.p < len(msg) {
		s.fail("data after the message")
		return s.err()
	}
	if f.problem == "" {
		f.problem = f.check()
	}
	return nil
}

// Members of the envelope, as bits.
const (
	seenVersion = 1 << iota
	seenID
	seenMethod
	seenParams
	seenResult
	seenError
)

// member takes a member of the envelope (level 1) or of params or result (2),
// when it means something to the frame.
func (f *frame) member(name []byte, level int) (took, ok bool) {
	if level > 1 {
		return f.inner(name)
	}
	bit := envelopeMember(name)
	if bit == 0 {
		return false, true
	}
	if f.seen&bit != 0 {
		f.bad("duplicate member " + string(name))
		return false, true
	}
	f.seen |= bit
	s := &f.scan
	first := s.peek()
	start := s.p
	if (bit == seenParams || bit == seenResult) && first == '{' {
		ok = s.members(level, f)
	} else {
		ok = s.value(level)
	}
	if !ok {
		return true, false
	}
	raw := s.b[start:s.p]
	switch bit {
	case seenVersion:
		f.version = first == '"' && string(text(raw)) == "2.0"
	case seenID:
		if f.key, ok = requestID(raw, s.lim.ID); ok {
			f.id = raw
		} else {
			f.bad("id is not null, an integer or a short string")
		}
	case seenMethod:
		if first != '"' {
			f.bad("method is not a string")
			raw = []byte(`""`)
		}
		f.method = text(raw)
	case seenParams:
		f.params = raw
		if first != '{' && first != '[' && first != 'n' {
			f.bad("params are neither an object nor an array")
		}
	case seenResult:
		f.result = raw
	case seenError:
		f.err = raw
		if first != '{' {
			f.bad("error is not an object")
		}
	}
	return true, true
}

// inner notes the session id among the members of params or result.
func (f *frame) inner(name []byte) (took, ok bool) {
	s := &f.scan
	if string(name) != `"sessionId"` && !(escaped(name) && string(text(name)) == "sessionId") || s.peek() != '"' {
		return false, true
	}
	token, ok := s.str()
	if ok {
		f.session = text(token)
	}
	return true, ok
}

func (f *frame) bad(problem string) {
	if f.problem == "" {
		f.problem = problem
	}
}

// check looks at the envelope as a whole.
func (f *frame) check() string {
	switch {
	case f.method != nil && (f.result != nil || f.err != nil):
		return "both method and result or error"
	case f.method != nil:
		return ""
	case f.result != nil && f.err != nil:
		return "both result and error"
	case f.result == nil && f.err == nil:
		return "neither method nor result nor error"
	case f.id == nil:
		return "answer without id"
	}
	return ""
}

// envelopeMember returns the bit of a member, 0 for any other name.
func envelopeMember(name []byte) int {
	if escaped(name) {
		name = []byte(`"` + string(text(name)) + `"`)
	}
	switch string(name) {
	case `"jsonrpc"`:
		return seenVersion
	case `"id"`:
		return seenID
	case `"method"`:
		return seenMethod
	case `"params"`:
		return seenParams
	case `"result"`:
		return seenResult
	case `"error"`:
		return seenError
	}
	return 0
}

// requestID reads an id so that 1, 1.0 and 1e0 are the same and "1" is not.
func requestID(raw []byte, limit int) (acp.RequestID, bool) {
	if len(raw) > limit+2 {
		return acp.RequestID{}, false
	}
	switch c := raw[0]; {
	case c == '"':
		return acp.StringID(string(text(raw))), true
	case c == 'n':
		return acp.RequestID{}, true
	case c != '-' && c-'0' > 9:
		return acp.RequestID{}, false
	}
	if n, ok := smallInt(raw); ok {
		return acp.NumberID(n), true
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return acp.NumberID(n), true
	}
	x, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > 1<<53 {
		return acp.RequestID{}, false
	}
	return acp.NumberID(int64(x)), true
}

func smallInt(raw []byte) (n int64, ok bool) {
	if len(raw) > 15 {
		return 0, false
	}
	for _, c := range raw {
		if c-'0' > 9 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// peekFrame reads what the beginning of a message tells of its envelope.
func peekFrame(head []byte, lim *Limits) *frame {
	f := &frame{scan: scanner{b: head, lim: lim}}
	if f.scan.peek() == '{' {
		f.scan.members(0, f)
	}
	return f
}
