package services

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/history"
	"github.com/hermes-nvim/hermes/runtime/permission"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/terminal"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

// agent answers session/new and nothing else; the tests make its requests.
type agent struct {
	acp.UnimplementedAgentHandler
	newSession func(context.Context) (*acp.NewSessionResponse, error)
}

func (agent) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{ProtocolVersion: 1}, nil
}

func (a agent) NewSession(ctx context.Context, _ *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return a.newSession(ctx)
}

// bench is a connection with Services at one end and an agent at the other, and
// a session "s" in dir.
type bench struct {
	*Services
	dir   string
	conn  *rpc.Conn  // the client's
	agent acp.Client // what the agent calls
	raw   *rpc.Conn  // the agent's
}

func newBench(t *testing.T, opts Options) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	b := &bench{Services: New(opts), dir: dir}
	ours, theirs := transport.Pair()
	b.conn = rpc.NewConn(ours, acp.ClientSide(b.Services), rpc.Options{})
	b.raw = rpc.NewConn(theirs, acp.AgentSide(agent{newSession: func(context.Context) (*acp.NewSessionResponse, error) {
		return &acp.NewSessionResponse{SessionID: "s", Modes: &acp.SessionModeState{CurrentModeID: "ask"}}, nil
	}}), rpc.Options{})
	b.agent = acp.Client{Conn: b.raw}
	t.Cleanup(func() { must(t, b.Services.Close()); b.conn.Close(); b.raw.Close() })
	agent := acp.Agent{Conn: b.conn}
	_, err = agent.Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1, ClientCapabilities: b.Capabilities()})
	must(t, err)
	_, err = b.NewSession(t.Context(), agent, &acp.NewSessionRequest{Cwd: dir})
	must(t, err)
	return b
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func code(err error) acp.ErrorCode {
	if e := (*acp.Error)(nil); errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// C123, C126, FS11, FS13.
func TestFilesOverAConnection(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	ctx := t.Context()
	_, err := b.agent.WriteTextFile(ctx, &acp.WriteTextFileRequest{SessionID: "s", Path: b.dir + "/x/a.txt", Content: "1\n2\n3\n"})
	must(t, err)
	r, err := b.agent.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: "s", Path: b.dir + "/x/a.txt", Line: acp.Some[uint32](2), Limit: acp.Some[uint32](1)})
	if err != nil || r.Content != "2\n" {
		t.Errorf("%+v, %v", r, err)
	}
	for _, c := range []struct {
		session acp.SessionID
		path    string
		read    acp.ErrorCode
		write   acp.ErrorCode
		text    string
	}{
		{"s", b.dir + "/none.txt", acp.ErrorCodeResourceNotFound, 0, "/none.txt: file does not exist"},
		{"s", "/etc/passwd", acp.ErrorCodeInvalidParams, acp.ErrorCodeInvalidParams, " /etc/passwd: outside the session roots (" + b.dir + ")"},
		{"s", "x/a.txt", acp.ErrorCodeInvalidParams, acp.ErrorCodeInvalidParams, "absolute"},
		{"s", b.dir, acp.ErrorCodeInvalidParams, acp.ErrorCodeInvalidParams, "directory"},
		{"s", b.dir + "/.git/config", acp.ErrorCodeResourceNotFound, acp.ErrorCodeInvalidParams, ""},
		{"s", b.dir + "/Makefile", acp.ErrorCodeResourceNotFound, acp.ErrorCodeInvalidParams, ""},
		{"other", b.dir + "/x/a.txt", acp.ErrorCodeResourceNotFound, acp.ErrorCodeResourceNotFound, `session "other": unknown session`},
		{"", b.dir + "/x/a.txt", acp.ErrorCodeResourceNotFound, acp.ErrorCodeResourceNotFound, ""},
	} {
		_, err := b.agent.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: c.session, Path: c.path})
		if code(err) != c.read || !strings.Contains(err.Error(), c.text) || !strings.HasPrefix(err.Error(), "fs/read_text_file ") {
			t.Errorf("read %s in %s: %v", c.path, c.session, err)
		}
		if _, err := b.agent.WriteTextFile(ctx, &acp.WriteTextFileRequest{SessionID: c.session, Path: c.path}); code(err) != c.write {
			t.Errorf("write %s in %s: %v", c.path, c.session, err)
		}
	}
}

