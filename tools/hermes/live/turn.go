package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hermes-nvim/hermes/acp"
)

// cancelTime is how long a turn that was cancelled may take to end.
const cancelTime = 10 * time.Second

func text(t string) []any { return []any{object{"type": "text", "text": t}} }

// begin sends a prompt.
func (d *driven) begin(one *session, prompt []any, more object) (*call, error) {
	params := object{"sessionId": one.id, "prompt": prompt}
	for name, v := range more {
		params[name] = v
	}
	return d.ask(acp.MethodSessionPrompt, params, nil)
}

// prompt plays a turn and returns its stop reason.
func (s *stage) prompt(ctx context.Context, d *driven, one *session, prompt []any, more object) (string, error) {
	c, err := d.begin(one, prompt, more)
	if err != nil {
		return "", err
	}
	return s.turn(ctx, d, one, c)
}

// turn waits for the end of a turn. It cancels one that takes too long.
func (s *stage) turn(ctx context.Context, d *driven, one *session, c *call) (string, error) {
	stop, err := d.stopReason(ctx, c)
	switch over := late(0); {
	case err == nil:
		one.turns++
		return stop, nil
	case errors.As(err, &over):
		more, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), cancelTime, late(cancelTime))
		defer cancel()
		s.cancel(d, one)
		if _, e := d.stopReason(more, c); errors.As(e, &over) || errors.Is(e, errEnded) {
			return "", fmt.Errorf("%w, and neither after session/cancel", err)
		}
		return "", unplayed{fmt.Errorf("the turn did not end within %v (--timeout)", s.Timeout)}
	}
	var f *failure
	d.mu.Lock()
	worked := d.heard > c.heard+1 // it has sent more than the answer, so it took the prompt
	d.mu.Unlock()
	if errors.As(err, &f) && (worked || f.Code > -32600 || f.Code < -32602) {
		if err = s.wantsLogin(d, err); s.login == "" {
			err = unplayed{fmt.Errorf("the agent could not do the turn: %w", f)}
		}
	}
	return "", err
}

func (d *driven) stopReason(ctx context.Context, c *call) (string, error) {
	result, err := d.wait(ctx, c)
	if err != nil {
		return "", err
	}
	var r struct{ StopReason string }
	json.Unmarshal(result, &r)
	switch r.StopReason {
	case "end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled":
		return r.StopReason, nil
	}
	return "", fmt.Errorf("session/prompt is answered with the stop reason %s", quoted(r.StopReason))
}

func (s *stage) cancel(d *driven, one *session) {
	d.services.Cancel(acp.SessionID(one.id))
	d.notify(acp.MethodSessionCancel, object{"sessionId": one.id})
}

// busy begins a turn that takes long, and returns when the agent works on it. What an agent says
// when it has opened a session is no work, so that is waited for.
func (s *stage) busy(ctx context.Context, d *driven, one *session) (*call, error) {
	if err := s.alive(ctx, d); err != nil {
		return nil, err
	}
	update, end := d.expect(func(m *message) bool {
		return string(m.Method) == acp.MethodSessionUpdate && m.Session() == one.id && working(m.Params)
	})
	defer end()
	c, err := d.begin(one, text(s.Busy), nil)
	if err != nil {
		return nil, err
	}
	select {
	case <-update:
	case <-time.After(3 * time.Second): // it works and says nothing
	case <-d.ended:
		return nil, errEnded
	case <-ctx.Done():
	}
	return c, nil
}

// working reports whether an update belongs to a turn.
func working(params json.RawMessage) bool {
	var p struct {
		Update struct{ SessionUpdate string }
	}
	json.Unmarshal(params, &p)
	switch p.Update.SessionUpdate {
	case "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan":
		return true
	}
	return false
}
