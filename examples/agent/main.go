// Command agent is an agent that repeats what the user says.
package main

import (
	"context"
	"crypto/rand"
	"log"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/agentkit"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

type echo struct {
	acp.UnimplementedAgentHandler // the other methods are not found
	client                        acp.Client
	sessions                      agentkit.Sessions[*agentkit.Turns]
}

func (*echo) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{ProtocolVersion: 1, AgentInfo: &acp.Implementation{Name: "echo", Version: "1.0.0"}}, nil
}

func (e *echo) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	id := acp.SessionID(rand.Text())
	_, _, err := e.sessions.Open(id, new(agentkit.Turns))
	return &acp.NewSessionResponse{SessionID: id}, err
}

func (e *echo) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	turns, err := e.sessions.Find(p.SessionID)
	if err != nil {
		return nil, err
	}
	return turns.Prompt(ctx, func(ctx context.Context) (acp.StopReason, error) {
		for _, block := range p.Prompt {
			if err := e.client.Session(p.SessionID).Update(ctx, acp.NewAgentMessageChunk(block)); err != nil {
				return "", err
			}
		}
		return acp.StopReasonEndTurn, nil
	})
}

func main() {
	agent := func(c acp.Client) acp.AgentHandler { return &echo{client: c} }
	if err := rpc.Serve(context.Background(), transport.Stdio(), agent, rpc.Options{}); err != nil {
		log.Fatal(err)
	}
}
