package project

import (
	"fmt"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// last is who made the newest change of a file.
func (r *rig) last(name string) string {
	r.t.Helper()
	hunks := r.Review().Hunks(name)
	if len(hunks) == 0 {
		return "nobody"
	}
	h := hunks[len(hunks)-1]
	a := h.Authors[len(h.Authors)-1]
	return fmt.Sprintf("%s turn %s call %s %s %v", a.Session, a.Turn, a.ToolCall, a.Source, !a.Inferred)
}

func TestReportsOfAShimJoinTheTurnOfItsAgent(t *testing.T) {
	t.Parallel()
	shim := review.Author{Source: "shim"}
	for name, c := range map[string]struct {
		report feed.Report
		scan   bool // finds the change first
		ended  bool // so does the end of the turn
		over   bool // the tool call has ended before
		want   string
	}{
		"of the session":              {feed.Report{Agent: "a", Author: review.Author{Source: "shim", Session: "1"}}, false, false, false, "a/1 turn 7 call c shim true"},
		"of the agent":                {feed.Report{Agent: "a", Author: shim}, false, false, false, "a/1 turn 7 call c shim true"},
		"of another session":          {feed.Report{Agent: "a", Author: review.Author{Source: "shim", Session: "2"}}, false, false, false, "a/2 turn  call  shim true"},
		"of another agent":            {feed.Report{Agent: "b", Author: shim}, false, false, false, "b turn  call  shim true"},
		"after a look at the disk":    {feed.Report{Agent: "a", Author: review.Author{Source: "shim", Session: "1"}}, true, false, false, "a/1 turn 7 call c shim true"},
		"after the end":               {feed.Report{Agent: "a", Author: review.Author{Source: "shim", Session: "1"}}, true, true, false, "a/1 turn 7 call c shim true"},
		"of the agent, after the end": {feed.Report{Agent: "a", Author: shim}, true, true, false, "a/1 turn 7 call c shim true"},
		"with a call of its own":      {feed.Report{Agent: "a", Author: review.Author{Source: "shim", Session: "1", ToolCall: "own"}}, false, false, false, "a/1 turn 7 call own shim true"},
		"from after the tool call":    {feed.Report{Agent: "a", Author: review.Author{Source: "hook", Session: "1"}}, false, false, true, "a/1 turn 7 call  hook true"},
		"with a turn of a checkpoint": {feed.Report{Agent: "c", Author: review.Author{Source: "shim", Session: "3"}}, false, false, false, "c/3 turn 9 call  shim true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "f", "1\n")
			tell := r.tell()
			r.must(r.Checkpoint(t.Context(), "c/3", "9", "typed"))
			r.must(r.Prompt(t.Context(), "a/1", "7", "go"))
			r.Called("a/1", "c", time.Now(), false)
			at := time.Now()
			r.write("f", "2\n")
			if c.scan {
				r.Called("a/1", "c", time.Now(), true)
				author := review.Author{Session: "a/1", Turn: "7", ToolCall: "c", Source: "disk", Inferred: true}
				r.Scan(author)
				if c.ended {
					r.TurnEnded(author)
				}
				r.wait()
			}
			report := c.report
			report.Kind, report.Path = feed.Write, r.path("f")
			report.Before, report.After = versionOf("1\n"), versionOf("2\n")
			if report.At = at; c.over {
				r.Called("a/1", "c", at, true)
				report.At = at.Add(time.Second)
			}
			tell(report)
			if got := r.last("f"); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// A process that serves several sessions of one agent does not show which session
// a change is from.
func TestAReportOfAnAgentThatWorksTwiceIsOfTheAgent(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "1\n")
	tell := r.tell()
	r.must(r.Prompt(t.Context(), "a/1", "7", "go"))
	r.must(r.Prompt(t.Context(), "a/2", "8", "go"))
	r.write("f", "2\n")
	tell(feed.Report{Kind: feed.Write, Path: r.path("f"), Agent: "a", Author: review.Author{Source: "shim"}})
	if got, want := r.last("f"), "a turn  call  shim true"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func versionOf(text string) *feed.Version {
	return &feed.Version{Text: &text, Size: int64(len(text)), Hash: store.HashOf([]byte(text))}
}

// The shim notices a moment later that a file was closed, when the call may have ended.
func TestAReportJoinsWhatHasJustEnded(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "1\n", "g", "1\n")
	tell := r.tell()
	r.must(r.Prompt(t.Context(), "a/1", "7", "go"))
	r.Called("a/1", "before", time.Now(), false)
	r.Called("a/1", "before", time.Now(), true)
	time.Sleep(lateness + 10*time.Millisecond)
	r.Called("a/1", "c", time.Now(), false)
	r.Called("a/1", "c", time.Now(), true)
	r.TurnEnded(review.Author{Session: "a/1", Turn: "7", Source: "disk", Inferred: true})
	r.wait()
	end := time.Now()
	for name, c := range map[string]struct {
		after time.Duration
		want  string
	}{"f": {lateness / 2, "a/1 turn 7 call c shim true"}, "g": {2 * lateness, "a turn  call  shim true"}} {
		r.write(name, "2\n")
		tell(feed.Report{Kind: feed.Write, Path: r.path(name), Agent: "a", Author: review.Author{Source: "shim"},
			At: end.Add(c.after), Before: versionOf("1\n"), After: versionOf("2\n")})
		if got := r.last(name); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// An editor that runs for weeks opens any number of sessions.
func TestSessionsThatAreLongOverAreForgotten(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "1\n")
	tell := r.tell()
	r.must(r.Prompt(t.Context(), "a/runs", "1", "go"))
	r.must(r.Checkpoint(t.Context(), "c/pane", "2", "typed"))
	text := "1\n"
	write := func(agent, session, want string) {
		t.Helper()
		before := text
		text += "2\n"
		r.write("f", text)
		tell(feed.Report{Kind: feed.Write, Path: r.path("f"), Agent: agent, Author: review.Author{Source: "shim", Session: session},
			Before: versionOf(before), After: versionOf(text)})
		if got := r.last("f"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for i := range 3 * maxJoins {
		session := fmt.Sprint("b/", i)
		r.Called(session, "c", time.Now(), false)
		r.Called(session, "c", time.Now(), true)
		if i%(maxJoins/2) == 0 {
			write("c", "pane", "c/pane turn 2 call  shim true")
		}
	}
	if n := len(r.joined); n > maxJoins {
		t.Errorf("%d sessions are remembered", n)
	}
	if _, known := r.joined["b/0"]; known {
		t.Error("the oldest session is remembered")
	}
	write("a", "runs", "a/runs turn 1 call  shim true")
}
