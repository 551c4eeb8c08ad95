package websocket_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/httpstream"
	"github.com/hermes-nvim/hermes/runtime/transport/websocket"
)

// remote is an agent that knows who it is.
type remote struct {
	acp.UnimplementedAgentHandler
}

func (remote) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{ProtocolVersion: 1, AgentInfo: &acp.Implementation{Name: "remote", Version: "1"}}, nil
}

// serve lets whoever has the token use an agent, over WebSocket and streamable HTTP at one
// address, until ctx ends. Connections that last longer than grace are cut off then.
func serve(ctx context.Context, l net.Listener, guard access.Guard, grace time.Duration) error {
	handle := func(ctx context.Context, t transport.Transport) {
		rpc.Serve(ctx, t, func(acp.Client) acp.AgentHandler { return remote{} }, rpc.Options{})
	}
	sockets := &websocket.Server{Guard: guard, Handle: handle}
	streams := &httpstream.Server{Guard: guard, Handle: handle}
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if websocket.Upgrade(r) {
			sockets.ServeHTTP(w, r)
		} else {
			streams.ServeHTTP(w, r)
		}
	})}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return errors.Join(sockets.Shutdown(last), streams.Shutdown(last), server.Shutdown(last))
}

// The client of an agent on the network, until the server shuts down.
func ExampleServer_Shutdown() {
	token := access.NewToken() // or access.ReadToken from a file that only its owner can read
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background()) // a program: signal.NotifyContext
	served := make(chan error, 1)
	go func() { served <- serve(ctx, l, access.Guard{Token: token}, patience.Soon) }()

	t, err := websocket.Dial(context.Background(), "ws://"+l.Addr().String(), access.Client{Token: token})
	if err != nil {
		log.Fatal(err)
	}
	agent, err := rpc.Open(context.Background(), t, acp.UnimplementedClientHandler{}, nil, rpc.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer agent.Close()
	fmt.Println(agent.Initialized.AgentInfo.Name)

	_, err = websocket.Dial(context.Background(), "ws://"+l.Addr().String(), access.Client{Token: access.NewToken()})
	var refused *access.StatusError
	fmt.Println(errors.As(err, &refused), refused.Status)

	stop()
	fmt.Println(agent.Wait(context.Background()), <-served)
	// Output:
	// remote
	// true 401
	// <nil> <nil>
}
