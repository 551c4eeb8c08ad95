package agentv2_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/acp/v2"
	"github.com/hermes-nvim/hermes/acp/validate"
	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/agentv2"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

// editor is an agent of version 1 that knows nothing of version 2.
type editor struct {
	acp.UnimplementedAgentHandler
	client acp.Client
	ended  chan error    // causes of contexts
	panics *atomic.Int32 // that were reported
	mode   acp.SessionModeID
	loaded bool
}

func (e *editor) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{
		ProtocolVersion: 1, AgentInfo: &acp.Implementation{Name: "editor", Version: "1"},
		AgentCapabilities: &acp.AgentCapabilities{LoadSession: true, PromptCapabilities: &acp.PromptCapabilities{Image: true}},
		AuthMethods:       []acp.AuthMethod{acp.NewAuthMethodAgent("key", "With a key")},
	}, nil
}

func (e *editor) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "s", Modes: e.modes()}, nil
}

func (e *editor) modes() *acp.SessionModeState {
	return &acp.SessionModeState{CurrentModeID: "ask", AvailableModes: []acp.SessionMode{{ID: "ask", Name: "Ask"}, {ID: "code", Name: "Code"}}}
}

func (e *editor) LoadSession(ctx context.Context, p *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	e.loaded = true
	if err := e.client.Session(p.SessionID).Say(ctx, "as before"); err != nil {
		return nil, err
	}
	return &acp.LoadSessionResponse{Modes: e.modes()}, nil
}

func (e *editor) SetSessionMode(_ context.Context, p *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	e.mode = p.ModeID
	return nil, nil
}

func (e *editor) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	s := e.client.Session(p.SessionID)
	switch text := p.Prompt[0].(*acp.TextContent).Text; text {
	case "wait":
		s.Say(ctx, "waiting") // which fails when the connection has ended before the work began
		<-ctx.Done()
		e.ended <- context.Cause(ctx)
		return nil, ctx.Err()
	case "fail":
		return nil, &acp.Error{Code: 7, Message: "no model"}
	case "panic":
		panic("oops")
	}
	call := acp.NewToolCall("c", "Edit main.go")
	call.Kind = acp.Some(acp.ToolKindEdit)
	diff := acp.NewDiff("/p/main.go", "new\n")
	diff.OldText = acp.Some("old\n")
	call.Content = []acp.ToolCallContent{diff}
	begun, done := acp.NewToolCallUpdate("c"), acp.NewToolCallUpdate("c")
	begun.Status = acp.Some(acp.ToolCallStatusInProgress)
	done.Status = acp.Some(acp.ToolCallStatusCompleted)
	for _, step := range []func() error{
		func() error { return s.Think(ctx, "hm") },
		func() error { return s.Say(ctx, "I will ") },
		func() error { return s.Say(ctx, "edit") },
		func() error { return s.Update(ctx, call) },
		func() error {
			chosen, err := s.Ask(ctx, call.AsUpdate(), acp.PermissionOption{OptionID: "yes", Name: "Allow", Kind: acp.PermissionOptionKindAllowOnce})
			if err == nil && chosen.OptionID != "yes" {
				err = errors.New("not allowed")
			}
			return err
		},
		func() error { return s.Update(ctx, begun) },
		func() error { return s.Update(ctx, done) },
		func() error { return s.Say(ctx, "Done") },
		func() error {
			_, err := s.ReadFile(ctx, "/p/main.go")
			if !errors.Is(err, &acp.Error{Code: acp.ErrorCodeMethodNotFound}) {
				return fmt.Errorf("a client without files answered %w", err)
			}
			return nil
		},
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

// serve serves one editor and returns the client's end.
func serve(t *testing.T) (*editor, transport.Transport) {
	t.Helper()
	near, far := transport.Pair()
	made, panics := make(chan *editor, 1), new(atomic.Int32)
	served := make(chan error, 1)
	go func() {
		served <- agentv2.Serve(context.Background(), far, func(c acp.Client) acp.AgentHandler {
			e := &editor{client: c, ended: make(chan error, 1), panics: panics}
			made <- e
			return e
		}, rpc.Options{OnFault: func(f rpc.Fault) {
			if panicked := (*rpc.PanicError)(nil); errors.As(f.Err, &panicked) && panicked.Value == "oops" && strings.Contains(string(panicked.Stack), "Prompt") {
				panics.Add(1)
				return
			}
			t.Errorf("fault: %s: %v", f.Kind, f.Err)
		}})
	}()
	t.Cleanup(func() {
		near.Close()
		if err := patience.Value(t, "end", served); err != nil {
			t.Error(err)
		}
	})
	return patience.Value(t, "agent", made), near
}

// newer is a client of version 2 that logs the updates it gets and allows
// everything.
type newer struct {
	v2.UnimplementedClientHandler
	mu   sync.Mutex
	log  []string
	idle chan v2.IdleStateUpdateVariant
}

func (n *newer) SessionUpdate(_ context.Context, p *v2.UpdateSessionNotification) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	text := func(c v2.ContentBlock) string { return c.(*v2.TextContent).Text }
	note := v2.SessionUpdateTag(p.Update)
	switch u := p.Update.(type) {
	case *v2.UserMessage:
		note = fmt.Sprintf("%s is the user's", u.MessageID)
	case *v2.AgentThoughtChunk:
		note = fmt.Sprintf("%s thinks %q", u.MessageID, text(u.Content))
	case *v2.AgentMessageChunk:
		note = fmt.Sprintf("%s says %q", u.MessageID, text(u.Content))
	case *v2.ToolCallUpdate:
		note = fmt.Sprintf("%s %s%s", u.ToolCallID, u.Title.V, u.Status.V)
		if len(u.Content.V) > 0 {
			note += "\n" + u.Content.V[0].(*v2.Diff).Patch.Text
		}
	case *v2.RunningStateUpdate:
		note = "running"
	case *v2.RequiresActionStateUpdate:
		note = "requires action"
	case *v2.IdleStateUpdate:
		n.idle <- u.Variant
		return nil
	}
	n.log = append(n.log, note)
	return nil
}

