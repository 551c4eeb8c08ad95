package codexagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/testcodex"
	"github.com/hermes-nvim/hermes/runtime/codex/codexagent"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/test/llm"
)

// TestMain plays the app-server when a test has started it as one.
func TestMain(m *testing.M) {
	if os.Getenv(testcodex.ScriptEnv) != "" {
		serve()
		return
	}
	os.Exit(leak.Main(m))
}

// editor is a client that keeps what it is told.
type editor struct {
	acp.UnimplementedClientHandler
	agent    *rpc.Agent
	dir      string
	tolerant bool // the test breaks a rule of the protocol on the client's side

	choose func(p *acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error)
	form   func(p *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error)

	mu      sync.Mutex
	updates []acp.SessionUpdate
	asked   []*acp.RequestPermissionRequest
	heard   chan acp.SessionUpdate
}

func (e *editor) SessionUpdate(_ context.Context, p *acp.SessionNotification) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.updates = append(e.updates, p.Update)
	select {
	case e.heard <- p.Update:
	default:
	}
	return nil
}

func (e *editor) RequestPermission(_ context.Context, p *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	e.mu.Lock()
	e.asked = append(e.asked, p)
	e.mu.Unlock()
	if e.choose == nil {
		return nil, errors.New("nobody is here")
	}
	outcome, err := e.choose(p)
	if err != nil {
		return nil, err
	}
	return acp.NewRequestPermissionResponse(outcome), nil
}

func (e *editor) CreateElicitation(_ context.Context, p *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	if e.form == nil {
		return acp.NewCreateElicitationResponse(&acp.CreateElicitationResponseDecline{}), nil
	}
	return e.form(p)
}

func pick(id string) func(*acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error) {
	return func(*acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error) {
		return &acp.SelectedPermissionOutcome{OptionID: acp.PermissionOptionID(id)}, nil
	}
}

func cancelled(*acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error) {
	return &acp.RequestPermissionOutcomeCancelled{}, nil
}

// start connects an editor to the agent. All traffic is linted.
func start(t *testing.T, command launch.Command, can *acp.ClientCapabilities) *editor {
	t.Helper()
	e := &editor{dir: t.TempDir(), heard: make(chan acp.SessionUpdate, 10000)}
	near, far := transport.Pair()
	done := make(chan error, 1)
	go func() { done <- codexagent.Serve(context.Background(), far, codexagent.Options{Command: command}) }()
	var err error
	e.agent, err = rpc.Open(t.Context(), near, e, &acp.InitializeRequest{ClientCapabilities: can, ClientInfo: &acp.Implementation{Name: "editor", Version: "1"}},
		rpc.Options{Tap: lint.Check(t, lint.Client, lint.Options{Profile: lint.Strict, Accept: func(f *lint.Finding) bool { return e.tolerant && f.By == lint.Client }})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		e.agent.Conn.Close()
		<-done
	})
	return e
}

// scripted is this test program as an app-server.
func scripted(t *testing.T) (launch.Command, string) {
	log := filepath.Join(t.TempDir(), "sent")
	return launch.Command{
		Path: os.Args[0], Args: []string{"-test.run=^$"}, InheritEnv: true,
		Env: []string{testcodex.ScriptEnv + "=1", testcodex.LogEnv + "=" + log, testcodex.QuickEnd},
	}, log
}

func (e *editor) open(t *testing.T) acp.SessionID {
	t.Helper()
	r, err := e.agent.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: e.dir, MCPServers: []acp.MCPServer{}})
	if err != nil {
		t.Fatal(err)
	}
	return r.SessionID
}

func (e *editor) prompt(t *testing.T, id acp.SessionID, text string) (acp.StopReason, error) {
	t.Helper()
	r, err := e.agent.Prompt(t.Context(), &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.NewTextContent(text)}})
	if err != nil {
		return "", err
	}
	return r.StopReason, nil
}

// begun waits until a turn runs: codex was sent turn/start.
func (e *editor) begun(t *testing.T, log string) {
	t.Helper()
	patience.True(t, "turn/start", func() bool { b, _ := os.ReadFile(log); return strings.Contains(string(b), "turn/start") })
}

// seen are the updates so far, as JSON.
func (e *editor) seen() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []string
	for _, u := range e.updates {
		out = append(out, string(acp.AppendSessionUpdate(nil, u)))
	}
	return out
}

// text is what the agent said.
func (e *editor) text() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := ""
	for _, u := range e.updates {
		if m, ok := u.(*acp.AgentMessageChunk); ok {
			out += m.Content.(*acp.TextContent).Text
		}
	}
	return out
}

// has reports whether an update holds all of the parts.
func (e *editor) has(parts ...string) bool {
	return slices.ContainsFunc(e.seen(), func(u string) bool {
		return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(u, p) })
	})
}

