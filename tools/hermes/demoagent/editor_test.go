package demoagent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// editor is a client that serves real files and runs real commands.
type editor struct {
	acp.UnimplementedClientHandler
	t     *testing.T
	agent acp.Agent
	dir   string

	choose func(ctx context.Context, p *acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error)
	deny   error // of fs/write_text_file
	unread error // of fs/read_text_file

	mu        sync.Mutex
	updates   []acp.SessionUpdate
	changed   chan struct{}
	asked     []*acp.RequestPermissionRequest
	terminals map[acp.TerminalID]*process
	released  int
}

type process struct {
	cmd    *exec.Cmd
	output strings.Builder
	done   chan struct{}
}

func allow(id acp.PermissionOptionID) func(context.Context, *acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error) {
	return func(context.Context, *acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error) {
		return &acp.SelectedPermissionOutcome{OptionID: id}, nil
	}
}

// start connects an editor to a running agent. If can is nil, the editor can do
// everything.
func start(t *testing.T, can *acp.ClientCapabilities) *editor {
	t.Helper()
	if can == nil {
		can = &acp.ClientCapabilities{Terminal: true, Fs: &acp.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true}}
	}
	e := &editor{
		t: t, dir: t.TempDir(), choose: allow("once"),
		changed: make(chan struct{}, 1), terminals: map[acp.TerminalID]*process{},
	}
	here, there := transport.Pair()
	ended := make(chan error, 1)
	go func() { ended <- Run(t.Context(), there, slog.New(slog.DiscardHandler)) }()
	conn := rpc.NewConn(here, acp.ClientSide(e), rpc.Options{})
	e.agent = acp.Agent{Conn: conn}
	t.Cleanup(func() {
		conn.Close()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v", err)
		}
	})
	if _, err := e.agent.Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1, ClientCapabilities: can}); err != nil {
		t.Fatal(err)
	}
	return e
}

func (e *editor) open() acp.SessionID {
	e.t.Helper()
	answer, err := e.agent.NewSession(e.t.Context(), &acp.NewSessionRequest{Cwd: e.dir})
	if err != nil {
		e.t.Fatal(err)
	}
	return answer.SessionID
}

func (e *editor) prompt(id acp.SessionID, text string) (acp.StopReason, error) {
	answer, err := e.agent.Prompt(e.t.Context(), &acp.PromptRequest{
		SessionID: id, Prompt: []acp.ContentBlock{&acp.TextContent{Text: text}},
	})
	if err != nil {
		return "", err
	}
	return answer.StopReason, nil
}

// play opens a session, sends a prompt and returns what the agent showed.
func (e *editor) play(text string, want acp.StopReason) string {
	e.t.Helper()
	got, err := e.prompt(e.open(), text)
	if err != nil || got != want {
		e.t.Fatalf("prompt %q = %q, %v; want %q\n%s", text, got, err, want, e.transcript())
	}
	return e.transcript()
}

// transcript is what the agent showed, one line an update, text joined.
func (e *editor) transcript() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b strings.Builder
	inText := false
	line := func(format string, args ...any) {
		if inText {
			b.WriteByte('\n')
		}
		inText = false
		fmt.Fprintf(&b, format+"\n", args...)
	}
	for _, u := range e.updates {
		switch u := u.(type) {
		case *acp.AgentMessageChunk:
			inText = true
			b.WriteString(u.Content.(*acp.TextContent).Text)
		case *acp.UserMessageChunk:
			line("user: %s", u.Content.(*acp.TextContent).Text)
		case *acp.AgentThoughtChunk:
			line("thought")
		case *acp.Plan:
			done := 0
			for _, entry := range u.Entries {
				if entry.Status == acp.PlanEntryStatusCompleted {
					done++
				}
			}
			line("plan %d/%d", done, len(u.Entries))
		case *acp.ToolCall:
			line("%s %s: %s %s", u.ToolCallID, u.Kind.V, u.Title, u.Status.V)
		case *acp.ToolCallUpdate:
			if u.Status.OK {
				line("%s %s", u.ToolCallID, u.Status.V)
			} else {
				line("%s content", u.ToolCallID)
			}
		case *acp.AvailableCommandsUpdate:
		default:
			line("%T", u)
		}
	}
	line("")
	return b.String()
}

