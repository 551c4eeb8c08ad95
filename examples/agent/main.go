// Command agent is an agent that repeats what the user says.
package main

import (
	"context"
	"log"

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
		if err := e.client.Session(p.SessionID).Update(ctx, acp.NewAgentMessageChunk(block)); err != nil {
			return nil, err
		}
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

func main() {
	agent := func(c acp.Client) acp.AgentHandler { return &echo{client: c} }
	if err := rpc.Serve(context.Background(), transport.Stdio(), agent, rpc.Options{}); err != nil {
		log.Fatal(err)
	}
}
