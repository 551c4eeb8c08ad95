// Package redial keeps a client connected to an agent: when the connection
// breaks it is re-established, and the sessions are resumed.
//
// The first connection settles the version of the protocol; later ones keep to
// it. See https://agentclientprotocol.com/protocol/session-setup.
package redial

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

const (
	attempt = 2 * time.Minute // for one attempt to connect and initialize
	settled = time.Second     // for calls to return after their connection has ended
)

// Options says how to connect, and how often to retry.
type Options struct {
	// Dial opens a transport to the agent.
	Dial func(context.Context) (transport.Transport, error)
	// Versions are the protocol versions to offer, at least one. The handler of
	// the agreed one gets the agent's messages on every connection.
	Versions []rpc.ClientVersion
	// Conn configures every connection.
	Conn rpc.Options
	// Attempts is how often a broken connection is retried; default 10. Negative
	// means never: the client then ends as the connection did.
	Attempts int
	// Pause is the wait after the first failed attempt, 250 ms; it doubles up to
	// LongestPause, 30 s. A random part spreads out the clients of one server. A
	// re-established connection that did not last for LongestPause also counts as
	// a failed attempt.
	Pause, LongestPause time.Duration
	// OnEvent is called with each event, one at a time and in order. Nothing
	// continues until it returns. It must not call the client.
	OnEvent func(Event)
}

// EventKind says what happened to a connection.
type EventKind uint8

// The kinds of event, in the order of a reconnect.
const (
	Broken    EventKind = iota // the connection ended; Err says why
	Failed                     // an attempt failed, or its connection did not last (Options.Pause); Err says why, and the next one follows after Wait
	Replaying                  // the history of Session is about to be repeated from the start, so discard it
	Restored                   // Session continues
	Lost                       // Session cannot be resumed; Err says why
	Connected                  // calls work again; not sent for the first connection, which Connect returns
	GaveUp                     // the end; Err is a *GaveUpError
)

var kinds = [...]string{"broken", "failed", "replaying", "restored", "lost", "connected", "gave up"}

func (k EventKind) String() string { return kinds[k] }

// Event says what happened to a connection or one of its sessions.
type Event struct {
	Kind    EventKind
	Session acp.SessionID
	Err     error
	Wait    time.Duration
	Answer  acp.Appender // of session/load or session/resume, when Restored
}

// GaveUpError ends a client that could not reconnect.
type GaveUpError struct {
	Attempts int
	Err      error // of the last attempt
}

func (e *GaveUpError) Error() string {
	if e.Attempts == 1 {
		return "cannot reconnect: " + e.Err.Error()
	}
	return fmt.Sprintf("cannot reconnect after %d attempts: %v", e.Attempts, e.Err)
}

func (e *GaveUpError) Unwrap() error { return e.Err }

// ErrCannotRestore says that a session is lost because the agent offers neither
// session/load nor session/resume.
var ErrCannotRestore = errors.New("the agent can neither load nor resume sessions")

// Client is a connection to an agent that is re-established when it breaks. It
// implements acp.Caller and is safe for concurrent use.
//
// A call that waits for its answer when the connection breaks fails with a
// *rpc.ClosedError: nobody knows whether the agent acted on it. Calls made
// while there is no connection wait for the next one.
//
// A session with unfinished work is loaded if the agent supports that (in
// version 2: resumed with a replay), because the history repeats the missed
// updates. Any other session is resumed if the agent supports that, which
// repeats nothing. Everything that the old connection delivered is handled
// before either begins. No update is lost or mixed up as long as the receiver
// discards what it has on Replaying. Unfinished work is a prompt without an
// answer and, in version 2, work that the agent last reported for the session.
type Client struct {
	opts   Options
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan struct{}

	mu       sync.Mutex
	conn     *rpc.Conn     // nil while there is none
	changed  chan struct{} // closed and replaced when conn changes
	protocol acp.Protocol
	agent    acp.Appender
	sessions map[acp.SessionID]*session
	waiting  int           // calls
	returned chan struct{} // closed when there are none; nil: nobody has asked
}

var _ acp.Caller = (*Client)(nil)

// Connect connects for the first time. Errors are those of Dial and of the
// initialize request, including *rpc.VersionError. It does not retry.
func Connect(ctx context.Context, opts Options) (*Client, error) {
	opts.Attempts = cmp.Or(opts.Attempts, 10)
	opts.Pause = cmp.Or(opts.Pause, 250*time.Millisecond)
	opts.LongestPause = cmp.Or(opts.LongestPause, 30*time.Second)
	if opts.OnEvent == nil {
		opts.OnEvent = func(Event) {}
	}
	c := &Client{
		opts: opts, done: make(chan struct{}), changed: make(chan struct{}),
		sessions: map[acp.SessionID]*session{},
	}
	c.opts.Versions = slices.Clone(opts.Versions)
	for i, v := range c.opts.Versions {
		if v.Protocol.Version() > 1 {
			c.opts.Versions[i].Handler = watch{v.Handler, c}
		}
	}
	conn, agent, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.use(conn, agent)
	go c.keep(conn)
	return c, nil
}