// An agent that is about to make a file has to know that there is none.
func TestAnAgentTellsAMissingFileFromAFailedRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	must(t, os.WriteFile(b.dir+"/binary", []byte{0xff, 0}, 0o644))
	for path, missing := range map[string]bool{
		b.dir + "/none":      true,
		b.dir + "/none/none": true,
		b.dir:                false,
		b.dir + "/binary":    false,
		"/none":              false, // outside the roots
	} {
		_, err := b.agent.Session("s").ReadFile(t.Context(), path)
		if err == nil || errors.Is(err, &acp.Error{Code: acp.ErrorCodeResourceNotFound}) != missing {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// C124, C130, TER13: what does not decode is refused and starts nothing.
func TestBadParamsAreRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{ApproveCommand: func(context.Context, acp.SessionID, *terminal.Command) error {
		t.Error("asked to run it")
		return nil
	}})
	must(t, os.WriteFile(b.dir+"/f", []byte("x"), 0o644))
	for method, params := range map[string][]string{
		"fs/read_text_file": {`{"sessionId":"s","path":"` + b.dir + `/f","line":-1}`, `{"sessionId":"s","path":"` + b.dir + `/f","limit":-1}`,
			`{"sessionId":"s","path":"` + b.dir + `/f","line":4294967296}`, `{"sessionId":"s","path":"` + b.dir + `/f","line":1.5}`, `{"sessionId":"s","path":7}`, `{"sessionId":"s"}`},
		"fs/write_text_file": {`{"sessionId":"s","path":"` + b.dir + `/f"}`, `{"sessionId":"s","path":"` + b.dir + `/f","content":null}`},
		"terminal/create": {`{"sessionId":"s","command":"touch","args":["f",1]}`, `{"sessionId":"s","command":"touch","args":"f"}`,
			`{"sessionId":"s","command":"touch","args":[null]}`, `{"sessionId":"s","command":"touch","env":[{"name":"A"}]}`, `{"sessionId":"s","command":"touch","cwd":1}`},
	} {
		for _, p := range params {
			err := b.raw.Call(t.Context(), method, acp.Raw(p), new(acp.Raw))
			if code(err) != acp.ErrorCodeInvalidParams {
				t.Errorf("%s %s: %v", method, p, err)
			}
		}
	}
}

// Point 2 of what real agents do: one of them makes a file only when the client
// answers a read of it with nothing.
func TestAMissingFileIsEmptyOnRequest(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{MissingIsEmpty: true})
	r, err := b.agent.ReadTextFile(t.Context(), &acp.ReadTextFileRequest{SessionID: "s", Path: b.dir + "/none"})
	if err != nil || r.Content != "" {
		t.Errorf("%v, %v", r, err)
	}
	if _, err := b.agent.ReadTextFile(t.Context(), &acp.ReadTextFileRequest{SessionID: "s", Path: "/none"}); code(err) != acp.ErrorCodeInvalidParams {
		t.Error(err)
	}
}

// text is sent as it is.
type text string

func (t text) AppendJSON(b []byte) []byte { return append(b, t...) }

func TestHalfASurrogatePairIsNeitherWrittenNorRun(t *testing.T) {
	t.Parallel()
	ran := 0
	b := newBench(t, Options{ApproveCommand: func(context.Context, acp.SessionID, *terminal.Command) error {
		ran++
		return errors.New("not here")
	}})
	for _, c := range []struct{ method, params string }{
		{acp.MethodFsWriteTextFile, `"path":"DIR/a","content":"x%sy"`},
		{acp.MethodFsWriteTextFile, `"path":"DIR/a%s","content":"xy"`},
		{acp.MethodTerminalCreate, `"command":"echo %s"`},
		{acp.MethodTerminalCreate, `"command":"echo","args":["%s"]`},
		{acp.MethodTerminalCreate, `"command":"echo","env":[{"name":"A","value":"%s"}]`},
		{acp.MethodTerminalCreate, `"command":"echo","cwd":"DIR/%s"`},
	} {
		params := `{"sessionId":"s",` + strings.ReplaceAll(c.params, "DIR", b.dir) + `}`
		err := b.raw.Call(t.Context(), c.method, text(strings.ReplaceAll(params, "%s", `\ud83d`)), nil)
		if code(err) != acp.ErrorCodeInvalidParams || !strings.Contains(err.Error(), "half a surrogate pair") {
			t.Errorf("%s %s: %v", c.method, c.params, err)
		}
	}
	if list, err := os.ReadDir(b.dir); len(list) > 0 || err != nil || ran > 0 {
		t.Errorf("wrote %v, asked about %d commands, %v", list, ran, err)
	}
	err := b.raw.Call(t.Context(), acp.MethodFsWriteTextFile, text(`{"sessionId":"s","path":"`+b.dir+`/a","content":"x\ud83d\ude00y"}`), nil)
	must(t, err)
	if got, err := os.ReadFile(filepath.Join(b.dir, "a")); err != nil || string(got) != "x\U0001f600y" {
		t.Errorf("the file holds %q, %v", got, err)
	}
}

