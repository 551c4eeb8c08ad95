package rpc

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
)

// maxEarly is how many messages wait, in all lanes, for their sessions to become
// known. The bound on their bytes is a quarter of Limits.Bytes.
const maxEarly = 1024

// earlyWait is how long a request waits for its session to become known. Without
// it, an agent that waits for the answer before it answers session/new would wait
// forever.
const earlyWait = 5 * time.Second

// WithOpened returns a context for a call that opens a session whose id the
// agent chooses, such as session/new. When the answer names the session, f is
// called with the id and the text of the result. Messages of the session that
// came before the answer are handled after f, so f can make the session known to
// their handlers. A call that succeeds returns after f. A call that fails may
// return before f, and then f never runs. f may keep the result, and may call the
// peer with the context it is given. Of several functions in one context, the one
// added last runs first.
//
// While such a call is out, messages of sessions that are new to the connection
// wait: at most 1,024 of them, and at most a quarter of Limits.Bytes. They are
// handled without f, as messages of a session that nobody opened, when
//
//   - more than that wait,
//   - the connection would have to stop reading,
//   - the last such call ends without naming their session, or
//   - the connection ends.
//
// A request among them goes to its handler alone when it is cancelled or has
// waited for 5 s. The agent may be waiting for its answer before it answers the
// call.
//
// A session that a call names, such as the session of session/load, is known
// from the start of the call.
func WithOpened(ctx context.Context, f func(ctx context.Context, id acp.SessionID, result json.RawMessage)) context.Context {
	outer, _ := ctx.Value(openedKey{}).(*opened)
	return context.WithValue(ctx, openedKey{}, &opened{f, outer})
}

type openedKey struct{}

// opened is what WithOpened adds to a context.
type opened struct {
	f     func(context.Context, acp.SessionID, json.RawMessage)
	outer *opened // of the context inside; may be nil
}

// opening is the part of a call that opens a session.
type opening struct {
	method string
	first  *opened

	// Set before the answer is delivered. session is empty if the answer names none.
	session acp.SessionID
	result  json.RawMessage

	mu   sync.Mutex
	over bool // the functions have run, or never will
}

// newOpening returns nil if the context is not one of WithOpened.
func newOpening(ctx context.Context, method string) *opening {
	if first, _ := ctx.Value(openedKey{}).(*opened); first != nil {
		return &opening{method: method, first: first}
	}
	return nil
}

// run calls the functions, unless they have run already or drop came first.
func (o *opening) run(c *Conn) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over || o.session == "" {
		return
	}
	o.over = true
	var err error
	defer func() {
		if err != nil {
			c.fault(FaultHandler, err, nil)
		}
	}()
	defer recovered(o.method, &err)
	for next := o.first; next != nil; next = next.outer {
		next.f(c.base, o.session, o.result)
	}
}

// drop keeps the functions from running, or waits until they have.
func (o *opening) drop() {
	if o != nil {
		o.mu.Lock()
		o.over = true
		o.mu.Unlock()
	}
}

// early holds the lanes of sessions that the answer to a call may make known.
type early struct {
	mu    sync.Mutex
	calls int // with WithOpened that have no answer
	ended bool
	lanes map[*lane]*held
	sum   held
}

// held counts the messages and bytes that wait in a lane.
type held struct {
	session         string
	messages, bytes int
}

func (h *held) add(messages, bytes int) {
	h.messages += messages
	h.bytes += bytes
}

func (e *early) init() { e.lanes = map[*lane]*held{} }

// takeAll empties e and returns its lanes. The caller has locked e.mu.
func (e *early) takeAll() []*lane {
	var all []*lane
	for l := range e.lanes {
		all = append(all, l)
	}
	clear(e.lanes)
	e.sum = held{}
	return all
}

// beginOpening counts a call that opens a session, until endOpening: when it is
// given up or answered, and its functions have been called.
func (c *Conn) beginOpening() {
	c.early.mu.Lock()
	c.early.calls++
	c.early.mu.Unlock()
}

