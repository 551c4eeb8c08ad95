package store

import "github.com/hermes-nvim/hermes/acp"

// updates puts together what arrives in pieces: a text from its chunks, a tool call from
// its changes.
type updates struct {
	text acp.SessionUpdate // a chunk that more may follow, or nil
	call *acp.ToolCall     // that runs, or nil
}

// add takes an update and returns those that are complete now.
func (s *updates) add(u acp.SessionUpdate) []acp.SessionUpdate {
	switch u := u.(type) {
	case *acp.AgentMessageChunk, *acp.AgentThoughtChunk:
		if s.text != nil && join(s.text, u) {
			return nil
		}
		whole := s.rest()
		s.text = copied(u)
		return whole
	case *acp.ToolCall:
		whole := s.rest()
		call := *u
		s.call = &call
		return whole
	case *acp.ToolCallUpdate:
		if s.call == nil || s.call.ToolCallID != u.ToolCallID {
			return nil
		}
		merge(s.call, u)
		if u.Status.V == acp.ToolCallStatusCompleted || u.Status.V == acp.ToolCallStatusFailed {
			return s.rest()
		}
		return nil
	case *acp.UserMessageChunk, *acp.CompactionUpdate:
		return append(s.rest(), u)
	case *acp.Plan: // of a call that goes on
		return []acp.SessionUpdate{u}
	}
	return nil // facts of the moment, which nobody wants to see again
}

// rest returns what is still open.
func (s *updates) rest() []acp.SessionUpdate {
	var list []acp.SessionUpdate
	if s.text != nil {
		list = append(list, s.text)
	}
	if s.call != nil {
		list = append(list, s.call)
	}
	*s = updates{}
	return list
}

// join appends a chunk to another of its kind.
func join(a, b acp.SessionUpdate) bool {
	switch a := a.(type) {
	case *acp.AgentMessageChunk:
		if b, ok := b.(*acp.AgentMessageChunk); ok {
			return joinText(a.Content, b.Content)
		}
	case *acp.AgentThoughtChunk:
		if b, ok := b.(*acp.AgentThoughtChunk); ok {
			return joinText(a.Content, b.Content)
		}
	}
	return false
}

func joinText(a, b acp.ContentBlock) bool {
	text, ok := a.(*acp.TextContent)
	more, also := b.(*acp.TextContent)
	if ok && also {
		text.Text += more.Text
	}
	return ok && also
}

// copied returns a chunk that can be changed without its sender seeing it.
func copied(u acp.SessionUpdate) acp.SessionUpdate {
	switch u := u.(type) {
	case *acp.AgentMessageChunk:
		return acp.NewAgentMessageChunk(copiedText(u.Content))
	case *acp.AgentThoughtChunk:
		return acp.NewAgentThoughtChunk(copiedText(u.Content))
	}
	return u
}

func copiedText(b acp.ContentBlock) acp.ContentBlock {
	if text, ok := b.(*acp.TextContent); ok {
		return acp.NewTextContent(text.Text)
	}
	return b
}

// merge applies a change to a tool call.
func merge(call *acp.ToolCall, u *acp.ToolCallUpdate) {
	if u.Status.OK {
		call.Status = u.Status
	}
	if u.Title.OK {
		call.Title = u.Title.V
	}
	if u.Content != nil {
		call.Content = u.Content
	}
	if u.Locations != nil {
		call.Locations = u.Locations
	}
}
