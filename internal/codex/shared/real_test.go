//go:build unix

package shared_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/codex/shared"
	"github.com/hermes-nvim/hermes/internal/elsewhere"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/sockdir"
	"github.com/hermes-nvim/hermes/internal/testcodex"
	"github.com/hermes-nvim/hermes/runtime/codex"
	"github.com/hermes-nvim/hermes/runtime/codex/codexagent"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/test/llm"
)

// editor is a client of a shared agent, as Neovim is one.
type editor struct {
	acp.UnimplementedClientHandler
	agent *rpc.Agent
	end   func()

	asked     chan *acp.RequestPermissionRequest
	choices   chan string // answers to what was asked
	withdrawn chan bool
	turns     chan string // prompts that were typed elsewhere
	stopped   chan acp.StopReason

	mu   sync.Mutex
	said strings.Builder
}

func (e *editor) SessionUpdate(_ context.Context, p *acp.SessionNotification) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.said.Write(acp.AppendSessionUpdate(nil, p.Update))
	e.said.WriteByte('\n')
	return nil
}

func (e *editor) seen() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.said.String()
}

func (e *editor) sees(t *testing.T, text string) {
	t.Helper()
	patience.True(t, text, func() bool { return strings.Contains(e.seen(), text) })
}

func (e *editor) RequestPermission(ctx context.Context, p *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	e.asked <- p
	select {
	case id := <-e.choices:
		return acp.NewRequestPermissionResponse(&acp.SelectedPermissionOutcome{OptionID: acp.PermissionOptionID(id)}), nil
	case <-ctx.Done():
		e.withdrawn <- errors.Is(context.Cause(ctx), rpc.ErrRequestCancelled)
		return nil, context.Cause(ctx)
	}
}

// ExtRequest begins turns that were typed elsewhere.
func (e *editor) ExtRequest(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	var turn elsewhere.Turn
	if method != elsewhere.MethodTurn || json.Unmarshal(params, &turn) != nil {
		return nil, acp.MethodNotFound(method)
	}
	call, err := e.agent.Start(context.WithoutCancel(ctx), acp.MethodSessionPrompt, &acp.PromptRequest{
		SessionID: turn.Session, Prompt: []acp.ContentBlock{acp.NewTextContent(turn.Prompt)},
		Meta: json.RawMessage(`{"hermes":{"turn":"` + turn.ID + `"}}`),
	})
	if err != nil {
		return nil, err
	}
	e.turns <- turn.Prompt
	go func() {
		var r acp.PromptResponse
		if call.Wait(context.Background(), &r) == nil {
			e.stopped <- r.StopReason
		}
	}()
	return json.RawMessage(`{}`), nil
}

func (e *editor) ExtNotification(context.Context, string, json.RawMessage) error { return nil }

func (e *editor) prompt(id acp.SessionID, text string) {
	call, err := e.agent.Start(context.Background(), acp.MethodSessionPrompt, &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.NewTextContent(text)}})
	go func() {
		var r acp.PromptResponse
		if err == nil && call.Wait(context.Background(), &r) == nil {
			e.stopped <- r.StopReason
		}
	}()
}

// real is the published codex with a hub.
type real struct {
	dir, project string
	join         func(context.Context) (transport.Transport, error)
}

func newReal(t *testing.T) *real {
	t.Helper()
	model, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	command := testcodex.Published(t, model.URL)
	r := &real{dir: filepath.Join(sockdir.New(t), "hub"), project: t.TempDir()}
	var hubs sync.WaitGroup
	t.Cleanup(hubs.Wait) // they end when nobody is connected
	r.join = shared.Join(r.dir, nil, func() error {
		hub := exec.Command(os.Args[0], r.dir)
		hub.Env = append(append(os.Environ(), command.Env...), hubEnv+"="+command.Path, "GORACE=atexit_sleep_ms=0")
		if err := hub.Start(); err != nil {
			return err
		}
		hubs.Go(func() { hub.Wait() })
		return nil
	})
	return r
}

