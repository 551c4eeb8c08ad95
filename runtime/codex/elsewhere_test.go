package codex_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/testcodex"
	"github.com/hermes-nvim/hermes/runtime/codex"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// shared is a server of other clients, too. The file gets what it is sent.
func shared(t *testing.T, script string) (*codex.Server, string) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "sent")
	s := codex.NewServer(codex.ServerOptions{Dial: func(ctx context.Context) (transport.Transport, error) {
		p, err := launch.Start(context.WithoutCancel(ctx), launch.Command{
			Path: os.Args[0], Args: []string{"-test.run=^$"}, InheritEnv: true,
			Env: []string{testcodex.ScriptEnv + "=" + script, testcodex.LogEnv + "=" + log, testcodex.QuickEnd},
		})
		if err != nil {
			return nil, err
		}
		return p.Transport(), nil
	}})
	t.Cleanup(func() { s.Close() })
	return s, log
}

// begun is a turn of another client, as Elsewhere got it.
type begun struct{ turn, text string }

// elsewhere are options of a session that reports the turns of others.
func elsewhere() (codex.Options, <-chan begun) {
	turns := make(chan begun, 10)
	return codex.Options{Elsewhere: func(turn, text string) { turns <- begun{turn, text} }}, turns
}

func TestTurnsOfOtherClientsAreFollowed(t *testing.T) {
	t.Parallel()
	server, log := shared(t, "plain")
	opts, turns := elsewhere()
	said := make(chan string, 10)
	opts.OnNote = func(_ context.Context, note any) {
		if n, ok := note.(*appserver.AgentMessageDeltaNotification); ok {
			said <- n.Delta
		}
	}
	s := codex.NewSession(server, opts)
	if r := s.RunTurn(t.Context(), text("then say theirs")); r.FinalText != "mine" {
		t.Errorf("got %q, %v", r.FinalText, r.Err)
	}
	if got := <-turns; got != (begun{"turn-2", "say theirs"}) {
		t.Errorf("got %+v", got)
	}
	r := s.Follow(t.Context(), "turn-2")
	if r.FinalText != "theirs" || r.Err != nil || r.TurnID != "turn-2" {
		t.Errorf("got %q, %v, %s", r.FinalText, r.Err, r.TurnID)
	}
	if got := []string{<-said, <-said}; !slices.Equal(got, []string{"mine", "theirs"}) {
		t.Errorf("heard %q", got)
	}
	if again := s.Follow(t.Context(), "turn-2"); again != r {
		t.Error("the end of a turn can be asked for once only")
	}
	if r := s.Follow(t.Context(), "turn-77"); !errors.Is(r.Err, codex.ErrNoTurn) {
		t.Errorf("an unknown turn: %v", r.Err)
	}
	if r := s.RunTurn(t.Context(), text("say next")); r.FinalText != "next" {
		t.Errorf("got %q, %v", r.FinalText, r.Err)
	}
	if got := sent(t, log, "thread/inject_items"); len(got) != 1 {
		t.Errorf("the thread was saved %d times, so that other clients cannot open it", len(got))
	}
}

func TestAPromptDuringATurnOfAnotherClientSteersIt(t *testing.T) {
	t.Parallel()
	server, _ := shared(t, "plain")
	opts, turns := elsewhere()
	s := codex.NewSession(server, opts)
	s.RunTurn(t.Context(), text("then steered"))
	turn := <-turns
	if r := s.RunTurn(t.Context(), text("say x")); !errors.Is(r.Err, codex.ErrBusy) {
		t.Errorf("got %v", r.Err)
	}
	if err := s.Steer(t.Context(), text("more")); err != nil {
		t.Error(err)
	}
	if err := s.Idle(t.Context()); err != nil {
		t.Error(err)
	}
	if r := s.Follow(t.Context(), turn.turn); r.FinalText != "steered by more" {
		t.Errorf("got %q, %v", r.FinalText, r.Err)
	}
}

