package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/machine"
	"github.com/hermes-nvim/hermes/plugin/announced"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/serve"
	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/traffic"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/redial"
)

// connection is one agent: its process, what it can do and its sessions.
type connection struct {
	agents *Agents
	name   string
	cmd    setup.Command
	ctx    context.Context // ends with stop or when the agent is gone
	end    context.CancelCauseFunc
	over   chan struct{} // closed when everything is cleaned up
	up     chan struct{} // closed when wire and init are set
	wire   *redial.Client
	proc   atomic.Pointer[launch.Process] // the current or last one; nil when the agent runs elsewhere

	carried atomic.Pointer[func() bool] // whether a program that reaches another place has once answered for the agent

	client *serve.Client // what serves the agent

	mu       sync.Mutex
	state    machine.Machine[connectionEvent, connectionState]
	init     []byte        // answer to initialize, for connect calls that come later
	waiting  []func(error) // operations that came before ready, in order
	flushing bool          // they are being let go
	sessions map[acp.SessionID]*serve.Session
	ending   bool
	stopped  error         // why stop was called, nil before
	err      error         // why it is over
	login    chan struct{} // closed when the last login or logout is answered; nil before one

	faults traffic.Faults
	tap    traffic.Tap

	pool *pool // it belongs to
}

func newConnection(ctx context.Context, a *Agents, name string, cmd setup.Command) *connection {
	c := &connection{
		agents:   a,
		name:     name,
		cmd:      cmd,
		over:     make(chan struct{}),
		up:       make(chan struct{}),
		state:    machine.New(connectionStates, stateDisconnected),
		sessions: make(map[acp.SessionID]*serve.Session),
	}
	c.pool = &pool{first: c}
	c.ctx, c.end = context.WithCancelCause(ctx)
	c.client = serve.NewClient(serve.Options{
		Agent: name, Command: cmd, RunAccess: c.runAccess, Context: c.ctx, Session: c.session,
		Editor: a.Editor, Asks: a.Asks, Rules: a.Rules, Policy: a.Policy, Reviews: a.Reviews, Keeper: a.Keeper,
		Permissions: func() *setup.Permissions { return &a.Config().Permissions },
	})
	// Together with the agent, not after it: Neovim may be gone, and then there
	// is little time.
	a.Start(func() {
		<-c.ctx.Done()
		c.client.Close()
	})
	c.faults = traffic.Faults{Editor: a.Editor, Agent: name, Context: c.ctx, Stopped: func() bool { return c.Left() != nil }}
	c.tap = traffic.Tap{Listening: a.Traffic, Editor: a.Editor, Agent: name, Context: c.ctx}
	return c
}

func (c *connection) finishConnect(id string, err error) {
	if err != nil {
		c.agents.Fail(id, err)
		return
	}
	c.mu.Lock()
	init := c.init
	c.mu.Unlock()
	c.agents.Done(id, init)
}

// run brings the agent up, waits for its end and cleans up.
func (c *connection) run() {
	stage, err := c.bringUp()
	if err != nil {
		err = c.endedBy(err)
		c.setEnding()
		c.finish(err)
		if c.isFirst() {
			c.agents.Push(new(wire.Object).Str("agent", c.name).Str("stage", stage).
				Str("error", err.Error()).Item(events.ConnectionFailed))
		}
		return
	}
	c.becomeReady()
	close(c.up)
	select {
	case <-c.wire.Done():
		err = cause(c.wire.Err())
	case <-c.ctx.Done():
		err = context.Cause(c.ctx)
	}
	err = c.endedBy(err)
	c.setEnding()
	sessions := c.open()
	c.finish(err)
	c.tellEnd(err, sessions) // last, so that a listener can connect again at once
}

func (c *connection) bringUp() (stage string, err error) {
	c.on(connectionStarts, nil)
	limit := c.agents.Config().Timeouts.Initialize.Or(time.Minute)
	ctx, cancel := context.WithTimeout(c.ctx, limit)
	defer cancel()
	c.wire, err = c.dial(ctx)
	c.mu.Lock()
	started := c.state.State() == stateInitializing
	c.mu.Unlock()
	switch {
	case err == nil:
		c.noteInit()
		if c.isFirst() {
			c.agents.Push(wire.From(c.init).Str("agent", c.name).Item(events.Reply(acp.MethodInitialize)))
		}
		return "", nil
	case !started:
		return "start", err
	case errors.Is(err, context.DeadlineExceeded):
		err = &wire.Error{Kind: wire.ErrorTimeout, Message: fmt.Sprintf("agent %q did not answer initialize within %v", c.name, limit), Cause: hint(c.proc.Load())}
	default:
		err = &wire.Error{Kind: wire.ErrorInitialize, Message: fmt.Sprintf("agent %q could not be initialized", c.name), Cause: cause(err)}
	}
	return "initialize", err
}

// noteInit keeps the agent's answer to initialize. A program that carries messages here,
// such as ssh, still runs at that moment, and is noticed.
func (c *connection) noteInit() {
	if proc, was := c.proc.Load(), c.carried.Load(); proc != nil {
		is := sync.OnceValue(func() bool {
			return was != nil && (*was)() || slices.ContainsFunc(proc.Programs(), setup.NamesCarrier)
		})
		c.carried.Store(&is)
		go is() // all processes of the machine are looked at, and nobody asks yet
	}
	_, agent := c.wire.Agent()
	init := agent.AppendJSON(nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.init = init
}

// becomeReady lets the operations that waited go, in their order.
func (c *connection) becomeReady() {
	c.mu.Lock()
	c.flushing = true
	c.mu.Unlock()
	c.on(connectionReady, nil)
	for {
		c.mu.Lock()
		list := c.waiting
		c.waiting = nil
		c.flushing = len(list) > 0
		c.mu.Unlock()
		if len(list) == 0 {
			break
		}
		for _, f := range list {
			f(nil)
		}
	}
	for _, s := range c.open() {
		s.Resume()
	}
}

// Ready reports whether nothing waits for the agent.
func (c *connection) Ready() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.State() == stateReady && !c.flushing
}