func (n *newer) RequestPermission(_ context.Context, p *v2.RequestPermissionRequest) (*v2.RequestPermissionResponse, error) {
	return &v2.RequestPermissionResponse{Outcome: v2.NewSelectedPermissionOutcome(p.Options[0].OptionID)}, nil
}

func (n *newer) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	log := n.log
	n.log = nil
	return log
}

// dial connects a client of version 2, whose traffic is linted.
func dial(t *testing.T, tr transport.Transport) (*newer, v2.Agent, *v2.InitializeResponse) {
	t.Helper()
	n := &newer{idle: make(chan v2.IdleStateUpdateVariant, 8)}
	conn := rpc.NewConn(tr, v2.ClientSide(n), rpc.Options{Middleware: []rpc.Middleware{lint.Check(t, lint.Options{})}})
	t.Cleanup(func() { conn.Close() })
	a := v2.Agent{Conn: conn}
	r, err := a.Initialize(t.Context(), &v2.InitializeRequest{ProtocolVersion: 2, Info: v2.Implementation{Name: "c", Version: "1"}, Capabilities: &v2.ClientCapabilities{}})
	if err != nil {
		t.Fatal(err)
	}
	return n, a, r
}

func ask(text string) *v2.PromptRequest {
	return &v2.PromptRequest{SessionID: "s", Prompt: []v2.ContentBlock{v2.NewTextContent(text)}}
}

// older is a client of version 1.
type older struct {
	acp.UnimplementedClientHandler
	said strings.Builder
}

func (o *older) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	if c, ok := n.Update.(*acp.AgentMessageChunk); ok {
		o.said.WriteString(c.Content.(*acp.TextContent).Text)
	}
	return nil
}

func (o *older) RequestPermission(_ context.Context, p *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return &acp.RequestPermissionResponse{Outcome: acp.NewSelectedPermissionOutcome(p.Options[0].OptionID)}, nil
}

