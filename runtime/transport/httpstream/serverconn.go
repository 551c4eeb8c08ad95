package httpstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/internal/envelope"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

const (
	maxStreams = 1024             // of a connection
	maxPending = 4096             // unanswered requests of a connection, each way
	linger     = 10 * time.Second // to send what is queued after the agent has ended
)

// ErrAbandoned ends a connection whose client has had no open stream and sent
// nothing for a while.
var ErrAbandoned = errors.New("the client is gone")

// errEnded is what Read returns after the client ended the connection.
var errEnded = fmt.Errorf("ended by the client: %w", io.EOF)

// serverConn is the server's side of a connection, the transport that Handle
// gets. Read returns what the client posts; Write sorts messages into the
// streams.
type serverConn struct {
	s      *Server
	id     string
	ctx    context.Context // ends when nothing more can be sent or received
	cancel context.CancelCauseFunc
	in     chan []byte // from POST to Read

	mu       sync.Mutex
	streams  map[string]*mailbox // by session; "" is the mailbox of the connection
	over     bool                // nothing more is counted in what the server keeps
	queued   int                 // bytes that wait to be sent
	progress chan struct{}       // closed and replaced when something was sent
	routes   map[string]string   // client's requests: the session their answer goes to
	replays  map[string]string   // of those, session/load: the session that is replayed
	asked    map[string]string   // agent's requests: the session they came from
	finished bool                // the agent has ended
	closed   chan struct{}       // closed then
	busy     int                 // requests of the client in progress
	idle     *time.Timer         // runs while there are none

	initKey  string // id of initialize, until it is answered
	init     []byte // the answer, once answered is closed
	answered chan struct{}
}

func newServerConn(s *Server, id, initKey string) *serverConn {
	c := &serverConn{
		s: s, id: id, in: make(chan []byte), streams: map[string]*mailbox{}, progress: make(chan struct{}),
		routes: map[string]string{}, replays: map[string]string{}, asked: map[string]string{}, closed: make(chan struct{}),
		initKey: initKey, answered: make(chan struct{}), busy: 1,
	}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.streams[""] = c.newMailbox()
	c.idle = time.AfterFunc(time.Hour, func() { c.abort(ErrAbandoned) })
	c.idle.Stop()
	context.AfterFunc(c.ctx, func() {
		c.idle.Stop()
		s.forget(c)
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, m := range c.streams {
			m.keep(-m.kept)
		}
		c.over = true
	})
	return c
}

// Read implements transport.Transport.
func (c *serverConn) Read(buf []byte) ([]byte, error) {
	select {
	case msg := <-c.in:
		return append(buf[:0], msg...), nil
	case <-c.closed:
		return buf[:0], transport.ErrClosed
	case <-c.ctx.Done():
		if err := context.Cause(c.ctx); err != errEnded {
			return buf[:0], err
		}
		return buf[:0], io.EOF
	}
}

// post hands a message of the client to Read.
func (c *serverConn) post(ctx context.Context, msg []byte) error {
	select {
	case c.in <- msg:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.closed:
		return transport.ErrClosed
	case <-c.ctx.Done():
		return transport.ErrClosed
	}
}

// Write implements transport.Transport. Anything that is not a message is logged, and dropped
// unless it begins as an answer or a request: the client gets an error for the one, and the agent
// for the other. It waits while the client is too far behind, and ends the connection if that
// lasts.
func (c *serverConn) Write(msg []byte) error {
	if !utf8.Valid(msg) {
		msg = bytes.ToValidUTF8(msg, []byte("\uFFFD")) // as over WebSocket
	}
	e, err := envelope.Parse(msg)
	if err != nil {
		c.s.warn("message of the agent dropped", "connection", c.id, "reason", err)
		if e = envelope.Beginning(msg); e.ID == nil || e.Method == nil && !e.Answers {
			return nil
		}
		msg = envelope.Failure(e.ID, "the agent has sent what cannot be read: "+err.Error(), nil)
		if e.Method != nil {
			go c.post(c.ctx, msg) // the agent may not read before it has written
			return nil
		}
	}
	if err := c.room(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.finished || c.ctx.Err() != nil:
		return c.ended()
	case e.IsAnswer():
		return c.answer(&e, msg)
	}
	session := e.Session()
	if !sound(session) {
		session = ""
	}
	if e.IsRequest() && len(c.asked) < maxPending {
		c.asked[e.Key()] = session
	}
	return c.put(session, event{msg: bytes.Clone(msg)})
}

// answer sorts an answer to the client. The lock is held.
func (c *serverConn) answer(e *envelope.Envelope, msg []byte) error {
	key := e.Key()
	if c.initKey != "" && key == c.initKey {
		c.initKey = ""
		c.init = bytes.Clone(msg)
		close(c.answered)
		return nil
	}
	session, replayed := c.routes[key], c.replays[key]
	delete(c.routes, key)
	delete(c.replays, key)
	out := event{msg: bytes.Clone(msg)}
	if id := e.NewSession(); id != "" && !sound(id) {
		c.s.warn("session id cannot travel in a header", "connection", c.id)
		out.msg = envelope.Failure(e.ID, "the agent's session id is too long or holds unusual characters, it cannot be used over HTTP", nil)
	}
	if m := c.streams[replayed]; replayed != "" && m != nil && m.waiting() {
		out.after, out.upTo = m, m.last()
	}
	return c.put(session, out)
}

