package redial_test

import (
	"context"
	"log"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/redial"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/websocket"
)

// screen is a client that shows sessions.
type screen struct {
	acp.UnimplementedClientHandler
	clear func(acp.SessionID)
}

// A client that survives the end of its connection.
func Example() {
	var token access.Token
	var show screen
	client, err := redial.Connect(context.Background(), redial.Options{
		Dial: func(ctx context.Context) (transport.Transport, error) {
			return websocket.Dial(ctx, "wss://agents.example.org/acp", access.Client{Token: token})
		},
		Versions: []rpc.ClientVersion{{Protocol: acp.V1, Params: new(acp.InitializeRequest), Handler: acp.ClientSide(show)}},
		OnEvent: func(e redial.Event) {
			log.Println(e.Kind, e.Session, e.Err)
			if e.Kind == redial.Replaying {
				show.clear(e.Session) // its updates come again from the start
			}
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	agent := acp.Agent{Conn: client}
	agent.ListSessions(context.Background(), &acp.ListSessionsRequest{})
}
