package rpc

import (
	"errors"

	goruntime "runtime"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
)

// maxSpare is how many steps a lane keeps room for while it is idle.
const maxSpare = 4096

// lane is what one session waits in: notifications, the starts of requests and
// answers, in wire order. One goroutine works it off while there is something,
// unless the lane is held.
type lane struct {
	mu      sync.Mutex
	queue   []step
	spare   []step
	running bool
	held    bool // its session is not known yet; see WithOpened
}

// step is one element of a lane: an answer when call is set, a request when req
// is set, the functions of WithOpened when opening is set, otherwise a
// notification.
type step struct {
	call    *Call
	next    *lane // where the answer waits after this lane, if anywhere
	req     *request
	opening *opening
	buf     *buffer
	method  string
	params  []byte
}

// size is what the message of a step holds in bytes.
func (s *step) size() int {
	switch {
	case s.req != nil:
		return cap(s.req.buf.b)
	case s.buf != nil:
		return cap(s.buf.b)
	}
	return 0
}

// maxLaneName is how much of a session id identifies a lane, in bytes. It keeps
// idle sessions small, however long their ids are.
const maxLaneName = 256

func laneName[T string | []byte](session T) T { return session[:min(len(session), maxLaneName)] }

// laneFor returns the lane of a session. Only the reading goroutine calls it.
func (c *Conn) laneFor(session []byte) *lane {
	if l := c.lanes[string(laneName(session))]; l != nil {
		return l
	}
	return c.newLane(laneName(session))
}

// laneOf returns the lane for a message of the peer. Its session may be unknown.
func (c *Conn) laneOf(session []byte) *lane {
	if l := c.lanes[string(laneName(session))]; l != nil {
		return l
	}
	l := c.newLane(laneName(session))
	c.hold(l, string(laneName(session)))
	return l
}

func (c *Conn) newLane(session []byte) *lane {
	if len(c.lanes) >= c.sweepAt {
		for name, l := range c.lanes {
			if !l.busy() {
				delete(c.lanes, name)
			}
		}
		c.sweepAt = max(1024, 2*len(c.lanes))
	}
	l := new(lane)
	c.lanes[string(session)] = l
	return l
}

// forget makes the session of an idle lane unknown again. Only the reading
// goroutine calls it.
func (c *Conn) forget(session string) {
	if l := c.lanes[laneName(session)]; l != nil && !l.busy() {
		delete(c.lanes, laneName(session))
	}
}

// busy reports whether a step would wait in the lane.
func (l *lane) busy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.running || l.held
}

// push adds a step and sees to it that somebody takes it.
func (c *Conn) push(l *lane, s step) {
	l.mu.Lock()
	l.queue = append(l.queue, s)
	if l.held {
		l.mu.Unlock()
		c.held(l, &s)
		return
	}
	c.start(l)
}

// start runs the lane unless it runs or nothing waits. It unlocks l.mu.
func (c *Conn) start(l *lane) {
	start := !l.running && len(l.queue) > 0
	l.running = l.running || start
	l.mu.Unlock()
	if start {
		c.work.add()
		go c.run(l)
	}
}

// run works the lane off.
func (c *Conn) run(l *lane) {
	defer c.work.done()
	for {
		l.mu.Lock()
		batch := l.queue
		if len(batch) == 0 {
			l.running = false
			l.mu.Unlock()
			return
		}
		l.queue, l.spare = l.spare[:0], nil
		l.mu.Unlock()
		for done := batch; len(done) > 0; {
			n := min(len(done), maxRecycled/2)
			for i := range done[:n] {
				c.take(&done[i])
			}
			c.used.put(done[:n])
			clear(done[:n])
			done = done[n:]
		}
		if cap(batch) <= maxSpare {
			l.mu.Lock()
			l.spare = batch[:0]
			l.mu.Unlock()
		}
	}
}

func (c *Conn) take(s *step) {
	switch {
	case s.call != nil && s.next != nil && s.next.busy():
		c.push(s.next, step{call: s.call})
	case s.call != nil:
		s.call.deliver(s.call.waiting)
	case s.req != nil:
		c.work.add()
		go c.serve(s.req)
	case s.opening != nil:
		s.opening.run(c)
		c.endOpening()
	default:
		c.notify(s)
	}
}

// notify runs the handler of a notification.
func (c *Conn) notify(s *step) {
	n := cap(s.buf.b)
	if !c.closing() {
		if err := c.handleNotification(s.method, s.params); err != nil && !c.handledHere(s.method, err) {
			kind := FaultHandler
			switch {
			case errors.Is(err, &acp.Error{Code: acp.ErrorCodeMethodNotFound}):
				kind = FaultUnknownMethod
			case errors.Is(err, &acp.Error{Code: acp.ErrorCodeInvalidParams}):
				kind = FaultParams
			}
			c.fault(kind, err, s.buf.b)
		}
	}
	if s.buf.isLarge() {
		s.buf.free()
		s.buf = nil
	}
	c.flow.sub(n)
}

func (c *Conn) handleNotification(method string, params []byte) (err error) {
	if c.h == nil {
		return acp.MethodNotFound(method)
	}
	defer recovered(method, &err)
	return c.h.HandleNotification(c.base, method, params)
}

// recovered turns a panic of a handler into an error.
func recovered(method string, err *error) {
	if v := recover(); v != nil {
		stack := make([]byte, 16<<10)
		stack = stack[:goruntime.Stack(stack, false)]
		*err = &PanicError{Method: method, Value: v, Stack: stack}
	}
}

func (c *Conn) closing() bool {
	select {
	case <-c.hurry:
		return true
	default:
		return false
	}
}
