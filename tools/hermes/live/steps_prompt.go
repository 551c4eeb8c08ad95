package live

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
)

// The smallest contents of their kinds: a PNG of one pixel and a WAV without a sample.
const (
	tinyImage = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
	tinySound = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
)

// prompts are the steps of turns.
var prompts = []*step{
	{id: "prompt", title: "A prompt of text ends with a stop reason.", tier: Mandatory, requirements: []string{"ACP-PROMPT-001", "ACP-PROMPT-002"}, session: true,
		do: func(s *stage, ctx context.Context) error { return s.oneTurn(ctx, s.Prompts[0]) }},
	{id: "prompt-bare", title: "For a client without capabilities the agent uses no files, terminals and forms.", tier: Mandatory,
		requirements: []string{"ACP-CLIENTCAP-001", "ACP-CLIENTCAP-002", "ACP-CLIENTCAP-003", "ACP-CONFIG-003", "ACP-AUTH-002"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, err := s.connect(ctx, object{})
			if err != nil {
				return err
			}
			defer s.stop()
			wrong, end := d.expect(func(m *message) bool {
				method := string(m.Method)
				return strings.HasPrefix(method, "fs/") || strings.HasPrefix(method, "terminal/") || method == acp.MethodElicitationCreate
			})
			defer end()
			_, one, err := s.session(ctx)
			if err != nil {
				return err
			}
			_, err = s.prompt(ctx, d, one, text(s.Asking), nil)
			select {
			case m := <-wrong:
				return fmt.Errorf("the agent asks %s", quoted(string(m.Method)))
			default:
				return err
			}
		}},
	{id: "prompt-link", title: "A prompt may link to a file.", tier: Advisory, requirements: []string{"ACP-PROMPT-003"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			return s.content(ctx, func(*hello) bool { return true }, "", object{"type": "resource_link", "uri": "file://" + filepath.ToSlash(filepath.Join(s.Workspace, noteFile)), "name": noteFile})
		}},
	{id: "prompt-image", title: "A prompt may have an image.", tier: Capability, requirements: []string{"ACP-PROMPTCAP-001"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			return s.content(ctx, func(h *hello) bool { return h.AgentCapabilities.PromptCapabilities.Image }, "image", object{"type": "image", "mimeType": "image/png", "data": tinyImage})
		}},
	{id: "prompt-audio", title: "A prompt may have a sound.", tier: Capability, requirements: []string{"ACP-PROMPTCAP-002"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			return s.content(ctx, func(h *hello) bool { return h.AgentCapabilities.PromptCapabilities.Audio }, "audio", object{"type": "audio", "mimeType": "audio/wav", "data": tinySound})
		}},
	{id: "prompt-resource", title: "A prompt may have a file in it.", tier: Capability, requirements: []string{"ACP-PROMPTCAP-003"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			return s.content(ctx, func(h *hello) bool { return h.AgentCapabilities.PromptCapabilities.EmbeddedContext }, "embeddedContext",
				object{"type": "resource", "resource": object{"uri": "file://" + filepath.ToSlash(filepath.Join(s.Workspace, noteFile)), "mimeType": "text/plain", "text": "hello\n"}})
		}},
	{id: "prompt-meta", title: "A prompt may have metadata.", tier: Advisory, requirements: []string{"ACP-META-001"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, one, err := s.session(ctx)
			if err != nil {
				return err
			}
			meta := object{"_meta": object{"traceparent": "00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01"}}
			s.note, err = s.prompt(ctx, d, one, text(s.Prompts[0]), meta)
			return err
		}},
	{id: "prompt-session", title: "A prompt for a session that does not exist.", tier: Informational, requirements: []string{"ACP-INFO-UNKNOWNSESSION-001"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, _, err := s.session(ctx)
			if err != nil {
				return err
			}
			return s.seen(ctx, d, acp.MethodSessionPrompt, object{"sessionId": "hermes-lint-nobody", "prompt": text("hello")})
		}},
}

// noteFile is a file in the workspace.
const noteFile = "hermes-lint-note.txt"

// content plays a prompt with a block besides its text.
func (s *stage) content(ctx context.Context, can func(*hello) bool, capability string, block object) error {
	d, one, err := s.session(ctx)
	if err != nil {
		return err
	}
	if !can(d.hello) {
		return skip("promptCapabilities." + capability + " is not offered")
	}
	s.note, err = s.prompt(ctx, d, one, append(text(s.Prompts[0]), block), nil)
	return err
}
