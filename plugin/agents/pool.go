package agents

import (
	"slices"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/serve"
	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// pool is the connections to one agent: the first, which Neovim knows, and
// further ones when the agent has the quirk one_session. Then each session gets a
// connection, and with it a process. The further ones go by the name of the
// first, Neovim sees only their sessions, and they end with these or with the
// first.
type pool struct {
	first *connection

	mu      sync.Mutex
	further []*connection        // that have not ended
	claimed map[*connection]bool // that have a session, or are about to
}

// isFirst reports whether Neovim knows c.
func (c *connection) isFirst() bool { return c.pool.first == c }

// all returns the connections, the first in front.
func (p *pool) all() []*connection {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*connection{p.first}, p.further...)
}

// endingWith returns the further connections that end when c does.
func (p *pool) endingWith(c *connection) []*connection {
	if c != p.first {
		return nil
	}
	return p.all()[1:]
}

// holder returns the connection that has the session, nil for none.
func (p *pool) holder(id acp.SessionID) *connection {
	for _, c := range p.all() {
		if _, err := c.session(id); err == nil {
			return c
		}
	}
	return nil
}

// forRequest returns the connection that a request goes to.
func (p *pool) forRequest(method string, id acp.SessionID) *connection {
	if c := p.holder(id); c != nil {
		return c
	}
	switch method {
	case acp.MethodSessionNew, acp.MethodSessionLoad, acp.MethodSessionResume:
		if setup.Is(p.first.cmd.Quirks.OneSession) && !p.claim(p.first) {
			return p.add()
		}
	}
	return p.first
}

// claim takes c for a session; false when it is taken.
func (p *pool) claim(c *connection) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.claimed[c] {
		return false
	}
	if p.claimed == nil {
		p.claimed = make(map[*connection]bool)
	}
	p.claimed[c] = true
	return true
}

// unclaim notes that the session of c has ended, or never began. A further
// connection ends with it.
func (p *pool) unclaim(c *connection) {
	p.mu.Lock()
	delete(p.claimed, c)
	p.mu.Unlock()
	if !c.isFirst() {
		c.stop(&wire.Error{Kind: wire.ErrorClosed, Message: "the session was closed"})
	}
}

// add makes a connection for one more session.
func (p *pool) add() *connection {
	c := newConnection(p.first.ctx, p.first.agents, p.first.name, p.first.cmd)
	c.pool = p
	p.claim(c)
	p.mu.Lock()
	p.further = append(p.further, c)
	p.mu.Unlock()
	c.agents.Start(func() {
		c.run()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.further = slices.DeleteFunc(p.further, func(o *connection) bool { return o == c })
		delete(p.claimed, c)
	})
	return c
}

// taken reports whether a connection other than c has a session of this id.
func (p *pool) taken(c *connection, id acp.SessionID) bool {
	holder := p.holder(id)
	return holder != nil && holder != c
}

// tellEnd sends Neovim the reason why the connection ended.
func (c *connection) tellEnd(err error, sessions []*serve.Session) {
	if c.isFirst() {
		c.agents.Push(disconnected(c.name, err, c.proc.Load()).Item(events.Disconnected))
		return
	}
	if c.pool.first.ctx.Err() != nil {
		return
	}
	for _, s := range sessions {
		c.tellClosed(s.ID(), err.Error())
	}
}

// tellClosed sends Neovim an event that a session has ended, which nobody has
// closed.
func (c *connection) tellClosed(id acp.SessionID, why string) {
	c.agents.Push(new(wire.Object).Str("sessionId", string(id)).
		Str("agent", c.name).Str("reason", why).Item(events.Reply(acp.MethodSessionClose)))
}
