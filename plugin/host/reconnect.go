package host

import (
	"maps"
	"slices"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/redial"
)

// redialled follows a connection that broke: operations wait for the next one,
// the agent resumes its sessions, and Neovim is told about each.
func (c *connection) redialled(e redial.Event) {
	select {
	case <-c.up:
	case <-c.ctx.Done():
	}
	if c.why() != nil {
		return // nobody wants it back
	}
	c.host.Log.Info("connection", "agent", c.name, "event", e.Kind, "session", e.Session, "error", e.Err, "wait", e.Wait)
	switch e.Kind {
	case redial.Broken:
		why := cause(e.Err)
		c.on(connectionBroke, why)
		c.host.Notice("warn", "the connection to agent %q broke and is being re-established: %v", c.name, why)
		for _, s := range c.open() {
			s.cutShort()
		}
	case redial.Replaying:
		if s, err := c.session(e.Session); err == nil {
			s.on(historyComes)
			s.setReplay(true)
		}
	case redial.Restored:
		if s, err := c.session(e.Session); err == nil {
			s.restored(e.Answer)
		}
	case redial.Lost:
		c.lost(e.Session, e.Err)
	case redial.Connected:
		c.noteInit()
		c.becomeReady()
	case redial.GaveUp:
		c.host.Notice("error", "agent %q: %v", c.name, cause(e.Err))
	}
}

// open are the sessions of the agent.
func (c *connection) open() []*session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Values(c.sessions))
}

// cutShort ends what the old connection leaves of a session: the turn, whose
// end Neovim hears of before anything of the next connection, and the commands.
func (s *session) cutShort() {
	s.mu.Lock()
	t := s.turn
	s.opened, s.openErr = s.ended != nil, s.ended
	s.mu.Unlock()
	s.conn.services.CloseSession(s.id)
	if t == nil {
		return
	}
	select {
	case <-t.sent:
	default:
		return // it waits for the next connection
	}
	select {
	case <-t.told:
	case <-s.conn.ctx.Done():
	}
}

// restored tells Neovim that the agent has resumed the session.
func (s *session) restored(answer acp.Appender) {
	s.mu.Lock()
	method := acp.MethodSessionResume
	if s.replay {
		method = acp.MethodSessionLoad
	}
	cwd := s.roots[0]
	s.mu.Unlock()
	s.setReplay(false)
	s.conn.host.Push(wire.From(objectOr(answer.AppendJSON(nil))).
		Optional("cwd", cwd).Str("sessionId", string(s.id)).Str("agent", s.conn.name).Item(events.Reply(method)))
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.asked > 0:
		s.onLocked(restoredAsking)
	case s.turn != nil:
		s.onLocked(restoredInTurn)
	default:
		s.onLocked(restored)
	}
}

// lost ends a session that the agent cannot resume.
func (c *connection) lost(id acp.SessionID, err error) {
	why := "the session could not be resumed: " + c.needsLogin(err).Error()
	c.tellClosed(id, why)
	c.host.Notice("error", "agent %q: session %q: %s", c.name, id, why)
	c.removeSession(id)
}
