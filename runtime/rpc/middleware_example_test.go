package rpc_test

import (
	"context"
	"encoding/json"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// logging logs what a connection receives and sends, and how long it took.
func logging(l *slog.Logger) rpc.Middleware {
	return rpc.Middleware{
		Receive: func(next acp.Handler) acp.Handler { return loggedHandler{next, l} },
		Send:    func(next acp.Caller) acp.Caller { return loggedCaller{next, l} },
	}
}

type loggedHandler struct {
	acp.Handler // notifications pass as they are
	log         *slog.Logger
}

func (h loggedHandler) HandleRequest(ctx context.Context, method string, params json.RawMessage) (acp.Appender, error) {
	begin := time.Now()
	result, err := h.Handler.HandleRequest(ctx, method, params)
	h.log.InfoContext(ctx, "received", "method", method, "took", time.Since(begin), "error", err)
	return result, err
}

type loggedCaller struct {
	acp.Caller
	log *slog.Logger
}

func (c loggedCaller) Call(ctx context.Context, method string, params acp.Appender, result json.Unmarshaler) error {
	begin := time.Now()
	err := c.Caller.Call(ctx, method, params, result)
	c.log.InfoContext(ctx, "sent", "method", method, "took", time.Since(begin), "error", err)
	return err
}

// ids logs who sends which request, and which one an answer is for.
func ids(l *slog.Logger) rpc.Middleware {
	return rpc.Middleware{Tap: func(from acp.Side, message []byte) {
		var m struct {
			ID     *acp.RequestID `json:"id"`
			Method string         `json:"method"`
		}
		if json.Unmarshal(message, &m) == nil && m.ID != nil {
			l.Info("wire", "from", from, "id", m.ID, "method", m.Method) // an answer has no method
		}
	}}
}

// initialized is careful for clients that begin as they must.
type initialized struct{ careful }

func (*initialized) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{ProtocolVersion: 1}, nil
}

// timeless logs what does not differ from run to run.
func timeless() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "took" {
			return slog.Attr{}
		}
		return a
	}}))
}

// Middleware sees what passes in both directions. Here an agent logs it.
func ExampleMiddleware() {
	near, far := transport.Pair()
	agent := func(c acp.Client) acp.AgentHandler { return &initialized{careful{client: c}} }
	go rpc.Serve(context.Background(), far, agent, rpc.Options{Middleware: []rpc.Middleware{logging(timeless())}})

	client, err := rpc.Open(context.Background(), near, allow{}, nil, rpc.Options{})
	if err != nil {
		log.Fatal(err)
	}
	client.Session("session-1").Prompt(context.Background(), acp.NewTextContent("tidy up"))
	client.Close()
	// Output:
	// level=INFO msg=received method=initialize error=<nil>
	// level=INFO msg=sent method=session/request_permission error=<nil>
	// level=INFO msg=received method=session/prompt error=<nil>
}

// A Tap sees the ids of both directions, here at the client.
func ExampleMiddleware_tap() {
	near, far := transport.Pair()
	agent := func(c acp.Client) acp.AgentHandler { return &initialized{careful{client: c}} }
	go rpc.Serve(context.Background(), far, agent, rpc.Options{})

	client, err := rpc.Open(context.Background(), near, allow{}, nil, rpc.Options{Middleware: []rpc.Middleware{ids(timeless())}})
	if err != nil {
		log.Fatal(err)
	}
	client.Session("session-1").Prompt(context.Background(), acp.NewTextContent("tidy up"))
	client.Close()
	// Output:
	// level=INFO msg=wire from=client id=1 method=initialize
	// level=INFO msg=wire from=agent id=1 method=""
	// level=INFO msg=wire from=client id=2 method=session/prompt
	// level=INFO msg=wire from=agent id=1 method=session/request_permission
	// level=INFO msg=wire from=client id=1 method=""
	// level=INFO msg=wire from=agent id=2 method=""
}

// An agent logs what passes.
func ExampleOptions() {
	agent := func(c acp.Client) acp.AgentHandler { return &greeter{client: c} }
	opts := rpc.Options{Middleware: []rpc.Middleware{logging(slog.Default())}}
	if err := rpc.Serve(context.Background(), transport.Stdio(), agent, opts); err != nil {
		log.Fatal(err)
	}
}
