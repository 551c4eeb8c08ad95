package host

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/hermes-nvim/hermes/acp"
)

// maxEarly bounds the updates kept for sessions that are not known yet.
const maxEarly = 4096

// update is a notification of an agent, and what was left out of it.
type update struct {
	*acp.SessionNotification
	lost lost
}

// update gives n to Neovim. Updates of a session whose id the agent has not
// told yet are kept until the answer that tells it.
func (c *connection) update(n update) {
	c.mu.Lock()
	s := c.sessions[n.SessionID]
	early, lineUp := c.early[n.SessionID]
	if lineUp || s == nil && c.opening > 0 && len(c.early) < maxEarly {
		if len(early) < maxEarly {
			c.early[n.SessionID] = append(early, n)
			c.mu.Unlock()
			return
		}
	}
	c.mu.Unlock()
	if s == nil {
		if lineUp { // too many to keep: give up waiting, in order
			c.release(newSession(c, n.SessionID))
		}
		c.host.log.Warn("update of a session nobody opened", "agent", c.name, "session", n.SessionID)
		s = newSession(c, n.SessionID)
	}
	s.update(n)
}

func (s *session) update(n update) {
	s.heard.Add(1)
	s.noteCall(n)
	raw := acp.AppendSessionUpdate(nil, n.Update)
	o := from(n.AppendJSON(nil))
	o.lost = n.lost
	if names := nullMembers(raw); len(names) > 0 {
		o.strs("cleared", names)
	}
	s.push(eventOf(n.Update), o)
	s.foreign(n.Update)
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
		for _, n := range list {
			s.update(n)
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

// nullMembers names the members of the object raw that are null. Lua drops
// them, yet null may mean that a value is cleared.
func nullMembers(raw []byte) []string {
	var members map[string]json.RawMessage
	if !bytes.Contains(raw, []byte("null")) || json.Unmarshal(raw, &members) != nil {
		return nil
	}
	var names []string
	for k, v := range members {
		if string(v) == "null" {
			names = append(names, k)
		}
	}
	slices.Sort(names)
	return names
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
