package websocket_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/websocket"
)

// remote is an agent that knows who it is.
type remote struct {
	acp.UnimplementedAgentHandler
}

func (remote) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{ProtocolVersion: 1, AgentInfo: &acp.Implementation{Name: "remote", Version: "1"}}, nil
}

// An agent serves whoever has the token. An httpstream.Server does the same for clients
// of streamable HTTP.
func ExampleServer() {
	token := access.NewToken() // or access.ReadToken from a file that only its owner can read
	server := httptest.NewServer(&websocket.Server{
		Guard: access.Guard{Token: token},
		Handle: func(ctx context.Context, t transport.Transport) {
			rpc.Serve(ctx, t, func(acp.Client) acp.AgentHandler { return remote{} }, rpc.Options{})
		},
	})
	defer server.Close()
	url := "ws" + strings.TrimPrefix(server.URL, "http")

	t, err := websocket.Dial(context.Background(), url, access.Client{Token: token})
	if err != nil {
		log.Fatal(err)
	}
	agent, err := rpc.Open(context.Background(), t, acp.UnimplementedClientHandler{}, nil, rpc.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer agent.Close()
	fmt.Println(agent.Initialized.AgentInfo.Name)

	_, err = websocket.Dial(context.Background(), url, access.Client{Token: access.NewToken()})
	fmt.Println(strings.HasSuffix(err.Error(), `the server answered 401 Unauthorized: "wrong token"`))
	// Output:
	// remote
	// true
}
