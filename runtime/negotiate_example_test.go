package runtime_test

import (
	"context"
	"fmt"
	"log"

	"github.com/hermes-nvim/hermes/acp"
	v2 "github.com/hermes-nvim/hermes/acp/v2"
	"github.com/hermes-nvim/hermes/runtime"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// A client and an agent that each speak versions 1 and 2, side by side.
func ExampleClientVersions() {
	near, far := transport.Pair()

	agent := runtime.Connect(far, func(c *runtime.Conn) acp.Handler {
		return runtime.NewAgentVersions(
			runtime.AgentVersion{Protocol: acp.V1, Handler: acp.AgentSide(&agent1{})},
			runtime.AgentVersion{Protocol: v2.V2, Handler: v2.AgentSide(&agent2{})},
		)
	}, runtime.Options{Server: true, Handshake: true})
	defer agent.Close()

	client := runtime.NewClientVersions(
		runtime.ClientVersion{
			Protocol: acp.V1,
			Params:   &acp.InitializeRequest{ClientInfo: &acp.Implementation{Name: "example", Version: "1.0.0"}},
			Handler:  acp.ClientSide(acp.UnimplementedClientHandler{}),
		},
		runtime.ClientVersion{
			Protocol: v2.V2,
			Params:   &v2.InitializeRequest{Info: v2.Implementation{Name: "example", Version: "1.0.0"}},
			Handler:  v2.ClientSide(v2.UnimplementedClientHandler{}),
		},
	)
	conn := runtime.NewConn(near, client, runtime.Options{})
	defer conn.Close()

	_, answer, err := client.Initialize(context.Background(), conn)
	if err != nil {
		log.Fatal(err) // a *runtime.VersionError when there is no common version
	}
	switch answer := answer.(type) {
	case *acp.InitializeResponse:
		fmt.Println("version 1; call it with acp.Agent")
	case *v2.InitializeResponse:
		fmt.Printf("version 2, agent %q; call it with v2.Agent\n", answer.Info.Name)
	}
	// Output: version 2, agent "two"; call it with v2.Agent
}
