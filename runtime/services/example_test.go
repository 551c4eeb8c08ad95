package services_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hermes-nvim/hermes/acp"
	v2 "github.com/hermes-nvim/hermes/acp/v2"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/services"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// reader is a client that lets its agent read files, but not write them.
type reader struct{ *services.Services }

func (reader) WriteTextFile(context.Context, *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	return nil, &acp.Error{Code: acp.ErrorCodeInvalidParams, Message: "this client is read-only"}
}

// agent opens sessions.
type agent struct{ acp.UnimplementedAgentHandler }

func (agent) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{ProtocolVersion: 1}, nil
}

func (agent) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "s"}, nil
}

func Example() {
	dir, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(dir)
	note := filepath.Join(dir, "note.txt")
	os.WriteFile(note, []byte("hello\n"), 0o644)
	ctx := context.Background()

	h := reader{services.New(services.Options{})}
	defer h.Close()
	ours, theirs := transport.Pair()
	peer := rpc.NewConn(theirs, acp.AgentSide(agent{}), rpc.Options{})
	defer peer.Close()
	a, err := rpc.Open(ctx, ours, h, &acp.InitializeRequest{ClientCapabilities: h.Capabilities()}, rpc.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer a.Close()
	resp, err := h.NewSession(ctx, a.Agent, &acp.NewSessionRequest{Cwd: dir})
	if err != nil {
		fmt.Println(err)
		return
	}

	// What the agent does with it:
	s := acp.Client{Conn: peer}.Session(resp.SessionID)
	text, _ := s.ReadFile(ctx, note)
	fmt.Print(text)
	err = s.WriteFile(ctx, note, "")
	var refused *acp.Error
	fmt.Println(errors.As(err, &refused), refused.Message)
	// Output:
	// hello
	// true this client is read-only
}

// One set of services for agents of both versions. The hooks see permission
// requests of either in the same type.
func ExampleServices_V2() {
	services := services.New(services.Options{
		Ask: func(_ context.Context, q *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
			fmt.Println(q.ToolCall.Title.V)
			return q.Options[0].OptionID, nil
		},
	})
	defer services.Close()
	versions := rpc.NewClientVersions(
		rpc.ClientVersion{
			Protocol: acp.V1,
			Params:   &acp.InitializeRequest{ClientCapabilities: services.Capabilities()},
			Handler:  acp.ClientSide(services),
		},
		rpc.ClientVersion{
			Protocol: v2.V2,
			Params:   &v2.InitializeRequest{Info: v2.Implementation{Name: "example", Version: "1.0.0"}, Capabilities: services.V2().Capabilities()},
			Handler:  v2.ClientSide(services.V2()),
		},
	)
	ours, theirs := transport.Pair()
	conn := rpc.NewConn(ours, versions, rpc.Options{})
	defer conn.Close()
	peer := rpc.NewConn(theirs, v2.AgentSide(agent2{}), rpc.Options{})
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

// agent2 is an agent of version 2.
type agent2 struct{ v2.UnimplementedAgentHandler }

func (agent2) Initialize(context.Context, *v2.InitializeRequest) (*v2.InitializeResponse, error) {
	return &v2.InitializeResponse{ProtocolVersion: v2.ProtocolVersionNumber, Info: v2.Implementation{Name: "two", Version: "1.0.0"}}, nil
}
