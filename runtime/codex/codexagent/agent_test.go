package codexagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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

	mu       sync.Mutex
	updates  []acp.SessionUpdate
	sessions []acp.SessionID // of the updates
	asked    []*acp.RequestPermissionRequest
	heard    chan acp.SessionUpdate
}

func (e *editor) SessionUpdate(_ context.Context, p *acp.SessionNotification) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.updates, e.sessions = append(e.updates, p.Update), append(e.sessions, p.SessionID)
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
		rpc.Options{Middleware: []rpc.Middleware{lint.Check(t, lint.Options{Profile: lint.Strict, Accept: func(f *lint.Finding) bool { return e.tolerant && f.By == lint.Client }})}})
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

// The configuration of the user decides what a session may do at first.
func TestASessionMayDoWhatThePublishedCodexIsConfiguredFor(t *testing.T) {
	t.Parallel()
	model, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	for config, want := range map[string]struct {
		mode acp.SessionModeID
		made bool
	}{
		`sandbox_mode = "read-only"`:       {"approval-required", false},
		`sandbox_mode = "workspace-write"`: {"auto", true},
		`sandbox_mode = "danger-full-access"
approval_policy = "never"`: {"unrestricted", true},
	} {
		t.Run(string(want.mode), func(t *testing.T) {
			t.Parallel()
			command := testcodex.Published(t, model.URL)
			home := strings.TrimPrefix(command.Env[0], "HOME=")
			text, err := os.ReadFile(filepath.Join(home, "config.toml"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(home, "config.toml"), append([]byte(config+"\n"), text...), 0o600); err != nil {
				t.Fatal(err)
			}
			e := start(t, command, nil)
			e.choose = cancelled
			r, err := e.agent.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: e.dir, MCPServers: []acp.MCPServer{}})
			if err != nil {
				t.Fatal(err)
			}
			if r.Modes.CurrentModeID != want.mode {
				t.Errorf("the mode is %s", r.Modes.CurrentModeID)
			}
			if _, err := e.prompt(t, r.SessionID, `CALL exec_command {"cmd":"echo x > made"}`+"\nSAY done"); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Join(e.dir, "made")); (err == nil) != want.made {
				t.Errorf("made: %v", err)
			}
		})
	}
}

// A key that the model refuses is a login that is missing.
func TestAModelThatRefusesTheLoginAsksForOne(t *testing.T) {
	t.Parallel()
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}`, http.StatusUnauthorized)
	}))
	t.Cleanup(model.Close)
	e := start(t, testcodex.Published(t, model.URL), nil)
	_, err := e.prompt(t, e.open(t), "hello")
	if answer, _ := err.(*acp.Error); answer == nil || answer.Code != acp.ErrorCodeAuthenticationRequired {
		t.Errorf("%v", err)
	}
}

// Commands are calls of the app-server, and no text for the model.
func TestThePublishedCodexCarriesOutCommands(t *testing.T) {
	t.Parallel()
	model, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	command := testcodex.Published(t, model.URL)
	skill := filepath.Join(strings.TrimPrefix(command.Env[0], "HOME="), "skills", "greet", "SKILL.md")
	if err := os.MkdirAll(filepath.Dir(skill), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(skill, []byte("---\nname: greet\ndescription: greets politely\n---\nSAY the skill is read\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := start(t, command, nil)
	if out, err := exec.Command("git", "-C", e.dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	id := e.open(t)
	for u := range e.heard {
		if _, ok := u.(*acp.AvailableCommandsUpdate); ok {
			break
		}
	}
	for _, name := range []string{"compact", "review", "review-branch", "review-commit", "greet"} {
		if !e.has(`"available_commands_update"`, `"name":"`+name+`"`) {
			t.Errorf("no %s in %s", name, e.seen())
		}
	}
	for _, c := range []struct{ prompt, want string }{
		{"SAY something first", "something first"}, {"/compact", "summarized"}, {"/review SAY it is fine", "Done."},
		{"/unknown\nSAY it is text", "it is text"}, {"/review-branch", "Which branch?"}, {"/greet me", "the skill is read"},
	} {
		e.mu.Lock()
		e.updates = nil
		e.mu.Unlock()
		stop, err := e.prompt(t, id, c.prompt)
		if stop != acp.StopReasonEndTurn || err != nil || strings.Count(e.text(), c.want) != 1 {
			t.Errorf("%s: %s, %v, said %q\n%s", c.prompt, stop, err, e.text(), strings.Join(e.seen(), "\n"))
		}
	}
}

// What codex marks as a plan is a message of its own, without the marks. Only the plan mode
// has such marks.
func TestThePublishedCodexShowsItsPlan(t *testing.T) {
	t.Parallel()
	var turns atomic.Int32
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		id := fmt.Sprint("m", turns.Add(1))
		for _, line := range []string{
			`{"type":"response.created","response":{"id":"r"}}`,
			`{"type":"response.output_item.added","item":{"type":"message","role":"assistant","id":"ID","content":[]}}`,
			`{"type":"response.output_text.delta","item_id":"ID","delta":"First.\n<proposed_plan>\n# Do it\n"}`,
			`{"type":"response.output_text.delta","item_id":"ID","delta":"- now\n</proposed_plan>\nWell?"}`,
			`{"type":"response.output_item.done","item":{"type":"message","role":"assistant","id":"ID","content":[{"type":"output_text","text":"First.\n<proposed_plan>\n# Do it\n- now\n</proposed_plan>\nWell?"}]}}`,
			`{"type":"response.completed","response":{"id":"r","usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}}`,
		} {
			fmt.Fprintf(w, "data: %s\n\n", strings.ReplaceAll(line, "ID", id))
		}
	}))
	t.Cleanup(model.Close)
	e := start(t, testcodex.Published(t, model.URL), nil)
	id := e.open(t)
	for mode, want := range map[acp.SessionModeID][]string{
		"plan":              {"First.\n", "# Do it\n- now\n", "Well?"},
		"approval-required": {"First.\n<proposed_plan>\n# Do it\n- now\n</proposed_plan>\nWell?"},
	} {
		if _, err := e.agent.SetSessionMode(t.Context(), &acp.SetSessionModeRequest{SessionID: id, ModeID: mode}); err != nil {
			t.Fatal(err)
		}
		e.mu.Lock()
		e.updates = nil
		e.mu.Unlock()
		if stop, err := e.prompt(t, id, "go"); stop != acp.StopReasonEndTurn || err != nil {
			t.Errorf("%s: %s, %v", mode, stop, err)
		}
		var messages []string
		var last acp.MessageID
		for _, u := range e.updates {
			if m, ok := u.(*acp.AgentMessageChunk); ok {
				if m.MessageID.V != last {
					messages = append(messages, "")
				}
				last = m.MessageID.V
				messages[len(messages)-1] += m.Content.(*acp.TextContent).Text
			}
		}
		if !slices.Equal(messages, want) {
			t.Errorf("%s: the messages are %q", mode, messages)
		}
	}
}

