package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime"
	"github.com/hermes-nvim/hermes/runtime/client"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// reader is a client that lets its agent read files, but not write them.
type reader struct{ *client.Services }

func (reader) WriteTextFile(context.Context, *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	return nil, &acp.Error{Code: acp.ErrorCodeInvalidParams, Message: "this client is read-only"}
}

// agent opens sessions.
type agent struct{ acp.UnimplementedAgentHandler }

func (agent) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "s"}, nil
}

func Example() {
	dir, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(dir)
	note := filepath.Join(dir, "note.txt")
	os.WriteFile(note, []byte("hello\n"), 0o644)
	ctx := context.Background()

	h := reader{client.New(client.Options{})}
	defer h.Close()
	ours, theirs := transport.Pair()
	conn := runtime.NewConn(ours, acp.ClientSide(h), runtime.Options{})
	defer conn.Close()
	peer := runtime.NewConn(theirs, acp.AgentSide(agent{}), runtime.Options{Server: true})
	defer peer.Close()

	resp, err := h.NewSession(ctx, acp.Agent{Conn: conn}, &acp.NewSessionRequest{Cwd: dir})
	if err != nil {
		fmt.Println(err)
		return
	}

	// What the agent does with it:
	c := acp.Client{Conn: peer}
	text, _ := c.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: resp.SessionID, Path: note})
	fmt.Print(text.Content)
	_, err = c.WriteTextFile(ctx, &acp.WriteTextFileRequest{SessionID: resp.SessionID, Path: note})
	var refused *acp.Error
	fmt.Println(errors.As(err, &refused), refused.Message)
	// Output:
	// hello
	// true this client is read-only
}
