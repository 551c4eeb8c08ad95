package services_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hermes-nvim/hermes/acp"
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
	resp, err := h.NewSession(ctx, a, &acp.NewSessionRequest{Cwd: dir})
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
