package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// printer is a client that prints what the agent says.
type printer struct {
	acp.UnimplementedClientHandler
}

func (printer) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	switch u := n.Update.(type) {
	case *acp.AgentMessageChunk:
		if text, ok := u.Content.(*acp.TextContent); ok {
			fmt.Print(text.Text)
		}
	case *acp.ToolCall:
		fmt.Printf("[%s]\n", u.Title)
	}
	return nil
}

// A client starts an agent, opens a session and sends one prompt.
func ExampleNewConn() {
	ctx := context.Background()
	process, err := launch.Start(ctx, launch.Command{Path: "gemini", Args: []string{"--acp"}, PassEnv: []string{"GEMINI_API_KEY"}})
	if err != nil {
		log.Fatal(err) // names the program and what is wrong with it
	}
	conn := rpc.NewConn(process.Transport(), acp.ClientSide(printer{}), rpc.Options{})
	defer conn.Close() // stops the process too

	peer := acp.Agent{Conn: conn}
	if _, err := peer.Initialize(ctx, &acp.InitializeRequest{ProtocolVersion: 1}); err != nil {
		log.Fatal(err) // when the agent died: its exit status and last words
	}
	session, err := peer.NewSession(ctx, &acp.NewSessionRequest{Cwd: "/home/me/project", MCPServers: []acp.MCPServer{}})
	if err != nil {
		log.Fatal(err)
	}
	answer, err := peer.Prompt(ctx, &acp.PromptRequest{
		SessionID: session.SessionID,
		Prompt:    []acp.ContentBlock{acp.NewTextContent("What does this project do?")},
	})
	if err != nil {
		log.Fatal(err)
	}
	// Everything the agent said before its answer has been printed by now.
	fmt.Println(answer.StopReason)
}

// greeter is an agent that streams a greeting word by word.
type greeter struct {
	acp.UnimplementedAgentHandler
	client acp.Client
}

func (g *greeter) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{ProtocolVersion: 1}, nil
}

func (g *greeter) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "session-1"}, nil
}

