package approval

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/process"
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
		err := NewGate(c.opts).Check(ctx, danger, "/w", process.Machine, c.ask)
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
			if err := g.Check(t.Context(), danger, "/w", process.Machine, answering(answer, &asked)); err != nil {
				t.Errorf("%s: %v", answer, err)
			}
		}
		next := NewGate(Options{Allowed: kept})
		if err := next.Check(t.Context(), danger, "/w", process.Machine, answering(Once, &again)); err != nil {
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
		g.Check(t.Context(), c[0], c[1], process.Machine, answering(Session, &asked))
	}
	if asked != 4 {
		t.Errorf("asked %d times for 4 commands", asked)
	}
}

func TestAnAllowedRuleIsForCommandsWithNoOtherDanger(t *testing.T) {
	t.Parallel()
	g := NewGate(Options{Allowed: []Entry{{Rule: "recursive-delete"}}})
	if err := g.Check(t.Context(), danger, "/w", process.Machine, nil); err != nil {
		t.Error(err)
	}
	for _, line := range []string{"sudo " + danger, "rm -rf /", "git reset --hard"} {
		if g.Check(t.Context(), line, "/w", process.Machine, nil) == nil {
			t.Errorf("%s was allowed", line)
		}
	}
}

func TestIsolationSparesTheQuestionButNotTheFloor(t *testing.T) {
	t.Parallel()
	g := NewGate(Options{Allowed: []Entry{{Command: "reboot"}, {Rule: "shutdown"}}})
	if err := g.Check(t.Context(), danger, "/w", process.Isolated, nil); err != nil {
		t.Error(err)
	}
	for _, reach := range []process.Reach{process.Machine, process.Asked, process.Isolated} {
		if g.Check(t.Context(), "reboot", "/w", reach, nil) == nil {
			t.Errorf("reboot ran, reach %v", reach)
		}
	}
}

func TestAnEntryIsARuleOrACommand(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Entry{
		"git-discard": {Rule: "git-discard"}, "write-outside": {Rule: "write-outside"}, "rm -rf build": {Command: "rm -rf build"},
		"~/.cache/": {Effect: "~/.cache/"}, "/srv/data/": {Effect: "/srv/data/"}, "proxy.golang.org:443": {Effect: "proxy.golang.org:443"}, "[::1]:80": {Effect: "[::1]:80"},
		"~/.bashrc": {Command: "~/.bashrc"}, "make x:1": {Command: "make x:1"}, "./run.sh": {Command: "./run.sh"},
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

// Where a supervisor asks about what happens, only the rest is asked about before.
func TestWhatIsAskedAboutWhenItHappensIsNotAskedAboutBefore(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"rm -rf build": false, "curl -F a=@b https://example.com": false, "git reset --hard": false, "git branch -D x": false, "echo x > ~/f": false, "$(cat x)": false, "curl x | sh": false, "echo x > Makefile": false, "sudo ls": false,
		"git push --force": true, "npm publish": true, "psql -c 'drop table x'": true, "cat .env": true, "terraform destroy": true, "chmod -R 777 .": true,
	} {
		for reach, asks := range map[process.Reach]bool{process.Machine: true, process.Asked: want, process.Isolated: false} {
			asked := 0
			err := NewGate(Options{Home: "/home/me"}).Check(t.Context(), line, "/w", reach, answering(Once, &asked))
			if err != nil || (asked > 0) != asks {
				t.Errorf("%s, reach %v: asked %d times, %v", line, reach, asked, err)
			}
		}
	}
	known := make(map[string]bool)
	for _, r := range slices.Concat(rules, []rule{socket, systemFile, outsider, protected, secret, unreadable, hidden, computed, piped, hooked}) {
		known[r.name] = true
	}
	for _, name := range happening {
		if !known[name] {
			t.Errorf("there is no rule %s", name)
		}
	}
}

// What commands may reach for good is a folder with all in it, or a host.
func TestAnEntryAllowsWhatCommandsReach(t *testing.T) {
	t.Parallel()
	g := NewGate(Options{Home: "/home/me", Allowed: []Entry{{Effect: "~/.cache/"}, {Effect: "/srv/"}, {Effect: "example.com:443"}, {Command: "~/x/"}, {Rule: "~/y/"}}})
	for scopes, want := range map[string]bool{
		"~/.cache/": true, "~/.cache/go-build/": true, "/home/me/.cache/tool/": true, "~/.cachet/": false, "~/": false, "/srv/a/": true, "example.com:443": true, "example.com:4430": false, "example.com:44": false,
		"sub.example.com:443": false, "~/.cache/ /srv/": true, "~/.cache/ /etc/": false, "": false, "~/x/": false, "~/y/": false, "~/.cache/../.ssh/": false,
	} {
		if got := g.AllowsEffect(strings.Fields(scopes)); got != want {
			t.Errorf("%q: %v", scopes, got)
		}
	}
	var kept []Entry
	g = NewGate(Options{Home: "/home/me", Keep: func(e Entry) error { kept = append(kept, e); return nil }})
	if err := g.AlwaysAllowEffect([]string{"~/.cache/go-build/"}); err != nil || !slices.Equal(kept, []Entry{{Effect: "~/.cache/go-build/"}}) || !g.AllowsEffect([]string{"~/.cache/go-build/"}) {
		t.Errorf("%v, kept %v", err, kept)
	}
	for _, scope := range []string{"files of this project for: build", "~/.bashrc", "connections of other machines", "~/", "/"} {
		if err := g.AlwaysAllowEffect([]string{scope}); err == nil || g.AllowsEffect([]string{scope}) {
			t.Errorf("%q was kept", scope)
		}
	}
	if err := NewGate(Options{Keep: func(Entry) error { return errors.New("disk full") }}).AlwaysAllowEffect([]string{"a:1"}); err == nil {
		t.Error("an answer that is not kept allows")
	}
}
