package servicesv2_test

import (
	"context"
	"fmt"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/acp/v2"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/services"
	"github.com/hermes-nvim/hermes/runtime/servicesv2"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// One set of services for agents of both versions. The hooks see permission
// requests of either in the same type.
func Example() {
	one := services.New(services.Options{
		Ask: func(_ context.Context, q *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
			fmt.Println(q.ToolCall.Title.V)
			return q.Options[0].OptionID, nil
		},
	})
	defer one.Close()
	two := servicesv2.New(one)
	versions := rpc.NewClientVersions(
		rpc.ClientVersion{
			Protocol: acp.V1,
			Params:   &acp.InitializeRequest{ClientCapabilities: one.Capabilities()},
			Handler:  acp.ClientSide(one),
		},
		rpc.ClientVersion{
			Protocol: v2.V2,
			Params:   &v2.InitializeRequest{Info: v2.Implementation{Name: "example", Version: "1.0.0"}, Capabilities: two.Capabilities()},
			Handler:  v2.ClientSide(two),
		},
	)
	ours, theirs := transport.Pair()
	conn := rpc.NewConn(ours, versions, rpc.Options{})
	defer conn.Close()
	peer := rpc.NewConn(theirs, v2.AgentSide(agent{}), rpc.Options{})
	defer peer.Close()
	ctx := context.Background()
	if _, _, err := versions.Initialize(ctx, conn); err != nil {
		fmt.Println(err)
		return
	}

	// What the agent does with it:
	answer, _ := v2.Client{Conn: peer}.RequestPermission(ctx, &v2.RequestPermissionRequest{
		SessionID: "s", Title: "Run the tests?", Subject: v2.NewCommandPermissionSubject("go test ./...", "/project"),
		Options: []v2.PermissionOption{{OptionID: "yes", Name: "Run", Kind: v2.PermissionOptionKindAllowOnce}},
	})
	fmt.Println(answer.Outcome.(*v2.SelectedPermissionOutcome).OptionID)
	// Output:
	// Run the tests?
	// yes
}

// agent is an agent of version 2.
type agent struct{ v2.UnimplementedAgentHandler }

func (agent) Initialize(context.Context, *v2.InitializeRequest) (*v2.InitializeResponse, error) {
	return &v2.InitializeResponse{ProtocolVersion: v2.ProtocolVersionNumber, Info: v2.Implementation{Name: "two", Version: "1.0.0"}}, nil
}
