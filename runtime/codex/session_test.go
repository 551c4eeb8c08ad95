package codex_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/codex"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
)

func TestATurnReturnsWhatItProduced(t *testing.T) {
	t.Parallel()
	server, log := scripted(t, "plain")
	s := codex.NewSession(server, codex.Options{Dir: "/project"})
	r := s.RunTurn(t.Context(), text("tools"))
	if r.Err != nil || r.FinalText != "last" || r.Interrupted {
		t.Errorf("got %q, %v, interrupted %v; want the last message", r.FinalText, r.Err, r.Interrupted)
	}
	if r.Tools != 4 || r.TurnID != "turn-1" || r.ThreadID != "thread-1" {
		t.Errorf("got %d tools, %s, %s; want 4, turn-1, thread-1", r.Tools, r.TurnID, r.ThreadID)
	}
	var got []string
	for _, i := range r.Items {
		mark := ""
		if i.Failed {
			mark = "!"
		}
		got = append(got, i.Kind+mark+"="+i.Text)
	}
	want := "userMessage=tools reasoning=thinking commandExecution!=no fileChange=*** /project/a\nnew\n " +
		`mcpToolCall={"content":[]} dynamicToolCall= webSearch=q agentMessage=first agentMessage=last`
	if strings.Join(got, " ") != want {
		t.Errorf("items %q\nwant  %q", strings.Join(got, " "), want)
	}
	if start := sent(t, log, "thread/start"); len(start) != 1 || !strings.Contains(start[0], `"cwd":"/project"`) {
		t.Errorf("thread/start %q", start)
	}
}

func TestStartingIsDoneOnce(t *testing.T) {
	t.Parallel()
	server, log := scripted(t, "slow start")
	s := codex.NewSession(server, codex.Options{})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := s.EnsureStarted(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for range 3 {
		if r := s.RunTurn(t.Context(), text("say x")); r.Err != nil {
			t.Error(r.Err)
		}
	}
	for _, method := range []string{"initialize", "initialized", "thread/start"} {
		if n := len(sent(t, log, method)); n != 1 {
			t.Errorf("%d times %s", n, method)
		}
	}
}

func TestProfilesSelectSandboxAndPolicy(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ profile, sandbox, policy, turn string }{
		{"auto", "workspace-write", "on-request", "workspaceWrite"},
		{"approval-required", "read-only", "on-request", "readOnly"},
		{"unrestricted", "danger-full-access", "never", "dangerFullAccess"},
		{"yolo", "danger-full-access", "never", "dangerFullAccess"},
		{"nonsense", "workspace-write", "on-request", "workspaceWrite"},
	} {
		t.Run(test.profile, func(t *testing.T) {
			t.Parallel()
			server, log := scripted(t, "plain")
			set := codex.Settings{Profile: codex.Profile(test.profile)}
			s := codex.NewSession(server, codex.Options{Settings: set})
			if r := s.RunTurn(t.Context(), text("params")); strings.Contains(r.FinalText, "sandboxPolicy") {
				t.Errorf("a turn repeats the settings: %s", r.FinalText)
			}
			start := sent(t, log, "thread/start")[0]
			if !strings.Contains(start, `"sandbox":"`+test.sandbox+`"`) || !strings.Contains(start, `"approvalPolicy":"`+test.policy+`"`) {
				t.Errorf("thread/start %s", start)
			}
			s.Configure(func(c *codex.Settings) { c.Profile = "other"; c.Model = "m2"; c.Effort = "high" })
			s.Configure(func(c *codex.Settings) { c.Profile = codex.Profile(test.profile) + " " })
			s.Configure(func(c *codex.Settings) { c.Profile = "approval-required" })
			r := s.RunTurn(t.Context(), text("params"))
			if !strings.Contains(r.FinalText, `"model":"m2"`) || !strings.Contains(r.FinalText, `"effort":"high"`) {
				t.Errorf("turn/start %s, %v", r.FinalText, r.Err)
			}
			if changed := test.profile != "approval-required"; changed != strings.Contains(r.FinalText, `"type":"readOnly"`) {
				t.Errorf("turn/start %s", r.FinalText)
			}
		})
	}
}

