package trace_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/trace"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// parrot is an agent that says the same every time.
type parrot struct {
	acp.UnimplementedAgentHandler
	client acp.Client
}

func (p *parrot) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{ProtocolVersion: 1}, nil
}

func (p *parrot) Prompt(ctx context.Context, r *acp.PromptRequest) (*acp.PromptResponse, error) {
	p.client.Session(r.SessionID).Say(ctx, "Hello!\n")
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

// printer is a client that prints what the agent says.
type printer struct {
	acp.UnimplementedClientHandler
}

func (printer) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	if chunk, ok := n.Update.(*acp.AgentMessageChunk); ok {
		fmt.Print(chunk.Content.(*acp.TextContent).Text)
	}
	return nil
}

// talk prompts the agent behind t.
func talk(t transport.Transport, opts rpc.Options) {
	agent, err := rpc.Open(context.Background(), t, printer{}, nil, opts)
	if err != nil {
		log.Fatal(err)
	}
	defer agent.Close()
	if _, err := agent.Session("session-1").Prompt(context.Background(), acp.NewTextContent("hi")); err != nil {
		log.Fatal(err)
	}
}

// A conversation is recorded once and played to a client as often as wanted, such as in
// a test without the agent. trace.Create records into a file.
func ExamplePlay() {
	var file bytes.Buffer
	recorder := trace.NewWriter(&file, trace.Options{})
	near, far := transport.Pair()
	go rpc.Serve(context.Background(), far, func(c acp.Client) acp.AgentHandler { return &parrot{client: c} }, rpc.Options{})
	talk(near, rpc.Options{Middleware: []rpc.Middleware{recorder.Middleware()}})
	if err := recorder.Close(); err != nil {
		log.Fatal(err)
	}

	recording, err := trace.ReadAll("hello.jsonl", &file)
	if err != nil {
		log.Fatal(err) // names the line
	}
	near, far = transport.Pair()
	played := make(chan error, 1)
	go func() { played <- trace.Play(context.Background(), far, recording, trace.PlayOptions{}) }()
	talk(near, rpc.Options{})
	fmt.Println("difference:", <-played) // a *trace.MismatchError if the client did something else
	// Output:
	// Hello!
	// Hello!
	// difference: <nil>
}
