package demoagent

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/agentkit"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

func TestTheTourUsesTheWholeClient(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	got := e.play("hello", acp.StopReasonEndTurn)
	want := `thought
Hello! I keep a list of visits in hermes-demo.md. 
plan 0/2
call-1 read: Read hermes-demo.md pending
call-1 completed
call-2 edit: Edit hermes-demo.md pending
call-2 in_progress
call-2 completed
plan 1/2
call-3 execute: wc -l hermes-demo.md pending
call-3 in_progress
call-3 content
call-3 completed
wc ended with status 0 and printed "3 hermes-demo.md". 
plan 2/2
That was the tour; ask again for another line.

`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := e.file("hermes-demo.md"), "# Visits of the demo agent\n\n- visit 1\n"; got != want {
		t.Errorf("file %q, want %q", got, want)
	}
	if len(e.asked) != 2 || e.released != 1 {
		t.Errorf("asked %d times, released %d terminals; want 2 and 1", len(e.asked), e.released)
	}
	diff := e.asked[0].ToolCall.Content[0].(*acp.Diff)
	if diff.OldText.OK || diff.NewText != e.file("hermes-demo.md") {
		t.Errorf("diff shown = %+v", diff)
	}
	contains(t, string(e.asked[1].ToolCall.RawInput), `"command":"wc"`)
}

func TestCommandsAreAnnouncedAfterTheSession(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	e.open()
	<-e.changed
	e.mu.Lock()
	defer e.mu.Unlock()
	var names []string
	for _, c := range e.updates[0].(*acp.AvailableCommandsUpdate).AvailableCommands {
		names = append(names, c.Name)
	}
	if want := []string{"say", "slow", "edit", "run", "fail", "crash"}; !slices.Equal(names, want) {
		t.Errorf("commands %v, want %v", names, want)
	}
}

func TestAnEditIsDerivedFromWhatTheClientSees(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	e.write("a.txt", "- visit 7\nlast")
	e.play("/edit a.txt", acp.StopReasonEndTurn)
	if got, want := e.file("a.txt"), "- visit 7\nlast\n- visit 2\n"; got != want {
		t.Errorf("file %q, want %q", got, want)
	}
}

func TestARejectionChangesNothing(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	e.choose = allow(agentkit.OptionReject)
	e.write("hermes-demo.md", "mine")
	contains(t, e.play("tour", acp.StopReasonEndTurn), "call-2 failed", "rejected by the user", "call-3 failed", "plan 2/2")
	if got := e.file("hermes-demo.md"); got != "mine" {
		t.Errorf("file %q", got)
	}
	if len(e.terminals) != 0 {
		t.Error("a command ran")
	}
}

func TestAlwaysIsRemembered(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	e.choose = allow("always")
	e.play("tour", acp.StopReasonEndTurn)
	if len(e.asked) != 1 {
		t.Errorf("asked %d times, want once", len(e.asked))
	}
}

func TestACancelledQuestionEndsTheTurn(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	e.choose = func(context.Context, *acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error) {
		return &acp.RequestPermissionOutcomeCancelled{}, nil
	}
	contains(t, e.play("tour", acp.StopReasonCancelled), "call-2 failed")
}

