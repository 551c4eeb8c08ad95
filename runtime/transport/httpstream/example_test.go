package httpstream_test

import (
	"context"
	"fmt"
	"log"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/httpstream"
)

// A client talks to an agent on another machine.
func ExampleDial() {
	token, err := access.ReadToken("/home/me/.config/agent.token")
	if err != nil {
		log.Fatal(err) // there is none, or others may read it
	}
	t, err := httpstream.Dial("https://agents.example/acp", access.Client{Token: token})
	if err != nil {
		log.Fatal(err)
	}
	agent, err := rpc.Open(context.Background(), t, acp.UnimplementedClientHandler{}, nil, rpc.Options{})
	if err != nil {
		log.Fatal(err) // the server cannot be reached, or refused the token
	}
	defer agent.Close()
	fmt.Println(agent.Initialized.AgentInfo)
}
