package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/runtime/permission"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/services"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/test/llm"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/approval"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/mcp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model/openai"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/process"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/skill"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/store"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/tool"
)

// editor is a client with real files and real terminals, and the user in front of it.
type editor struct {
	*services.Services
	t       *testing.T
	dir     string // the project
	state   string // of the agent
	model   model.Model
	have    *skill.Index
	runs    func(cwd string) process.Options
	can     func(*acp.ClientCapabilities) // takes capabilities away
	rules   *permission.Policy            // of the user; nil: none
	agent   acp.Agent
	refuse  *acp.Error     // the answer to every read; nil: the file
	rude    bool           // the traffic is not checked, for example because the test breaks rules
	name    string         // of the model
	sizes   map[string]int // of the context windows, by the name of the model
	window  int            // in the settings
	servers []mcp.Server   // in the settings
	own     []string       // folders of the agent's settings
	end     func()         // of the agent

	choose func(*acp.RequestPermissionRequest) (acp.PermissionOptionID, error)

	mu       sync.Mutex
	calls    map[string]bool  // that this agent has shown, by session and id
	again    []acp.ToolCallID // that it has shown twice
	log      []string
	logged   map[acp.ToolCallID]int // calls in log
	usage    *acp.UsageUpdate
	commands []string // that the agent has announced
	read     []string // files that the agent read here
	ran      int      // terminals
	newest   acp.TerminalID
	released int // terminals
	sent     int // prompts
	asked    []*acp.RequestPermissionRequest
	titles   []string
}

// newEditor is an editor whose model follows the script in the prompt, for real over HTTP.
func newEditor(t *testing.T) *editor {
	server, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	e := &editor{t: t, state: t.TempDir(), model: openai.New(openai.Options{BaseURL: server.URL + "/v1"}), choose: choose("once"), have: skill.Load(), name: "scripted", sizes: map[string]int{"scripted": 1000, "other": 0}}
	if e.dir, err = filepath.EvalSymlinks(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	return e
}

func choose(id acp.PermissionOptionID) func(*acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
	return func(*acp.RequestPermissionRequest) (acp.PermissionOptionID, error) { return id, nil }
}

// start connects the editor to a new agent process, as far as the agent can tell. The
// agent must not break a rule of the protocol.
func (e *editor) start() *editor {
	e.t.Helper()
	if e.end != nil {
		e.end()
	}
	e.mu.Lock()
	e.calls, e.again = map[string]bool{}, nil
	e.mu.Unlock()
	e.Services = services.New(services.Options{
		ApproveCommand: services.AllowCommands, Policy: e.rules,
		Ask: func(_ context.Context, p *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
			e.mu.Lock()
			e.asked = append(e.asked, p)
			e.mu.Unlock()
			return e.choose(p)
		},
	})
	here, there := transport.Pair()
	stored, err := store.Open(e.state)
	if err != nil {
		e.t.Fatal(err)
	}
	tools, err := tool.NewSet([]*tool.Tool{
		tool.Read(), tool.Write(), tool.Edit(), tool.Terminal(), tool.Todo(), tool.Process(), tool.Skill(e.have), tool.Search(),
	}, nil, "core", "process", "skills", "search")
	if err != nil {
		e.t.Fatal(err)
	}
	list := func(context.Context) (map[string]int, error) { return e.sizes, nil }
	ctx, stop := context.WithCancel(e.t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, there, Options{
			Version: "1", Model: e.model, Models: ListModels(ctx, e.name, list, func(error) {}), Store: stored, Tools: tools, Skills: e.have, Processes: e.runs, Window: func(string) int { return e.window }, Servers: e.servers,
			Approval: approval.Options{Own: e.own}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		})
	}()
	opts := rpc.Options{Tap: func(d rpc.Direction, message []byte) {
		if d == rpc.Outbound && bytes.Contains(message, []byte(`"session/prompt"`)) {
			e.mu.Lock()
			e.sent++
			e.mu.Unlock()
		}
	}}
	if !e.rude {
		opts.Middleware = []rpc.Middleware{lint.Check(e.t, lint.Options{Profile: lint.Strict})}
	}
	conn := rpc.NewConn(here, acp.ClientSide(e), opts)
	e.agent = acp.Agent{Conn: conn}
	served := e.Services
	e.end = sync.OnceFunc(func() {
		conn.Close()
		served.Close()
		if err := patience.Value(e.t, "end of the agent", ended); err != nil && !errors.Is(err, context.Canceled) {
			e.t.Errorf("Run: %v", err)
		}
		stop()
		e.mu.Lock()
		defer e.mu.Unlock()
		if len(e.again) > 0 {
			e.t.Errorf("ids of calls are used again: %q", e.again)
		}
	})
	e.t.Cleanup(e.end)
	can := e.Capabilities()
	if e.can != nil {
		e.can(can)
	}
	if _, err := e.agent.Initialize(e.t.Context(), &acp.InitializeRequest{ProtocolVersion: 1, ClientCapabilities: can, ClientInfo: &acp.Implementation{Name: "test", Version: "1"}}); err != nil {
		e.t.Fatal(err)
	}
	return e
}

func (e *editor) file(name, text string) {
	e.t.Helper()
	if err := os.WriteFile(filepath.Join(e.dir, name), []byte(text), 0o644); err != nil {
		e.t.Fatal(err)
	}
}