func TestCancelEndsTheTurnWhereverItIs(t *testing.T) {
	t.Parallel()
	forever := func(ctx context.Context, _ *acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error) {
		<-ctx.Done()
		return &acp.RequestPermissionOutcomeCancelled{}, nil
	}
	for name, tt := range map[string]struct {
		prompt, when string
		choose       func(context.Context, *acp.RequestPermissionRequest) (acp.RequestPermissionOutcome, error)
	}{
		"text":       {prompt: "/slow 10000", when: "1 "},
		"permission": {prompt: "/edit a.txt", when: "call-2 edit", choose: forever},
		"command":    {prompt: "/run sleep 1000", when: "call-1 content"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := start(t, nil)
			if tt.choose != nil {
				e.choose = tt.choose
			}
			id := e.open()
			go func() {
				e.waitFor(tt.when)
				if err := e.agent.Cancel(t.Context(), &acp.CancelNotification{SessionID: id}); err != nil {
					t.Error(err)
				}
			}()
			var got acp.StopReason
			err := patience.Ends(t, "the turn", func() (err error) { got, err = e.prompt(id, tt.prompt); return err })
			if got != acp.StopReasonCancelled {
				t.Errorf("stop reason %q, %v", got, err)
			}
			if strings.Contains(e.transcript(), "pending") {
				contains(t, e.transcript(), " failed")
			}
			if len(e.terminals) != e.released {
				t.Errorf("%d terminals, %d released", len(e.terminals), e.released)
			}
			if got, err := e.prompt(id, "/say still here"); got != acp.StopReasonEndTurn {
				t.Errorf("next turn: %q, %v", got, err)
			}
		})
	}
}

// C082 of the conformance list.
func TestClosingABusySessionEndsItsTurnFirst(t *testing.T) {
	t.Parallel()
	for _, prompt := range []string{"/slow 10000", "/run sleep 1000", ""} {
		t.Run(prompt, func(t *testing.T) {
			t.Parallel()
			e := start(t, nil)
			id := e.open()
			ended := make(chan string, 2)
			if prompt == "" {
				e.prompt(id, "/say done")
				ended <- "cancelled"
			} else {
				go func() {
					got, err := e.prompt(id, prompt)
					if err != nil {
						got = acp.StopReason(err.Error())
					}
					ended <- string(got)
				}()
				e.waitFor(map[string]string{"/slow 10000": "1 ", "/run sleep 1000": "call-1 content"}[prompt])
			}
			if _, err := e.agent.CloseSession(t.Context(), &acp.CloseSessionRequest{SessionID: id}); err != nil {
				t.Fatal(err)
			}
			last := e.transcript()
			if got := <-ended; got != "cancelled" {
				t.Errorf("the turn ended with %q", got)
			}
			for _, again := range []func() error{
				func() error { _, err := e.prompt(id, "/say x"); return err },
				func() error {
					_, err := e.agent.CloseSession(t.Context(), &acp.CloseSessionRequest{SessionID: id})
					return err
				},
			} {
				if err := again(); !errors.Is(err, &acp.Error{Code: acp.ErrorCodeResourceNotFound}) {
					t.Error(err)
				}
			}
			if e.transcript() != last || len(e.terminals) != e.released {
				t.Errorf("after the answer\n%s\nbefore\n%s\n%d terminals, %d released", e.transcript(), last, len(e.terminals), e.released)
			}
			if other := e.open(); other == id {
				t.Error("the next session has the same id")
			}
		})
	}
}

func TestErrorsOfTheClientAreReported(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	e.deny = errors.New("disk full")
	e.write("a.txt", "x\n")
	contains(t, e.play("/edit a.txt", acp.StopReasonEndTurn), "call-2 failed", "disk full")
	contains(t, e.play("/run /no/such/program", acp.StopReasonEndTurn), "call-1 failed", "no such file")
}

func TestStatusAndOutputOfACommandAreReported(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	contains(t, e.play("/run ls no-such-file", acp.StopReasonEndTurn), "ls ended with status", "no-such-file")
}