func TestWithoutAProfileCodexDecides(t *testing.T) {
	t.Parallel()
	server, log := scripted(t, "plain")
	s := codex.NewSession(server, codex.Options{})
	r := s.RunTurn(t.Context(), text("params"))
	start := sent(t, log, "thread/start")[0]
	for _, word := range []string{"sandbox", "approvalPolicy"} {
		if strings.Contains(start, word) || strings.Contains(r.FinalText, word) {
			t.Errorf("%s decides about the %s", start, word)
		}
	}
	if got := s.Settings().Profile; got != codex.ProfileAsk {
		t.Errorf("%q is not the nearest profile", got)
	}
	s.Configure(func(c *codex.Settings) { c.Profile = codex.ProfileAuto })
	if r := s.RunTurn(t.Context(), text("params")); !strings.Contains(r.FinalText, `"type":"workspaceWrite"`) {
		t.Errorf("turn/start %s", r.FinalText)
	}
}

// A thread keeps the mode until a turn sets another, so each change is sent once.
func TestAPlanIsWorkedOutUntilAnotherProfileIsChosen(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, script string
		opts         codex.Options
		first        []string // what the first turn says
	}{
		{"a new thread", "plans", codex.Options{Settings: codex.Settings{Profile: codex.ProfilePlan}}, []string{`"mode":"plan"`, `"model":"gpt-test"`, `"reasoning_effort":"medium"`}},
		{"with a model", "plans", codex.Options{Settings: codex.Settings{Profile: codex.ProfilePlan, Model: "m2", Effort: "high"}}, []string{`"mode":"plan"`, `"model":"m2"`, `"reasoning_effort":"high"`}},
		{"a thread that is left in it", "plans", codex.Options{Thread: "planned"}, nil},
		{"a thread that is not", "plans", codex.Options{Thread: "thread-7", Settings: codex.Settings{Profile: codex.ProfilePlan}}, []string{`"mode":"plan"`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server, log := scripted(t, test.script)
			s := codex.NewSession(server, test.opts)
			r := s.RunTurn(t.Context(), text("params"))
			for _, want := range test.first {
				if !strings.Contains(r.FinalText, want) {
					t.Errorf("no %s in turn/start %s, %v", want, r.FinalText, r.Err)
				}
			}
			if test.first == nil && strings.Contains(r.FinalText, "collaborationMode") {
				t.Errorf("turn/start %s", r.FinalText)
			}
			if got := s.Settings().Profile; got != codex.ProfilePlan {
				t.Errorf("the profile is %q", got)
			}
			for _, method := range []string{"thread/start", "thread/resume"} {
				if list := sent(t, log, method); test.opts.Settings.Profile != "" && len(list) > 0 && !strings.Contains(list[0], `"sandbox":"read-only"`) {
					t.Errorf("opened by %s", list[0])
				}
			}
			if r := s.RunTurn(t.Context(), text("params")); r.Err != nil || strings.Contains(r.FinalText, "collaborationMode") {
				t.Errorf("turn/start %s, %v", r.FinalText, r.Err)
			}
			s.Configure(func(c *codex.Settings) { c.Profile = codex.ProfileAuto })
			r = s.RunTurn(t.Context(), text("params"))
			for _, want := range []string{`"mode":"default"`, `"type":"workspaceWrite"`} {
				if !strings.Contains(r.FinalText, want) {
					t.Errorf("no %s in turn/start %s, %v", want, r.FinalText, r.Err)
				}
			}
		})
	}
}

