package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/claudehooks"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/agentkit"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/test/llm"
)

// relay is a command hook that does what an HTTP hook does. The Claude Code in the
// package for tests is older than HTTP hooks; what it sends is the same.
const relay = `node -e 'let b="";process.stdin.on("data",d=>b+=d).on("end",()=>fetch(process.env.HOOK_URL,{method:"POST",headers:{Authorization:process.env.HOOK_TOKEN},body:b}).then(r=>r.text()).then(t=>process.stdout.write(t)))'`

// watcher is a client of claudehooks.
type watcher struct {
	acp.UnimplementedClientHandler
	option acp.PermissionOptionID

	mu   sync.Mutex
	seen []string
}

func (w *watcher) keep(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, line)
}

func (w *watcher) SessionUpdate(_ context.Context, p *acp.SessionNotification) error {
	switch u := p.Update.(type) {
	case *acp.UserMessageChunk:
		w.keep("prompt")
	case *acp.ToolCall:
		w.keep("begins " + u.Name.V)
	case *acp.ToolCallUpdate:
		line := string(u.Status.V)
		for _, c := range u.Content {
			if d, ok := c.(*acp.Diff); ok {
				line += " " + filepath.Base(d.Path) + " " + strings.ReplaceAll(d.OldText.V+"|"+d.NewText, "\n", "/")
			}
		}
		w.keep(line)
	}
	return nil
}

func (w *watcher) RequestPermission(_ context.Context, p *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	w.keep("asks " + p.ToolCall.Name.V)
	return acp.NewRequestPermissionResponse(&acp.SelectedPermissionOutcome{OptionID: w.option}), nil
}

func (w *watcher) ExtRequest(_ context.Context, method string, _ json.RawMessage) (json.RawMessage, error) {
	return nil, acp.MethodNotFound(method)
}

func (w *watcher) ExtNotification(context.Context, string, json.RawMessage) error { return nil }

func TestTheEventsOfThePublishedClaudeCodeAreUnderstood(t *testing.T) {
	t.Parallel()
	model, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	for name, c := range map[string]struct {
		gate   bool
		option acp.PermissionOptionID
		want   string
		made   bool
	}{
		"watched":  {false, "", "prompt, begins Read, completed, begins Edit, completed hello.txt alpha/beta/|alpha/BETA/, begins Write, completed made.txt |made/", true},
		"allowed":  {true, agentkit.OptionOnce, "prompt, begins Read, completed, begins Edit, asks Edit, completed hello.txt alpha/beta/|alpha/BETA/, begins Write, asks Write, completed made.txt |made/", true},
		"rejected": {true, agentkit.OptionReject, "prompt, begins Read, completed, begins Edit, asks Edit, failed, begins Write, asks Write, failed", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := environment{model: model.URL, home: t.TempDir(), npm: os.Getenv("HERMES_AGENTS")}
			launch := agents["claude"](t, env) // for its environment
			work := realTempDir(t)
			path, made := filepath.Join(work, "hello.txt"), filepath.Join(work, "made.txt")
			writeFile(t, path, "alpha\nbeta\n")
			near, far := transport.Pair()
			w, done := &watcher{option: c.option}, make(chan error, 1)
			go func() {
				done <- claudehooks.Serve(context.Background(), far, claudehooks.Options{Gate: c.gate})
			}()
			agent, err := rpc.Open(t.Context(), near, w, &acp.InitializeRequest{}, rpc.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				agent.Conn.Close()
				<-done
			})
			r, err := agent.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: work, MCPServers: []acp.MCPServer{}})
			if err != nil {
				t.Fatal(err)
			}
			settings, url, token := relayed(t, r.Meta)
			ctx := patience.Context(t, patience.Turn)
			prompt := strings.Join([]string{
				call(t, "Read", map[string]any{"file_path": path}),
				call(t, "Edit", map[string]any{"file_path": path, "old_string": "beta", "new_string": "BETA", "replace_all": false}),
				call(t, "Write", map[string]any{"file_path": made, "content": "made\n"}),
			}, "\n")
			allowed := "Read,Edit,Write"
			if c.gate {
				allowed = "Read" // the gate allows the rest
			}
			cmd := exec.CommandContext(ctx, "node", filepath.Join(env.packages(t), "@anthropic-ai/claude-agent-sdk/cli.js"), "-p", prompt, "--allowedTools", allowed, "--settings", settings)
			cmd.Dir, cmd.Env = work, append(os.Environ(), "HOOK_URL="+url, "HOOK_TOKEN="+token)
			for name, value := range launch.Env {
				cmd.Env = append(cmd.Env, name+"="+value)
			}
			said, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			if got := strings.Join(w.seen, ", "); got != c.want {
				t.Errorf("%s\nwant\n%s\n%s", got, c.want, said)
			}
			if _, err := os.Stat(made); (err == nil) != c.made {
				t.Errorf("the file that it writes: %v", err)
			}
		})
	}
}

// relayed writes settings with command hooks for the HTTP hooks of a session.
func relayed(t *testing.T, meta json.RawMessage) (path, url, token string) {
	t.Helper()
	var m struct{ Hermes struct{ Settings string } }
	if err := json.Unmarshal(meta, &m); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(m.Hermes.Settings)
	if err != nil {
		t.Fatal(err)
	}
	type hook struct {
		Type    string            `json:"type"`
		Command string            `json:"command"`
		URL     string            `json:"url,omitempty"`
		Headers map[string]string `json:"headers,omitempty"`
	}
	var file struct {
		Hooks map[string][]struct {
			Hooks []hook `json:"hooks"`
		} `json:"hooks"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	delete(file.Hooks, "StopFailure") // newer, too
	for _, matchers := range file.Hooks {
		h := &matchers[0].Hooks[0]
		url, token = h.URL, h.Headers["Authorization"]
		*h = hook{Type: "command", Command: relay}
	}
	if data, err = json.Marshal(file); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "settings.json")
	writeFile(t, path, string(data))
	return path, url, token
}