// editor connects one. Its traffic is linted.
func (r *real) editor(t *testing.T) *editor {
	t.Helper()
	e := &editor{
		asked: make(chan *acp.RequestPermissionRequest, 9), choices: make(chan string, 9), withdrawn: make(chan bool, 9),
		turns: make(chan string, 9), stopped: make(chan acp.StopReason, 9),
	}
	near, far := transport.Pair()
	done := make(chan error, 1)
	go func() {
		done <- codexagent.Serve(context.Background(), far, codexagent.Options{
			Dial: r.join, Socket: shared.Socket(r.dir), Settings: codex.Settings{Profile: codex.ProfileAsk},
		})
	}()
	var err error
	e.agent, err = rpc.Open(t.Context(), near, e, &acp.InitializeRequest{ClientInfo: &acp.Implementation{Name: "editor", Version: "1"}},
		rpc.Options{Middleware: []rpc.Middleware{lint.Check(t, lint.Options{Profile: lint.Strict})}})
	if err != nil {
		t.Fatal(err)
	}
	e.end = sync.OnceFunc(func() {
		e.agent.Conn.Close()
		<-done
	})
	t.Cleanup(e.end)
	return e
}

func (e *editor) load(t *testing.T, id acp.SessionID, dir string) {
	t.Helper()
	if _, err := e.agent.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: id, Cwd: dir, MCPServers: []acp.MCPServer{}}); err != nil {
		t.Fatal(err)
	}
}

// escalated is a command that needs approval in every sandbox.
func escalated(command string) string {
	return `CALL exec_command {"cmd":"` + command + `","sandbox_permissions":"require_escalated","justification":"the test wants it"}`
}

func TestTwoClientsUseOneThreadOfThePublishedCodex(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	a, b := r.editor(t), r.editor(t)
	opened, err := a.agent.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: r.project, MCPServers: []acp.MCPServer{}})
	if err != nil {
		t.Fatal(err)
	}
	id := opened.SessionID
	if !strings.Contains(string(opened.Meta), shared.Socket(r.dir)) {
		t.Errorf("the client is not told of the socket: %s", opened.Meta)
	}
	b.load(t, id, r.project) // before the first turn

	for _, test := range []struct{ name, answer, file string }{
		{"allowed", "accept", "made"},
		{"denied", "decline", ""},
	} {
		a.prompt(id, escalated("echo x > "+test.name)+"\nSAY said-"+test.name)
		if got := patience.Value(t, "the turn", b.turns); !strings.Contains(got, test.name) {
			t.Errorf("%s: the turn of the other is %q", test.name, got)
		}
		patience.Value(t, "the question", a.asked)
		patience.Value(t, "the same question", b.asked)
		b.choices <- test.answer
		if !patience.Value(t, "the withdrawal", a.withdrawn) {
			t.Errorf("%s: the question was not cancelled", test.name)
		}
		for _, e := range []*editor{a, b} {
			if stop := patience.Value(t, "the end", e.stopped); stop != acp.StopReasonEndTurn {
				t.Errorf("%s: stopped as %s", test.name, stop)
			}
			e.sees(t, "said-"+test.name)
		}
		_, err := os.Stat(filepath.Join(r.project, test.name))
		if made := err == nil; made != (test.answer == "accept") {
			t.Errorf("%s: made %v", test.name, made)
		}
	}
	if strings.Contains(b.seen(), "user_message_chunk") {
		t.Errorf("a prompt was shown twice:\n%s", b.seen())
	}

	// One leaves while the question is open, which answers nothing, and comes back.
	a.prompt(id, escalated("echo x > later"))
	patience.Value(t, "the question", a.asked)
	patience.Value(t, "the same question", b.asked)
	a.end()
	again := r.editor(t)
	again.load(t, id, r.project)
	patience.Value(t, "the turn that runs", again.turns)
	patience.Value(t, "the open question", again.asked)
	again.choices <- "accept"
	patience.Value(t, "the withdrawal", b.withdrawn)
	for _, e := range []*editor{again, b} {
		if stop := patience.Value(t, "the end", e.stopped); stop != acp.StopReasonEndTurn {
			t.Errorf("stopped as %s", stop)
		}
	}
	if _, err := os.Stat(filepath.Join(r.project, "later")); err != nil {
		t.Error(err)
	}

	// A cancel ends the turn for both.
	b.prompt(id, "SLOW 300")
	again.sees(t, "tick")
	if err := again.agent.Cancel(t.Context(), &acp.CancelNotification{SessionID: id}); err != nil {
		t.Error(err)
	}
	if stop := patience.Value(t, "the end", again.stopped); stop != acp.StopReasonCancelled {
		t.Errorf("stopped as %s", stop)
	}
	if stop := patience.Value(t, "the end", b.stopped); stop != acp.StopReasonEndTurn {
		t.Errorf("stopped as %s", stop)
	}
}