func (g *greeter) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	for _, word := range []string{"Hello, ", "world", "!\n"} {
		err := g.client.SessionUpdate(ctx, &acp.SessionNotification{
			SessionID: p.SessionID,
			Update:    acp.NewAgentMessageChunk(acp.NewTextContent(word)),
		})
		if err != nil {
			return nil, err
		}
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

// An agent serves the client that started it, on standard input and output.
func ExampleConnect() {
	conn := rpc.Connect(transport.Stdio(), func(c *rpc.Conn) acp.Handler {
		return acp.AgentSide(&greeter{client: acp.Client{Conn: c}})
	}, rpc.Options{Server: true})
	<-conn.Done()
	fmt.Fprintln(os.Stderr, conn.Err())
}

// join connects a client and an agent in memory, as tests do.
func join(client acp.ClientHandler, agent func(acp.Client) acp.AgentHandler) (acp.Agent, func()) {
	near, far := transport.Pair()
	clientConn := rpc.NewConn(near, acp.ClientSide(client), rpc.Options{})
	agentConn := rpc.Connect(far, func(c *rpc.Conn) acp.Handler {
		return acp.AgentSide(agent(acp.Client{Conn: c}))
	}, rpc.Options{Server: true})
	return acp.Agent{Conn: clientConn}, func() {
		clientConn.Close()
		agentConn.Close()
	}
}

func say(text string) *acp.PromptRequest {
	return &acp.PromptRequest{SessionID: "session-1", Prompt: []acp.ContentBlock{acp.NewTextContent(text)}}
}

// Both ends in one process, for tests. The updates of a turn are handled before
// Prompt returns.
func Example_inMemory() {
	agent, end := join(printer{}, func(c acp.Client) acp.AgentHandler { return &greeter{client: c} })
	defer end()

	answer, err := agent.Prompt(context.Background(), say("hi"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.StopReason)
	// Output:
	// Hello, world!
	// end_turn
}

// careful asks before it acts.
type careful struct {
	acp.UnimplementedAgentHandler
	client acp.Client
}

func (a *careful) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	answer, err := a.client.RequestPermission(ctx, &acp.RequestPermissionRequest{
		SessionID: p.SessionID,
		ToolCall:  acp.ToolCallUpdate{ToolCallID: "call-1", Title: acp.Some("Delete everything")},
		Options: []acp.PermissionOption{
			{OptionID: "yes", Name: "Allow", Kind: acp.PermissionOptionKindAllowOnce},
			{OptionID: "no", Name: "Reject", Kind: acp.PermissionOptionKindRejectOnce},
		},
	})
	if err != nil {
		return nil, err
	}
	if chosen, ok := answer.Outcome.(*acp.SelectedPermissionOutcome); !ok || chosen.OptionID != "yes" {
		return &acp.PromptResponse{StopReason: acp.StopReasonRefusal}, nil
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

// prudent rejects what it is asked.
type prudent struct {
	acp.UnimplementedClientHandler
}

func (prudent) RequestPermission(_ context.Context, p *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	fmt.Println("asked:", p.ToolCall.Title.Or("something"))
	for _, o := range p.Options {
		if o.Kind == acp.PermissionOptionKindRejectOnce {
			return &acp.RequestPermissionResponse{Outcome: acp.NewSelectedPermissionOutcome(o.OptionID)}, nil
		}
	}
	return nil, fmt.Errorf("no way to say no")
}

// A handler calls the peer with the context it was given, here to ask for a
// permission in the middle of a turn.
func Example_permission() {
	agent, end := join(prudent{}, func(c acp.Client) acp.AgentHandler { return &careful{client: c} })
	defer end()

	answer, err := agent.Prompt(context.Background(), say("clean up"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.StopReason)
	// Output:
	// asked: Delete everything
	// refusal
}

// thinker thinks until it is cancelled.
type thinker struct {
	acp.UnimplementedAgentHandler
	client acp.Client
}

func (a *thinker) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	update := &acp.SessionNotification{SessionID: p.SessionID, Update: acp.NewAgentMessageChunk(acp.NewTextContent("thinking...\n"))}
	if err := a.client.SessionUpdate(ctx, update); err != nil {
		return nil, err
	}
	<-ctx.Done() // session/cancel ends the context of the prompt
	if context.Cause(ctx) == rpc.ErrSessionCancelled {
		return &acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	}
	return nil, ctx.Err()
}

// interrupter tells when the agent says something.
type interrupter struct {
	acp.UnimplementedClientHandler
	said chan struct{}
}

func (i interrupter) SessionUpdate(context.Context, *acp.SessionNotification) error {
	close(i.said)
	return nil
}

// session/cancel ends a turn; the prompt is still answered.
func Example_cancel() {
	said := make(chan struct{})
	agent, end := join(interrupter{said: said}, func(c acp.Client) acp.AgentHandler { return &thinker{client: c} })
	defer end()

	go func() {
		<-said
		if err := agent.Cancel(context.Background(), &acp.CancelNotification{SessionID: "session-1"}); err != nil {
			log.Print(err)
		}
	}()
	answer, err := agent.Prompt(context.Background(), say("think"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.StopReason)
	// Output: cancelled
}

// extended is an agent with a method of its own.
type extended struct {
	acp.UnimplementedAgentHandler
}

func (extended) ExtRequest(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if method != "_example.org/shout" {
		return nil, acp.MethodNotFound(method)
	}
	return json.RawMessage(`{"text":"HEY"}`), nil
}

func (extended) ExtNotification(_ context.Context, method string, _ json.RawMessage) error {
	return acp.MethodNotFound(method)
}

// Methods of extensions are called by name.
func Example_extension() {
	agent, end := join(printer{}, func(acp.Client) acp.AgentHandler { return extended{} })
	defer end()

	var result json.RawMessage
	err := agent.Conn.Call(context.Background(), "_example.org/shout", acp.Raw(`{"text":"hey"}`), &result)
	fmt.Println(string(result), err)
	// Output: {"text":"HEY"} <nil>
}