// dial makes one connection. Sessions belong to a version, so the first one
// settles it.
func (c *Client) dial(ctx context.Context) (*rpc.Conn, acp.Appender, error) {
	versions := rpc.NewClientVersions(c.opts.Versions...)
	t, err := c.opts.Dial(ctx)
	if err != nil {
		return nil, nil, err
	}
	conn := rpc.NewConn(t, versions, c.opts.Conn)
	protocol, agent, err := versions.Initialize(ctx, conn)
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	if c.protocol == nil {
		i := slices.IndexFunc(c.opts.Versions, func(v rpc.ClientVersion) bool { return v.Protocol == protocol })
		c.protocol, c.opts.Versions = protocol, c.opts.Versions[i:i+1]
	}
	return conn, agent, nil
}

func (c *Client) use(conn *rpc.Conn, agent acp.Appender) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = conn
	if agent != nil {
		c.agent = agent
	}
	close(c.changed)
	c.changed = make(chan struct{})
}

// Agent returns the protocol version, and how the agent described itself on the
// current or last connection: an *InitializeResponse of that version.
func (c *Client) Agent() (acp.Protocol, acp.Appender) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.protocol, c.agent
}

// Done is closed when the client has ended: Close was called, or it gave up.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err says why the client ended: a *GaveUpError, rpc.ErrClosed, or without
// retries the error of Conn.Err. It is nil before.
func (c *Client) Err() error { return context.Cause(c.ctx) }

// Close ends the client and its connection.
func (c *Client) Close() error {
	c.cancel(rpc.ErrClosed)
	<-c.done
	return nil
}

// keep re-establishes the connection until the client ends.
func (c *Client) keep(conn *rpc.Conn) {
	defer close(c.done)
	var tried tries
	for conn != nil {
		began := time.Now()
		select {
		case <-conn.Done():
		case <-c.ctx.Done():
		}
		cause := conn.Err()
		conn.Close()
		if c.ctx.Err() != nil {
			break
		}
		if c.opts.Attempts < 0 {
			c.cancel(cause)
			break
		}
		c.settle()
		c.broke()
		c.opts.OnEvent(Event{Kind: Broken, Err: cause})
		if time.Since(began) >= c.opts.LongestPause {
			tried = tries{}
		}
		if tried.count > 0 && !c.failed(&tried, cause) {
			break
		}
		conn = c.again(&tried)
	}
	c.use(nil, nil)
}

// enter counts a call, leave ends it.
func (c *Client) enter() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting++
}

func (c *Client) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting--; c.waiting == 0 && c.returned != nil {
		close(c.returned)
		c.returned = nil
	}
}

// settle waits until the calls of a connection that has ended have recorded their outcome: a
// prompt whose answer was the last message is not unfinished. Middleware may keep a call.
func (c *Client) settle() {
	c.mu.Lock()
	if c.waiting == 0 {
		c.mu.Unlock()
		return
	}
	returned := make(chan struct{})
	c.returned = returned
	c.mu.Unlock()
	select {
	case <-returned:
	case <-time.After(settled):
	case <-c.ctx.Done():
	}
}

