package codexagent

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/lazyregexp"
	"github.com/hermes-nvim/hermes/runtime/codex"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
)

// Prompt runs a turn. A prompt that comes while one runs steers it, and is answered
// with it.
func (a *agent) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	s, err := a.sessions.Find(p.SessionID)
	if err != nil {
		return nil, err
	}
	if a.isShared() {
		return s.promptShared(ctx, p)
	}
	return s.prompt(ctx, p)
}

func (s *session) prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	in := input(p.Prompt)
	if c, rest := commandOf(in); c != nil {
		return s.carryOut(ctx, c, rest)
	}
	in = s.withSkill(in)
	r := s.RunTurn(ctx, in...)
	for errors.Is(r.Err, codex.ErrBusy) {
		if err := s.Steer(ctx, in...); err == nil {
			in = nil
		}
		if err := s.Idle(ctx); err != nil {
			return nil, err
		}
		if in == nil {
			return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
		}
		r = s.RunTurn(ctx, in...)
	}
	return answer(r)
}

// Cancel has nothing left to do: the connection has ended the prompt's context.
func (a *agent) Cancel(context.Context, *acp.CancelNotification) error { return nil }

// answer is the end of a turn in the terms of ACP.
func answer(r *codex.Result) (*acp.PromptResponse, error) {
	var failure *codex.Failure
	switch {
	case r.Err == nil, errors.Is(r.Err, codex.ErrNoAnswer):
		return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
	case errors.Is(r.Err, codex.ErrInterrupted):
		return &acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	case !errors.As(r.Err, &failure):
		return nil, r.Err
	}
	word, _ := failure.CodexErrorInfo.(appserver.CodexErrorInfoWord)
	switch {
	case word == "contextWindowExceeded":
		return &acp.PromptResponse{StopReason: acp.StopReasonMaxTokens}, nil
	case word == "cyberPolicy", word == "misalignmentPolicyViolation":
		return &acp.PromptResponse{StopReason: acp.StopReasonRefusal}, nil
	case word == "unauthorized", httpStatus(failure.CodexErrorInfo) == http.StatusUnauthorized:
		return nil, &acp.Error{Code: acp.ErrorCodeAuthenticationRequired, Message: failure.Error()}
	}
	e := &acp.Error{Code: acp.ErrorCodeInternalError, Message: failure.Error()}
	if failure.CodexErrorInfo != nil {
		info := appserver.AppendCodexErrorInfo([]byte(`{"codexErrorInfo":`), failure.CodexErrorInfo)
		e.Data = append(info, '}')
	}
	return nil, e
}

// httpStatus is what the model's server has answered, 0 if that is not known.
func httpStatus(info appserver.CodexErrorInfo) uint16 {
	switch v := info.(type) {
	case *appserver.CodexErrorInfoHTTPConnectionFailed:
		return v.HTTPConnectionFailed.HTTPStatusCode.V
	case *appserver.CodexErrorInfoResponseStreamConnectionFailed:
		return v.ResponseStreamConnectionFailed.HTTPStatusCode.V
	case *appserver.CodexErrorInfoResponseStreamDisconnected:
		return v.ResponseStreamDisconnected.HTTPStatusCode.V
	case *appserver.CodexErrorInfoResponseTooManyFailedAttempts:
		return v.ResponseTooManyFailedAttempts.HTTPStatusCode.V
	}
	return 0
}

// input is a prompt in the terms of codex.
func input(blocks []acp.ContentBlock) []appserver.UserInput {
	var out []appserver.UserInput
	text := func(s string) { out = append(out, &appserver.UserInputText{Text: s}) }
	for _, block := range blocks {
		switch b := block.(type) {
		case *acp.TextContent:
			text(b.Text)
		case *acp.ImageContent:
			out = append(out, &appserver.UserInputImage{URL: acp.Some("data:" + b.MimeType + ";base64," + b.Data)})
		case *acp.ResourceLink:
			text("[@" + b.Name + "](" + b.URI + ")")
		case *acp.EmbeddedResource:
			if r, ok := b.Resource.(*acp.TextResourceContents); ok {
				text("[@" + r.URI + "](" + r.URI + ")\n<context ref=\"" + r.URI + "\">\n" + r.Text + "\n</context>")
			}
		}
	}
	return out
}

// badName is what codex does not allow in the name of an MCP server.
var badName = lazyregexp.New(`[^a-zA-Z0-9_-]`)

// mcpConfig are the client's MCP servers as configuration of codex.
func mcpConfig(servers []acp.MCPServer) (json.RawMessage, error) {
	list := map[string]any{}
	for _, server := range servers {
		switch v := server.(type) {
		case *acp.MCPServerStdio:
			env := map[string]string{}
			for _, e := range v.Env {
				env[e.Name] = e.Value
			}
			list[badName().ReplaceAllString(v.Name, "_")] = map[string]any{"command": v.Command, "args": append([]string{}, v.Args...), "env": env}
		case *acp.MCPServerHTTP:
			headers := map[string]string{}
			for _, h := range v.Headers {
				headers[h.Name] = h.Value
			}
			list[badName().ReplaceAllString(v.Name, "_")] = map[string]any{"url": v.URL, "http_headers": headers}
		default:
			return nil, acp.Errorf(acp.ErrorCodeInvalidParams, "mcpServers: codex reaches servers over stdio and HTTP only")
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	return json.Marshal(map[string]any{"mcp_servers": list})
}
