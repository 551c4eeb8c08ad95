// Package agents runs agents for Neovim: their processes or connections, the calls to them, what
// they can do, and their sessions.
package agents

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/ask"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/reviews"
	"github.com/hermes-nvim/hermes/plugin/say"
	"github.com/hermes-nvim/hermes/plugin/serve"
	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/traffic"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/permission"
)

// Options of Agents. Only the lists of words may be missing.
type Options struct {
	*say.Editor
	Context context.Context // ends when Neovim is gone; Stop ends the agents, in order
	Asks    *ask.Asks
	Rules   *ask.Rules
	Policy  func() *permission.Policy // the user's rules, as far as the user is asked at all; nil for none
	Config  func() *setup.Config      // what setup says now
	Known   *setup.Agents
	Reviews *reviews.Reviews
	Traffic *traffic.Listening

	Version  string   // of this program, sent to agents
	Keeper   []string // launch.Command's, for agents and their commands
	Launcher []string // of confine.Sandbox.Box; nil: agents cannot be confined by rules
	Shim     []string // this program as hermes shim; nil: agents cannot run in one
}

// Agents are those that run, by name. Its methods may be called at the same time. Those with an
// id carry out an operation, and none of them waits for anything.
type Agents struct {
	Options

	mu          sync.Mutex
	connections map[string]*connection
}

// New makes Agents of which none runs.
func New(o Options) *Agents {
	return &Agents{Options: o, connections: make(map[string]*connection)}
}

// Connect starts an agent, or reaches one that runs. Its members win over the setup of the agent,
// and the setup wins over the preset.
type Connect struct {
	Agent string `json:"agent"`
	setup.Command
	Folders        []string `json:"folders,omitempty"`         // of the session that would begin now; for the sandbox and the shim
	SandboxDefault bool     `json:"sandbox_default,omitempty"` // the sandbox is not about this agent alone
}

// Disconnect ends agents.
type Disconnect struct {
	Agents []string `json:"agents,omitempty"` // none means all
}

// Connect starts an agent; the operation ends when it is initialized.
func (a *Agents) Connect(id string, p Connect) error {
	if p.Agent == "" {
		return wire.Invalid("connect: no agent name")
	}
	a.mu.Lock()
	old := a.connections[p.Agent]
	a.mu.Unlock()
	if old != nil && !old.isEnding() {
		old.whenReady(func(err error) { old.finishConnect(id, err) })
		return nil
	}
	cmd, err := a.command(p)
	if err != nil {
		a.Push(new(wire.Object).Str("agent", p.Agent).Str("stage", "resolve").
			Str("error", err.Error()).Item(events.ConnectionFailed))
		return err
	}
	c := newConnection(context.WithoutCancel(a.Context), a, p.Agent, cmd)
	a.mu.Lock()
	a.connections[p.Agent] = c
	a.mu.Unlock()
	c.whenReady(func(err error) { c.finishConnect(id, err) })
	a.Start(func() {
		if old != nil {
			<-old.over
		}
		c.run()
	})
	return nil
}

// command is what runs an agent, in its sandbox or shim.
func (a *Agents) command(p Connect) (cmd setup.Command, err error) {
	if cmd, err = a.Known.Resolve(p.Agent, p.Command); err != nil {
		return cmd, err
	}
	if cmd.Box, err = cmd.InSandbox(p.Agent, p.Folders, p.SandboxDefault, a.Launcher, a.Notice); err != nil {
		return cmd, err
	}
	return cmd.InShim(p.Agent, p.Folders, a.Shim, a.Reviews.StateDir(), func(folder string) (root string, ok bool) {
		r := a.Reviews.Open(folder)
		if r == nil {
			return "", false
		}
		return r.Given, true
	})
}

// Disconnect ends agents; the operation ends when they are gone.
func (a *Agents) Disconnect(id string, p Disconnect) error {
	list := a.all()
	if len(p.Agents) > 0 {
		list = nil
		for _, name := range p.Agents {
			a.mu.Lock()
			c := a.connections[name]
			a.mu.Unlock()
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
	a.Start(func() {
		for _, c := range list {
			<-c.over
		}
		a.Done(id, new(wire.Object).Strs("agents", names).JSON())
	})
	return nil
}

// Stop begins to end all agents; the editor waits until they are gone.
func (a *Agents) Stop(why error) {
	for _, c := range a.all() {
		c.stop(why)
	}
}

// Names returns the names of the agents that run or are about to.
func (a *Agents) Names() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Collect(maps.Keys(a.connections))
}

// Session finds one of an agent.
func (a *Agents) Session(agent string, id acp.SessionID) (*serve.Session, error) {
	c, err := a.connection(agent)
	if err != nil {
		return nil, err
	}
	return c.pool.forRequest("", id).session(id)
}

// Sessions returns the sessions of all agents.
func (a *Agents) Sessions() (list []*serve.Session) {
	for _, first := range a.all() {
		for _, c := range first.pool.all() {
			list = append(list, c.open()...)
		}
	}
	return list
}

func (a *Agents) all() []*connection {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Collect(maps.Values(a.connections))
}

func (a *Agents) connection(name string) (*connection, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.connections[name]; c != nil {
		return c, nil
	}
	return nil, &wire.Error{Kind: wire.ErrorNotConnected, Message: fmt.Sprintf("agent %q is not connected; call hermes.connect(%q) first", name, name)}
}

// forget makes the next Connect start the agent anew.
func (a *Agents) forget(c *connection) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.connections[c.name] == c {
		delete(a.connections, c.name)
	}
}

// endRules drops the rules that were made for a session.
func (a *Agents) endRules(id acp.SessionID) {
	if policy := a.Rules.Current(); policy != nil {
		policy.EndSession(id)
	}
}