// whenReady runs f once the agent is initialized, or with the reason why it
// never will be. f must not block.
func (c *connection) whenReady(f func(error)) {
	c.mu.Lock()
	if c.err == nil && (c.state.State() != stateReady || c.flushing) {
		c.waiting = append(c.waiting, f)
		c.mu.Unlock()
		return
	}
	err := c.err
	c.mu.Unlock()
	f(err)
}

// finish fails everything that still waits and forgets the connection.
func (c *connection) finish(err error) {
	c.end(err) // what waits for the connection must not hold up its end
	if c.wire != nil {
		c.on(connectionCloses, nil)
		c.wire.Close()
	}
	c.agents.forget(c)

	c.mu.Lock()
	c.err = err
	waiting := c.waiting
	c.waiting = nil
	sessions := c.sessions
	c.sessions = nil
	c.mu.Unlock()
	for _, f := range waiting {
		f(err)
	}
	for id, s := range sessions {
		c.agents.endRules(id)
		s.End(err)
		s.Wait() // its call has failed
	}
	for _, o := range c.pool.endingWith(c) {
		<-o.over
	}
	c.on(connectionEnded, nil)
	close(c.over)
}

// setEnding makes the next connect start the agent anew. It comes before the
// event that reports the end.
func (c *connection) setEnding() {
	c.mu.Lock()
	c.ending = true
	c.mu.Unlock()
}

func (c *connection) isEnding() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ending || c.ctx.Err() != nil
}

// stop ends the connection; run does the rest. The cancels are on their way
// before the calls fail. The end of the turns is awaited where the agent runs.
func (c *connection) stop(cause error) {
	c.mu.Lock()
	if c.stopped == nil {
		c.stopped = cause
	}
	c.mu.Unlock()
	c.cancelTurns()
	for _, o := range c.pool.endingWith(c) {
		o.cancelTurns()
	}
	c.end(cause)
}

// cancelTurns cancels the turns of the agent, unless they go on elsewhere. It never
// waits.
func (c *connection) cancelTurns() {
	if setup.Is(c.cmd.Quirks.Elsewhere) {
		return
	}
	select {
	case <-c.up:
	default:
		return
	}
	for _, s := range c.open() {
		if !s.AtWork() {
			continue
		}
		if err := c.Cancel(s.ID()); err != nil {
			c.agents.Log.Info("cancel was not sent", "agent", c.name, "session", s.ID(), "error", err)
		}
	}
}

// Why is the reason for which the connection was stopped or has ended, nil for
// one that goes on. Later failures have this reason, whatever their own errors
// say.
func (c *connection) Why() error {
	c.mu.Lock()
	stopped := c.stopped
	c.mu.Unlock()
	switch {
	case stopped != nil:
		return stopped
	case !c.isFirst() && c.pool.first.Why() != nil:
		return c.pool.first.Why()
	}
	return context.Cause(c.ctx)
}

// Left is Why if the user ended the connection, otherwise nil.
func (c *connection) Left() error {
	why := c.Why()
	if op := (*wire.Error)(nil); errors.As(why, &op) && op.ByUser() {
		return why
	}
	return nil
}

// endedBy is Why for a connection that ends, by err if by nothing before it.
func (c *connection) endedBy(err error) error {
	c.end(err)
	return c.Why()
}

// mayRunElsewhere reports whether the agent may run elsewhere, by how it is started and by
// what runs since.
func (c *connection) mayRunElsewhere() bool {
	carried := c.carried.Load()
	return carried != nil && (*carried)() || c.cmd.MayRunElsewhere()
}

// runAccess says whether the agent may run commands here.
func (c *connection) runAccess() setup.RunAccess {
	return c.agents.Config().Permissions.RunAccess(c.cmd, c.mayRunElsewhere())
}

func (c *connection) initialize() *acp.InitializeRequest {
	can := c.agents.Config().Permissions.Capabilities(c.runAccess())
	if announced.MayLogIn(&c.cmd, c.mayRunElsewhere()) {
		can.Auth = &acp.AuthCapabilities{Terminal: true}
	}
	return &acp.InitializeRequest{
		ClientCapabilities: can,
		ClientInfo:         &acp.Implementation{Name: "hermes.nvim", Title: acp.Some("Hermes"), Version: c.agents.Version},
	}
}

// on changes the state as the event says; reason is nil for none.
func (c *connection) on(e connectionEvent, reason error) {
	c.mu.Lock()
	from, to := c.state.On(e)
	c.mu.Unlock()
	if from == to || !c.isFirst() {
		return
	}
	o := new(wire.Object).Str("agent", c.name).Str("from", string(from)).Str("to", string(to))
	if reason != nil {
		o.Str("reason", reason.Error())
	}
	if sandbox := c.cmd.Boxed(); sandbox != nil && e == connectionStarts {
		o.Object("sandbox", sandbox)
	}
	c.agents.Push(o.Item(events.StateChanged))
}