// A profile that is chosen beforehand replaces the mode that the thread was
// left in.
func TestAThreadThatIsLeftInThePlanModeLeavesItForAnotherProfile(t *testing.T) {
	t.Parallel()
	server, _ := scripted(t, "plans")
	s := codex.NewSession(server, codex.Options{Thread: "planned", Settings: codex.Settings{Profile: codex.ProfileAsk}})
	if r := s.RunTurn(t.Context(), text("params")); !strings.Contains(r.FinalText, `"mode":"default"`) {
		t.Errorf("turn/start %s, %v", r.FinalText, r.Err)
	}
}

// A version that ignores the mode would carry out what is to be planned.
func TestWithoutAPlanModeNothingIsPlanned(t *testing.T) {
	t.Parallel()
	server, log := scripted(t, "plain")
	s := codex.NewSession(server, codex.Options{})
	if err := s.EnsureStarted(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, err := server.Profiles(t.Context())
	if slices.Contains(list, codex.ProfilePlan) || len(list) != len(codex.Profiles)-1 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
	s.Configure(func(c *codex.Settings) { c.Profile = codex.ProfilePlan })
	if r := s.RunTurn(t.Context(), text("params")); !errors.Is(r.Err, codex.ErrNoPlan) {
		t.Errorf("%+v", r)
	}
	if list := sent(t, log, "turn/start"); len(list) > 0 {
		t.Error(list)
	}
}

// A turn that codex refuses has set nothing.
func TestSettingsOfARefusedTurnReachTheNext(t *testing.T) {
	t.Parallel()
	server, _ := scripted(t, "refuses a turn")
	s := codex.NewSession(server, codex.Options{Settings: codex.Settings{Profile: codex.ProfileUnrestricted}})
	if err := s.EnsureStarted(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Configure(func(c *codex.Settings) { *c = codex.Settings{Profile: codex.ProfileAsk, Model: "m2", Effort: "high"} })
	if r := s.RunTurn(t.Context(), text("params")); r.Err == nil {
		t.Errorf("%+v", r)
	}
	r := s.RunTurn(t.Context(), text("params"))
	for _, want := range []string{`"sandboxPolicy":{"type":"readOnly"}`, `"approvalPolicy":"on-request"`, `"model":"m2"`, `"effort":"high"`} {
		if !strings.Contains(r.FinalText, want) {
			t.Errorf("no %s in turn/start %s, %v", want, r.FinalText, r.Err)
		}
	}
	if r := s.RunTurn(t.Context(), text("params")); strings.Contains(r.FinalText, "sandboxPolicy") {
		t.Errorf("a turn repeats the settings: %s", r.FinalText)
	}
}

func TestReviewsAndCompactionsAreTurns(t *testing.T) {
	t.Parallel()
	server, log := scripted(t, "plain")
	s := codex.NewSession(server, codex.Options{})
	for range 2 {
		if r := s.Compact(t.Context()); !errors.Is(r.Err, codex.ErrNoAnswer) || r.TurnID == "" {
			t.Errorf("%+v", r)
		}
		if r := s.Review(t.Context(), &appserver.ReviewTargetBaseBranch{Branch: "main"}); r.Err != nil || r.FinalText != "reviewed" {
			t.Errorf("%+v", r)
		}
	}
	if list := sent(t, log, "review/start"); len(list) != 2 || !strings.Contains(list[0], `"target":{"type":"baseBranch","branch":"main"}`) {
		t.Error(list)
	}
	if r := s.RunTurn(t.Context(), text("say and on")); r.FinalText != "and on" {
		t.Errorf("%+v", r)
	}
}

func TestNotesOfOthersAreIgnored(t *testing.T) {
	t.Parallel()
	server, _ := scripted(t, "plain")
	s := codex.NewSession(server, codex.Options{})
	if r := s.RunTurn(t.Context(), text("strangers")); r.FinalText != "mine" || len(r.Items) != 1 {
		t.Errorf("got %q, %v, %d items", r.FinalText, r.Err, len(r.Items))
	}
}

func TestGarbageDoesNotEndATurn(t *testing.T) {
	t.Parallel()
	server, _ := scripted(t, "plain")
	s := codex.NewSession(server, codex.Options{})
	if r := s.RunTurn(t.Context(), text("garbage")); r.FinalText != "fine" {
		t.Errorf("got %q, %v", r.FinalText, r.Err)
	}
}

// TestEitherTextOrErrorExplainsTheEnd plays the ends that a turn can have.
func TestEitherTextOrErrorExplainsTheEnd(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		play, want  string
		interrupted bool
		opts        codex.Options
	}{
		{play: "say hello", want: ""},
		{play: "mute", want: "without an answer"},
		{play: "fail contextWindowExceeded", want: "codex: no more"},
		{play: "hang", want: "took too long (200ms)", interrupted: true, opts: codex.Options{Deadline: 200 * time.Millisecond}},
		{play: "deaf", want: "took too long (200ms)", interrupted: true, opts: codex.Options{Deadline: 200 * time.Millisecond, Grace: 100 * time.Millisecond}},
		{play: "retry", want: "(2s); codex kept trying: stream disconnected: Bearer [redacted]", interrupted: true, opts: codex.Options{Deadline: 2 * time.Second}},
		{play: "retry", want: "nothing happened for too long (200ms)", interrupted: true, opts: codex.Options{Deadline: -1, Quiet: 200 * time.Millisecond}},
		{play: "work 3s", want: "", opts: codex.Options{Quiet: time.Second}},
		{play: "die", want: "panicked at [redacted]"},
	} {
		t.Run(test.play, func(t *testing.T) {
			t.Parallel()
			server, _ := scripted(t, "plain")
			s := codex.NewSession(server, test.opts)
			if err := s.EnsureStarted(t.Context()); err != nil { // so that the limits measure only the turn
				t.Fatal(err)
			}
			r := s.RunTurn(t.Context(), text(test.play))
			if (r.FinalText == "") != (r.Err != nil) {
				t.Errorf("text %q and error %v", r.FinalText, r.Err)
			}
			if test.want == "" && r.Err != nil || test.want != "" && (r.Err == nil || !strings.Contains(r.Err.Error(), test.want)) || r.Interrupted != test.interrupted {
				t.Errorf("error %v, interrupted %v; want %q, %v", r.Err, r.Interrupted, test.want, test.interrupted)
			}
		})
	}
}

func TestAServerThatDoesNotStartSaysWhy(t *testing.T) {
	t.Parallel()
	server, _ := scripted(t, "no start")
	s := codex.NewSession(server, codex.Options{})
	r := s.RunTurn(t.Context(), text("say x"))
	if r.Err == nil || !strings.Contains(r.Err.Error(), "cannot read the configuration") || strings.Contains(r.Err.Error(), "hunter2") {
		t.Errorf("error %v", r.Err)
	}
}

func TestADeadProcessIsReplaced(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		script, first string
		threads       int // started in all
	}{
		{"plain", "say saved", 1},   // the thread is resumed
		{"forgets", "die early", 2}, // no turn had ended: a new thread
	} {
		t.Run(test.script, func(t *testing.T) {
			t.Parallel()
			server, log := scripted(t, test.script)
			s := codex.NewSession(server, codex.Options{})
			s.RunTurn(t.Context(), text(test.first))
			if r := s.RunTurn(t.Context(), text("die")); test.first == "say saved" && r.Err == nil {
				t.Error("no error")
			}
			r := s.RunTurn(t.Context(), text("say again"))
			if r.FinalText != "again" || r.ThreadID != "thread-1" {
				t.Errorf("got %q, %v", r.FinalText, r.Err)
			}
			if n := len(sent(t, log, "thread/start")); n < test.threads || test.script == "plain" && n != 1 {
				t.Errorf("%d threads were started", n)
			}
		})
	}
}

