package rpc_test

import (
	"context"
	"fmt"
	"log"

	"github.com/hermes-nvim/hermes/acp"
	v2 "github.com/hermes-nvim/hermes/acp/v2"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// A client and an agent that each speak versions 1 and 2, side by side.
func ExampleClientVersions() {
	near, far := transport.Pair()

	agent := rpc.Connect(far, func(c *rpc.Conn) acp.Handler {
		return rpc.NewAgentVersions(
			rpc.AgentVersion{Protocol: acp.V1, Handler: acp.AgentSide(&agent1{})},
			rpc.AgentVersion{Protocol: v2.V2, Handler: v2.AgentSide(&agent2{})},
		)
	}, rpc.Options{})
	defer agent.Close()

	client := rpc.NewClientVersions(
		rpc.ClientVersion{
			Protocol: acp.V1,
			Params:   &acp.InitializeRequest{ClientInfo: &acp.Implementation{Name: "example", Version: "1.0.0"}},
			Handler:  acp.ClientSide(acp.UnimplementedClientHandler{}),
		},
		rpc.ClientVersion{
			Protocol: v2.V2,
			Params:   &v2.InitializeRequest{Info: v2.Implementation{Name: "example", Version: "1.0.0"}},
			Handler:  v2.ClientSide(v2.UnimplementedClientHandler{}),
		},
	)
	conn := rpc.NewConn(near, client, rpc.Options{})
	defer conn.Close()

	_, answer, err := client.Initialize(context.Background(), conn)
	if err != nil {
		log.Fatal(err) // a *rpc.VersionError when there is no common version
	}
	switch answer := answer.(type) {
	case *acp.InitializeResponse:
		fmt.Println("version 1; call it with acp.Agent")
	case *v2.InitializeResponse:
		fmt.Printf("version 2, agent %q; call it with v2.Agent\n", answer.Info.Name)
	}
	// Output: version 2, agent "two"; call it with v2.Agent
}