// C127, C129, TER10; point 4 of what real agents do.
func TestTerminalsOverAConnection(t *testing.T) {
	t.Parallel()
	var shown []string
	exits := make(chan terminal.Status, 10)
	b := newBench(t, Options{
		ApproveCommand: func(_ context.Context, id acp.SessionID, c *terminal.Command) error {
			shown = append(shown, string(id)+" "+c.String())
			if strings.Contains(c.String(), "rm") {
				return errors.New("the user said no")
			}
			return nil
		},
		TerminalExit: func(_ acp.SessionID, _ acp.TerminalID, s terminal.Status) { exits <- s },
	})
	if !b.Capabilities().Terminal {
		t.Error("terminals are not offered")
	}
	ctx := t.Context()
	c, err := b.agent.CreateTerminal(ctx, &acp.CreateTerminalRequest{SessionID: "s", Command: "echo out; pwd; exit 3"})
	must(t, err)
	w, err := b.agent.WaitForTerminalExit(ctx, &acp.WaitForTerminalExitRequest{SessionID: "s", TerminalID: c.TerminalID})
	if err != nil || w.ExitCode != acp.Some[uint32](3) || w.Signal.OK {
		t.Errorf("%+v, %v", w, err)
	}
	o, err := b.agent.TerminalOutput(ctx, &acp.TerminalOutputRequest{SessionID: "s", TerminalID: c.TerminalID})
	if err != nil || o.Output != "out\n"+b.dir+"\n" || o.Truncated || o.ExitStatus == nil || o.ExitStatus.ExitCode != w.ExitCode {
		t.Errorf("%+v, %v", o, err)
	}
	if s := <-exits; s.Code != 3 {
		t.Error(s)
	}
	if _, err := b.agent.TerminalOutput(ctx, &acp.TerminalOutputRequest{SessionID: "other", TerminalID: c.TerminalID}); code(err) != acp.ErrorCodeResourceNotFound {
		t.Error(err)
	}
	_, err = b.agent.ReleaseTerminal(ctx, &acp.ReleaseTerminalRequest{SessionID: "s", TerminalID: c.TerminalID})
	must(t, err)
	if _, err := b.agent.TerminalOutput(ctx, &acp.TerminalOutputRequest{SessionID: "s", TerminalID: c.TerminalID}); code(err) != acp.ErrorCodeResourceNotFound {
		t.Error(err)
	}
	if _, err := b.agent.CreateTerminal(ctx, &acp.CreateTerminalRequest{SessionID: "s", Command: "rm", Args: []string{"-rf", "/"}}); err == nil || !strings.Contains(err.Error(), "the user said no") {
		t.Error(err)
	}
	if _, err := b.agent.CreateTerminal(ctx, &acp.CreateTerminalRequest{SessionID: "s", Command: "pwd", Cwd: acp.Some("/")}); code(err) != acp.ErrorCodeInvalidParams {
		t.Error(err)
	}
	c, err = b.agent.CreateTerminal(ctx, &acp.CreateTerminalRequest{SessionID: "s", Command: "sleep", Args: []string{"60"}})
	must(t, err)
	_, err = b.agent.KillTerminal(ctx, &acp.KillTerminalRequest{SessionID: "s", TerminalID: c.TerminalID})
	must(t, err)
	w, err = b.agent.WaitForTerminalExit(ctx, &acp.WaitForTerminalExitRequest{SessionID: "s", TerminalID: c.TerminalID})
	if err != nil || w.Signal != acp.Some("SIGTERM") || w.ExitCode.OK {
		t.Errorf("%+v, %v", w, err)
	}
	_, err = b.agent.CreateTerminal(ctx, &acp.CreateTerminalRequest{SessionID: "s", Command: "sleep", Args: []string{"60"}})
	must(t, err)
	must(t, b.CloseSession("s")) // the one never released ends with the session
	if s := <-exits; s.Signal != "SIGTERM" {
		t.Error(s)
	}
	if want := "s /bin/sh -c 'echo out; pwd; exit 3'|s rm -rf /|s sleep 60|s sleep 60"; strings.Join(shown, "|") != want {
		t.Errorf("%q", shown)
	}
}

