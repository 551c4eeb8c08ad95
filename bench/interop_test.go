package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	coder "github.com/coder/acp-go-sdk"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/services"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/tools/hermes/demoagent"
)

// coderClient is a client on coder's bindings that keeps its files in memory.
type coderClient struct {
	coder.Client // nil: what is not below must not be called

	mu    sync.Mutex
	text  string
	kinds map[string]int
	files map[string]string
	asked int
	first chan struct{}
	once  sync.Once
}

func (c *coderClient) SessionUpdate(_ context.Context, n coder.SessionNotification) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch u := n.Update; {
	case u.AgentMessageChunk != nil:
		c.text += u.AgentMessageChunk.Content.Text.Text
		c.once.Do(func() { close(c.first) })
	case u.ToolCall != nil:
		c.kinds["tool_call"]++
	case u.Plan != nil:
		c.kinds["plan"]++
	case u.AvailableCommandsUpdate != nil:
		c.kinds["commands"]++
	}
	return nil
}

func (c *coderClient) RequestPermission(_ context.Context, p coder.RequestPermissionRequest) (coder.RequestPermissionResponse, error) {
	c.mu.Lock()
	c.asked++
	c.mu.Unlock()
	for _, o := range p.Options {
		if o.Kind == coder.PermissionOptionKindAllowOnce {
			return coder.RequestPermissionResponse{Outcome: coder.RequestPermissionOutcome{Selected: &coder.RequestPermissionOutcomeSelected{OptionId: o.OptionId}}}, nil
		}
	}
	return coder.RequestPermissionResponse{}, errors.New("no option to allow it")
}

func (c *coderClient) ReadTextFile(_ context.Context, p coder.ReadTextFileRequest) (coder.ReadTextFileResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, ok := c.files[p.Path]
	if !ok {
		return coder.ReadTextFileResponse{}, &coder.RequestError{Code: -32002, Message: "no such file"}
	}
	return coder.ReadTextFileResponse{Content: text}, nil
}

func (c *coderClient) WriteTextFile(_ context.Context, p coder.WriteTextFileRequest) (coder.WriteTextFileResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files[p.Path] = p.Content
	return coder.WriteTextFileResponse{}, nil
}

// TestMain also plays the agents that the tests start.
func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "our agent":
		if err := demoagent.Run(context.Background(), transport.Stdio(), nil); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "coder agent":
		a := &coderAgent{}
		a.conn = coder.NewAgentSideConnection(a, os.Stdout, os.Stdin)
		<-a.conn.Done()
	default:
		if Role() {
			return
		}
		os.Exit(m.Run())
	}
}

// start starts this program as an agent, and returns its standard streams.
func start(t *testing.T, who string) (agent *exec.Cmd, in io.WriteCloser, out io.ReadCloser) {
	t.Helper()
	agent, err := role(who, "agent")
	if err != nil {
		t.Fatal(err)
	}
	agent.Stderr = os.Stderr
	in, err1 := agent.StdinPipe()
	out, err2 := agent.StdoutPipe()
	if err := errors.Join(err1, err2, agent.Start()); err != nil {
		t.Fatal(err)
	}
	return agent, in, out
}

func TestCodersClientDrivesOurAgent(t *testing.T) {
	agent, in, out := start(t, "our")
	ctx := patience.Context(t, patience.Soon)
	dir := t.TempDir()
	name := filepath.Join(dir, "notes.md")
	c := &coderClient{kinds: map[string]int{}, files: map[string]string{name: "one\n"}, first: make(chan struct{})}
	conn := coder.NewClientSideConnection(c, in, out)
	init, err := conn.Initialize(ctx, coder.InitializeRequest{ProtocolVersion: coder.ProtocolVersionNumber,
		ClientCapabilities: coder.ClientCapabilities{Fs: coder.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true}}})
	if err != nil || init.ProtocolVersion != 1 {
		t.Fatal(init, err)
	}
	s, err := conn.NewSession(ctx, coder.NewSessionRequest{Cwd: dir, McpServers: []coder.McpServer{}})
	if err != nil {
		t.Fatal(err)
	}
	prompt := func(text string) (coder.PromptResponse, error) {
		return conn.Prompt(ctx, coder.PromptRequest{SessionId: s.SessionId, Prompt: []coder.ContentBlock{coder.TextBlock(text)}})
	}
	if r, err := prompt("/edit notes.md"); err != nil || r.StopReason != coder.StopReasonEndTurn {
		t.Fatal(r, err)
	}
	c.mu.Lock()
	if got := c.files[name]; got == "one\n" || !strings.HasPrefix(got, "one\n") || c.asked != 1 || c.kinds["tool_call"] == 0 || c.kinds["commands"] == 0 {
		t.Errorf("file %q, asked %d times, updates %v", got, c.asked, c.kinds)
	}
	c.first, c.once = make(chan struct{}), sync.Once{}
	c.mu.Unlock()
	go func() {
		<-c.first
		conn.Cancel(ctx, coder.CancelNotification{SessionId: s.SessionId})
	}()
	if r, err := prompt("/slow 1000"); err != nil || r.StopReason != coder.StopReasonCancelled {
		t.Error(r, err)
	}
	var refused *coder.RequestError
	if _, err := prompt("/fail"); !errors.As(err, &refused) || refused.Code != -32603 {
		t.Errorf("the failure arrived as %v", err)
	}
	in.Close()
	if err := agent.Wait(); err != nil {
		t.Errorf("the agent ended with %v", err)
	}
}

// coderAgent is an agent on coder's bindings that uses all of the client.
type coderAgent struct {
	coder.Agent // nil: what is not below must not be called
	conn        *coder.AgentSideConnection
}

