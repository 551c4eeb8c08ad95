// Package rpc is the engine under an ACP client or agent: one connection
// that keeps order, loses nothing, stays within its limits and cannot be hurt
// by its peer. Package acp has the messages, package transport what carries
// them, package launch the processes at the other end.
//
// Serve runs an agent, and Open connects a client to one. NewConn and Connect are
// for everything else: other versions of the protocol, several at once, raw
// messages.
package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// Conn is one JSON-RPC connection. It is safe for concurrent use and
// implements acp.Caller.
//
// Order. Notifications of one session are handled one at a time in wire order.
// The answer to a call is delivered after the notifications of its session that
// came before it. A request is handled after the notifications of its session
// that came before it, and nothing waits for it but, for a moment, the reading.
// Sessions do not wait for each other; messages that name no session form one
// more such line.
//
// Handlers may call the peer with the context they were given. The answer to a
// call from a notification handler is delivered at once, so that the handler
// does not wait for itself.
//
// Backpressure. When handlers are slow the connection stops reading, by count
// and bytes (Limits, Budget); it neither drops nor closes. While a handler waits
// for an answer it reads on, up to Limits.Ahead times as much.
//
// Cancelling. An outgoing session/cancel or $/cancel_request overtakes what is
// queued, except the request it is about. Ending the context of a Call sends
// $/cancel_request; its late answer is ignored and counted. An outgoing session/cancel
// ends the contexts of the session's questions to the user, with the cause
// ErrSessionCancelled; those that still come before the prompt is answered reach no handler
// and are answered cancelled. An incoming $/cancel_request ends the context of the request;
// session/cancel ends the contexts of the session's prompts, with the same cause, and
// reaches the handler at once, past what is queued.
//
// Faults. Unknown, late and second answers, lines that are not messages and
// panics of handlers are counted and reported (Options), answered where the
// protocol asks for it, and never end the connection. No version of the protocol
// uses JSON-RPC batches: each gets one error, and nothing in it is done. Lone
// surrogate escapes are replaced by U+FFFD, but fs/write_text_file and
// terminal/create are refused then.
//
// End. When the peer is gone, what it sent before is still handled, and
// pending calls fail with *ClosedError after it, at the latest after
// Limits.Grace. A handler that fails because the connection ends, with the error or
// the cause of its context or with the *ClosedError of a call, is not answered: its
// caller gets a *ClosedError too. session/cancel and $/cancel_request that came before
// are answered as always.
type Conn struct {
	t    transport.Transport
	h    acp.Handler
	opts Options
	lim  Limits
	send acp.Caller // the Middleware between Call, Start, Notify and the connection; nil: none
	taps []func(Direction, []byte)

	base         context.Context // of notification handlers; ends with Close
	stopBase     context.CancelCauseFunc
	requests     context.Context // parent of request handlers' contexts
	stopRequests context.CancelCauseFunc

	out   outbox
	calls pending
	in    inbound
	early early
	hand  handshake
	flow  flow
	work  running // lanes and request handlers
	watch watchdog
	count counters
	used  recycled

	// Owned by the goroutine that reads.
	lanes   map[string]*lane
	sweepAt int
	methods map[string]string
	version int     // that the answer to our initialize names; 0 before
	parked  []*Call // calls that fail after what is queued; read after readDone

	endOnce   sync.Once
	closeOnce sync.Once
	cause     error // set before ending is closed
	closeErr  error
	ending    chan struct{}
	hurry     chan struct{} // Close was called
	readDone  chan struct{}
	writeDone chan struct{}
	done      chan struct{}
}

var _ acp.Caller = (*Conn)(nil)

// NewConn starts a connection over t that hands incoming messages to h, and
// owns t from then on. A nil h answers every request with method not found.
func NewConn(t transport.Transport, h acp.Handler, opts Options) *Conn {
	return Connect(t, func(*Conn) acp.Handler { return h }, opts)
}

// Connect is NewConn for a handler that calls the peer: it is made from the
// connection before the first message is read, and must not call the peer until
// that has happened.
func Connect(t transport.Transport, handler func(*Conn) acp.Handler, opts Options) *Conn {
	c := &Conn{
		t: t, opts: opts, lim: opts.Limits.withDefaults(),
		lanes: map[string]*lane{}, sweepAt: 1024, methods: map[string]string{},
		ending: make(chan struct{}), hurry: make(chan struct{}), done: make(chan struct{}),
		readDone: make(chan struct{}), writeDone: make(chan struct{}),
	}
	base := context.WithValue(context.Background(), handlerKey{c}, (*request)(nil))
	c.base, c.stopBase = context.WithCancelCause(base)
	c.requests, c.stopRequests = context.WithCancelCause(base)
	c.out.init(&c.lim)
	c.calls.init()
	c.early.init()
	c.in.init()
	c.flow.init(&c.lim, opts.Budget)
	if l, ok := t.(transport.Limiter); ok {
		l.SetMaxMessage(c.lim.Message)
	}
	c.h = handler(c)
	if c.h != nil && c.h.Side() == acp.SideAgent {
		c.opts.Server, c.opts.Handshake = true, true
	}
	c.through(opts.Middleware)
	c.watch.start(c)
	go c.read()
	go c.write()
	return c
}

