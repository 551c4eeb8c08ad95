package approval

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

const danger = "rm -rf build"

func answering(a Answer, asked *int) Asker {
	return func(context.Context, Question) (Answer, error) { *asked++; return a, nil }
}

func TestEveryFailureToGetAnAnswerIsADenial(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	for name, c := range map[string]struct {
		ctx  context.Context
		ask  Asker
		opts Options
		why  string
	}{
		"nobody to ask": {why: "nobody can be asked"},
		"denied":        {ask: func(context.Context, Question) (Answer, error) { return Refused, nil }, why: "the user denied it"},
		"no answer":     {ask: func(context.Context, Question) (Answer, error) { return "", nil }, why: "there was no answer"},
		"other answer":  {ask: func(context.Context, Question) (Answer, error) { return "yes", nil }, why: `"yes" is unknown`},
		"error":         {ask: func(context.Context, Question) (Answer, error) { return Once, errors.New("gone") }, why: "could not be asked: gone"},
		"panic":         {ask: func(context.Context, Question) (Answer, error) { panic("boom") }, why: "boom"},
		"goexit":        {ask: func(context.Context, Question) (Answer, error) { select {} }, opts: Options{Timeout: time.Millisecond}, why: "in time"},
		"late":          {ask: func(ctx context.Context, _ Question) (Answer, error) { <-ctx.Done(); return Once, nil }, opts: Options{Timeout: time.Millisecond}, why: "in time"},
		"canceled":      {ctx: ended, ask: func(context.Context, Question) (Answer, error) { return Once, nil }, why: "not run"},
		"not kept":      {ask: func(context.Context, Question) (Answer, error) { return Always, nil }, opts: Options{Keep: func(Entry) error { return errors.New("disk full") }}, why: "disk full"},
		"no keeper":     {ask: func(context.Context, Question) (Answer, error) { return Always, nil }, why: "could not be kept"},
	} {
		ctx := c.ctx
		if ctx == nil {
			ctx = t.Context()
		}
		err := NewGate(c.opts).Check(ctx, danger, "/w", false, c.ask)
		var denied *DeniedError
		if !errors.As(err, &denied) || !strings.Contains(err.Error(), c.why) || !strings.Contains(err.Error(), "deletes a folder") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnswersLastAsLongAsTheySay(t *testing.T) {
	t.Parallel()
	for answer, want := range map[Answer]struct{ asked, kept, again int }{
		Once: {2, 0, 1}, Session: {1, 0, 1}, Always: {1, 1, 0},
	} {
		asked, again, kept := 0, 0, []Entry{}
		g := NewGate(Options{Keep: func(e Entry) error { kept = append(kept, e); return nil }})
		for range 2 {
			if err := g.Check(t.Context(), danger, "/w", false, answering(answer, &asked)); err != nil {
				t.Errorf("%s: %v", answer, err)
			}
		}
		next := NewGate(Options{Allowed: kept})
		if err := next.Check(t.Context(), danger, "/w", false, answering(Once, &again)); err != nil {
			t.Errorf("%s, next session: %v", answer, err)
		}
		if asked != want.asked || len(kept) != want.kept || again != want.again {
			t.Errorf("%s: asked %d, kept %v, asked again %d, want %v", answer, asked, kept, again, want)
		}
	}
}

func TestAnAnswerIsForOneCommandInOneFolder(t *testing.T) {
	t.Parallel()
	asked := 0
	g := NewGate(Options{})
	for _, c := range [][2]string{{danger, "/w"}, {danger, "/v"}, {danger + " src", "/w"}, {"cd .. && " + danger, "/w"}} {
		g.Check(t.Context(), c[0], c[1], false, answering(Session, &asked))
	}
	if asked != 4 {
		t.Errorf("asked %d times for 4 commands", asked)
	}
}

func TestAnAllowedRuleIsForCommandsWithNoOtherDanger(t *testing.T) {
	t.Parallel()
	g := NewGate(Options{Allowed: []Entry{{Rule: "recursive-delete"}}})
	if err := g.Check(t.Context(), danger, "/w", false, nil); err != nil {
		t.Error(err)
	}
	for _, line := range []string{"sudo " + danger, "rm -rf /", "git reset --hard"} {
		if g.Check(t.Context(), line, "/w", false, nil) == nil {
			t.Errorf("%s was allowed", line)
		}
	}
}

func TestIsolationSparesTheQuestionButNotTheFloor(t *testing.T) {
	t.Parallel()
	g := NewGate(Options{Allowed: []Entry{{Command: "reboot"}, {Rule: "shutdown"}}})
	if err := g.Check(t.Context(), danger, "/w", true, nil); err != nil {
		t.Error(err)
	}
	for _, isolated := range []bool{false, true} {
		if g.Check(t.Context(), "reboot", "/w", isolated, nil) == nil {
			t.Errorf("reboot ran, isolated %v", isolated)
		}
	}
}

func TestAnEntryIsARuleOrACommand(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Entry{
		"git-discard": {Rule: "git-discard"}, "write-outside": {Rule: "write-outside"}, "rm -rf build": {Command: "rm -rf build"},
	} {
		if got, err := ParseEntry(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"wipe-system", "own-settings", "shutdown", " "} {
		if got, err := ParseEntry(text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}