func (a *coderAgent) Initialize(context.Context, coder.InitializeRequest) (coder.InitializeResponse, error) {
	return coder.InitializeResponse{ProtocolVersion: coder.ProtocolVersionNumber}, nil
}

func (a *coderAgent) NewSession(context.Context, coder.NewSessionRequest) (coder.NewSessionResponse, error) {
	return coder.NewSessionResponse{SessionId: "s"}, nil
}

func (a *coderAgent) Cancel(context.Context, coder.CancelNotification) error { return nil }

func (a *coderAgent) Prompt(ctx context.Context, p coder.PromptRequest) (coder.PromptResponse, error) {
	dir := p.Prompt[0].Text.Text
	if dir == "wait" {
		if err := a.conn.SessionUpdate(ctx, coder.SessionNotification{SessionId: p.SessionId, Update: coder.UpdateAgentMessageText("waiting")}); err != nil {
			return coder.PromptResponse{}, err
		}
		<-ctx.Done()
		return coder.PromptResponse{StopReason: coder.StopReasonCancelled}, nil
	}
	for i := range 100 {
		if err := a.conn.SessionUpdate(ctx, coder.SessionNotification{SessionId: p.SessionId, Update: coder.UpdateAgentMessageText(fmt.Sprint(i, " "))}); err != nil {
			return coder.PromptResponse{}, err
		}
	}
	r, err := a.conn.RequestPermission(ctx, coder.RequestPermissionRequest{SessionId: p.SessionId,
		ToolCall: coder.ToolCallUpdate{ToolCallId: "c"},
		Options:  []coder.PermissionOption{{OptionId: "yes", Name: "Yes", Kind: coder.PermissionOptionKindAllowOnce}}})
	if err == nil && r.Outcome.Selected == nil {
		err = errors.New("not allowed")
	}
	if err == nil {
		_, err = a.conn.WriteTextFile(ctx, coder.WriteTextFileRequest{SessionId: p.SessionId, Path: dir + "/out.txt", Content: "héllo\n"})
	}
	if err != nil {
		return coder.PromptResponse{}, err
	}
	f, err := a.conn.ReadTextFile(ctx, coder.ReadTextFileRequest{SessionId: p.SessionId, Path: dir + "/out.txt"})
	if err != nil || f.Content != "héllo\n" {
		return coder.PromptResponse{}, fmt.Errorf("read %q: %w", f.Content, err)
	}
	if _, err := a.conn.ReadTextFile(ctx, coder.ReadTextFileRequest{SessionId: p.SessionId, Path: "/etc/passwd"}); err == nil {
		return coder.PromptResponse{}, errors.New("read a file outside")
	}
	term, err := a.conn.CreateTerminal(ctx, coder.CreateTerminalRequest{SessionId: p.SessionId, Command: "echo", Args: []string{"from coder"}})
	if err != nil {
		return coder.PromptResponse{}, err
	}
	if _, err := a.conn.WaitForTerminalExit(ctx, coder.WaitForTerminalExitRequest{SessionId: p.SessionId, TerminalId: term.TerminalId}); err != nil {
		return coder.PromptResponse{}, err
	}
	out, err := a.conn.TerminalOutput(ctx, coder.TerminalOutputRequest{SessionId: p.SessionId, TerminalId: term.TerminalId})
	if err != nil || out.Output != "from coder\n" {
		return coder.PromptResponse{}, fmt.Errorf("output %q: %w", out.Output, err)
	}
	return coder.PromptResponse{StopReason: coder.StopReasonEndTurn}, nil
}

func TestOurClientDrivesCodersAgent(t *testing.T) {
	process, in, out := start(t, "coder")
	ctx := patience.Context(t, patience.Soon)
	var text strings.Builder
	waiting := make(chan struct{})
	s := services.New(services.Options{
		ApproveCommand: services.AllowCommands,
		Ask: func(_ context.Context, p *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
			return p.Options[0].OptionID, nil
		},
		Updated: func(_ context.Context, n *acp.SessionNotification) error {
			part := n.Update.(*acp.AgentMessageChunk).Content.(*acp.TextContent).Text
			if part == "waiting" {
				close(waiting)
			}
			text.WriteString(part)
			return nil
		},
	})
	defer s.Close()
	conn := rpc.NewConn(transport.NewStream(out, in), acp.ClientSide(s), rpc.Options{})
	defer conn.Close()
	agent := acp.Agent{Conn: conn}
	if _, err := agent.Initialize(ctx, &acp.InitializeRequest{ProtocolVersion: 1}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	session, err := s.NewSession(ctx, agent, &acp.NewSessionRequest{Cwd: dir})
	if err != nil {
		t.Fatal(err)
	}
	prompt := func(text string) (*acp.PromptResponse, error) {
		return agent.Prompt(ctx, &acp.PromptRequest{SessionID: session.SessionID, Prompt: []acp.ContentBlock{&acp.TextContent{Text: text}}})
	}
	if r, err := prompt(dir); err != nil || r.StopReason != acp.StopReasonEndTurn {
		t.Fatal(r, err)
	}
	var want strings.Builder
	for i := range 100 {
		fmt.Fprint(&want, i, " ")
	}
	if text.String() != want.String() {
		t.Errorf("said %q", text.String())
	}
	go func() {
		patience.Value(t, "begin of the turn", waiting)
		agent.Cancel(ctx, &acp.CancelNotification{SessionID: session.SessionID})
	}()
	if r, err := prompt("wait"); err != nil || r.StopReason != acp.StopReasonCancelled {
		t.Error(r, err)
	}
	if st := conn.Stats(); st.Count(rpc.FaultParse)+st.Count(rpc.FaultInvalid) > 0 {
		t.Errorf("faults: %+v", st)
	}
	conn.Close()
	if err := process.Wait(); err != nil {
		t.Errorf("coder's agent ended with %v", err)
	}
}
