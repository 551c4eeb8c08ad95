// Command agent is an agent that repeats what the user says.
package main

import (
	"context"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

type echo struct {
	acp.UnimplementedAgentHandler // the other methods are not found
	client                        acp.Client
}

func (*echo) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{ProtocolVersion: 1}, nil
}

func (*echo) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "1"}, nil
}

func (e *echo) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	for _, block := range p.Prompt {
		n := &acp.SessionNotification{SessionID: p.SessionID, Update: acp.NewAgentMessageChunk(block)}
		if err := e.client.SessionUpdate(ctx, n); err != nil {
			return nil, err
		}
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

func main() {
	conn := rpc.Connect(transport.Stdio(), func(c *rpc.Conn) acp.Handler {
		return acp.AgentSide(&echo{client: acp.Client{Conn: c}})
	}, rpc.Options{Server: true, Handshake: true})
	<-conn.Done()
}