func TestThePublishedCodexIsAnAgent(t *testing.T) {
	t.Parallel()
	model, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	e := start(t, testcodex.Published(t, model.URL), &acp.ClientCapabilities{Elicitation: &acp.ElicitationCapabilities{Form: &acp.ElicitationFormCapabilities{}}})
	if err := os.WriteFile(filepath.Join(e.dir, "old.txt"), []byte("alpha\nbeta\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := e.agent.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: e.dir, MCPServers: []acp.MCPServer{}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Modes.CurrentModeID != "auto" || len(r.Modes.AvailableModes) != 3 || len(r.ConfigOptions) < 2 {
		t.Errorf("opened %s", r.AppendJSON(nil))
	}
	id := r.SessionID
	if _, err := e.agent.SetSessionMode(t.Context(), &acp.SetSessionModeRequest{SessionID: id, ModeID: "approval-required"}); err != nil {
		t.Error(err)
	}
	e.choose = pick("accept")
	stop, err := e.prompt(t, id, "THINK of it\n"+`CALL exec_command {"cmd":"apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: old.txt\n@@\n-alpha\n+ALPHA\n*** End Patch\nEOF"}`+"\n"+`CALL exec_command {"cmd":"cat old.txt"}`+"\nSAY hello there")
	if stop != acp.StopReasonEndTurn || err != nil {
		t.Fatalf("%s, %v", stop, err)
	}
	old := filepath.Join(e.dir, "old.txt")
	for _, parts := range [][]string{
		{`"agent_thought_chunk"`, "of it"},
		{`"tool_call"`, `"kind":"edit"`, `"oldText":"alpha\nbeta\n"`, `"newText":"ALPHA\nbeta\n"`, old},
		{`"tool_call_update"`, `"status":"completed"`},
		{`"tool_call"`, `"kind":"read"`, "cat old.txt"},
		{`"tool_call_update"`, `ALPHA\nbeta`},
		{`"usage_update"`, `"used":120`},
	} {
		if !e.has(parts...) {
			t.Errorf("no update with %q in\n%s", parts, strings.Join(e.seen(), "\n"))
		}
	}
	if !strings.Contains(e.text(), "hello there") {
		t.Errorf("said %q", e.text())
	}
	if b, _ := os.ReadFile(old); string(b) != "ALPHA\nbeta\n" {
		t.Errorf("the file holds %q", b)
	}
	if len(e.asked) != 1 || len(e.asked[0].ToolCall.Content) != 1 {
		t.Errorf("asked %v", e.asked)
	}
	// a client that is cancelled refuses
	e.choose = cancelled
	if stop, err := e.prompt(t, id, `CALL exec_command {"cmd":"echo x > made","sandbox_permissions":"require_escalated","justification":"j"}`); stop != acp.StopReasonCancelled {
		t.Errorf("%s, %v", stop, err)
	}
	if _, err := os.Stat(filepath.Join(e.dir, "made")); err == nil {
		t.Error("a refused command was run")
	}
	// cancel in mid turn
	done := make(chan acp.StopReason)
	for len(e.heard) > 0 {
		<-e.heard
	}
	go func() { stop, _ := e.prompt(t, id, "SLOW 100"); done <- stop }()
	for u := range e.heard {
		if _, ok := u.(*acp.AgentMessageChunk); ok {
			break
		}
	}
	if err := e.agent.Cancel(t.Context(), &acp.CancelNotification{SessionID: id}); err != nil {
		t.Error(err)
	}
	if stop := <-done; stop != acp.StopReasonCancelled {
		t.Errorf("stopped as %s", stop)
	}
	// list, close, load, delete
	list, err := e.agent.ListSessions(t.Context(), &acp.ListSessionsRequest{Cwd: acp.Some(e.dir)})
	if err != nil || len(list.Sessions) != 1 || list.Sessions[0].SessionID != id {
		t.Errorf("listed %v, %v", list, err)
	}
	if _, err := e.agent.CloseSession(t.Context(), &acp.CloseSessionRequest{SessionID: id}); err != nil {
		t.Error(err)
	}
	e.mu.Lock()
	e.updates = nil
	e.mu.Unlock()
	if _, err := e.agent.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: id, Cwd: e.dir, MCPServers: []acp.MCPServer{}}); err != nil {
		t.Fatal(err)
	}
	if !e.has(`"user_message_chunk"`, "SAY hello there") || !strings.Contains(e.text(), "hello there") || !e.has(`"kind":"edit"`) {
		t.Errorf("replayed\n%s", strings.Join(e.seen(), "\n"))
	}
	var forked acp.NewSessionResponse
	params, _ := json.Marshal(map[string]any{"sessionId": id, "cwd": e.dir, "mcpServers": []any{}})
	if err := e.agent.Call(t.Context(), "session/fork", acp.Raw(params), &forked); err != nil || forked.SessionID == id || forked.SessionID == "" {
		t.Errorf("forked %q, %v", forked.SessionID, err)
	} else if stop, err := e.prompt(t, forked.SessionID, "SAY from the fork"); stop != acp.StopReasonEndTurn {
		t.Errorf("%s, %v", stop, err)
	} else if _, err := e.agent.DeleteSession(t.Context(), &acp.DeleteSessionRequest{SessionID: forked.SessionID}); err != nil {
		t.Error(err)
	}
	if _, err := e.agent.DeleteSession(t.Context(), &acp.DeleteSessionRequest{SessionID: id}); err != nil {
		t.Error(err)
	}
	list, err = e.agent.ListSessions(t.Context(), &acp.ListSessionsRequest{Cwd: acp.Some(e.dir)})
	if err != nil || len(list.Sessions) != 0 {
		t.Errorf("listed %v, %v", list, err)
	}
}
