package agentv2_test

import (
	"context"
	"fmt"
	"log"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/acp/v2"
	"github.com/hermes-nvim/hermes/runtime/agentv2"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// greeter is an agent of version 1.
type greeter struct {
	acp.UnimplementedAgentHandler
	client acp.Client
}

func (g *greeter) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{ProtocolVersion: 1, AgentInfo: &acp.Implementation{Name: "greeter", Version: "1.0.0"}}, nil
}

func (g *greeter) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, g.client.Session(p.SessionID).Say(ctx, "Hello!")
}

// One agent serves clients of version 1 and of version 2.
func ExampleServe() {
	near, far := transport.Pair() // a program serves transport.Stdio()
	agent := func(c acp.Client) acp.AgentHandler { return &greeter{client: c} }
	go agentv2.Serve(context.Background(), far, agent, rpc.Options{})

	conn := rpc.NewConn(near, v2.ClientSide(v2.UnimplementedClientHandler{}), rpc.Options{})
	defer conn.Close()
	answer, err := v2.Agent{Conn: conn}.Initialize(context.Background(), &v2.InitializeRequest{
		ProtocolVersion: 2, Info: v2.Implementation{Name: "example", Version: "1.0.0"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Info.Name, "speaks version", answer.ProtocolVersion)
	// Output: greeter speaks version 2
}