// A plan changes nothing, and choosing another mode has it carried out.
func TestThePublishedCodexWorksOutAPlan(t *testing.T) {
	t.Parallel()
	model, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	e := start(t, testcodex.Published(t, model.URL), &acp.ClientCapabilities{Elicitation: &acp.ElicitationCapabilities{Form: &acp.ElicitationFormCapabilities{}}})
	e.form = func(*acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
		r := new(acp.CreateElicitationResponse)
		return r, r.UnmarshalJSON([]byte(`{"action":"accept","content":{"q":"the second"}}`))
	}
	e.choose = pick("accept")
	id := e.open(t)
	mode := func(mode acp.SessionModeID) {
		t.Helper()
		if _, err := e.agent.SetSessionMode(t.Context(), &acp.SetSessionModeRequest{SessionID: id, ModeID: mode}); err != nil {
			t.Fatal(err)
		}
	}
	prompt := func(text string) {
		t.Helper()
		e.mu.Lock()
		e.updates = nil
		e.mu.Unlock()
		stop, err := e.prompt(t, id, text)
		if stop != acp.StopReasonEndTurn || err != nil {
			t.Errorf("%s: %s, %v\n%s", text, stop, err, strings.Join(e.seen(), "\n"))
		}
	}
	question := `CALL request_user_input {"questions":[{"id":"q","header":"H","question":"Which?","options":[{"label":"the first","description":"a"},{"label":"the second","description":"b"}]}]}`
	made := func() bool { _, err := os.Stat(filepath.Join(e.dir, "made")); return err == nil }

	mode("plan")
	prompt(question)
	if !strings.Contains(e.text(), "the second") {
		t.Errorf("the answer is not in %q", e.text())
	}
	prompt(`CALL exec_command {"cmd":"echo too early > made"}`)
	if made() {
		t.Error("a plan has changed a file")
	}
	mode("auto")
	prompt("SAY carry it out\n" + `CALL exec_command {"cmd":"echo now > made"}`)
	if !made() {
		t.Errorf("the mode that writes has written nothing\n%s", strings.Join(e.seen(), "\n"))
	}
	mode("plan")
	prompt("SAY left here")
	if _, err := e.agent.CloseSession(t.Context(), &acp.CloseSessionRequest{SessionID: id}); err != nil {
		t.Error(err)
	}
	r, err := e.agent.ResumeSession(t.Context(), &acp.ResumeSessionRequest{SessionID: id, Cwd: e.dir, MCPServers: []acp.MCPServer{}})
	if err != nil || r.Modes.CurrentModeID != "plan" {
		t.Errorf("resumed %s, %v", r.AppendJSON(nil), err)
	}
}

// What the client hears behind an answer is never older than the answer before it; the check
// of the connection sees one that is.
func TestSettingsThatChangeFastAreToldInOrder(t *testing.T) {
	t.Parallel()
	command, _ := scripted(t)
	e := start(t, command, &acp.ClientCapabilities{})
	id := e.open(t)
	for range 200 {
		for _, mode := range []acp.SessionModeID{"auto", "approval-required"} {
			if _, err := e.agent.SetSessionMode(t.Context(), &acp.SetSessionModeRequest{SessionID: id, ModeID: mode}); err != nil {
				t.Fatal(err)
			}
		}
	}
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
	if r.Modes.CurrentModeID != "approval-required" || // codex does not know the folder
		len(r.Modes.AvailableModes) != 4 || len(r.ConfigOptions) < 2 {
		t.Errorf("opened %s", r.AppendJSON(nil))
	}
	id := r.SessionID
	for _, mode := range []acp.SessionModeID{"auto", "approval-required"} {
		if _, err := e.agent.SetSessionMode(t.Context(), &acp.SetSessionModeRequest{SessionID: id, ModeID: mode}); err != nil {
			t.Error(err)
		}
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