func (e *editor) content(name string) string {
	b, err := os.ReadFile(filepath.Join(e.dir, name))
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func (e *editor) open() acp.SessionID {
	e.t.Helper()
	answer, err := e.NewSession(e.t.Context(), e.agent, &acp.NewSessionRequest{Cwd: e.dir})
	if err != nil {
		e.t.Fatal(err)
	}
	return answer.SessionID
}

func (e *editor) prompt(id acp.SessionID, blocks ...acp.ContentBlock) (acp.StopReason, error) {
	answer, err := e.Prompt(e.t.Context(), e.agent, &acp.PromptRequest{SessionID: id, Prompt: blocks})
	if err != nil {
		return "", err
	}
	return answer.StopReason, nil
}

// play sends a script in a session and returns what the agent showed.
func (e *editor) play(id acp.SessionID, script string, want acp.StopReason) string {
	e.t.Helper()
	e.take()
	got, err := e.prompt(id, acp.NewTextContent(script))
	if err != nil || got != want {
		e.t.Fatalf("%q, %v; want %q\n%s", got, err, want, e.take())
	}
	return e.take()
}

// take returns what was shown since the last call.
func (e *editor) take() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	text := strings.Join(e.log, "\n")
	e.log, e.logged = nil, nil
	return text
}

func (e *editor) shown() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.log, "\n")
}

func (e *editor) ReadTextFile(ctx context.Context, p *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	e.mu.Lock()
	e.read = append(e.read, p.Path)
	e.mu.Unlock()
	if e.refuse != nil {
		return nil, e.refuse
	}
	return e.Services.ReadTextFile(ctx, p)
}

func (e *editor) CreateTerminal(ctx context.Context, p *acp.CreateTerminalRequest) (*acp.CreateTerminalResponse, error) {
	answer, err := e.Services.CreateTerminal(ctx, p)
	if err == nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.ran++
		e.newest = answer.TerminalID
	}
	return answer, err
}

func (e *editor) ReleaseTerminal(ctx context.Context, p *acp.ReleaseTerminalRequest) (*acp.ReleaseTerminalResponse, error) {
	answer, err := e.Services.ReleaseTerminal(ctx, p)
	if err == nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.released++
	}
	return answer, err
}

// SessionUpdate writes a line for each update; pieces of a text are joined, and what
// calls side by side show stands with each.
func (e *editor) SessionUpdate(ctx context.Context, n *acp.SessionNotification) error {
	e.mu.Lock()
	switch u := n.Update.(type) {
	case *acp.AgentMessageChunk:
		e.say("agent: ", u.Content)
	case *acp.AgentThoughtChunk:
		e.say("thought: ", u.Content)
	case *acp.UserMessageChunk:
		e.log = append(e.log, "user: "+text(u.Content))
	case *acp.ToolCall:
		if key := string(n.SessionID) + string(u.ToolCallID); e.calls[key] {
			e.again = append(e.again, u.ToolCallID)
		} else {
			e.calls[key] = true
		}
		if e.logged == nil {
			e.logged = map[acp.ToolCallID]int{}
		}
		e.logged[u.ToolCallID] = len(e.log)
		e.log = append(e.log, fmt.Sprintf("call %s: %s %s%s", u.Title, u.Kind.V, u.Status.V, contents(u.Content)))
	case *acp.ToolCallUpdate:
		if line := strings.TrimSpace(string(u.Status.V) + contents(u.Content)); line != "" {
			if at, ok := e.logged[u.ToolCallID]; ok && strings.HasPrefix(e.log[len(e.log)-1], "call ") {
				e.log[at] += "\n  " + line
			} else {
				e.log = append(e.log, "  "+line)
			}
		}
	case *acp.Plan:
		line := "plan:"
		for _, entry := range u.Entries {
			line += " " + entry.Content + " " + string(entry.Status)
		}
		e.log = append(e.log, line)
	case *acp.UsageUpdate:
		e.usage = u
	case *acp.AvailableCommandsUpdate:
		e.commands = nil
		for _, c := range u.AvailableCommands {
			e.commands = append(e.commands, c.Name)
		}
	case *acp.SessionInfoUpdate:
		e.titles = append(e.titles, fmt.Sprint(u.Title))
	case *acp.CurrentModeUpdate:
		e.log = append(e.log, "mode: "+string(u.CurrentModeID))
	case *acp.CompactionUpdate:
		line := "compaction: " + string(u.Status)
		if len(u.Summary.V) > 0 {
			line += " " + text(u.Summary.V[0])
		}
		e.log = append(e.log, line+u.Error.V)
	case *acp.Notice:
		e.log = append(e.log, "notice: "+u.Title)
	}
	e.mu.Unlock()
	return e.Services.SessionUpdate(ctx, n)
}

func (e *editor) say(who string, c acp.ContentBlock) {
	if n := len(e.log); n > 0 && strings.HasPrefix(e.log[n-1], who) {
		e.log[n-1] += text(c)
		return
	}
	e.log = append(e.log, who+text(c))
}

func text(c acp.ContentBlock) string {
	switch c := c.(type) {
	case *acp.TextContent:
		return c.Text
	case *acp.ImageContent:
		return "[image " + c.Data + "]"
	}
	return fmt.Sprintf("%T", c)
}

func contents(list []acp.ToolCallContent) string {
	out := ""
	for _, c := range list {
		switch c := c.(type) {
		case *acp.Content:
			out += " " + text(c.Content)
		case *acp.Diff:
			out += fmt.Sprintf(" diff %s %q %q", filepath.Base(c.Path), c.OldText.V, c.NewText)
		case *acp.Terminal:
			out += " terminal"
		}
	}
	return out
}
