package servicesv2

import (
	"context"
	"fmt"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/acp/v2"
	"github.com/hermes-nvim/hermes/runtime/history"
)

// Prompt calls session/prompt and waits for the end of the work that it begins.
// Version 2 reports the end by the state of the session: it has been at work since
// the prompt was sent, and is idle. An idle state that was reported before, or is
// repeated, ends nothing. A prompt sent while the session works ends with that
// work, unless the agent has begun something new by the time it accepts the prompt.
//
// It fails if the context, the connection or the session ends first. The end of
// the context does not stop the work: for that, send session/cancel.
func (s *Services) Prompt(ctx context.Context, agent v2.Agent, req *v2.PromptRequest) (*v2.PromptResponse, history.Activity, error) {
	state := s.one.Sessions().Open(acp.SessionID(req.SessionID))
	before, _ := state.Activity()
	resp, err := agent.Prompt(ctx, req)
	if err != nil {
		return nil, history.Activity{}, err
	}
	var closed <-chan struct{}
	conn, ok := agent.Conn.(interface {
		Done() <-chan struct{}
		Err() error
	})
	if ok {
		closed = conn.Done()
	}
	for ended := false; ; {
		now, changed := state.Activity()
		switch worked := now.Begun > before.Begun || !before.Idle(); {
		case worked && now.Idle():
			return resp, now, nil
		case ended:
			return resp, now, conn.Err()
		}
		select {
		case <-changed:
		case <-state.Done():
			return resp, now, fmt.Errorf("session %s: closed while it was at work", req.SessionID)
		case <-ctx.Done():
			return resp, now, context.Cause(ctx)
		case <-closed: // everything before the end counts
			ended = true
		}
	}
}
