package pathmap

import "github.com/hermes-nvim/hermes/acp"

// outgoing maps the paths in the params of a client's request.
func (m mapping) outgoing(params acp.Appender) (changed bool) {
	switch p := params.(type) {
	case *acp.NewSessionRequest:
		return m.folders(&p.Cwd, p.AdditionalDirectories)
	case *acp.LoadSessionRequest:
		return m.folders(&p.Cwd, p.AdditionalDirectories)
	case *acp.ResumeSessionRequest:
		return m.folders(&p.Cwd, p.AdditionalDirectories)
	case *acp.ListSessionsRequest:
		return p.Cwd.OK && m.path(&p.Cwd.V)
	case *acp.PromptRequest:
		for _, block := range p.Prompt {
			changed = m.content(block) || changed
		}
	}
	return changed
}

// incoming maps the paths in what an agent sends.
func (m mapping) incoming(v acp.Appender) (changed bool) {
	switch p := v.(type) {
	case *acp.ReadTextFileRequest:
		return m.path(&p.Path)
	case *acp.WriteTextFileRequest:
		return m.path(&p.Path)
	case *acp.CreateTerminalRequest:
		return p.Cwd.OK && m.path(&p.Cwd.V)
	case *acp.RequestPermissionRequest:
		return m.tool(p.ToolCall.Locations, p.ToolCall.Content)
	case *acp.ListSessionsResponse:
		for i := range p.Sessions {
			changed = m.folders(&p.Sessions[i].Cwd, p.Sessions[i].AdditionalDirectories) || changed
		}
	case *acp.SessionNotification:
		return m.update(p.Update)
	}
	return changed
}

func (m mapping) update(update acp.SessionUpdate) bool {
	switch u := update.(type) {
	case *acp.UserMessageChunk:
		return m.content(u.Content)
	case *acp.AgentMessageChunk:
		return m.content(u.Content)
	case *acp.AgentThoughtChunk:
		return m.content(u.Content)
	case *acp.CompactionSummaryChunk:
		return m.content(u.Content)
	case *acp.ToolCall:
		return m.tool(u.Locations, u.Content)
	case *acp.ToolCallUpdate:
		return m.tool(u.Locations, u.Content)
	}
	return false
}

func (m mapping) folders(cwd *string, more []string) bool {
	changed := m.path(cwd)
	for i := range more {
		changed = m.path(&more[i]) || changed
	}
	return changed
}

func (m mapping) tool(locations []acp.ToolCallLocation, content []acp.ToolCallContent) (changed bool) {
	for i := range locations {
		changed = m.path(&locations[i].Path) || changed
	}
	for _, c := range content {
		switch c := c.(type) {
		case *acp.Diff:
			changed = m.path(&c.Path) || changed
		case *acp.Content:
			changed = m.content(c.Content) || changed
		}
	}
	return changed
}

func (m mapping) content(block acp.ContentBlock) bool {
	switch b := block.(type) {
	case *acp.ResourceLink:
		return m.uri(&b.URI)
	case *acp.ImageContent:
		return b.URI.OK && m.uri(&b.URI.V)
	case *acp.EmbeddedResource:
		switch r := b.Resource.(type) {
		case *acp.TextResourceContents:
			return m.uri(&r.URI)
		case *acp.BlobResourceContents:
			return m.uri(&r.URI)
		}
	}
	return false
}