func (c *Conn) endOpening() {
	e := &c.early
	e.mu.Lock()
	var lanes []*lane
	if e.calls--; e.calls == 0 {
		lanes = e.takeAll()
	}
	e.mu.Unlock()
	c.let(lanes...)
}

// hold makes a new lane wait while its session may be about to become known.
func (c *Conn) hold(l *lane, session string) {
	e := &c.early
	e.mu.Lock()
	defer e.mu.Unlock()
	if session == "" || e.calls == 0 || e.ended || c.calls.name(session) {
		return
	}
	l.held = true
	e.lanes[l] = &held{session: session}
}

// held counts a step that was pushed to a lane that is held.
func (c *Conn) held(l *lane, s *step) {
	e := &c.early
	e.mu.Lock()
	var lanes []*lane
	if h := e.lanes[l]; h != nil {
		h.add(1, s.size())
		if e.sum.add(1, s.size()); e.sum.messages > maxEarly || e.sum.bytes > c.lim.Bytes/4 {
			lanes = e.takeAll()
		} else if req := s.req; req != nil {
			time.AfterFunc(earlyWait, func() { c.serveHeld(l, req) })
		}
	}
	e.mu.Unlock()
	c.let(lanes...)
}

// known releases the lane of a session that this side names.
func (c *Conn) known(session string) {
	session = laneName(session)
	e := &c.early
	e.mu.Lock()
	var lanes []*lane
	for l, h := range e.lanes {
		if h.session == session {
			lanes = append(lanes, l)
		}
	}
	e.mu.Unlock()
	for _, l := range lanes {
		c.release(l)
	}
}

// release lets a lane go on, if it is held.
func (c *Conn) release(l *lane) {
	e := &c.early
	e.mu.Lock()
	h := e.lanes[l]
	if h != nil {
		delete(e.lanes, l)
		e.sum.add(-h.messages, -h.bytes)
	}
	e.mu.Unlock()
	if h != nil {
		c.let(l)
	}
}

// releaseAll lets all lanes go on, for the moment or, at the end of the
// connection, for good.
func (c *Conn) releaseAll(ended bool) {
	e := &c.early
	e.mu.Lock()
	e.ended = e.ended || ended
	lanes := e.takeAll()
	e.mu.Unlock()
	c.let(lanes...)
}

// let runs lanes that were held.
func (c *Conn) let(lanes ...*lane) {
	for _, l := range lanes {
		l.mu.Lock()
		l.held = false
		c.start(l)
	}
}

// open puts the functions of an answered opening into the lane of its session:
// before what the lane holds, or behind the messages that came before the answer
// when the session was known.
func (c *Conn) open(o *opening, session []byte, result json.RawMessage) {
	o.session, o.result = acp.SessionID(session), slices.Clone(result)
	l := c.laneFor(session)
	l.mu.Lock()
	if l.held {
		l.queue = slices.Insert(l.queue, 0, step{opening: o})
		l.mu.Unlock()
		c.release(l)
		return
	}
	l.queue = append(l.queue, step{opening: o})
	c.start(l)
}

// serveHeld starts a request whose lane is held. The rest of the lane stays.
func (c *Conn) serveHeld(l *lane, req *request) {
	l.mu.Lock()
	i := -1
	if l.held {
		i = slices.IndexFunc(l.queue, func(s step) bool { return s.req == req })
	}
	if i < 0 {
		l.mu.Unlock()
		return
	}
	size := l.queue[i].size()
	l.queue = slices.Delete(l.queue, i, i+1)
	l.mu.Unlock()
	c.early.mu.Lock()
	if h := c.early.lanes[l]; h != nil {
		h.add(-1, -size)
		c.early.sum.add(-1, -size)
	}
	c.early.mu.Unlock()
	c.work.add()
	go c.serve(req)
}
