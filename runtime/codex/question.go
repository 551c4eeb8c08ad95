package codex

import (
	"context"
	"fmt"

	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
)

// ToolRequestUserInput passes the model's questions on. Without anybody who answers
// the answers are empty.
func (h *handler) ToolRequestUserInput(ctx context.Context, p *appserver.ToolRequestUserInputParams) (*appserver.ToolRequestUserInputResponse, error) {
	r := &appserver.ToolRequestUserInputResponse{Answers: map[string]appserver.ToolRequestUserInputAnswer{}}
	s := h.session(ctx, p.ThreadID)
	if s == nil || s.opts.Answer == nil {
		return r, nil
	}
	answers, err := question(ctx, s, p.TurnID, func(ctx context.Context) (map[string][]string, error) { return s.opts.Answer(ctx, p) })
	if err == nil {
		for id, list := range answers {
			r.Answers[id] = appserver.ToolRequestUserInputAnswer{Answers: list}
		}
	}
	return r, nil
}

// MCPServerElicitationRequest passes the question of an MCP server on. Without
// anybody who answers it is declined.
func (h *handler) MCPServerElicitationRequest(ctx context.Context, p *appserver.MCPServerElicitationRequestParams) (*appserver.MCPServerElicitationRequestResponse, error) {
	declined := &appserver.MCPServerElicitationRequestResponse{Action: appserver.MCPServerElicitationActionDecline}
	s := h.session(ctx, p.ThreadID)
	if s == nil || s.opts.Elicit == nil {
		return declined, nil
	}
	r, err := question(ctx, s, p.TurnID.V, func(ctx context.Context) (*appserver.MCPServerElicitationRequestResponse, error) {
		return s.opts.Elicit(ctx, p)
	})
	if err != nil || r == nil {
		return declined, nil
	}
	return r, nil
}

// question asks within a turn. A panic is an error.
func question[T any](ctx context.Context, s *Session, turn string, ask func(context.Context) (T, error)) (answer T, err error) {
	t := s.running(ctx, turn)
	if t == nil {
		return answer, ErrNoTurn
	}
	defer t.ask()()
	ctx, cancel := s.questionContext(ctx, t)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("codex: asking the user: %v", p)
		}
	}()
	return ask(ctx)
}