func TestOneAgentServesClientsOfBothVersions(t *testing.T) {
	t.Parallel()
	t.Run("version 1", func(t *testing.T) {
		t.Parallel()
		_, tr := serve(t)
		h := new(older)
		a, err := rpc.Open(t.Context(), tr, h, &acp.InitializeRequest{ClientInfo: &acp.Implementation{Name: "c", Version: "1"}},
			rpc.Options{Middleware: []rpc.Middleware{lint.Check(t, lint.Options{Accept: func(f *lint.Finding) bool { return f.Rule.ID == "FS01" || f.Rule.ID == "CFG06" }})}})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		s, err := a.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/p"})
		if err != nil {
			t.Fatal(err)
		}
		end, err := a.Session(s.SessionID).Prompt(t.Context(), acp.NewTextContent("edit"))
		if err != nil || end != acp.StopReasonEndTurn || h.said.String() != "I will editDone" {
			t.Errorf("%s, %v, said %q", end, err, h.said.String())
		}
	})
	t.Run("version 2", func(t *testing.T) {
		t.Parallel()
		_, tr := serve(t)
		n, a, r := dial(t, tr)
		if r.Info.Name != "editor" || r.Capabilities.Session.Prompt.Image == nil || r.AuthMethods[0].(*v2.AuthMethodAgent).MethodID != "key" {
			t.Errorf("the agent says %v", r)
		}
		if _, err := a.NewSession(t.Context(), &v2.NewSessionRequest{Cwd: "/p"}); err != nil {
			t.Fatal(err)
		}
		accepted, err := a.Prompt(t.Context(), ask("edit"))
		if err != nil || accepted.MessageID != "message-1" {
			t.Fatal(accepted, err)
		}
		if end, ok := patience.Value(t, "idle", n.idle).(*v2.IdleStateUpdateEndTurn); !ok {
			t.Errorf("ended with %T", end)
		}
		want := []string{
			"message-1 is the user's", "running", `message-2 thinks "hm"`, `message-3 says "I will "`, `message-3 says "edit"`,
			"c Edit main.go\ndiff --git /p/main.go /p/main.go\n--- /p/main.go\n+++ /p/main.go\n@@ -1 +1 @@\n-old\n+new\n",
			"requires action", "running", "c in_progress", "c completed", `message-4 says "Done"`,
		}
		if got := n.take(); !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
}

func TestWorkIsCancelled(t *testing.T) {
	t.Parallel()
	e, tr := serve(t)
	n, a, _ := dial(t, tr)
	if _, err := a.NewSession(t.Context(), &v2.NewSessionRequest{Cwd: "/p"}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Prompt(t.Context(), ask("wait")); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Prompt(t.Context(), ask("wait")); err == nil || !strings.Contains(err.Error(), "at work") {
		t.Errorf("a second prompt: %v", err)
	}
	if err := a.Cancel(t.Context(), &v2.CancelSessionNotification{SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
	if cause := patience.Value(t, "cause", e.ended); cause != rpc.ErrSessionCancelled {
		t.Errorf("the cause is %v", cause)
	}
	if end, ok := patience.Value(t, "idle", n.idle).(*v2.IdleStateUpdateCancelled); !ok {
		t.Errorf("ended with %T", end)
	}
	if _, err := a.Prompt(t.Context(), ask("fail")); err != nil {
		t.Errorf("a prompt after the work: %v", err)
	}
	patience.Value(t, "idle", n.idle)
}

// The end of the connection ends the work.
func TestWorkEndsWithTheConnection(t *testing.T) {
	t.Parallel()
	e, tr := serve(t)
	_, a, _ := dial(t, tr)
	if _, err := a.NewSession(t.Context(), &v2.NewSessionRequest{Cwd: "/p"}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Prompt(t.Context(), ask("wait")); err != nil {
		t.Fatal(err)
	}
	tr.Close()
	var closed *rpc.ClosedError
	if cause := patience.Value(t, "cause", e.ended); !errors.As(cause, &closed) {
		t.Errorf("the cause is %v", cause)
	}
}

// Work that fails because its question can no longer be answered is not reported: there is
// nobody to whom it is an error, as with a prompt of version 1.
func TestWorkThatTheEndOfTheConnectionCutsOffIsNotReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in, say := io.Pipe()
		hear, out := io.Pipe()
		var said bytes.Buffer
		heard := make(chan struct{})
		go func() {
			defer close(heard)
			io.Copy(&said, hear)
		}()
		release := make(chan struct{})
		served := make(chan error, 1)
		go func() {
			defer out.Close()
			served <- agentv2.Serve(context.Background(), transport.NewStream(in, out), func(c acp.Client) acp.AgentHandler {
				return &busy{editor{client: c}, release}
			}, rpc.Options{})
		}()
		for _, m := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":{}}}`,
			`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/p"}}`,
			`{"jsonrpc":"2.0","id":3,"method":"session/list","params":{}}`,
			`{"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"edit"}]}}`,
		} {
			io.WriteString(say, m+"\n")
			synctest.Wait()
		}
		say.Close()
		synctest.Wait()
		close(release)
		if err := <-served; err != nil {
			t.Error(err)
		}
		<-heard
		_, after, ok := strings.Cut(said.String(), "session/request_permission")
		if _, after, _ = strings.Cut(after, "\n"); !ok || after != `{"jsonrpc":"2.0","id":3,"result":{"sessions":[]}}`+"\n" {
			t.Errorf("after the question the client got %q", after)
		}
	})
}

// busy lists its sessions when the test wants it to, so that the connection ends no earlier.
type busy struct {
	editor
	release chan struct{}
}

func (b *busy) ListSessions(context.Context, *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	<-b.release
	return acp.NewListSessionsResponse([]acp.SessionInfo{}), nil
}

func TestWorkThatFailsEndsWithTheError(t *testing.T) {
	t.Parallel()
	e, tr := serve(t)
	n, a, _ := dial(t, tr)
	if _, err := a.NewSession(t.Context(), &v2.NewSessionRequest{Cwd: "/p"}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]acp.Error{"fail": {Code: 7, Message: "no model"}, "panic": {Code: acp.ErrorCodeInternalError, Message: "internal error"}} {
		if _, err := a.Prompt(t.Context(), ask(text)); err != nil {
			t.Fatal(err)
		}
		end, ok := patience.Value(t, "idle", n.idle).(*v2.ErrorStopReason)
		if !ok || end.Error.Code != want.Code || end.Error.Message != want.Message {
			t.Errorf("%s: ended with %v", text, end)
		}
	}
	if n := e.panics.Load(); n != 1 {
		t.Errorf("%d panics were reported, want 1", n)
	}
}

// Modes of version 1 are an option of version 2.
func TestModesAreAnOption(t *testing.T) {
	t.Parallel()
	e, tr := serve(t)
	_, a, _ := dial(t, tr)
	r, err := a.NewSession(t.Context(), &v2.NewSessionRequest{Cwd: "/p"})
	if err != nil {
		t.Fatal(err)
	}
	chosen := func(list []v2.SessionConfigOption) v2.SessionConfigValueID {
		if len(list) != 1 || list[0].Category.V != v2.SessionConfigOptionCategoryMode {
			t.Fatalf("the options are %v", list)
		}
		return list[0].Variant.(*v2.SessionConfigSelect).CurrentValue
	}
	if got := chosen(r.ConfigOptions); got != "ask" {
		t.Errorf("the session begins in mode %s", got)
	}
	set, err := a.SetSessionConfigOption(t.Context(), &v2.SetSessionConfigOptionRequest{
		SessionID: "s", ConfigID: r.ConfigOptions[0].ConfigID, Variant: v2.NewSetSessionConfigOptionRequestID("code"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := chosen(set.ConfigOptions); got != "code" || e.mode != "code" {
		t.Errorf("the client sees %s, the agent %s", got, e.mode)
	}
}

func TestAReplayIsALoad(t *testing.T) {
	t.Parallel()
	e, tr := serve(t)
	n, a, _ := dial(t, tr)
	if _, err := a.ResumeSession(t.Context(), &v2.ResumeSessionRequest{SessionID: "s", Cwd: "/p", ReplayFrom: &v2.ReplayFromStart{}}); err != nil {
		t.Fatal(err)
	}
	if got := n.take(); !e.loaded || !slices.Equal(got, []string{`message-1 says "as before"`}) {
		t.Errorf("loaded: %v, replayed %q", e.loaded, got)
	}
}

// Every update of recorded traffic is a valid one of version 2.
func TestEveryUpdateOfVersion1IsAValidOneOfVersion2(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../acp/testdata/traffic.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	near, far := transport.Pair()
	defer near.Close()
	var client acp.Client
	conn := rpc.Connect(far, func(c *rpc.Conn) acp.Handler {
		return agentv2.New(c, func(c acp.Client) acp.AgentHandler { client = c; return &editor{} })
	}, rpc.Options{})
	defer conn.Close()
	near.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"}}}`))
	if _, err := near.Read(nil); err != nil {
		t.Fatal(err)
	}
	v := validate.New(validate.V2, validate.Strict)
	kinds := map[string]int{}
	for line := range strings.Lines(string(text)) {
		at := strings.Index(line, `"sessionUpdate"`)
		if at < 0 {
			continue
		}
		var m struct {
			Message struct{ Params json.RawMessage }
		}
		n := new(acp.SessionNotification)
		if json.Unmarshal([]byte(line), &m) != nil || n.UnmarshalJSON(m.Message.Params) != nil {
			continue
		}
		if err := client.SessionUpdate(t.Context(), n); err != nil {
			t.Errorf("%v: %s", err, line)
			continue
		}
		msg, err := near.Read(nil)
		if err != nil {
			t.Fatal(err)
		}
		if found, err := v.Message(validate.Client, msg, ""); err != nil || len(found) > 0 {
			t.Errorf("%v %v\nfrom %s\ncame %s", found, err, line, msg)
		}
		kinds[acp.SessionUpdateTag(n.Update)]++
	}
	if len(kinds) < 6 {
		t.Errorf("only %v were seen", kinds)
	}
	t.Log(kinds)
}