// put queues an event. The lock is held.
func (c *serverConn) put(session string, e event) error {
	m := c.streams[session]
	if m == nil {
		if m = c.open(session); m == nil {
			err := fmt.Errorf("more than %d sessions on one connection", maxStreams)
			c.abort(err)
			return err
		}
	}
	m.push(e)
	return nil
}

// open creates a stream. If there are too many, it replaces one that has
// nothing to send; nil if there is none. The lock is held.
func (c *serverConn) open(session string) *mailbox {
	if len(c.streams) >= maxStreams {
		for id, m := range c.streams {
			if id != "" && m.receiver == nil && !m.waiting() {
				m.keep(-m.kept)
				delete(c.streams, id)
				break
			}
		}
		if len(c.streams) >= maxStreams {
			return nil
		}
	}
	m := c.newMailbox()
	c.streams[session] = m
	return m
}

// room waits until what is queued is below the limit.
func (c *serverConn) room() error {
	stall := time.NewTimer(c.s.stall())
	defer stall.Stop()
	for {
		c.mu.Lock()
		full, progress := c.queued >= c.s.maxQueued(), c.progress
		c.mu.Unlock()
		if !full {
			return nil
		}
		select {
		case <-progress:
			stall.Reset(c.s.stall())
		case <-c.closed:
			return transport.ErrClosed
		case <-c.ctx.Done():
			return c.ended()
		case <-stall.C:
			c.abort(transport.ErrStalled)
			return transport.ErrStalled
		}
	}
}

// progressed wakes those that wait in room. The lock is held.
func (c *serverConn) progressed() {
	close(c.progress)
	c.progress = make(chan struct{})
}

func (c *serverConn) ended() error {
	if err := context.Cause(c.ctx); err != nil && err != errEnded {
		return err
	}
	return transport.ErrClosed
}

// acquire creates a receiver for a stream, or returns the status of the
// refusal. after, if set, is the number of the last event that the client has.
func (c *serverConn) acquire(session string, after *uint64) (*mailbox, *receiver, int, string) {
	for {
		c.mu.Lock()
		m := c.streams[session]
		switch {
		case c.ctx.Err() != nil || c.finished && (m == nil || !m.waiting()):
			c.mu.Unlock()
			return nil, nil, http.StatusNotFound, unknownConnection
		case m == nil:
			if m = c.open(session); m == nil {
				c.mu.Unlock()
				return nil, nil, http.StatusTooManyRequests, fmt.Sprintf("more than %d streams", maxStreams)
			}
		}
		old := m.receiver
		if old == nil {
			if after != nil && !m.seek(*after) {
				c.mu.Unlock()
				return nil, nil, http.StatusGone, "what follows that event is no longer kept"
			}
			me := &receiver{stop: make(chan struct{}), gone: make(chan struct{})}
			m.receiver = me
			c.mu.Unlock()
			return m, me, http.StatusOK, ""
		}
		if after == nil {
			c.mu.Unlock()
			return nil, nil, http.StatusConflict, "the stream is open already"
		}
		select {
		case <-old.stop:
		default:
			close(old.stop)
		}
		c.mu.Unlock()
		select {
		case <-old.gone:
		case <-time.After(takeOverFor):
			return nil, nil, http.StatusConflict, "the stream is open already"
		}
	}
}

// release ends a receiver.
func (c *serverConn) release(m *mailbox, me *receiver) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m.receiver = nil
	close(me.gone)
	if c.finished && c.drained() {
		c.cancel(transport.ErrClosed)
	}
}

// drained reports whether everything was sent. The lock is held.
func (c *serverConn) drained() bool {
	for _, m := range c.streams {
		if m.waiting() || m.receiver != nil {
			return false
		}
	}
	return true
}

// enter counts a request of the client, leave ends it.
func (c *serverConn) enter() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy++
	c.idle.Stop()
}

func (c *serverConn) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy--; c.busy == 0 && c.ctx.Err() == nil {
		c.idle.Reset(c.s.abandon())
	}
}

// Close implements transport.Transport: the agent has ended. Streams end once
// the queued messages have been sent, at the latest after ten seconds.
func (c *serverConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.finished {
		return nil
	}
	c.finished = true
	close(c.closed)
	for _, m := range c.streams {
		m.signal()
	}
	if c.initKey != "" || c.drained() {
		c.cancel(transport.ErrClosed)
		return nil
	}
	late := time.AfterFunc(linger, func() { c.abort(transport.ErrClosed) })
	context.AfterFunc(c.ctx, func() { late.Stop() })
	return nil
}

// abort ends the connection at once.
func (c *serverConn) abort(cause error) { c.cancel(cause) }