func TestInterruptsAtAnyTime(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, r *codex.Result) {
		t.Helper()
		if !r.Interrupted || !errors.Is(r.Err, codex.ErrInterrupted) {
			t.Errorf("got %q, %v, interrupted %v", r.FinalText, r.Err, r.Interrupted)
		}
	}
	t.Run("before", func(t *testing.T) {
		t.Parallel()
		server, log := scripted(t, "plain")
		s := codex.NewSession(server, codex.Options{})
		s.Interrupt()
		s.Interrupt()
		check(t, s.RunTurn(t.Context(), text("say x")))
		if r := s.RunTurn(t.Context(), text("say y")); r.FinalText != "y" {
			t.Errorf("the next turn: %q, %v", r.FinalText, r.Err)
		}
		if n := len(sent(t, log, "turn/start")); n != 1 {
			t.Errorf("%d turns were started", n)
		}
	})
	t.Run("while it starts", func(t *testing.T) {
		t.Parallel()
		server, log := scripted(t, "slow start")
		s := codex.NewSession(server, codex.Options{})
		done := make(chan *codex.Result)
		go func() { done <- s.RunTurn(t.Context(), text("say x")) }()
		time.Sleep(50 * time.Millisecond) // in the middle of the start, or before it
		s.Interrupt()
		check(t, <-done)
		if _, err := os.Stat(log); err == nil && len(sent(t, log, "turn/start")) != 0 {
			t.Error("a turn was started")
		}
	})
	t.Run("while the turn begins", func(t *testing.T) {
		t.Parallel()
		server, _ := scripted(t, "silent turn")
		s := codex.NewSession(server, codex.Options{Grace: 200 * time.Millisecond})
		if err := s.EnsureStarted(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		check(t, s.RunTurn(ctx, text("say x")))
	})
	for _, play := range []string{"hang", "held exec", "held elicit", "retry"} {
		t.Run("during "+play, func(t *testing.T) {
			t.Parallel()
			server, log := scripted(t, "plain")
			open := make(chan bool, 100)
			s := codex.NewSession(server, codex.Options{
				Approve: func(ctx context.Context, _ *codex.Approval) (codex.Choice, error) {
					open <- true
					<-ctx.Done()
					return codex.Once, nil // too late
				},
				Elicit: func(ctx context.Context, _ *appserver.MCPServerElicitationRequestParams) (*appserver.MCPServerElicitationRequestResponse, error) {
					open <- true
					<-ctx.Done()
					return nil, ctx.Err()
				},
				OnNote: func(_ context.Context, note any) {
					if _, ok := note.(*appserver.TurnStartedNotification); ok && !strings.HasPrefix(play, "held") {
						open <- true
					}
				},
			})
			go func() {
				<-open
				var all sync.WaitGroup
				for range 4 {
					all.Go(s.Interrupt)
				}
				all.Wait()
			}()
			check(t, s.RunTurn(t.Context(), text(play)))
			if n := len(sent(t, log, "turn/interrupt")); n != 1 {
				t.Errorf("turn/interrupt was sent %d times", n)
			}
			for _, answer := range sent(t, log, "") {
				if strings.Contains(answer, `"accept"`) {
					t.Errorf("an interrupted turn was approved: %s", answer)
				}
			}
		})
	}
	t.Run("by the context", func(t *testing.T) {
		t.Parallel()
		server, log := scripted(t, "plain")
		ctx, cancel := context.WithCancel(t.Context())
		s := codex.NewSession(server, codex.Options{OnNote: func(_ context.Context, note any) {
			if _, ok := note.(*appserver.TurnStartedNotification); ok {
				cancel()
			}
		}})
		check(t, s.RunTurn(ctx, text("hang")))
		if n := len(sent(t, log, "turn/interrupt")); n != 1 {
			t.Errorf("turn/interrupt was sent %d times", n)
		}
	})
}