func TestATurnOfAnotherClientCanBeInterrupted(t *testing.T) {
	t.Parallel()
	server, _ := shared(t, "plain")
	opts, turns := elsewhere()
	s := codex.NewSession(server, opts)
	s.RunTurn(t.Context(), text("then hang"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := s.Follow(ctx, (<-turns).turn); !r.Interrupted {
		t.Errorf("got %q, %v", r.FinalText, r.Err)
	}
}

func TestAQuestionThatIsAnsweredElsewhereIsWithdrawn(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"exec", "patch", "permissions", "input", "elicit", "old-exec", "old-patch"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			server, _ := shared(t, "plain")
			opts, _ := elsewhere()
			var s *codex.Session
			asked := func(ctx context.Context) error {
				if err := s.Steer(ctx, text("asked")); err != nil {
					return err
				}
				<-ctx.Done()
				return ctx.Err()
			}
			opts.Approve = func(ctx context.Context, _ *codex.Approval) (codex.Choice, error) { return codex.Once, asked(ctx) }
			opts.Answer = func(ctx context.Context, _ *appserver.ToolRequestUserInputParams) (map[string][]string, error) {
				return nil, asked(ctx)
			}
			opts.Elicit = func(ctx context.Context, _ *appserver.MCPServerElicitationRequestParams) (*appserver.MCPServerElicitationRequestResponse, error) {
				return nil, asked(ctx)
			}
			s = codex.NewSession(server, opts)
			if r := s.RunTurn(t.Context(), text("resolved "+what)); r.FinalText != `the text "serverRequest/resolved"` {
				t.Errorf("got %q, %v", r.FinalText, r.Err)
			}
		})
	}
}

func TestAQuestionOfATurnThatRunsAlreadyIsAsked(t *testing.T) {
	t.Parallel()
	server, _ := shared(t, "busy")
	opts, turns := elsewhere()
	opts.Thread = "thread-7"
	opts.Approve = func(context.Context, *codex.Approval) (codex.Choice, error) { return codex.Once, nil }
	s := codex.NewSession(server, opts)
	if err := s.EnsureStarted(t.Context()); err != nil {
		t.Fatal(err)
	}
	turn := <-turns
	if turn != (begun{"turn-1", ""}) {
		t.Errorf("got %+v", turn)
	}
	if r := s.Follow(t.Context(), turn.turn); !strings.Contains(r.FinalText, `"accept"`) {
		t.Errorf("got %q, %v", r.FinalText, r.Err)
	}
	if p := s.Settings().Profile; p != codex.ProfileAsk {
		t.Errorf("the profile is %q, not that of the thread", p)
	}
}

// A denial would answer for the user, who may be looking at the question elsewhere.
func TestAClientThatLeavesAnswersNothing(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"exec", "patch", "permissions", "input", "elicit"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			server, log := shared(t, "plain")
			opts, _ := elsewhere()
			asked := make(chan bool, 1)
			opts.Approve = func(ctx context.Context, _ *codex.Approval) (codex.Choice, error) {
				asked <- true
				<-ctx.Done()
				return codex.Deny, nil
			}
			opts.Answer = func(ctx context.Context, _ *appserver.ToolRequestUserInputParams) (map[string][]string, error) {
				asked <- true
				<-ctx.Done()
				return nil, nil
			}
			opts.Elicit = func(ctx context.Context, _ *appserver.MCPServerElicitationRequestParams) (*appserver.MCPServerElicitationRequestResponse, error) {
				asked <- true
				<-ctx.Done()
				return nil, nil
			}
			s := codex.NewSession(server, opts)
			done := make(chan *codex.Result)
			go func() { done <- s.RunTurn(context.Background(), text("held "+what)) }()
			<-asked
			server.Close()
			if r := <-done; r.Err == nil {
				t.Errorf("got %q", r.FinalText)
			}
			for _, m := range append(sent(t, log, ""), sent(t, log, "turn/interrupt")...) {
				t.Errorf("sent %s", m)
			}
		})
	}
}

func TestAThreadIsOpenedAgainWhenTheAppServerHasDied(t *testing.T) {
	t.Parallel()
	server, log := shared(t, "plain")
	opts, _ := elsewhere()
	s := codex.NewSession(server, opts)
	if r := s.RunTurn(t.Context(), text("die")); r.Err == nil {
		t.Errorf("got %q", r.FinalText)
	}
	patience.True(t, "thread/resume", func() bool { return len(sent(t, log, "thread/resume")) > 0 })
	if r := s.RunTurn(t.Context(), text("say back")); r.FinalText != "back" || r.ThreadID != "thread-1" {
		t.Errorf("got %q, %v, %s", r.FinalText, r.Err, r.ThreadID)
	}
	if n := len(sent(t, log, "thread/start")); n != 1 {
		t.Errorf("%d threads were started", n)
	}
}
