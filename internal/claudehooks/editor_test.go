package claudehooks

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/elsewhere"
	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

// editor is a client that keeps what it is told, with a Claude Code in a terminal.
type editor struct {
	acp.UnimplementedClientHandler
	t        *testing.T
	agent    *rpc.Agent
	dir      string
	id       acp.SessionID
	settings string
	turns    bool // it knows turns that begin in the terminal
	drops    bool // it cancels them before the agent has a prompt

	takeIn <-chan struct{} // nil: it takes tool calls in at once

	choose func(ctx context.Context, p *acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error)

	mu      sync.Mutex
	updates []string
	asked   []*acp.RequestPermissionRequest
	ended   chan string // stop reason or error of a turn
}

func (e *editor) SessionUpdate(_ context.Context, p *acp.SessionNotification) error {
	e.keep(string(acp.AppendSessionUpdate(nil, p.Update)))
	return nil
}

func (e *editor) keep(update string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.updates = append(e.updates, update)
}

func (e *editor) RequestPermission(ctx context.Context, p *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	e.mu.Lock()
	e.asked = append(e.asked, p)
	e.mu.Unlock()
	if e.choose == nil {
		return nil, acp.MethodNotFound(acp.MethodSessionRequestPermission)
	}
	outcome, err := e.choose(ctx, p)
	if err != nil {
		return nil, err
	}
	return acp.NewRequestPermissionResponse(outcome), nil
}

func (e *editor) ExtNotification(_ context.Context, method string, params json.RawMessage) error {
	e.keep(method + " " + string(params))
	return nil
}

func (e *editor) ExtRequest(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if e.turns && method == elsewhere.MethodToolCall {
		e.keep(method + " " + string(params))
		if e.takeIn != nil {
			<-e.takeIn
		}
		return json.RawMessage("{}"), nil
	}
	if !e.turns || method != elsewhere.MethodTurn {
		e.keep("refused " + method)
		return nil, acp.MethodNotFound(method)
	}
	var p struct {
		SessionID    acp.SessionID
		Turn, Prompt string
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	meta, err := json.Marshal(map[string]any{"hermes": map[string]string{"turn": p.Turn}})
	if err != nil {
		return nil, err
	}
	e.keep("prompt " + p.Prompt)
	if e.drops {
		return nil, &acp.Error{Code: acp.ErrorCodeRequestCancelled, Message: "cancelled in the editor"}
	}
	go func() {
		r, err := e.agent.Prompt(context.Background(), &acp.PromptRequest{SessionID: p.SessionID, Prompt: []acp.ContentBlock{acp.NewTextContent(p.Prompt)}, Meta: meta})
		if err != nil {
			e.ended <- err.Error()
			return
		}
		e.ended <- string(r.StopReason)
	}()
	return json.RawMessage("{}"), nil
}

// connect opens a session with the agent. All traffic is linted.
func connect(t *testing.T, opts Options, settle func(*editor)) *editor {
	t.Helper()
	e := &editor{t: t, dir: t.TempDir(), turns: true, ended: make(chan string, 16)}
	if settle != nil {
		settle(e)
	}
	near, far := transport.Pair()
	done := make(chan error, 1)
	go func() { done <- Serve(context.Background(), far, opts) }()
	var err error
	e.agent, err = rpc.Open(t.Context(), near, e, &acp.InitializeRequest{ClientInfo: &acp.Implementation{Name: "editor", Version: "1"}},
		rpc.Options{Middleware: []rpc.Middleware{lint.Check(t, lint.Options{Profile: lint.Strict, Accept: func(f *lint.Finding) bool { return f.By == lint.Client }})}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		e.agent.Conn.Close()
		<-done
		http.DefaultClient.CloseIdleConnections()
		if _, err := os.Stat(filepath.Dir(e.settings)); e.settings != "" && !os.IsNotExist(err) {
			t.Errorf("the settings are left: %v", err)
		}
	})
	r, err := e.agent.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: e.dir, MCPServers: []acp.MCPServer{}})
	if err != nil {
		t.Fatal(err)
	}
	var meta struct{ Hermes struct{ Settings string } }
	if err := json.Unmarshal(r.Meta, &meta); err != nil {
		t.Fatal(err)
	}
	e.id, e.settings = r.SessionID, meta.Hermes.Settings
	return e
}

// hook returns the hook of an event in the settings file, as Claude Code finds it.
func (e *editor) hook(name string) hook {
	e.t.Helper()
	h, err := hookIn(e.settings, name)
	if err != nil {
		e.t.Fatal(err)
	}
	return h
}

func hookIn(settings, name string) (hook, error) {
	data, err := os.ReadFile(settings)
	if err != nil {
		return hook{}, err
	}
	var file struct {
		Hooks map[string][]matcher `json:"hooks"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return hook{}, err
	}
	if len(file.Hooks[name]) != 1 || len(file.Hooks[name][0].Hooks) != 1 {
		return hook{}, fmt.Errorf("no hook for %s in %s", name, data)
	}
	return file.Hooks[name][0].Hooks[0], nil
}

// post is what Claude Code does at an event. It returns the answer.
func (e *editor) post(name string, members map[string]any) string {
	e.t.Helper()
	answer, err := e.try(name, members)
	if err != nil {
		e.t.Fatal(err)
	}
	return answer
}

// try is post for goroutines.
func (e *editor) try(name string, members map[string]any) (answer string, err error) {
	h, err := hookIn(e.settings, name)
	if err != nil {
		return "", err
	}
	body := map[string]any{"hook_event_name": name, "session_id": "c", "transcript_path": "/none", "cwd": e.dir}
	for k, v := range members {
		body[k] = v
	}
	data, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	status, answer, err := send(e.t.Context(), h.URL, h.Headers, data)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%s: status %d", name, status)
	}
	return answer, err
}

func send(ctx context.Context, url string, headers map[string]string, body []byte) (status int, answer string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	for k, v := range headers {
		r.Header.Set(k, v)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, strings.TrimSpace(string(text)), err
}

// tool is a tool call from its beginning to its end.
func (e *editor) tool(name string, input, response any) (answer string) {
	e.t.Helper()
	call := map[string]any{"tool_name": name, "tool_use_id": rand.Text(), "tool_input": input}
	answer = e.post(preToolUse, call)
	if response != nil {
		call["tool_response"] = response
		e.post(postToolUse, call)
	}
	return answer
}

// begins is a tool call that goes on while the test does. The answer comes, or the error.
func (e *editor) begins(name string, input any) <-chan string {
	answers := make(chan string, 1)
	go func() {
		answer, err := e.try(preToolUse, map[string]any{"tool_name": name, "tool_use_id": rand.Text(), "tool_input": input})
		if err != nil {
			answer = err.Error()
		}
		answers <- answer
	}()
	return answers
}

// has reports whether an update holds all of the parts.
func (e *editor) has(parts ...string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.ContainsFunc(e.updates, func(u string) bool {
		return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(u, p) })
	})
}

// forget forgets what the client has been told.
func (e *editor) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.updates = nil
}

// count returns how many updates hold a part.
func (e *editor) count(part string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, u := range e.updates {
		if strings.Contains(u, part) {
			n++
		}
	}
	return n
}

func (e *editor) questions() []*acp.RequestPermissionRequest {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.asked)
}
