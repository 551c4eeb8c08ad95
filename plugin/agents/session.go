package agents

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/serve"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

func (c *connection) session(id acp.SessionID) (*serve.Session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.sessions[id]; s != nil {
		return s, nil
	}
	return nil, &wire.Error{Kind: wire.ErrorUnknownSession, Message: fmt.Sprintf("agent %q has no session %q", c.name, id)}
}

// open are the sessions of the agent.
func (c *connection) open() []*serve.Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Values(c.sessions))
}

// addSession makes id known.
func (c *connection) addSession(id acp.SessionID, roots []string) *serve.Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.sessions[id]; s != nil {
		return s
	}
	s := c.client.NewSession(c, id, roots)
	if c.sessions != nil {
		c.sessions[id] = s
	}
	s.OpenReview()
	return s
}

func (c *connection) removeSession(id acp.SessionID) {
	c.mu.Lock()
	s := c.sessions[id]
	delete(c.sessions, id)
	last := len(c.sessions) == 0
	c.mu.Unlock()
	if s != nil {
		c.agents.Asks.CancelSession(c.name, string(id), "the session was closed")
		s.End(&wire.Error{Kind: wire.ErrorClosed, Message: fmt.Sprintf("session %q was closed", id)})
		c.agents.endRules(id)
	}
	if last { // a session that was forked shares the process
		c.pool.unclaim(c)
	}
}
