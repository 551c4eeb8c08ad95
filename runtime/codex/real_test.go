package codex_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/testcodex"
	"github.com/hermes-nvim/hermes/runtime/codex"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
	"github.com/hermes-nvim/hermes/test/llm"
)

const patch = "*** Begin Patch\\n*** Update File: old.txt\\n@@\\n-alpha\\n+ALPHA\\n*** End Patch\\n"

// escalated is a command that needs approval in every sandbox.
func escalated(command string) string {
	return `CALL exec_command {"cmd":"` + command + `","sandbox_permissions":"require_escalated","justification":"the test wants it"}`
}

// patched is a change of old.txt.
func patched() string {
	return `CALL exec_command {"cmd":"apply_patch <<'EOF'\n` + patch + `EOF"}`
}

// TestThePublishedCodexRunsTurns runs one process of it for all conversations.
func TestThePublishedCodexRunsTurns(t *testing.T) {
	t.Parallel()
	model, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	command := testcodex.Published(t, model.URL)
	server := codex.NewServer(codex.ServerOptions{Command: command})
	t.Cleanup(func() { server.Close() })

	project := func(t *testing.T) string {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "old.txt"), []byte("alpha\nbeta\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	ask := codex.Settings{Profile: codex.ProfileAsk}

	t.Run("a turn with its deltas", func(t *testing.T) {
		deltas := 0
		s := codex.NewSession(server, codex.Options{Dir: project(t), OnNote: func(_ context.Context, note any) {
			if _, ok := note.(*appserver.AgentMessageDeltaNotification); ok {
				deltas++
			}
		}})
		r := s.RunTurn(t.Context(), text("THINK about it\nSAY one two three"))
		if r.Err != nil || !strings.HasPrefix(r.FinalText, "Done.") || deltas < 3 {
			t.Errorf("got %q, %v, %d deltas", r.FinalText, r.Err, deltas)
		}
		if r.TurnID == "" || r.ThreadID == "" {
			t.Errorf("turn %q, thread %q", r.TurnID, r.ThreadID)
		}
	})
	for _, test := range []struct {
		name, script string
		choice       codex.Choice
		file, want   string // "": the file does not exist
		interrupted  bool
	}{
		{"command accepted", escalated("echo made > made"), codex.Once, "made", "made\n", false},
		{"command declined", escalated("echo made > made"), codex.Deny, "made", "", false},
		{"command cancelled", escalated("echo made > made"), codex.Cancel, "made", "", true},
		{"patch accepted", patched(), codex.Once, "old.txt", "ALPHA\nbeta\n", false},
		{"patch declined", patched(), codex.Deny, "old.txt", "alpha\nbeta\n", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := project(t)
			var asked *codex.Approval
			s := codex.NewSession(server, codex.Options{Dir: dir, Settings: ask, Approve: func(_ context.Context, a *codex.Approval) (codex.Choice, error) {
				asked = a
				return test.choice, nil
			}})
			r := s.RunTurn(t.Context(), text(test.script))
			if r.Interrupted != test.interrupted || !test.interrupted && r.Err != nil {
				t.Errorf("%v, interrupted %v", r.Err, r.Interrupted)
			}
			b, _ := os.ReadFile(filepath.Join(dir, test.file))
			if string(b) != test.want {
				t.Errorf("the file holds %q, want %q", b, test.want)
			}
			if asked == nil || asked.Item == nil || strings.HasPrefix(test.name, "patch") && len(asked.Changes) != 1 {
				t.Errorf("asked %+v", asked)
			}
		})
	}
	t.Run("nobody is asked twice after acceptForSession", func(t *testing.T) {
		n := 0
		s := codex.NewSession(server, codex.Options{Dir: project(t), Settings: ask, Approve: func(context.Context, *codex.Approval) (codex.Choice, error) {
			n++
			return codex.ForThis, nil
		}})
		for range 2 {
			if r := s.RunTurn(t.Context(), text(escalated("echo x > y"))); r.Err != nil {
				t.Fatal(r.Err)
			}
		}
		if n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
	t.Run("interrupt, and the next turn", func(t *testing.T) {
		var s *codex.Session
		s = codex.NewSession(server, codex.Options{Dir: project(t), OnNote: func(_ context.Context, note any) {
			if _, ok := note.(*appserver.AgentMessageDeltaNotification); ok {
				s.Interrupt()
			}
		}})
		if r := patience.Ends(t, "the turn", func() *codex.Result { return s.RunTurn(t.Context(), text("SLOW 100000")) }); !r.Interrupted {
			t.Errorf("%v, interrupted %v", r.Err, r.Interrupted)
		}
		s.Close()
		next := codex.NewSession(server, codex.Options{Thread: s.Thread()})
		if r := next.RunTurn(t.Context(), text("SAY again")); r.Err != nil || r.ThreadID != s.Thread() {
			t.Errorf("%q, %v", r.FinalText, r.Err)
		}
	})
	t.Run("steering", func(t *testing.T) {
		began := make(chan bool, 1000)
		s := codex.NewSession(server, codex.Options{Dir: project(t), OnNote: func(_ context.Context, note any) {
			if _, ok := note.(*appserver.AgentMessageDeltaNotification); ok {
				began <- true
			}
		}})
		done := make(chan *codex.Result)
		go func() { done <- s.RunTurn(t.Context(), text("SLOW 5")) }()
		<-began
		if err := s.Steer(t.Context(), text("SAY steered")); err != nil {
			t.Error(err)
		}
		r := <-done
		var all []string
		for _, i := range r.Items {
			all = append(all, i.Text)
		}
		if !strings.Contains(strings.Join(all, "|"), "steered") {
			t.Errorf("%v: %q", r.Err, all)
		}
	})
	t.Run("another process resumes the thread", func(t *testing.T) {
		own := codex.NewServer(codex.ServerOptions{Command: command})
		defer own.Close()
		s := codex.NewSession(own, codex.Options{Dir: project(t)})
		first := s.RunTurn(t.Context(), text("SAY before"))
		own.Close()
		next := codex.NewServer(codex.ServerOptions{Command: command})
		defer next.Close()
		again := codex.NewSession(next, codex.Options{Dir: project(t), Thread: first.ThreadID})
		if r := again.RunTurn(t.Context(), text("SAY after")); r.Err != nil || r.ThreadID != first.ThreadID {
			t.Errorf("%v, thread %s after %s", r.Err, r.ThreadID, first.ThreadID)
		}
	})
}

func TestThePublishedCodexIsStoppedWhenItsModelIsGone(t *testing.T) {
	t.Parallel()
	server := codex.NewServer(codex.ServerOptions{Command: testcodex.Published(t, "http://127.0.0.1:9")})
	t.Cleanup(func() { server.Close() })
	s := codex.NewSession(server, codex.Options{Dir: t.TempDir(), Deadline: 2 * time.Second})
	r := s.RunTurn(t.Context(), text("SAY x"))
	if r.Err == nil {
		t.Errorf("got %q", r.FinalText)
	}
	t.Log(r.Err)
}
