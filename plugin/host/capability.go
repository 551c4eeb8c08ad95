package host

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/files"
)

// capability is what an agent announces before it takes a method.
type capability struct {
	name string // where the answer to initialize has it
	in   func(*acp.AgentCapabilities) bool
}

// capabilities of the methods that not every agent takes.
var capabilities = map[string]capability{
	acp.MethodSessionLoad: {"loadSession", func(a *acp.AgentCapabilities) bool { return a.LoadSession }},
	acp.MethodSessionResume: {"sessionCapabilities.resume", func(a *acp.AgentCapabilities) bool {
		return a.SessionCapabilities != nil && a.SessionCapabilities.Resume != nil
	}},
	acp.MethodSessionList: {"sessionCapabilities.list", func(a *acp.AgentCapabilities) bool {
		return a.SessionCapabilities != nil && a.SessionCapabilities.List != nil
	}},
	acp.MethodSessionClose: {"sessionCapabilities.close", func(a *acp.AgentCapabilities) bool {
		return a.SessionCapabilities != nil && a.SessionCapabilities.Close != nil
	}},
	acp.MethodSessionDelete: {"sessionCapabilities.delete", func(a *acp.AgentCapabilities) bool {
		return a.SessionCapabilities != nil && a.SessionCapabilities.Delete != nil
	}},
	methodFork: {"sessionCapabilities.fork", func(a *acp.AgentCapabilities) bool {
		if a.SessionCapabilities == nil {
			return false
		}
		v, ok := a.SessionCapabilities.Extra.Get("fork")
		return ok && string(v) != "null"
	}},
	acp.MethodLogout: {"auth.logout", func(a *acp.AgentCapabilities) bool { return a.Auth != nil && a.Auth.Logout != nil }},
}

// announced is what the agent says it can do, nil when that does not matter.
func (c *connection) announced(force bool) *acp.AgentCapabilities {
	if force || setup.Is(c.cmd.Quirks.Unannounced) {
		return nil
	}
	_, answer := c.wire.Agent()
	init, ok := answer.(*acp.InitializeResponse)
	if !ok {
		return nil
	}
	if init.AgentCapabilities == nil {
		return new(acp.AgentCapabilities)
	}
	return init.AgentCapabilities
}

func (c *connection) unsupported(what, name string) error {
	return &wire.Error{Kind: wire.ErrorUnsupported, Message: fmt.Sprintf(
		"agent %q does not support %s: it has not announced %s", c.name, what, name)}
}

// fit checks what the agent has to have announced for the request.
func (r *request) fit() error {
	if err := r.fitBox(); err != nil {
		return err
	}
	c := r.conn
	a := c.announced(r.force)
	if a == nil {
		return nil
	}
	if need, ok := capabilities[r.method]; ok && !need.in(a) {
		return c.unsupported(r.method, need.name)
	}
	switch p := r.params.(type) {
	case *acp.NewSessionRequest:
		r.fitSession(a, &p.MCPServers, &p.AdditionalDirectories)
	case *acp.LoadSessionRequest:
		r.fitSession(a, &p.MCPServers, &p.AdditionalDirectories)
	case *acp.ResumeSessionRequest:
		r.fitSession(a, &p.MCPServers, &p.AdditionalDirectories)
	case acp.Raw:
		var fork acp.LoadSessionRequest // names what a fork does
		if r.method == methodFork && fork.UnmarshalJSON(p) == nil && r.fitSession(a, &fork.MCPServers, &fork.AdditionalDirectories) {
			r.params = &fork
		}
	}
	return nil
}

// fitSession leaves out, with a notice, what the agent does not take for a session, and reports
// whether there was any of it: servers that it cannot reach, and further folders, which it may use
// through this client all the same.
func (r *request) fitSession(a *acp.AgentCapabilities, servers *[]acp.MCPServer, folders *[]string) (changed bool) {
	c := r.conn
	mcp := a.MCPCapabilities
	if mcp == nil {
		mcp = new(acp.MCPCapabilities)
	}
	*servers = slices.DeleteFunc(*servers, func(s acp.MCPServer) bool {
		var name, way, need string
		switch s := s.(type) {
		case *acp.MCPServerHTTP:
			if !mcp.HTTP {
				name, way, need = s.Name, "HTTP", "mcpCapabilities.http"
			}
		case *acp.MCPServerSSE:
			if !mcp.SSE {
				name, way, need = s.Name, "SSE", "mcpCapabilities.sse"
			}
		}
		if need == "" {
			return false
		}
		changed = true
		c.host.Notice("warn", "agent %q works without the MCP server %q: it takes none over %s, because it has not announced %s", c.name, name, way, need)
		return true
	})
	if len(*folders) > 0 && (a.SessionCapabilities == nil || a.SessionCapabilities.AdditionalDirectories == nil) {
		c.host.Notice("warn", "agent %q takes no additional directories: it may use them through Hermes, but does not know of them", c.name)
		*folders, changed = nil, true
	}
	return changed
}

