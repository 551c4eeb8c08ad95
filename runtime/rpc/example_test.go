package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/lint"
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

// introduction says who a client is; its ClientCapabilities would say what it can do.
var introduction = &acp.InitializeRequest{
	ClientInfo: &acp.Implementation{Name: "example", Version: "1.0.0"},
}

// A client starts an agent, opens a session and sends one prompt.
func ExampleOpen() {
	ctx := context.Background()
	process, err := launch.Start(ctx, launch.Command{Path: "gemini", Args: []string{"--acp"}, PassEnv: []string{"GEMINI_API_KEY"}})
	if err != nil {
		log.Fatal(err) // names the program and what is wrong with it
	}
	agent, err := rpc.Open(ctx, process.Transport(), printer{}, introduction, rpc.Options{})
	if err != nil {
		log.Fatal(err) // when the agent died: its exit status and last words
	}
	defer agent.Close() // stops the process too

	session, err := agent.NewSession(ctx, &acp.NewSessionRequest{Cwd: "/home/me/project"})
	if err != nil {
		log.Fatal(err)
	}
	end, err := agent.Session(session.SessionID).Prompt(ctx, acp.NewTextContent("What does this project do?"))
	if err != nil {
		log.Fatal(err)
	}
	// Everything the agent said before its answer has been printed by now.
	fmt.Println(end)
}

// greeter is an agent that streams a greeting word by word.
type greeter struct {
	acp.UnimplementedAgentHandler
	client acp.Client
}

func (g *greeter) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{ProtocolVersion: 1, AgentInfo: &acp.Implementation{Name: "greeter", Version: "1.0.0"}}, nil
}

func (g *greeter) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "session-1"}, nil
}

