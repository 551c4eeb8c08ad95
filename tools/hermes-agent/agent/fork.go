package agent

import (
	"context"
	"encoding/json"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/acp/unstable"
)

// side adds session/fork, which is in the drafts of version 1 only, to the methods of
// the agent.
type side struct {
	acp.Sided
	agent *agent
}

func (s *side) HandleRequest(ctx context.Context, method string, params json.RawMessage) (acp.Appender, error) {
	if method != unstable.MethodSessionFork {
		return s.Sided.HandleRequest(ctx, method, params)
	}
	var p unstable.ForkSessionRequest
	if err := p.UnmarshalJSON(params); err != nil {
		return nil, refuse(acp.ErrorCodeInvalidParams, "session/fork: %v", err)
	}
	return s.agent.fork(ctx, acp.SessionID(p.SessionID), p.Cwd, p.AdditionalDirectories)
}