func TestWithoutApprovalThereAreNoTerminals(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	if _, err := b.agent.CreateTerminal(t.Context(), &acp.CreateTerminalRequest{SessionID: "s", Command: "true"}); code(err) != acp.ErrorCodeMethodNotFound || b.Capabilities().Terminal {
		t.Error(err)
	}
}

var options = []acp.PermissionOption{
	{OptionID: "a", Name: "Allow", Kind: acp.PermissionOptionKindAllowOnce}, {OptionID: "r", Name: "Reject", Kind: acp.PermissionOptionKindRejectOnce},
}

func selected(r *acp.RequestPermissionResponse) string {
	if o, ok := r.Outcome.(*acp.SelectedPermissionOutcome); ok {
		return string(o.OptionID)
	}
	return "cancelled"
}

// C067, C131. An earlier update had the kind.
func TestPermissionsOverAConnection(t *testing.T) {
	t.Parallel()
	policy, err := permission.Open("")
	must(t, err)
	must(t, policy.Add(t.Context(), permission.Rule{Action: permission.Allow, Scope: permission.Session, Session: "s", Kind: acp.ToolKindRead}))
	asked := make(chan struct{}, 1)
	b := newBench(t, Options{Policy: policy, Ask: func(ctx context.Context, _ *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
		asked <- struct{}{}
		<-ctx.Done()
		return "a", nil
	}})
	u, err := acp.DecodeSessionUpdate([]byte(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","kind":"read"}`))
	must(t, err)
	must(t, b.agent.SessionUpdate(t.Context(), &acp.SessionNotification{SessionID: "s", Update: u}))
	ask := func(call acp.ToolCallID, options []acp.PermissionOption) (string, error) {
		r, err := b.agent.RequestPermission(t.Context(), &acp.RequestPermissionRequest{SessionID: "s", ToolCall: acp.ToolCallUpdate{ToolCallID: call}, Options: options})
		if err != nil {
			return "", err
		}
		return selected(r), nil
	}
	if got, err := ask("c", options); got != "a" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := ask("c", append(options, options[0])); code(err) != acp.ErrorCodeInvalidParams {
		t.Error(err)
	}
	go func() {
		<-asked
		if n := len(b.State("s").Snapshot().Requests); n != 1 {
			t.Errorf("%d pending requests", n)
		}
		must(t, acp.Agent{Conn: b.conn}.Session("s").Cancel(t.Context()))
	}()
	if got, err := ask("unknown call", options); got != "cancelled" {
		t.Errorf("%q, %v", got, err)
	}
	go func() { <-asked; b.CloseSession("s") }()
	if got, err := ask("unknown call", options); got != "cancelled" {
		t.Errorf("%q, %v", got, err)
	}
	if len(policy.Rules()) != 0 {
		t.Error("the session's rule outlives it")
	}
}

// Real agents make requests and send updates under an id that the client has not
// learned yet.
func TestRequestsBeforeTheAnswerToNewSessionWait(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.WriteFile(dir+"/f", []byte("x"), 0o644))
	s := New(Options{ApproveCommand: AllowCommands})
	ours, theirs := transport.Pair()
	conn := rpc.NewConn(ours, acp.ClientSide(s), rpc.Options{})
	var raw *rpc.Conn
	results := make(chan string, 10)
	report := func(what string, err error) { results <- fmt.Sprint(what, " ", code(err)) }
	raw = rpc.NewConn(theirs, acp.AgentSide(agent{newSession: func(context.Context) (*acp.NewSessionResponse, error) {
		client, ctx := acp.Client{Conn: raw}, context.Background()
		err := client.SessionUpdate(ctx, &acp.SessionNotification{SessionID: "s", Update: &acp.ToolCall{ToolCallID: "c", Title: "Look"}})
		for _, id := range []acp.SessionID{"s", "never"} {
			read, err := raw.Start(ctx, acp.MethodFsReadTextFile, &acp.ReadTextFileRequest{SessionID: id, Path: dir + "/f"})
			must(t, err)
			run, err := raw.Start(ctx, acp.MethodTerminalCreate, &acp.CreateTerminalRequest{SessionID: id, Command: "true"})
			must(t, err)
			go func() { report(fmt.Sprint("read in ", id), read.Wait(ctx, nil)) }()
			go func() { report(fmt.Sprint("run in ", id), run.Wait(ctx, nil)) }()
		}
		return &acp.NewSessionResponse{SessionID: "s"}, err
	}}), rpc.Options{})
	defer func() { must(t, s.Close()); conn.Close(); raw.Close() }()
	a := acp.Agent{Conn: conn}
	_, err = a.Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1, ClientCapabilities: s.Capabilities()})
	must(t, err)
	_, err = s.NewSession(t.Context(), a, &acp.NewSessionRequest{Cwd: dir})
	must(t, err)
	if c := s.State("s").ToolCall("c"); c == nil || c.Title != "Look" {
		t.Errorf("the state lacks the early tool call: %+v", c)
	}
	want := []string{"read in never -32002", "read in s 0", "run in never -32002", "run in s 0"}
	var got []string
	for range want {
		got = append(got, patience.Value(t, "result", results))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A session that the caller never learns of is not left open.
func TestASessionWhoseAnswerIsNotUsableIsClosed(t *testing.T) {
	t.Parallel()
	for result, want := range map[string]string{
		`{"sessionId":"s","sessionId":"t"}`: "bad result",
		`{"sessionId":"s"}`:                 "",
	} {
		s := New(Options{})
		ours, theirs := transport.Pair()
		conn := rpc.NewConn(ours, acp.ClientSide(s), rpc.Options{})
		go func() {
			theirs.Read(nil)
			theirs.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":%s}`, result))
		}()
		_, err := s.NewSession(t.Context(), acp.Agent{Conn: conn}, &acp.NewSessionRequest{Cwd: t.TempDir()})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", result, err)
		}
		if open := s.roots("s") != nil; open != (want == "") {
			t.Errorf("%s: open: %v", result, open)
		}
		must(t, s.Close())
		theirs.Close()
		conn.Close()
	}
}

