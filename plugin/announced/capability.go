// Package announced reads the answer of an agent to initialize: what the agent takes, and how
// one logs in to it.
package announced

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/turns"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/files"
)

// MethodFork is not part of the stable protocol: params {sessionId, cwd,
// mcpServers}; the answer names the new session.
const MethodFork = "session/fork"

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
	MethodFork: {"sessionCapabilities.fork", func(a *acp.AgentCapabilities) bool {
		if a.SessionCapabilities == nil {
			return false
		}
		v, ok := a.SessionCapabilities.Extra.Get("fork")
		return ok && string(v) != "null"
	}},
	acp.MethodLogout: {"auth.logout", func(a *acp.AgentCapabilities) bool { return a.Auth != nil && a.Auth.Logout != nil }},
}

// Agent is what an agent says it can do, and the rest that decides how it gets what it cannot
// take.
type Agent struct {
	*acp.AgentCapabilities
	Name   string
	Here   bool // it can read the files of this machine
	Notice func(level, format string, args ...any)
}

func (a Agent) unsupported(what, name string) error {
	return &wire.Error{Kind: wire.ErrorUnsupported, Message: fmt.Sprintf(
		"agent %q does not support %s: it has not announced %s", a.Name, what, name)}
}

// Fit checks what the agent has to have announced for a request. Params of a session come back
// without what it does not take, with a notice.
func (a Agent) Fit(method string, params acp.Appender) (acp.Appender, error) {
	if need, ok := capabilities[method]; ok && !need.in(a.AgentCapabilities) {
		return params, a.unsupported(method, need.name)
	}
	switch p := params.(type) {
	case *acp.NewSessionRequest:
		a.fitSession(&p.MCPServers, &p.AdditionalDirectories)
	case *acp.LoadSessionRequest:
		a.fitSession(&p.MCPServers, &p.AdditionalDirectories)
	case *acp.ResumeSessionRequest:
		a.fitSession(&p.MCPServers, &p.AdditionalDirectories)
	case acp.Raw:
		var fork acp.LoadSessionRequest // names what a fork does
		if method == MethodFork && fork.UnmarshalJSON(p) == nil && a.fitSession(&fork.MCPServers, &fork.AdditionalDirectories) {
			return &fork, nil
		}
	}
	return params, nil
}

// fitSession leaves out, with a notice, what the agent does not take for a session, and reports
// whether there was any of it: servers that it cannot reach, and further folders, which it may use
// through this client all the same.
func (a Agent) fitSession(servers *[]acp.MCPServer, folders *[]string) (changed bool) {
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
		a.Notice("warn", "agent %q works without the MCP server %q: it takes none over %s, because it has not announced %s", a.Name, name, way, need)
		return true
	})
	if len(*folders) > 0 && (a.SessionCapabilities == nil || a.SessionCapabilities.AdditionalDirectories == nil) {
		a.Notice("warn", "agent %q takes no additional directories: it may use them through Hermes, but does not know of them", a.Name)
		*folders, changed = nil, true
	}
	return changed
}

// FitPrompt replaces blocks of the prompt that the agent does not take by ones that it
// does, and refuses those that cannot be replaced.
func (a Agent) FitPrompt(t *turns.Turn) error {
	can := a.PromptCapabilities
	if can == nil {
		can = new(acp.PromptCapabilities)
	}
	for i, block := range t.Params.Prompt {
		switch b := block.(type) {
		case *acp.ImageContent:
			if !can.Image {
				return a.unsupported("images in prompts", "promptCapabilities.image")
			}
		case *acp.AudioContent:
			if !can.Audio {
				return a.unsupported("audio in prompts", "promptCapabilities.audio")
			}
		case *acp.EmbeddedResource:
			if can.EmbeddedContext {
				continue
			}
			simple := a.unembedded(b.Resource)
			if simple == nil {
				return a.unsupported("embedded data in prompts", "promptCapabilities.embeddedContext")
			}
			t.Params.Prompt[i] = simple
			t.Blocks[i] = wire.ForLua(acp.AppendContentBlock(nil, simple))
		}
	}
	return nil
}

// unembedded says the same as an embedded resource in a block that every agent
// takes: a link, if the agent can read the very text there, or else the text. It
// is nil for data that is neither.
func (a Agent) unembedded(r acp.EmbeddedResourceResource) acp.ContentBlock {
	switch r := r.(type) {
	case *acp.TextResourceContents:
		if file := localFile(r.URI); file != "" && a.Here && holds(file, r.Text) {
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
		if file := localFile(r.URI); file != "" && a.Here && holds(file, "") {
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
// It follows no link that leads out of the folder of the file.
func holds(file, text string) bool {
	ws, err := files.Open([]string{filepath.Dir(file)}, files.Options{AllowHardLinks: true})
	if err != nil {
		return false
	}
	defer ws.Close()
	found, err := ws.Peek(file, int64(len(text)))
	return err == nil && (text == "" || found.IsText && found.Text == text)
}
