package host

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
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/redial"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/services"
)

// connection is one agent: its process, what it can do and its sessions.
type connection struct {
	host *Host
	name string
	cmd  setup.Command
	ctx  context.Context // ends with stop or when the agent is gone
	end  context.CancelCauseFunc
	over chan struct{} // closed when everything is cleaned up
	up   chan struct{} // closed when wire and init are set
	wire *redial.Client
	proc atomic.Pointer[launch.Process] // the current or last one; nil when the agent runs elsewhere

	carried atomic.Bool // a program that reaches another place has once answered for the agent

	services *services.Services // files and terminals, when Neovim leaves them to the host

	mu       sync.Mutex
	state    machine.Machine[connectionEvent, connectionState]
	init     []byte        // answer to initialize, for connect calls that come later
	waiting  []func(error) // operations that came before ready, in order
	flushing bool          // they are being let go
	sessions map[acp.SessionID]*session
	ending   bool
	stopped  error // why stop was called, nil before
	err      error // why it is over
	faults   map[rpc.FaultKind]int
	login    chan struct{} // closed when the last login or logout is answered; nil before one

	wireNumber atomic.Int64 // of the connection as it is now, among all that the host has made
	tapping    sync.Mutex
	tapped     int64 // messages seen

	pool *pool // it belongs to
}

func newConnection(ctx context.Context, h *Host, name string, cmd setup.Command) *connection {
	c := &connection{
		host:     h,
		name:     name,
		cmd:      cmd,
		over:     make(chan struct{}),
		up:       make(chan struct{}),
		state:    machine.New(connectionStates, stateDisconnected),
		sessions: make(map[acp.SessionID]*session),
		faults:   make(map[rpc.FaultKind]int),
	}
	c.pool = &pool{first: c}
	c.ctx, c.end = context.WithCancelCause(ctx)
	c.services = c.newServices()
	// Together with the agent, not after it: Neovim may be gone, and then there
	// is little time.
	h.Start(func() {
		<-c.ctx.Done()
		c.services.Close()
	})
	return c
}

type connectOp struct {
	Agent string `json:"agent"`
	setup.Command
	Folders        []string `json:"folders"`         // of the session that would begin now; for the sandbox and the shim
	SandboxDefault bool     `json:"sandbox_default"` // Sandbox is not about this agent alone
}

type disconnectOp struct {
	Agents []string `json:"agents"` // none means all
}

// connect starts an agent; the operation ends when it is initialized.
func (h *Host) connect(id string, p connectOp) error {
	if p.Agent == "" {
		return wire.Invalid("connect: no agent name")
	}
	h.mu.Lock()
	old := h.connections[p.Agent]
	h.mu.Unlock()
	if old != nil && !old.isEnding() {
		old.whenReady(func(err error) { old.finishConnect(id, err) })
		return nil
	}
	cmd, err := h.agents.Resolve(p.Agent, p.Command)
	if err == nil {
		cmd.Box, err = h.box(p, cmd)
	}
	if err == nil {
		cmd, err = h.supervised(p, cmd)
	}
	if err != nil {
		h.Push(new(wire.Object).Str("agent", p.Agent).Str("stage", "resolve").
			Str("error", err.Error()).Item(events.ConnectionFailed))
		return err
	}
	c := newConnection(context.WithoutCancel(h.ctx), h, p.Agent, cmd) // Host.stop ends it, in order
	h.mu.Lock()
	h.connections[p.Agent] = c
	h.mu.Unlock()
	c.whenReady(func(err error) { c.finishConnect(id, err) })
	h.Start(func() {
		if old != nil {
			<-old.over
		}
		c.run()
	})
	return nil
}

func (c *connection) finishConnect(id string, err error) {
	if err != nil {
		c.host.Fail(id, err)
		return
	}
	c.mu.Lock()
	init := c.init
	c.mu.Unlock()
	c.host.Done(id, init)
}

