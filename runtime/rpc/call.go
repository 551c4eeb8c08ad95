package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hermes-nvim/hermes/acp"
)

// origin says where a call was made.
type origin uint8

const (
	outside          origin = iota
	inNotification          // by a notification handler: its lane stands still until the answer
	inRequestHandler        // by a request handler
)

// Call is one request to the peer that was started.
type Call struct {
	c       *Conn
	id      int64
	method  string
	session string
	from    origin
	stopped bool       // a prompt that session/cancel was sent for; pending.mu protects it
	first   answered   // may be nil
	opening *opening   // nil unless it opens a session
	done    chan reply // holds one
	waiting reply      // in a lane; the reader's until then, the lane's from then on
	through *starting  // the call behind Middleware; then nothing else is set
}

// answered is implemented by params that must know the result of their call
// before any message behind it is handled. The goroutine that reads calls it.
type answered interface{ answered(result json.RawMessage) }

// answeredKey finds the answered of a call whose params Middleware may replace.
type answeredKey struct{ c *Conn }

// remembering returns a context that has the answered of params.
func (c *Conn) remembering(ctx context.Context, params acp.Appender) context.Context {
	if a, ok := params.(answered); ok {
		return context.WithValue(ctx, answeredKey{c}, a)
	}
	return ctx
}

func (c *Conn) firstAnswered(ctx context.Context, method string, params acp.Appender) answered {
	first, _ := params.(answered)
	if first == nil && c.send != nil && method == acp.MethodInitialize {
		first, _ = ctx.Value(answeredKey{c}).(answered)
	}
	return first
}

// reply is what a call ends with: the peer's result or error, or a local error.
type reply struct {
	buf    *buffer
	result []byte
	err    []byte
	local  error
}

// deliver ends the call. Only the first reply counts.
func (k *Call) deliver(r reply) {
	select {
	case k.done <- r:
	default:
		r.buf.free()
	}
}

func (k *Call) closed(cause error) error { return &ClosedError{Method: k.method, Cause: cause} }

// Wait returns the answer, decoded into result, which may be nil when the answer
// does not matter. It is called once. An error answer of the peer is returned as
// *acp.Error, everything else that can go wrong is not: *ClosedError,
// *MalformedError, *ResultError, *TooLargeError, *BacklogError, or the error of
// ctx. When ctx ends Wait returns at once and the peer is sent $/cancel_request.
func (k *Call) Wait(ctx context.Context, result json.Unmarshaler) error {
	if k.through != nil {
		return k.through.wait(ctx, result)
	}
	c := k.c
	if k.from != outside {
		c.flow.enter()
		defer c.flow.leave()
	}
	select {
	case r := <-k.done:
		return k.settle(r, result)
	case <-ctx.Done():
	}
	if c.calls.giveUp(k) {
		if k.opening != nil {
			c.endOpening()
		}
		c.sendCancel(k.id)
		return fmt.Errorf("%s: %w", k.method, ctx.Err())
	}
	select {
	case r := <-k.done:
		return k.settle(r, result)
	default: // its answer is behind notifications that are still being handled
		k.opening.drop()
		return fmt.Errorf("%s: %w", k.method, ctx.Err())
	}
}

// settle turns the answer into what Wait returns.
func (k *Call) settle(r reply, result json.Unmarshaler) error {
	defer r.buf.free()
	k.opening.run(k.c)
	switch {
	case r.local != nil:
		return r.local
	case r.err != nil:
		e := new(acp.Error)
		if err := e.UnmarshalJSON(r.err); err != nil {
			return &MalformedError{Method: k.method, Reason: err.Error()}
		}
		return e
	case result == nil:
		return nil
	}
	return decodeResult(k.method, r.result, result)
}

func decodeResult(method string, text []byte, result json.Unmarshaler) error {
	err := result.UnmarshalJSON(text)
	if err != nil && string(text) == "null" {
		err = result.UnmarshalJSON([]byte("{}")) // agents answer null where an object without members is due
	}
	if err != nil {
		return &ResultError{Method: method, Err: err}
	}
	return nil
}

// pending holds the calls that wait for an answer.
type pending struct {
	last   atomic.Int64
	mu     sync.Mutex
	calls  map[int64]*Call
	gaveUp map[int64]struct{} // recent calls whose answers are no longer wanted
	forget [1024]int64        // ring of the keys of gaveUp
	given  int
	closed error // cause, once no call can be added
}

func (p *pending) init() {
	p.calls = map[int64]*Call{}
	p.gaveUp = map[int64]struct{}{}
}

// newID returns an id that was not used before.
func (p *pending) newID() int64 { return p.last.Add(1) }

// add enters a call that is about to be sent.
func (p *pending) add(k *Call) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed != nil {
		return k.closed(p.closed)
	}
	p.calls[k.id] = k
	return nil
}

// remove takes k out and reports whether it was still in.
func (p *pending) remove(k *Call) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls[k.id] != k {
		return false
	}
	delete(p.calls, k.id)
	return true
}

// giveUp is remove for a call whose answer may still come.
func (p *pending) giveUp(k *Call) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls[k.id] != k {
		return false
	}
	p.abandon(k)
	return true
}

func (p *pending) abandon(k *Call) {
	delete(p.calls, k.id)
	slot := &p.forget[p.given%len(p.forget)]
	delete(p.gaveUp, *slot)
	*slot = k.id
	p.given++
	p.gaveUp[k.id] = struct{}{}
}

// claim takes out the call with this id. When there is none, kind says what
// an answer to it is.
func (p *pending) claim(id int64) (k *Call, kind FaultKind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k = p.calls[id]; k != nil {
		delete(p.calls, id)
		return k, 0
	}
	if _, ok := p.gaveUp[id]; ok {
		delete(p.gaveUp, id)
		return nil, FaultLate
	}
	if id > 0 && id <= p.last.Load() {
		return nil, FaultDuplicate
	}
	return nil, FaultUnknownResponse
}

// takeAll empties the table for good.
func (p *pending) takeAll(cause error) []*Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed == nil {
		p.closed = cause
	}
	all := make([]*Call, 0, len(p.calls))
	for _, k := range p.calls {
		all = append(all, k)
	}
	clear(p.calls)
	return all
}

// name reports whether a call is about the session.
func (p *pending) name(session string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.calls {
		if laneName(k.session) == session {
			return true
		}
	}
	return false
}

// prompts reports whether a turn of the session runs.
func (p *pending) prompts(session string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.calls {
		if k.method == acp.MethodSessionPrompt && k.session == session {
			return true
		}
	}
	return false
}

// cancelPrompts notes that session/cancel is sent for the prompts of a session.
func (p *pending) cancelPrompts(session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.calls {
		if k.method == acp.MethodSessionPrompt && k.session == session {
			k.stopped = true
		}
	}
}

// cancelled reports whether a turn of the session runs and session/cancel was sent
// for it.
func (p *pending) cancelled(session string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := false
	for _, k := range p.calls {
		if k.method == acp.MethodSessionPrompt && k.session == session {
			if !k.stopped {
				return false
			}
			found = true
		}
	}
	return found
}

// takeHandlers gives up the calls that handlers wait in.
func (p *pending) takeHandlers() []*Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	var taken []*Call
	for _, k := range p.calls {
		if k.from != outside {
			taken = append(taken, k)
			p.abandon(k)
		}
	}
	return taken
}