// broke records that there is no connection, and which sessions were cut short.
func (c *Client) broke() {
	c.use(nil, nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.sessions {
		s.cut = s.cut || s.turns > 0 || s.working
		s.turns, s.working = 0, false
	}
}

// tries are those since a connection lasted.
type tries struct {
	count int
	pause time.Duration // before the last one
}

// again reconnects; nil when the client has ended.
func (c *Client) again(tried *tries) *rpc.Conn {
	for {
		tried.count++
		ctx, cancel := context.WithTimeout(c.ctx, attempt)
		conn, agent, err := c.dial(ctx)
		cancel()
		if err == nil {
			if err = c.restore(conn, agent); err == nil {
				c.use(conn, agent)
				c.opts.OnEvent(Event{Kind: Connected})
				return conn
			}
			conn.Close()
			c.broke()
		}
		if c.ctx.Err() != nil || !c.failed(tried, err) {
			return nil
		}
	}
}

// failed waits before the next attempt; false if there is none.
func (c *Client) failed(tried *tries, err error) bool {
	if tried.count >= c.opts.Attempts || permanent(err) {
		gaveUp := &GaveUpError{Attempts: tried.count, Err: err}
		c.cancel(gaveUp)
		c.opts.OnEvent(Event{Kind: GaveUp, Err: gaveUp})
		return false
	}
	if tried.pause = min(2*tried.pause, c.opts.LongestPause); tried.pause == 0 {
		tried.pause = c.opts.Pause
	}
	wait := tried.pause/2 + rand.N(tried.pause)
	c.opts.OnEvent(Event{Kind: Failed, Err: err, Wait: wait})
	select {
	case <-time.After(wait):
		return true
	case <-c.ctx.Done():
		return false
	}
}

// permanent reports whether retrying is pointless: the agent refused, or a
// server that would refuse again.
func permanent(err error) bool {
	var refusal *acp.Error
	var version *rpc.VersionError
	var p interface{ Permanent() bool }
	return errors.As(err, &refusal) && refusal.Code != acp.ErrorCodeInternalError ||
		errors.As(err, &version) || errors.As(err, &p) && p.Permanent()
}

// abilities are the ways in which an agent can resume a session.
type abilities struct{ load, resume, replay bool }

func abilitiesOf(agent acp.Appender) (can abilities) {
	var said struct {
		AgentCapabilities struct { // version 1
			LoadSession         bool `json:"loadSession"`
			SessionCapabilities struct {
				Resume *struct{} `json:"resume"`
			} `json:"sessionCapabilities"`
		} `json:"agentCapabilities"`
		Capabilities struct { // version 2, where any session can be resumed and replayed
			Session *struct{} `json:"session"`
		} `json:"capabilities"`
	}
	json.Unmarshal(agent.AppendJSON(nil), &said) // cannot fail: it has the type of a version
	can.load = said.AgentCapabilities.LoadSession
	can.replay = said.Capabilities.Session != nil
	can.resume = can.replay || said.AgentCapabilities.SessionCapabilities.Resume != nil
	return can
}

// restore resumes the sessions. An error means that the connection broke again.
func (c *Client) restore(conn *rpc.Conn, agent acp.Appender) error {
	c.mu.Lock()
	sessions := maps.Clone(c.sessions)
	maps.DeleteFunc(sessions, func(_ acp.SessionID, s *session) bool { return s.opening }) // its call fails
	c.mu.Unlock()
	can := abilitiesOf(agent)
	for id, s := range sessions {
		answer, err := c.takeUp(conn, id, s, can)
		var refused *acp.Error
		switch {
		case err == nil:
			c.opts.OnEvent(Event{Kind: Restored, Session: id, Answer: answer})
		case errors.As(err, &refused) || err == ErrCannotRestore:
			c.forget(id)
			c.opts.OnEvent(Event{Kind: Lost, Session: id, Err: err})
		default:
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range sessions {
		s.cut = false
	}
	return nil
}

func (c *Client) takeUp(conn *rpc.Conn, id acp.SessionID, s *session, can abilities) (acp.Appender, error) {
	params := acp.Extra(bytes.Clone(s.setup))
	params.Set("sessionId", acp.StringID(string(id)).AppendJSON(nil)) // cannot fail: it is JSON
	method := acp.MethodSessionResume
	switch {
	case can.load && (s.cut || !can.resume):
		method = acp.MethodSessionLoad
	case !can.resume:
		return nil, ErrCannotRestore
	case can.replay && s.cut:
		params.Set("replayFrom", json.RawMessage(`{"type":"start"}`))
	}
	if method == acp.MethodSessionLoad || s.cut && can.replay {
		c.opts.OnEvent(Event{Kind: Replaying, Session: id})
	}
	var answer acp.Raw
	err := conn.Call(c.ctx, method, acp.Raw(params), &answer)
	return answer, err
}

func (c *Client) forget(id acp.SessionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sessions, id)
}

// current waits for a connection.
func (c *Client) current(ctx context.Context, method string) (*rpc.Conn, error) {
	for {
		c.mu.Lock()
		conn, changed := c.conn, c.changed
		c.mu.Unlock()
		if err := c.Err(); err != nil {
			return nil, &rpc.ClosedError{Method: method, Cause: err}
		}
		if conn != nil && conn.Err() == nil {
			return conn, nil
		}
		select {
		case <-changed:
		case <-c.ctx.Done():
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: no connection: %w", method, ctx.Err())
		}
	}
}

// Call implements acp.Caller. Besides the errors of rpc.Conn.Call it returns a
// *rpc.ClosedError with the cause *GaveUpError.
func (c *Client) Call(ctx context.Context, method string, params acp.Appender, result json.Unmarshaler) error {
	conn, err := c.current(ctx, method)
	if err != nil {
		return err
	}
	c.enter()
	defer c.leave()
	ctx, finish := c.begin(ctx, method, params)
	err = conn.Call(ctx, method, params, result)
	finish(err)
	return err
}

// Start queues a request on the current connection, as rpc.Conn.Start does. The
// caller must Wait for the answer.
func (c *Client) Start(ctx context.Context, method string, params acp.Appender) (*Call, error) {
	conn, err := c.current(ctx, method)
	if err != nil {
		return nil, err
	}
	ctx, finish := c.begin(ctx, method, params)
	call, err := conn.Start(ctx, method, params)
	if err != nil {
		finish(err)
		return nil, err
	}
	return &Call{c, call, finish}, nil
}

// Call is a request that was started.
type Call struct {
	client *Client
	call   *rpc.Call
	finish func(error)
}

// Wait is rpc.Call.Wait.
func (k *Call) Wait(ctx context.Context, result json.Unmarshaler) error {
	k.client.enter()
	defer k.client.leave()
	err := k.call.Wait(ctx, result)
	k.finish(err)
	return err
}

// Notify implements acp.Caller.
func (c *Client) Notify(ctx context.Context, method string, params acp.Appender) error {
	conn, err := c.current(ctx, method)
	if err != nil {
		return err
	}
	return conn.Notify(ctx, method, params)
}