// run brings the agent up, waits for its end and cleans up.
func (c *connection) run() {
	stage, err := c.bringUp()
	if err != nil {
		err = c.endedBy(err)
		c.setEnding()
		c.finish(err)
		if c.isFirst() {
			c.host.Push(new(wire.Object).Str("agent", c.name).Str("stage", stage).
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
	limit := c.host.timeouts().Initialize.Or(time.Minute)
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
			c.host.Push(wire.From(c.init).Str("agent", c.name).Item(events.Reply(acp.MethodInitialize)))
		}
		return "", nil
	case !started:
		return "start", err
	case errors.Is(err, context.DeadlineExceeded):
		err = &wire.Error{Kind: wire.ErrorTimeout, Message: fmt.Sprintf("agent %q did not answer initialize within %v", c.name, limit), Cause: c.hint()}
	default:
		err = &wire.Error{Kind: wire.ErrorInitialize, Message: fmt.Sprintf("agent %q could not be initialized", c.name), Cause: cause(err)}
	}
	return "initialize", err
}

// noteInit keeps what the agent has said of itself. What has carried the answer here still
// runs then.
func (c *connection) noteInit() {
	if proc := c.proc.Load(); proc != nil && slices.ContainsFunc(proc.Programs(), setup.NamesCarrier) {
		c.carried.Store(true)
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
		s.resume()
	}
}

// ready reports whether nothing waits for the agent.
func (c *connection) ready() bool {
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
	c.host.mu.Lock()
	if c.host.connections[c.name] == c {
		delete(c.host.connections, c.name)
	}
	c.host.mu.Unlock()

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
		c.host.endRules(id)
		s.abort(err)
		s.running.Wait() // its call has failed
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

// cancelTurns tells the agent to end its turns, unless they go on elsewhere. It never
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
	now, cancel := context.WithCancel(c.ctx)
	cancel()
	for _, s := range c.open() {
		if !s.atWork() {
			continue
		}
		if err := c.wire.Notify(now, acp.MethodSessionCancel, &acp.CancelNotification{SessionID: s.id}); err != nil {
			c.host.Log.Info("cancel was not sent", "agent", c.name, "session", s.id, "error", err)
		}
	}
}

// why is the reason for which the connection was stopped or has ended, nil for
// one that goes on. What fails afterwards fails because of it, whatever it has
// noticed of the end.
func (c *connection) why() error {
	c.mu.Lock()
	stopped := c.stopped
	c.mu.Unlock()
	switch {
	case stopped != nil:
		return stopped
	case !c.isFirst() && c.pool.first.why() != nil:
		return c.pool.first.why()
	}
	return context.Cause(c.ctx)
}

// left is why if the user ended the connection, otherwise nil.
func (c *connection) left() error {
	why := c.why()
	if op := (*wire.Error)(nil); errors.As(why, &op) && op.ByUser() {
		return why
	}
	return nil
}

// endedBy is why for a connection that ends, by err if by nothing before it.
func (c *connection) endedBy(err error) error {
	c.end(err)
	return c.why()
}

func (h *Host) disconnect(id string, p disconnectOp) error {
	list := h.all()
	if len(p.Agents) > 0 {
		list = nil
		for _, name := range p.Agents {
			h.mu.Lock()
			c := h.connections[name]
			h.mu.Unlock()
			if c == nil {
				return &wire.Error{Kind: wire.ErrorNotConnected, Message: fmt.Sprintf("agent %q is not connected", name)}
			}
			list = append(list, c)
		}
	}
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.name
		c.stop(&wire.Error{Kind: wire.ErrorDisconnected, Message: fmt.Sprintf("agent %q was disconnected", c.name)})
	}
	h.Start(func() {
		for _, c := range list {
			<-c.over
		}
		h.Done(id, new(wire.Object).Strs("agents", names).JSON())
	})
	return nil
}

// mayRunElsewhere reports whether the agent may run elsewhere, by how it is started and by
// what runs since.
func (c *connection) mayRunElsewhere() bool { return c.carried.Load() || c.cmd.MayRunElsewhere() }

// runAccess says whether the agent may run commands here.
func (c *connection) runAccess() setup.RunAccess {
	return c.host.permissions().RunAccess(c.cmd, c.mayRunElsewhere())
}

func (c *connection) initialize() *acp.InitializeRequest {
	can := c.host.permissions().Capabilities(c.runAccess())
	if c.mayLogIn() {
		can.Auth = &acp.AuthCapabilities{Terminal: true}
	}
	return &acp.InitializeRequest{
		ClientCapabilities: can,
		ClientInfo:         &acp.Implementation{Name: "hermes.nvim", Title: acp.Some("Hermes"), Version: c.host.version},
	}
}