// Clients say in many ways that there is no such file, and it must not look like
// a reason to leave an existing file alone, or the reverse.
func TestAMissingFileIsCreatedHoweverTheClientSaysSo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer acp.Error
		create bool
	}{
		"its own code":            {acp.Error{Code: -32002, Message: "Resource not found"}, true},
		"internal, with details":  {acp.Error{Code: -32603, Message: "Internal error", Data: []byte(`{"details":"ENOENT: no such file or directory, open '/w/hermes-demo.md'"}`)}, true},
		"internal, by message":    {acp.Error{Code: -32603, Message: "open /w/hermes-demo.md: no such file or directory"}, true},
		"invalid params":          {acp.Error{Code: -32602, Message: "File does not exist"}, true},
		"a code of its own":       {acp.Error{Code: 404, Message: "File not found: hermes-demo.md"}, true},
		"internal, for no reason": {acp.Error{Code: -32603, Message: "Internal error"}, false},
		"not allowed":             {acp.Error{Code: -32602, Message: "not allowed by the user"}, false},
		"no method":               {acp.Error{Code: -32601, Message: "Method not found"}, false},
		"an error of the disk":    {acp.Error{Code: -32603, Message: "Internal error", Data: []byte(`{"details":"EIO: i/o error, read"}`)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := start(t, nil)
			e.unread = &c.answer
			got := e.play("tour", acp.StopReasonEndTurn)
			contains(t, got, "That was the tour")
			_, err := os.Stat(filepath.Join(e.dir, tourFile))
			if (err == nil) != c.create {
				t.Errorf("created: %v\n%s", err == nil, got)
			}
			if !c.create {
				contains(t, got, c.answer.Message)
			}
		})
	}
}

func TestMissingCapabilitiesAreSkipped(t *testing.T) {
	t.Parallel()
	e := start(t, &acp.ClientCapabilities{})
	contains(t, e.play("tour", acp.StopReasonEndTurn), "offers no files", "offers no terminals", "plan 2/2")
	if len(e.asked) != 0 {
		t.Error("asked for a permission it can not use")
	}
}

func TestFilesOutsideTheSessionAreLeftAlone(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	if err := os.Symlink(t.TempDir(), filepath.Join(e.dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"../x", "/etc/passwd", "a/../../x", "link/x", "", "."} {
		got := e.play("/edit "+path, acp.StopReasonEndTurn)
		contains(t, got, "I leave that alone")
		if strings.Contains(got, "call-") {
			t.Errorf("/edit %s used a tool", path)
		}
	}
	e.play("/edit "+filepath.Join(e.dir, "in.txt"), acp.StopReasonEndTurn)
	e.file("in.txt")
}

func TestReadOnlyModeChangesNothing(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	id := e.open()
	if _, err := e.agent.SetSessionMode(t.Context(), &acp.SetSessionModeRequest{SessionID: id, ModeID: "read-only"}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.prompt(id, "tour"); err != nil {
		t.Fatal(err)
	}
	contains(t, e.transcript(), "not in read-only mode")
	if _, err := os.Stat(filepath.Join(e.dir, tourFile)); err == nil || len(e.asked) != 0 {
		t.Error("something was changed or asked")
	}
}

func TestOptionsAndModesAreChecked(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	id := e.open()
	set := func(option acp.SessionConfigID, value acp.SessionConfigValueID) error {
		_, err := e.agent.SetSessionConfigOption(t.Context(), &acp.SetSessionConfigOptionRequest{
			SessionID: id, ConfigID: option, Variant: &acp.SetSessionConfigOptionRequestValueID{Value: value},
		})
		return err
	}
	if err := set("pace", "calm"); err != nil {
		t.Error(err)
	}
	invalid := &acp.Error{Code: acp.ErrorCodeInvalidParams}
	if err := set("pace", "warp"); !errors.Is(err, invalid) {
		t.Errorf("unknown value: %v", err)
	}
	if err := set("tone", "calm"); !errors.Is(err, invalid) {
		t.Errorf("unknown option: %v", err)
	}
	if _, err := e.agent.SetSessionMode(t.Context(), &acp.SetSessionModeRequest{SessionID: id, ModeID: "yolo"}); !errors.Is(err, invalid) {
		t.Errorf("unknown mode: %v", err)
	}
	if _, err := e.prompt("other", "hi"); !errors.Is(err, &acp.Error{Code: acp.ErrorCodeResourceNotFound}) {
		t.Errorf("unknown session: %v", err)
	}
}

func TestALoadedSessionIsReplayed(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	id := e.open()
	if _, err := e.prompt(id, "/say a b"); err != nil {
		t.Fatal(err)
	}
	e.mu.Lock()
	e.updates = nil
	e.mu.Unlock()
	if _, err := e.agent.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: id, Cwd: e.dir}); err != nil {
		t.Fatal(err)
	}
	if got, want := e.transcript(), "user: /say a b\na b\n\n"; got != want {
		t.Errorf("replay %q, want %q", got, want)
	}
}

