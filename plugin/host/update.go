package host

import (
	"context"
	"maps"
	"slices"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/jx"
)

// maxEarly bounds the updates kept for sessions that are not known yet.
const maxEarly = 4096

// update is a session/update as Neovim gets it.
type update struct {
	session acp.SessionID
	value   acp.SessionUpdate
	event   string
	data    *object
}

// updates gives a session/update to Neovim; it waits while Neovim is behind.
func (c *connection) updates(ctx context.Context, params []byte) error {
	list, missing := pieces(params)
	for piece := range list {
		u, err := readUpdate(piece)
		if err != nil {
			return err
		}
		u.data.lost = missing
		if err := c.host.queue.room(ctx); err != nil {
			return err
		}
		c.update(u)
	}
	return nil
}

// readUpdate decodes the params of a session/update. Nothing in it aliases them.
func readUpdate(params []byte) (update, error) {
	d := jx.New(params)
	n := new(acp.SessionNotification)
	if err := acp.Read(d, n); err != nil {
		return update{}, acp.InvalidParams(acp.MethodSessionUpdate, err)
	}
	u := update{n.SessionID, n.Update, eventOf(n.Update), received(d, params, n)}
	if d.KeptNull() {
		if names := nullMembers(acp.AppendSessionUpdate(nil, n.Update)); names != nil {
			u.data.strs("cleared", names)
		}
	}
	return u, nil
}

// nullMembers names the members of the object raw that are null. Lua drops
// them, yet null may mean that a value is cleared.
func nullMembers(raw []byte) []string {
	var names []string
	for name, v := range jx.Members(raw) {
		if string(v) == "null" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// update gives u to Neovim. Updates of a session whose id the agent has not
// told yet are kept until the answer that tells it.
func (c *connection) update(u update) {
	c.mu.Lock()
	s := c.sessions[u.session]
	early, lineUp := c.early[u.session]
	if lineUp || s == nil && c.opening > 0 && len(c.early) < maxEarly {
		if len(early) < maxEarly {
			c.early[u.session] = append(early, u)
			c.mu.Unlock()
			return
		}
	}
	c.mu.Unlock()
	if s == nil {
		if lineUp { // too many to keep: give up waiting, in order
			c.release(newSession(c, u.session))
		}
		c.host.log.Warn("update of a session nobody opened", "agent", c.name, "session", u.session)
		s = newSession(c, u.session)
	}
	s.update(u)
}

func (s *session) update(u update) {
	s.heard.Add(1)
	s.noteCall(u)
	s.push(u.event, u.data)
	s.foreign(u.value)
}

// release gives Neovim the updates of a session that has become known. The
// ones that arrive meanwhile line up behind.
func (c *connection) release(s *session) {
	for {
		c.mu.Lock()
		list, kept := c.early[s.id]
		if len(list) == 0 {
			delete(c.early, s.id)
			c.mu.Unlock()
			return
		}
		if kept {
			c.early[s.id] = list[:0:0]
		}
		c.mu.Unlock()
		for _, u := range list {
			s.update(u)
		}
	}
}

// releaseEarly gives up waiting for sessions that never became known.
func (c *connection) releaseEarly() {
	c.mu.Lock()
	ids := slices.Collect(maps.Keys(c.early))
	c.mu.Unlock()
	for _, id := range ids {
		c.release(newSession(c, id))
	}
}

// await returns the session id, waiting for it while one is being opened.
func (c *connection) await(ctx context.Context, id acp.SessionID) (*session, error) {
	for {
		c.mu.Lock()
		opening, changed := c.opening, c.known
		c.mu.Unlock()
		s, err := c.session(id)
		if err == nil || opening == 0 {
			return s, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// eventOf names the event of an update.
func eventOf(u acp.SessionUpdate) string {
	var content acp.ContentBlock
	switch u := u.(type) {
	case *acp.UserMessageChunk:
		content = u.Content
	case *acp.AgentMessageChunk:
		content = u.Content
	case *acp.AgentThoughtChunk:
		content = u.Content
	}
	return updateEvent(acp.SessionUpdateTag(u), acp.ContentBlockTag(content))
}
