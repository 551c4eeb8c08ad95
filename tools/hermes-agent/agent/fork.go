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
	acp.Handler
	agent *agent
}

func (s *side) HandleRequest(ctx context.Context, method string, params json.RawMessage) (acp.Appender, error) {
	if method != unstable.MethodSessionFork {
		return s.Handler.HandleRequest(ctx, method, params)
	}
	var p unstable.ForkSessionRequest
	if err := p.UnmarshalJSON(params); err != nil {
		return nil, refuse(acp.ErrorCodeInvalidParams, "session/fork: %v", err)
	}
	servers, err := mcpServers(p.MCPServers)
	if err != nil {
		return nil, refuse(acp.ErrorCodeInvalidParams, "session/fork: %v", err)
	}
	return s.agent.fork(ctx, acp.SessionID(p.SessionID), p.Cwd, p.AdditionalDirectories, servers)
}

// mcpServers are the same servers in the types of the stable version.
func mcpServers(list []unstable.MCPServer) ([]acp.MCPServer, error) {
	var servers []acp.MCPServer
	for _, server := range list {
		stable, err := acp.DecodeMCPServer(unstable.AppendMCPServer(nil, server))
		if err != nil {
			return nil, err
		}
		servers = append(servers, stable)
	}
	return servers, nil
}