func (e *editor) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	e.mu.Lock()
	e.updates = append(e.updates, n.Update)
	e.mu.Unlock()
	select {
	case e.changed <- struct{}{}:
	default:
	}
	return nil
}

// waitFor returns when the transcript contains text.
func (e *editor) waitFor(text string) {
	e.t.Helper()
	for deadline := time.After(patience.Soon); !strings.Contains(e.transcript(), text); {
		select {
		case <-e.changed:
		case <-deadline:
			e.t.Fatalf("no %q in\n%s", text, e.transcript())
		}
	}
}

func (e *editor) RequestPermission(ctx context.Context, p *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	e.mu.Lock()
	e.asked = append(e.asked, p)
	e.mu.Unlock()
	outcome, err := e.choose(ctx, p)
	return &acp.RequestPermissionResponse{Outcome: outcome}, err
}

func (e *editor) ReadTextFile(_ context.Context, p *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	if e.unread != nil {
		return nil, e.unread
	}
	b, err := os.ReadFile(p.Path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, &acp.Error{Code: acp.ErrorCodeResourceNotFound, Message: err.Error()}
	}
	return &acp.ReadTextFileResponse{Content: string(b)}, err
}

func (e *editor) WriteTextFile(_ context.Context, p *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	if e.deny != nil {
		return nil, e.deny
	}
	return &acp.WriteTextFileResponse{}, os.WriteFile(p.Path, []byte(p.Content), 0o600)
}

func (e *editor) CreateTerminal(_ context.Context, p *acp.CreateTerminalRequest) (*acp.CreateTerminalResponse, error) {
	proc := &process{cmd: exec.Command(p.Command, p.Args...), done: make(chan struct{})}
	proc.cmd.Dir = p.Cwd.V
	proc.cmd.Stdout, proc.cmd.Stderr = &proc.output, &proc.output
	if err := proc.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { proc.cmd.Wait(); close(proc.done) }()
	e.mu.Lock()
	defer e.mu.Unlock()
	id := acp.TerminalID(fmt.Sprintf("term-%d", len(e.terminals)+1))
	e.terminals[id] = proc
	return &acp.CreateTerminalResponse{TerminalID: id}, nil
}

func (e *editor) process(id acp.TerminalID) *process {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.terminals[id]
}

func (e *editor) WaitForTerminalExit(ctx context.Context, p *acp.WaitForTerminalExitRequest) (*acp.WaitForTerminalExitResponse, error) {
	select {
	case <-e.process(p.TerminalID).done:
		return &acp.WaitForTerminalExitResponse{}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (e *editor) TerminalOutput(_ context.Context, p *acp.TerminalOutputRequest) (*acp.TerminalOutputResponse, error) {
	proc := e.process(p.TerminalID)
	<-proc.done
	status := &acp.TerminalExitStatus{ExitCode: acp.Some(uint32(proc.cmd.ProcessState.ExitCode()))}
	return &acp.TerminalOutputResponse{Output: proc.output.String(), ExitStatus: status}, nil
}

func (e *editor) ReleaseTerminal(_ context.Context, p *acp.ReleaseTerminalRequest) (*acp.ReleaseTerminalResponse, error) {
	proc := e.process(p.TerminalID)
	proc.cmd.Process.Kill()
	<-proc.done
	e.mu.Lock()
	defer e.mu.Unlock()
	e.released++
	return &acp.ReleaseTerminalResponse{}, nil
}

func (e *editor) file(name string) string {
	e.t.Helper()
	b, err := os.ReadFile(filepath.Join(e.dir, name))
	if err != nil {
		e.t.Fatal(err)
	}
	return string(b)
}

func (e *editor) write(name, text string) {
	e.t.Helper()
	if err := os.WriteFile(filepath.Join(e.dir, name), []byte(text), 0o600); err != nil {
		e.t.Fatal(err)
	}
}
