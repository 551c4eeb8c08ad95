package serve

import (
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

// readUpdate decodes the params of a session/update, from which something may have been left out.
// Nothing in it aliases them.
func readUpdate(params []byte, missing wire.Lost) (update, error) {
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
	u.data.LeftOut(missing)
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

// update gives u to Neovim, and notes what it says of the agent's work.
func (s *Session) update(u update) {
	s.Heard()
	s.noteCall(u)
	s.reviewCall(u.value)
	s.Push(u.event, u.data)
	s.foreign(u.value)
}

// noteCall remembers the tool calls of the turn, and which of them were cut for
// Neovim: a question about one of them need not say everything again.
func (s *Session) noteCall(u update) {
	var id acp.ToolCallID
	switch call := u.value.(type) {
	case *acp.ToolCall:
		id = call.ToolCallID
	case *acp.ToolCallUpdate:
		id = call.ToolCallID
	default:
		return
	}
	s.calls.Apply(u.value)
	if u.data.IsCut() {
		s.calls.Truncate(id)
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
	return events.Update(acp.SessionUpdateTag(u), acp.ContentBlockTag(content))
}