// forget closes a session here, because the agent cannot: what it is at work on is
// cancelled, and what the session holds is freed.
func (r *request) forget(s *session) {
	c := r.conn
	s.cancel()
	c.removeSession(s.id)
	o := r.stamp(new(wire.Object)).Str("reason", fmt.Sprintf("agent %q cannot close sessions and may keep it", c.name))
	c.host.Push(o.Item(events.Reply(r.method)))
	c.host.Done(r.id, nil)
}

// fit replaces blocks of the prompt that the agent does not take by ones that it
// does, and refuses those that cannot be replaced.
func (t *turn) fit(c *connection) error {
	a := c.announced(t.force)
	if a == nil {
		return nil
	}
	can := a.PromptCapabilities
	if can == nil {
		can = new(acp.PromptCapabilities)
	}
	for i, block := range t.params.Prompt {
		switch b := block.(type) {
		case *acp.ImageContent:
			if !can.Image {
				return c.unsupported("images in prompts", "promptCapabilities.image")
			}
		case *acp.AudioContent:
			if !can.Audio {
				return c.unsupported("audio in prompts", "promptCapabilities.audio")
			}
		case *acp.EmbeddedResource:
			if can.EmbeddedContext {
				continue
			}
			simple := c.unembedded(b.Resource)
			if simple == nil {
				return c.unsupported("embedded data in prompts", "promptCapabilities.embeddedContext")
			}
			t.params.Prompt[i] = simple
			t.blocks[i] = wire.ForLua(acp.AppendContentBlock(nil, simple))
		}
	}
	return nil
}

// unembedded says the same as an embedded resource in a block that every agent
// takes: a link, if the agent can read the very text there, or else the text. It
// is nil for data that is neither.
func (c *connection) unembedded(r acp.EmbeddedResourceResource) acp.ContentBlock {
	switch r := r.(type) {
	case *acp.TextResourceContents:
		if file := localFile(r.URI); file != "" && !c.cmd.RunsElsewhere() && holds(file, r.Text) {
			link := acp.NewResourceLink(filepath.Base(file), r.URI)
			link.MimeType = r.MimeType
			return link
		}
		fence := "```"
		for strings.Contains(r.Text, fence) {
			fence += "`"
		}
		return acp.NewTextContent(fmt.Sprintf("%s\n%s\n%s\n%s", r.URI, fence, strings.TrimSuffix(r.Text, "\n"), fence))
	case *acp.BlobResourceContents:
		if file := localFile(r.URI); file != "" && !c.cmd.RunsElsewhere() && holds(file, "") {
			link := acp.NewResourceLink(filepath.Base(file), r.URI)
			link.MimeType = r.MimeType
			return link
		}
	}
	return nil
}

// localFile is the path of a file URI without a fragment, empty for any other.
func localFile(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" || u.Fragment != "" || u.RawQuery != "" {
		return ""
	}
	file := filepath.FromSlash(u.Path)
	if vol := strings.TrimPrefix(u.Path, "/"); filepath.VolumeName(filepath.FromSlash(vol)) != "" {
		file = filepath.FromSlash(vol)
	}
	return file
}

// holds reports whether the file is there and has this text; any, if text is empty.
// What a link leads to from its folder is another file.
func holds(file, text string) bool {
	ws, err := files.Open([]string{filepath.Dir(file)}, files.Options{AllowHardLinks: true})
	if err != nil {
		return false
	}
	defer ws.Close()
	found, err := ws.Peek(file, int64(len(text)))
	return err == nil && (text == "" || found.IsText && found.Text == text)
}
