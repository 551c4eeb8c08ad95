package host

import (
	"context"
	"slices"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/jx"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// update is a session/update as Neovim gets it.
type update struct {
	session acp.SessionID
	value   acp.SessionUpdate
	event   string
	data    *wire.Object
}

// updates gives a session/update to Neovim; it waits while Neovim is behind.
func (c *connection) updates(ctx context.Context, params []byte) error {
	list, missing := wire.Pieces(params)
	for piece := range list {
		u, err := readUpdate(piece)
		if err != nil {
			return err
		}
		u.data.LeftOut(missing)
		if err := c.host.Room(ctx); err != nil {
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
	u := update{n.SessionID, n.Update, eventOf(n.Update), wire.Received(d, params, n)}
	if d.KeptNull() {
		if names := nullMembers(acp.AppendSessionUpdate(nil, n.Update)); names != nil {
			u.data.Strs("cleared", names)
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

// update gives u to Neovim. The connection holds updates of a new session until
// its opening is answered (rpc.WithOpened).
func (c *connection) update(u update) {
	s, err := c.session(u.session)
	if err != nil {
		c.host.Log.Warn("update of a session nobody opened", "agent", c.name, "session", u.session)
		s = newSession(c, u.session)
	}
	s.update(u)
}

func (s *session) update(u update) {
	s.heard.Add(1)
	s.noteCall(u)
	s.reviewCall(u.value)
	s.push(u.event, u.data)
	s.foreign(u.value)
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
	return events.Update(acp.SessionUpdateTag(u), acp.ContentBlockTag(content))
}
