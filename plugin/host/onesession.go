package host

import (
	"slices"

	"github.com/hermes-nvim/hermes/acp"
)

// An agent with the quirk one_session gets a connection, and with it a process,
// for each session. The first session belongs to the connection that Neovim
// knows. The others hang below it: they go by its name, Neovim hears of their
// sessions only, and they end with these or with it.

// forRequest returns the connection that a request goes to.
func (c *connection) forRequest(method string, id acp.SessionID) *connection {
	holder := c.holder(id)
	switch method {
	case acp.MethodSessionNew, acp.MethodSessionLoad, acp.MethodSessionResume:
		if holder == nil && isTrue(c.cmd.Quirks.OneSession) && !c.claim() {
			return c.another()
		}
	}
	if holder == nil {
		return c
	}
	return holder
}

// holder returns the connection that has the session, nil for none.
func (c *connection) holder(id acp.SessionID) *connection {
	c.mu.Lock()
	list := append([]*connection{c}, c.others...)
	c.mu.Unlock()
	for _, o := range list {
		if _, err := o.session(id); err == nil {
			return o
		}
	}
	return nil
}

// claim takes the connection for a session; false when it is taken.
func (c *connection) claim() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	free := !c.claimed
	c.claimed = true
	return free
}

// unclaim is told that the session has ended, or has never begun.
func (c *connection) unclaim() {
	c.mu.Lock()
	c.claimed = false
	c.mu.Unlock()
	if c.main != nil {
		c.stop(&opError{Kind: errorClosed, Message: "the session was closed"})
	}
}

// another makes a connection for one more session.
func (c *connection) another() *connection {
	o := newConnection(c.ctx, c.host, c.name, c.cmd)
	o.main, o.claimed = c, true
	c.mu.Lock()
	c.others = append(c.others, o)
	c.mu.Unlock()
	c.host.start(func() {
		o.run()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.others = slices.DeleteFunc(c.others, func(x *connection) bool { return x == o })
	})
	return o
}

// taken reports whether another process of the agent has a session of this id.
func (c *connection) taken(id acp.SessionID) bool {
	main := c
	if c.main != nil {
		main = c.main
	}
	holder := main.holder(id)
	return holder != nil && holder != c
}

// tellEnd tells Neovim why the connection ended.
func (c *connection) tellEnd(err error, sessions []*session) {
	if c.main == nil {
		c.host.queue.push(event(eventDisconnected, c.disconnected(err)))
		return
	}
	if c.main.ctx.Err() != nil {
		return
	}
	for _, s := range sessions {
		c.tellClosed(s.id, err.Error())
	}
}

// tellClosed tells Neovim of a session that nobody has closed.
func (c *connection) tellClosed(id acp.SessionID, why string) {
	c.host.queue.push(event(replyEvent(acp.MethodSessionClose), new(object).str("sessionId", string(id)).
		str("agent", c.name).str("reason", why)))
}