// Done is closed when the connection has ended: nothing is sent or received
// any more, and what came before has been handled or Limits.Grace is over.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns a *ClosedError that says why the connection ended, nil while it
// is open.
func (c *Conn) Err() error {
	select {
	case <-c.ending:
		return &ClosedError{Cause: c.cause}
	default:
		return nil
	}
}

// Close ends the connection: pending calls fail, handlers' contexts end, what
// is queued for the peer is written, and the transport is closed. It waits for
// all that, for handlers and for the queue at most Limits.Grace each. What handlers
// return by then is sent, unless they fail because of the end. Handlers
// must not call it, they would wait for themselves; they can start a goroutine
// that does.
func (c *Conn) Close() error {
	c.closeOnce.Do(func() {
		close(c.hurry)
		c.stopBase(&ClosedError{Cause: ErrClosed})
	})
	c.end(ErrClosed)
	<-c.done
	return c.closeErr
}

// end begins the end; the first cause counts.
func (c *Conn) end(cause error) {
	c.endOnce.Do(func() {
		c.cause = cause
		close(c.ending)
		go c.finish()
	})
}

// finish takes the connection down. It runs once.
func (c *Conn) finish() {
	closed := &ClosedError{Cause: c.cause}
	c.stopRequests(closed)
	c.releaseAll(true)
	if !c.orderly() {
		for _, k := range c.calls.takeAll(c.cause) {
			k.deliver(reply{local: k.closed(c.cause)})
		}
	}
	c.flow.end()
	grace := time.NewTimer(c.lim.Grace)
	defer grace.Stop()
	select {
	case <-c.work.idle():
	case <-grace.C:
	}
	for _, k := range c.parkedCalls() {
		k.deliver(reply{local: k.closed(c.cause)})
	}
	c.watch.stop()
	c.out.finish()
	var stalled *StalledError
	if !errors.As(c.cause, &stalled) { // a peer that does not read is not waited for
		wait(c.writeDone, c.lim.Grace)
	}
	c.closeErr = c.t.Close()
	c.out.abort()
	wait(c.writeDone, c.lim.Grace)
	wait(c.readDone, c.lim.Grace)
	close(c.done)
}

// orderly reports whether the reader saw the end, and then waits until it has
// put the failing calls behind what came before.
func (c *Conn) orderly() bool {
	if c.cause == ErrClosed {
		return false
	}
	select {
	case <-c.readDone:
		return true
	case <-time.After(c.lim.Grace / 10):
		return false
	}
}

func (c *Conn) parkedCalls() []*Call {
	select {
	case <-c.readDone:
		return c.parked
	default:
		return nil
	}
}

func wait(done <-chan struct{}, limit time.Duration) {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}

// Call sends a request and decodes the answer into result, which may be nil
// when the answer does not matter. It is Start and Wait in one step. When ctx
// has no deadline of its own, Limits.Initialize and Limits.NewSession apply
// (*TimeoutError).
//
// See https://agentclientprotocol.com/protocol/overview.
func (c *Conn) Call(ctx context.Context, method string, params acp.Appender, result json.Unmarshaler) error {
	if c.send != nil {
		return c.send.Call(c.remembering(ctx, params), method, params, result)
	}
	return c.callPeer(ctx, method, params, result)
}

// callPeer is Call without Middleware.
func (c *Conn) callPeer(ctx context.Context, method string, params acp.Appender, result json.Unmarshaler) error {
	if limit := c.lim.patience(ctx, method); limit > 0 {
		return c.callWithin(ctx, limit, method, params, result)
	}
	k, err := c.startCall(ctx, method, params)
	if err != nil {
		return err
	}
	return k.Wait(ctx, result)
}

// Start queues a request; Wait of the Call returns the answer. A
// session/cancel that is sent after Start has returned reaches the peer after
// the request. ctx bounds the wait for room in the queue. The error is one of
// *ClosedError, *InvalidError, *TooLargeError, *TooDeepError, or the error of
// ctx.
func (c *Conn) Start(ctx context.Context, method string, params acp.Appender) (*Call, error) {
	if c.send != nil {
		return c.startThrough(c.remembering(ctx, params), method, params)
	}
	return c.startCall(ctx, method, params)
}