func (g *greeter) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	for _, word := range []string{"Hello, ", "world", "!\n"} {
		if err := g.client.Session(p.SessionID).Say(ctx, word); err != nil {
			return nil, err
		}
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

// An agent serves the client that started it, on standard input and output.
func ExampleServe() {
	agent := func(c acp.Client) acp.AgentHandler { return &greeter{client: c} }
	if err := rpc.Serve(context.Background(), transport.Stdio(), agent, rpc.Options{}); err != nil {
		log.Fatal(err)
	}
}

// join connects a client and an agent in memory, as tests do. Most agents of
// these examples do not implement Initialize, so nobody calls it.
func join(client acp.ClientHandler, agent func(acp.Client) acp.AgentHandler) (acp.Agent, func()) {
	near, far := transport.Pair()
	clientConn := rpc.NewConn(near, acp.ClientSide(client), rpc.Options{})
	agentConn := rpc.Connect(far, func(c *rpc.Conn) acp.Handler {
		return early{acp.AgentSide(agent(acp.Client{Conn: c}))}
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

// reader is an agent that tells its client about a tool call, from its begin to its end.
type reader struct {
	acp.UnimplementedAgentHandler
	client acp.Client
}

func (r *reader) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	session := r.client.Session(p.SessionID)
	call := acp.NewToolCall("call-1", "Read parser.go")
	call.Kind = acp.Some(acp.ToolKindRead)
	call.Status = acp.Some(acp.ToolCallStatusInProgress)
	call.Locations = []acp.ToolCallLocation{{Path: "/repo/parser.go"}}
	if err := session.Update(ctx, call); err != nil {
		return nil, err
	}

	end := acp.NewToolCallUpdate("call-1") // only what has changed
	if text, err := session.ReadFile(ctx, "/repo/parser.go"); err != nil {
		end.Status = acp.Some(acp.ToolCallStatusFailed)
	} else {
		end.Status = acp.Some(acp.ToolCallStatusCompleted)
		end.Content = []acp.ToolCallContent{acp.NewContent(acp.NewTextContent(text))}
	}
	if err := session.Update(ctx, end); err != nil {
		return nil, err
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

// shelf is a client with one file. It prints what becomes of tool calls.
type shelf struct {
	acp.UnimplementedClientHandler
}

func (shelf) ReadTextFile(context.Context, *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	return &acp.ReadTextFileResponse{Content: "package parser"}, nil
}

func (shelf) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	switch u := n.Update.(type) {
	case *acp.ToolCall:
		fmt.Println(u.Title, u.Status.Or(acp.ToolCallStatusPending))
	case *acp.ToolCallUpdate:
		fmt.Println(u.ToolCallID, u.Status.Or(acp.ToolCallStatusPending))
	}
	return nil
}

// An agent says what its tools do.
func Example_toolCall() {
	agent, end := join(shelf{}, func(c acp.Client) acp.AgentHandler { return &reader{client: c} })
	defer end()

	if _, err := agent.Prompt(context.Background(), say("what is in parser.go?")); err != nil {
		log.Fatal(err)
	}
	// Output:
	// Read parser.go in_progress
	// call-1 completed
}

// careful asks before it acts.
type careful struct {
	acp.UnimplementedAgentHandler
	client acp.Client
}

func (a *careful) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	chosen, err := a.client.Session(p.SessionID).Ask(ctx, acp.NewToolCall("call-1", "Delete everything").AsUpdate(),
		acp.PermissionOption{OptionID: "yes", Name: "Allow", Kind: acp.PermissionOptionKindAllowOnce},
		acp.PermissionOption{OptionID: "no", Name: "Reject", Kind: acp.PermissionOptionKindRejectOnce})
	switch {
	case err != nil:
		return nil, err
	case chosen.OptionID == "":
		return &acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	case chosen.OptionID == "no":
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

// asker is a client that leaves the choice to its user.
type asker struct {
	acp.UnimplementedClientHandler
	show   func([]acp.PermissionOption)
	choice chan acp.PermissionOptionID
}

func (a asker) RequestPermission(ctx context.Context, p *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	a.show(p.Options)
	select {
	case id := <-a.choice:
		return &acp.RequestPermissionResponse{Outcome: acp.NewSelectedPermissionOutcome(id)}, nil
	case <-ctx.Done(): // nobody wants the answer any more; take the question off the screen
		return nil, ctx.Err()
	}
}

// session/cancel ends an open question: the connection answers it for the handler.
func Example_cancelWhileAsking() {
	asked := make(chan struct{})
	user := asker{show: func([]acp.PermissionOption) { close(asked) }}
	agent, end := join(user, func(c acp.Client) acp.AgentHandler { return &careful{client: c} })
	defer end()

	go func() {
		<-asked
		if err := agent.Session("session-1").Cancel(context.Background()); err != nil {
			log.Print(err)
		}
	}()
	answer, err := agent.Prompt(context.Background(), say("clean up"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.StopReason)
	// Output: cancelled
}

// thinker thinks until it is cancelled.
type thinker struct {
	acp.UnimplementedAgentHandler
	client acp.Client
}

func (a *thinker) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	if err := a.client.Session(p.SessionID).Say(ctx, "thinking...\n"); err != nil {
		return nil, err
	}
	<-ctx.Done() // session/cancel ends the context of the prompt
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
		if err := agent.Session("session-1").Cancel(context.Background()); err != nil {
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

// A client introduces itself, and the agent answers with what it is and what it can do.
func ExampleOpen_introduction() {
	near, far := transport.Pair()
	go rpc.Serve(context.Background(), far, func(c acp.Client) acp.AgentHandler { return &greeter{client: c} }, rpc.Options{})

	agent, err := rpc.Open(context.Background(), near, printer{}, introduction, rpc.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer agent.Close()
	fmt.Println(agent.Initialized.AgentInfo.Name, "speaks version", agent.Initialized.ProtocolVersion)
	// Output: greeter speaks version 1
}

// A test of an agent, which also fails if either side breaks a rule of the protocol.
func TestPrompt(t *testing.T) {
	near, far := transport.Pair()
	go rpc.Serve(t.Context(), far, func(c acp.Client) acp.AgentHandler { return &greeter{client: c} }, rpc.Options{})
	agent, err := rpc.Open(t.Context(), near, acp.UnimplementedClientHandler{}, introduction, rpc.Options{
		Middleware: []rpc.Middleware{lint.Check(t, lint.Options{})},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()

	session, err := agent.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/repo"})
	if err != nil {
		t.Fatal(err)
	}
	end, err := agent.Session(session.SessionID).Prompt(t.Context(), acp.NewTextContent("hi"))
	if err != nil {
		t.Fatal(err)
	}
	if end != acp.StopReasonEndTurn {
		t.Errorf("stopped by %s", end)
	}
}