func TestASecondPromptWaitsForTheFirst(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	id := e.open()
	first := make(chan error, 1)
	go func() {
		_, err := e.prompt(id, "/slow 20")
		first <- err
	}()
	e.waitFor("1 ")
	if end, err := e.prompt(id, "/say second"); err != nil || end != acp.StopReasonEndTurn {
		t.Errorf("second prompt: %v, %v", end, err)
	}
	if err := <-first; err != nil {
		t.Error(err)
	}
	if got := e.transcript(); strings.Index(got, "second") < strings.Index(got, "20 ") {
		t.Errorf("the turns have run beside each other: %q", got)
	}
}

func TestTheHandshakeComesFirstAndOnce(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	invalid := &acp.Error{Code: acp.ErrorCodeInvalidRequest}
	if _, err := e.agent.Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1}); !errors.Is(err, invalid) {
		t.Errorf("second initialize: %v", err)
	}
	if _, err := e.agent.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "here"}); !errors.Is(err, &acp.Error{Code: acp.ErrorCodeInvalidParams}) {
		t.Errorf("relative folder: %v", err)
	}
	here, there := transport.Pair()
	go Run(t.Context(), there, slog.New(slog.DiscardHandler))
	fresh := rpc.NewConn(here, nil, rpc.Options{})
	defer fresh.Close()
	if _, err := (acp.Agent{Conn: fresh}).NewSession(t.Context(), &acp.NewSessionRequest{Cwd: e.dir}); !errors.Is(err, invalid) {
		t.Errorf("session before initialize: %v", err)
	}
}

func TestFailuresAreErrors(t *testing.T) {
	t.Parallel()
	e := start(t, nil)
	if _, err := e.prompt(e.open(), "/fail"); !errors.Is(err, &acp.Error{Code: acp.ErrorCodeInternalError}) {
		t.Errorf("/fail: %v", err)
	}
	contains(t, e.play("/dance", acp.StopReasonEndTurn), "I do not know /dance")
	contains(t, e.play("/run", acp.StopReasonEndTurn), "I need a command")
	contains(t, e.play("/slow down", acp.StopReasonEndTurn), "I count to 10000")
}

// The process of this test becomes an agent that crashes.
func TestACrashEndsTheProcessInTheMiddleOfATurn(t *testing.T) {
	if os.Getenv("DEMOAGENT_CRASH") != "" {
		if err := Run(t.Context(), transport.Stdio(), slog.New(slog.NewTextHandler(os.Stderr, nil))); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "DEMOAGENT_CRASH=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	e := &editor{t: t, dir: t.TempDir(), changed: make(chan struct{}, 1)}
	conn := rpc.NewConn(transport.NewStream(out, in), acp.ClientSide(e), rpc.Options{})
	defer conn.Close()
	e.agent = acp.Agent{Conn: conn}
	if _, err := e.agent.Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1}); err != nil {
		t.Fatal(err)
	}
	var closed *rpc.ClosedError
	if _, err := e.prompt(e.open(), "/crash"); !errors.As(err, &closed) || !errors.Is(err, io.EOF) {
		t.Errorf("prompt: %v", err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("agent: %v, want exit status 3", err)
	}
	contains(t, e.transcript(), "These are my last")
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	_, there := transport.Pair()
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, there, nil) }()
	reason := errors.New("enough")
	cancel(reason)
	if err := <-ended; !errors.Is(err, reason) {
		t.Errorf("Run = %v, want %v", err, reason)
	}
}