// startCall is Start without Middleware.
func (c *Conn) startCall(ctx context.Context, method string, params acp.Appender) (*Call, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	k := &Call{c: c, id: c.calls.newID(), method: method, from: c.origin(ctx), done: make(chan reply, 1), opening: newOpening(ctx, method)}
	buf, at, err := c.encode(k.id, method, params)
	if err != nil {
		return nil, err
	}
	k.session = sessionOf(params, buf.b[at:])
	k.first = c.firstAnswered(ctx, method, params)
	if err := c.calls.add(k); err != nil {
		buf.free()
		return nil, err
	}
	if k.session != "" {
		c.known(k.session)
	}
	if k.opening != nil {
		c.beginOpening()
	}
	if k.from != outside {
		c.flow.enter()
		defer c.flow.leave()
	}
	if err := c.out.put(ctx, c.ending, outgoing{buf: buf, id: k.id, session: k.session}); err != nil {
		if !c.calls.remove(k) { // the end of the connection was first: Wait returns it
			return k, nil
		}
		if k.opening != nil {
			c.endOpening()
		}
		if errors.Is(err, errOutboxClosed) {
			return nil, k.closed(c.reason())
		}
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	return k, nil
}

// reason returns why the connection ended, or that it is about to.
func (c *Conn) reason() error {
	select {
	case <-c.ending:
		return c.cause
	default:
		return io.EOF
	}
}

// Notify sends a notification. It returns when the notification is queued; ctx
// bounds the wait for room in the queue and nothing else, so that last updates
// can be sent with a context that was cancelled. session/cancel never waits.
func (c *Conn) Notify(ctx context.Context, method string, params acp.Appender) error {
	if c.send != nil {
		return c.send.Notify(ctx, method, params)
	}
	return c.notifyPeer(ctx, method, params)
}

// notifyPeer is Notify without Middleware.
func (c *Conn) notifyPeer(ctx context.Context, method string, params acp.Appender) error {
	buf, at, err := c.encode(0, method, params)
	if err != nil {
		return err
	}
	if method == acp.MethodSessionCancel {
		session := sessionOf(params, buf.b[at:])
		c.calls.cancelPrompts(session) // not the next prompt, which may be queued behind it
		err = c.out.urgent(outgoing{buf: buf}, func(m *outgoing) bool { return m.id != 0 && m.session == session })
		c.in.endQuestions(session, ErrSessionCancelled) // their answers follow it
	} else {
		err = c.out.put(ctx, c.ending, outgoing{buf: buf})
	}
	switch {
	case errors.Is(err, errOutboxClosed):
		return &ClosedError{Method: method, Cause: c.reason()}
	case err != nil:
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// sendCancel asks the peer to cancel the request id.
func (c *Conn) sendCancel(id int64) {
	buf := newBuffer()
	buf.b, _, _ = appendMessage(buf.b, 0, acp.MethodCancelRequest, &acp.CancelRequestNotification{RequestID: acp.NumberID(id)})
	c.out.urgent(outgoing{buf: buf}, func(m *outgoing) bool { return m.id == id })
}

// encode returns the text of a request, or of a notification when id is 0, and
// where its params begin.
func (c *Conn) encode(id int64, method string, params acp.Appender) (buf *buffer, at int, err error) {
	buf = newBuffer()
	buf.b, at, err = appendMessage(buf.b, id, method, params)
	if err == nil {
		err = c.lim.sendable(buf.b, at)
	}
	if err != nil {
		buf.free()
		return nil, 0, fmt.Errorf("%s: %w", method, err)
	}
	return buf, at, nil
}

// sessionOf returns the session that params name. It parses the text only if
// the type does not know.
func sessionOf(params acp.Appender, text []byte) string {
	if p, ok := params.(acp.SessionParams); ok {
		return p.Session()
	}
	return acp.Raw(text).Session()
}

// appendMessage appends a request, or a notification when id is 0, and returns
// where the params begin. Params that panic, such as a nil pointer in a union,
// are an error of the call.
func appendMessage(b []byte, id int64, method string, params acp.Appender) (_ []byte, at int, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &InvalidError{Err: fmt.Errorf("encoding %T: %v", params, v)}
		}
	}()
	b = append(b, `{"jsonrpc":"2.0",`...)
	if id != 0 {
		b = append(b, `"id":`...)
		b = acp.NumberID(id).AppendJSON(b)
		b = append(b, ',')
	}
	b = append(b, `"method":`...)
	b = acp.StringID(method).AppendJSON(b)
	at = len(b)
	if params != nil {
		b = append(b, `,"params":`...)
		at = len(b)
		b = params.AppendJSON(b)
	}
	return append(b, '}'), at, nil
}