func TestOneTurnAtATimeAndSteering(t *testing.T) {
	t.Parallel()
	server, _ := scripted(t, "plain")
	began := make(chan bool, 1)
	s := codex.NewSession(server, codex.Options{OnNote: func(_ context.Context, note any) {
		if _, ok := note.(*appserver.TurnStartedNotification); ok {
			began <- true
		}
	}})
	if err := s.Steer(t.Context(), text("x")); !errors.Is(err, codex.ErrNoTurn) {
		t.Errorf("steering nothing: %v", err)
	}
	done := make(chan *codex.Result)
	go func() { done <- s.RunTurn(t.Context(), text("steered")) }()
	<-began
	if r := s.RunTurn(t.Context(), text("say x")); !errors.Is(r.Err, codex.ErrBusy) {
		t.Errorf("a second turn: %v", r.Err)
	}
	if err := s.Steer(t.Context(), text("hand")); err != nil {
		t.Error(err)
	}
	if r := <-done; r.FinalText != "steered by hand" {
		t.Errorf("got %q, %v", r.FinalText, r.Err)
	}
}

func TestClosedSessionsAndServersStayClosed(t *testing.T) {
	t.Parallel()
	server, _ := scripted(t, "plain")
	s := codex.NewSession(server, codex.Options{})
	if r := s.RunTurn(t.Context(), text("say x")); r.Err != nil {
		t.Fatal(r.Err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if r := s.RunTurn(t.Context(), text("say x")); r.Err == nil {
		t.Error("a closed session ran a turn")
	}
	if err := s.EnsureStarted(t.Context()); !errors.Is(err, codex.ErrClosed) {
		t.Errorf("error %v", err)
	}
	server.Close()
	server.Close()
	if _, err := server.Agent(t.Context()); !errors.Is(err, codex.ErrClosed) {
		t.Errorf("error %v", err)
	}
}

func TestClosingEndsATurnPromptly(t *testing.T) {
	t.Parallel()
	server, _ := scripted(t, "plain")
	began := make(chan bool, 1)
	s := codex.NewSession(server, codex.Options{OnNote: func(context.Context, any) {
		select {
		case began <- true:
		default:
		}
	}})
	done := make(chan *codex.Result)
	go func() { done <- s.RunTurn(t.Context(), text("deaf")) }()
	<-began
	server.Close()
	if r := <-done; r.Err == nil {
		t.Error("no error")
	}
}

// The id of the answer to a prompt may never be heard of again: the turn is then the one that has
// the prompt.
func TestAPromptThatBecamePartOfAnotherTurnIsFollowedThere(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"starts", "runs"} {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			server, log := scripted(t, "adds")
			asked := make(chan string, 10)
			s := codex.NewSession(server, codex.Options{Grace: time.Hour, Approve: func(_ context.Context, a *codex.Approval) (codex.Choice, error) {
				asked <- a.ItemID
				return codex.Once, nil
			}})
			if r := s.RunTurn(t.Context(), text(first+" say here")); r.FinalText != "here" || r.TurnID != "turn-1" {
				t.Errorf("%+v", r)
			}
			if r := s.RunTurn(t.Context(), text(first+" ask exec")); len(asked) != 1 || !strings.Contains(r.FinalText, `"accept"`) {
				t.Errorf("asked %d times: %+v", len(asked), r)
			}
			<-asked
			done := make(chan *codex.Result, 1)
			go func() { done <- s.RunTurn(t.Context(), text(first+" held exec")) }()
			patience.Value(t, "question", asked)
			s.Interrupt()
			if r := patience.Value(t, "end", done); !r.Interrupted {
				t.Errorf("%+v", r)
			}
			if list := sent(t, log, "turn/interrupt"); len(list) != 1 || !strings.Contains(list[0], `"turnId":"turn-3"`) {
				t.Error(list)
			}
		})
	}
}