func TestAfterCloseEverythingIsRefused(t *testing.T) {
	t.Parallel()
	s := New(Options{ApproveCommand: AllowCommands})
	must(t, s.OpenSession("s", []string{t.TempDir()}))
	must(t, s.Close())
	must(t, s.Close())
	if err := s.OpenSession("s", []string{t.TempDir()}); err == nil {
		t.Error("opened")
	}
	if _, err := s.CreateTerminal(t.Context(), &acp.CreateTerminalRequest{SessionID: "s", Command: "true"}); !errors.Is(err, ErrSession) {
		t.Error(err)
	}
	r, err := s.RequestPermission(t.Context(), &acp.RequestPermissionRequest{SessionID: "s", Options: options})
	if err != nil || selected(r) != "cancelled" {
		t.Errorf("%v, %v", r, err)
	}
}

// C061.
func TestASessionThatCannotBeSetUpCanBeTriedAgain(t *testing.T) {
	t.Parallel()
	s := New(Options{})
	defer s.Close()
	dir := filepath.Join(t.TempDir(), "later")
	if err := s.OpenSession("s", []string{dir}); err == nil {
		t.Fatal("opened a folder that is not there")
	}
	if _, err := s.ReadTextFile(t.Context(), &acp.ReadTextFileRequest{SessionID: "s", Path: dir + "/f"}); !errors.Is(err, ErrSession) {
		t.Errorf("the session that failed is there: %v", err)
	}
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.WriteFile(dir+"/f", []byte("x"), 0o600))
	must(t, s.OpenSession("s", []string{dir}))
	if r, err := s.ReadTextFile(t.Context(), &acp.ReadTextFileRequest{SessionID: "s", Path: dir + "/f"}); err != nil || r.Content != "x" {
		t.Errorf("%v, %v", r, err)
	}
}

func TestTheStateKnowsWhereATurnBegins(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	timeline := func() (texts []string) {
		for _, e := range b.State("s").Snapshot().Timeline {
			texts = append(texts, e.(*history.Message).Text())
		}
		return texts
	}
	for i, text := range []string{"background", "turn"} {
		if i > 0 { // this agent takes no prompts, which makes no difference here
			if _, err := b.Prompt(t.Context(), acp.Agent{Conn: b.conn}, &acp.PromptRequest{SessionID: "s"}); code(err) != acp.ErrorCodeMethodNotFound {
				t.Error(err)
			}
		}
		must(t, b.agent.SessionUpdate(t.Context(), &acp.SessionNotification{SessionID: "s", Update: acp.NewAgentMessageChunk(acp.NewTextContent(text))}))
		for end := time.Now().Add(patience.Soon); !strings.HasSuffix(strings.Join(timeline(), "|"), text); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%q", timeline())
			}
		}
	}
	if got := strings.Join(timeline(), "|"); got != "background|turn" {
		t.Error(got)
	}
}
