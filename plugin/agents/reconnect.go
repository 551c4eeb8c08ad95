package agents

import (
	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/serve"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/redial"
)

// redialled follows a connection that broke: operations wait for the next one,
// the agent resumes its sessions, and Neovim gets an event for each.
func (c *connection) redialled(e redial.Event) {
	select {
	case <-c.up:
	case <-c.ctx.Done():
	}
	if c.Why() != nil {
		return // nobody wants it back
	}
	c.agents.Log.Info("connection", "agent", c.name, "event", e.Kind, "session", e.Session, "error", e.Err, "wait", e.Wait)
	switch e.Kind {
	case redial.Broken:
		why := cause(e.Err)
		c.on(connectionBroke, why)
		c.agents.Notice("warn", "the connection to agent %q broke and is being re-established: %v", c.name, why)
		for _, s := range c.open() {
			s.CutShort()
		}
	case redial.Replaying:
		if s, err := c.session(e.Session); err == nil {
			s.HistoryComes()
		}
	case redial.Restored:
		if s, err := c.session(e.Session); err == nil {
			c.restored(s, e.Answer)
		}
	case redial.Lost:
		c.lost(e.Session, e.Err)
	case redial.Connected:
		c.noteInit()
		c.becomeReady()
	case redial.GaveUp:
		c.agents.Notice("error", "agent %q: %v", c.name, cause(e.Err))
	}
}

// restored sends Neovim the event that the agent has resumed the session.
func (c *connection) restored(s *serve.Session, answer acp.Appender) {
	method := acp.MethodSessionResume
	if s.Replays(false) {
		method = acp.MethodSessionLoad
	}
	c.agents.Push(wire.From(objectOr(answer.AppendJSON(nil))).
		Optional("cwd", s.Root()).Str("sessionId", string(s.ID())).Str("agent", c.name).Item(events.Reply(method)))
	s.Restored()
}

// lost ends a session that the agent cannot resume.
func (c *connection) lost(id acp.SessionID, err error) {
	why := "the session could not be resumed: " + c.needsLogin(err).Error()
	c.tellClosed(id, why)
	c.agents.Notice("error", "agent %q: session %q: %s", c.name, id, why)
	c.removeSession(id)
}
