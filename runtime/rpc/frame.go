package rpc

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/envelope"
	"github.com/hermes-nvim/hermes/internal/jx"
)

// frame is one JSON-RPC message.
type frame struct {
	envelope.Envelope
	key    acp.RequestID // of ID
	mended bool          // an unpaired surrogate escape was replaced
}

// SyntaxError reports a message that is not JSON.
type SyntaxError struct {
	Offset int // bytes from the start of the message
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.Reason)
}

// parse reads msg. An error means that it is not JSON; Problem means that it is
// not a JSON-RPC message. What could be read is in f in any case. Unpaired
// surrogate escapes in msg are replaced in place, but not those of the id.
func (f *frame) parse(msg []byte, lim *Limits) error {
	var d jx.Dec
	d.Reset(msg)
	d.Limit(lim.Depth)
	err := f.Read(&d)
	id := f.ID
	if bytes.Contains(id, []byte(`\u`)) {
		id = bytes.Clone(id)
	}
	f.mended = d.Mend()
	f.key = acp.RequestID{}
	if f.ID != nil {
		var ok bool
		if f.key, ok = requestID(f.ID, lim.ID); !ok {
			f.ID = nil
			f.bad("id is not null, an integer or a short string")
		} else if !bytes.Equal(id, f.ID) { // the answer has it as it came
			f.ID, f.key = id, acp.StringID(string(id))
		}
	}
	if err != nil {
		var bad *jx.Error
		errors.As(err, &bad)
		return &SyntaxError{Offset: bad.Offset, Reason: bad.Msg}
	}
	f.check()
	return nil
}

// check looks at the envelope as a whole.
func (f *frame) check() {
	switch {
	case f.Params != nil && f.Params[0] != '{' && f.Params[0] != '[' && f.Params[0] != 'n':
		f.bad("params are neither an object nor an array")
	case f.Error != nil && f.Error[0] != '{':
		f.bad("error is not an object")
	case f.Method != nil && (f.Result != nil || f.Error != nil):
		f.bad("both method and result or error")
	case f.Method != nil:
	case f.Result != nil && f.Error != nil:
		f.bad("both result and error")
	case f.Result == nil && f.Error == nil:
		f.bad("neither method nor result nor error")
	case f.ID == nil:
		f.bad("answer without id")
	}
}

// bad notes what is wrong; the first counts.
func (f *frame) bad(problem string) {
	if f.Problem == "" {
		f.Problem = problem
	}
}

// requestID reads an id so that 1, 1.0 and 1e0 are the same and "1" is not.
func requestID(raw []byte, limit int) (acp.RequestID, bool) {
	if len(raw) > limit+2 {
		return acp.RequestID{}, false
	}
	switch c := raw[0]; {
	case c == '"':
		return acp.StringID(string(jx.Unquote(raw))), true
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
