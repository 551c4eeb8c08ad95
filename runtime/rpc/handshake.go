package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
)

// handshake keeps the order of messages that initialize demands of a client,
// on the agent's side (Options.Handshake). The reader asks it about requests in
// wire order; it learns the version from the answer to initialize.
//
// A failed initialize changes nothing, so that it can be tried again. Once one
// has succeeded another may follow: at any time in version 1, before any other
// request from version 2 on.
type handshake struct {
	mu      sync.Mutex
	version int           // agreed on; 0 before
	others  bool          // a request other than initialize has come since
	running chan struct{} // closed when the initialize that runs has ended; nil when none runs
}

var (
	errNotInitialized = errors.New("initialize comes first")
	errInitializing   = errors.New("initialize is not answered yet")
	errInitialized    = errors.New("initialize cannot be repeated after other requests")
	errNullID         = errors.New("the id must be a string or an integer")
)

// admit says whether a request may be served, and what it has to wait for.
func (h *handshake) admit(req *request) (wait <-chan struct{}, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.version >= 2 && req.key.IsNull():
		return nil, errNullID
	case req.method != acp.MethodInitialize:
		if h.version == 0 && h.running == nil {
			return nil, fmt.Errorf("%s: %w", req.method, errNotInitialized)
		}
		h.others = true
		return h.running, nil
	case h.running != nil:
		return nil, errInitializing
	case h.version >= 2 && h.others:
		return nil, errInitialized
	}
	h.running = make(chan struct{})
	return nil, nil
}

// checkNullID refuses an initialize with the id null once its answer, which ends
// with the result, has agreed on a version that has no such ids. Which version
// it will be only the handler knows.
func (c *Conn) checkNullID(req *request, answer []byte) error {
	if req.method != acp.MethodInitialize || !req.key.IsNull() {
		return nil
	}
	if v, _ := protocolVersion(bytes.TrimPrefix(answer, []byte(`,"result":`))); v < 2 {
		return nil
	}
	c.fault(FaultRefused, errNullID, req.buf.b)
	return &acp.Error{Code: acp.ErrorCodeInvalidRequest, Message: "invalid request: " + errNullID.Error()}
}

// end ends the initialize that runs: with the text of its result, or nil when
// it failed. The requests that wait go on when release is called.
func (h *handshake) end(result json.RawMessage) (release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if result != nil {
		v, _ := protocolVersion(result)
		h.version = max(v, 1)
	}
	running := h.running
	h.running = nil
	return func() { close(running) }
}

// agreed returns the version both sides speak, 0 before an initialize has
// succeeded and without Options.Handshake.
func (h *handshake) agreed() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.version
}

// protocolVersion returns the protocolVersion of the params or the result of
// initialize, and false when there is none that could be one.
func protocolVersion(text json.RawMessage) (int, bool) {
	if len(text) == 0 || text[0] != '{' {
		return 0, false
	}
	raw, _ := acp.Extra(text).Get("protocolVersion")
	v, err := strconv.ParseUint(string(raw), 10, 16)
	return int(v), err == nil
}
