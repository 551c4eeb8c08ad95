package redial_test

import (
	"context"
	"fmt"
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
}

func (screen) clear(acp.SessionID) {}

// stay keeps a client connected to an agent on the network.
func stay(ctx context.Context, url string, token access.Token, show screen) (*redial.Client, error) {
	return redial.Connect(ctx, redial.Options{
		Dial: func(ctx context.Context) (transport.Transport, error) {
			return websocket.Dial(ctx, url, access.Client{Token: token})
		},
		Versions: []rpc.ClientVersion{{Protocol: acp.V1, Params: new(acp.InitializeRequest), Handler: acp.ClientSide(show)}},
		OnEvent: func(e redial.Event) {
			log.Println(e.Kind, e.Session, e.Err)
			if e.Kind == redial.Replaying {
				show.clear(e.Session) // its updates come again from the start
			}
		},
	})
}

// A client that survives the end of its connection.
func Example() {
	ctx := context.Background()
	client, err := stay(ctx, "wss://agents.example.org/acp", access.NewToken(), screen{})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	agent := acp.Agent{Conn: client}
	session, err := agent.NewSession(ctx, &acp.NewSessionRequest{Cwd: "/home/me/project"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(agent.Session(session.SessionID).Prompt(ctx, acp.NewTextContent("hello")))
}
