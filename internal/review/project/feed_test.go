package project

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// tell listens and returns a function that sends reports.
func (r *rig) tell() func(feed.Report) {
	r.t.Helper()
	stop, err := r.Listen()
	if err != nil {
		r.t.Fatal(err)
	}
	r.deafen = sync.OnceFunc(stop)
	r.t.Cleanup(r.deafen)
	ctx := patience.Context(r.t, patience.Soon)
	c, err := feed.Dial(ctx, feed.Path(store.Dir(r.state, r.root)))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	return func(report feed.Report) {
		r.t.Helper()
		if err := c.Tell(ctx, report); err != nil {
			r.t.Fatal(err)
		}
	}
}

// pending lists the pending changes as "name session source +new -old".
func (r *rig) pending() string {
	var out []string
	for _, f := range r.Review().Files() {
		for _, h := range r.Review().Hunks(f.Path) {
			a := h.Authors[len(h.Authors)-1]
			out = append(out, fmt.Sprintf("%s %s %s %v +%q -%q", f.Path, a.Session, a.Source, !a.Inferred, strings.Join(h.New, ""), strings.Join(h.Old, "")))
		}
	}
	return strings.Join(out, "\n")
}

func (r *rig) reported(want ...string) {
	r.t.Helper()
	if got := r.pending(); got != strings.Join(want, "\n") {
		r.t.Errorf("%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

var hook = review.Author{Session: "s", ToolCall: "c", Source: "hook"}

func TestAReportedChangeIsTheReportersAndWhatWasThereTheUsers(t *testing.T) {
	t.Parallel()
	r := newRig(t, "a", "1\n2\n", ".gitignore", "ignored\n", "ignored", "x\n")
	tell := r.tell()
	r.write("a", "user\n1\n2\n")
	r.write("ignored", "user\nx\n")
	for _, name := range []string{"a", "ignored", "made"} {
		tell(feed.Report{Kind: feed.Write, Path: r.path(name), Phase: feed.Pre, Author: hook, Agent: "claude"})
	}
	r.reported()
	r.write("a", "user\n1\ntwo\n")
	r.write("ignored", "user\ny\n")
	r.write("made", "new\n")
	for range 2 { // a report that is sent again is handled once
		for _, name := range []string{"a", "ignored", "made"} {
			tell(feed.Report{Kind: feed.Write, Path: r.path(name), Author: hook, Agent: "claude"})
		}
	}
	r.reported(`a claude/s hook true +"two\n" -"2\n"`, `ignored claude/s hook true +"y\n" -"x\n"`, `made claude/s hook true +"new\n" -""`)
	if len(r.edits) != 3 {
		t.Errorf("%+v", r.edits)
	}
}

func TestAReportedRemovalAndRename(t *testing.T) {
	t.Parallel()
	r := newRig(t, "a", "1\n", "b", "2\n")
	tell := r.tell()
	for _, err := range []error{os.Remove(r.path("a")), os.Rename(r.path("b"), r.path("c"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	tell(feed.Report{Kind: feed.Remove, Path: r.path("a"), Author: review.Author{Source: "shim"}})
	tell(feed.Report{Kind: feed.Rename, From: r.path("b"), Path: r.path("c"), Author: review.Author{Source: "shim"}})
	r.reported(`a shim shim true +"" -"1\n"`, `b shim shim true +"" -"2\n"`, `c shim shim true +"2\n" -""`)
	if f := r.Review().Files(); f[1].To != "c" || f[2].From != "b" {
		t.Errorf("%+v", f)
	}
}

// The disk decides, whatever a report says.
func TestAReportIsAClaim(t *testing.T) {
	t.Parallel()
	r := newRig(t, "a", "1\n", "b", "1\n")
	tell := r.tell()
	lie := "not what is there\n"
	said := &feed.Version{Text: &lie, Size: int64(len(lie)), Hash: store.HashOf([]byte(lie))}
	tell(feed.Report{Kind: feed.Write, Path: r.path("a"), Author: hook, Before: said, After: said})
	tell(feed.Report{Kind: feed.Remove, Path: r.path("b"), Author: hook})
	tell(feed.Report{Kind: feed.Write, Path: r.path("b"), Phase: feed.Failed, Author: hook})
	tell(feed.Report{Kind: feed.Read, Path: r.path("a"), Author: hook})
	r.reported()
	if text, err := os.ReadFile(r.path("a")); err != nil || string(text) != "1\n" {
		t.Errorf("%s, %v", text, err)
	}
}

func TestReportsDuringATurnWithoutASessionAreOfTheRunningOne(t *testing.T) {
	t.Parallel()
	r := newRig(t, "a", "1\n")
	if err := r.Prompt(t.Context(), "agent/s", "7", "go"); err != nil {
		t.Fatal(err)
	}
	tell := r.tell()
	r.write("a", "2\n")
	tell(feed.Report{Kind: feed.Write, Path: r.path("a"), Author: review.Author{Source: "hook"}})
	r.reported(`a agent/s hook true +"2\n" -"1\n"`)
}

// Text that the user saves in another editor is the user's, also while an agent works, and
// also if the agent has changed the file before or after.
func TestWhatTheUserSavesElsewhereIsTheUsers(t *testing.T) {
	t.Parallel()
	for _, held := range []bool{false, true} {
		t.Run(fmt.Sprint("held ", held), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "a", "1\n2\n3\n")
			disk, buffer := "", "1\n2\n3\n"
			if held {
				r.must(r.Hold(r.path("a"), Text{Text: buffer}))
			}
			follows := func() { // as the editor does after OnLook
				if held && disk != buffer {
					if buffer = disk; r.Saved(r.path("a"), disk) {
						r.must(r.Merged(r.path("a"), disk))
					} else if a := r.Awaited(r.path("a")); a != nil {
						r.must(r.Changed(*a, r.path("a"), nil, disk))
					}
				}
			}
			a := r.turn("s")
			tell := r.tell()
			saved := func(text string, follow bool) {
				t.Helper()
				disk = text
				r.write("a", text)
				tell(feed.Report{Kind: feed.Write, Path: r.path("a"), User: true, After: &feed.Version{Text: &text, Size: -1}, Author: review.Author{Source: "user"}})
				if follow {
					follows()
				}
			}
			agent := func(text string, follow bool) {
				t.Helper()
				disk = text
				r.write("a", text)
				r.look(a, "a")
				if follow {
					follows()
				}
			}
			saved("one\n2\n3\n", true)
			r.reported()
			agent("one\ntwo\n3\n", true)
			r.reported(`a s  true +"two\n" -"2\n"`)
			saved("one\ntwo\n3\nfour\n", true)
			r.reported(`a s  true +"two\n" -"2\n"`)
			agent("one\nTWO\n3\nfour\n", false)
			saved("one\nTWO\n3\nFOUR\n", true) // the editor is behind by both
			r.reported(`a s  true +"TWO\n" -"2\n"`)
			r.ends(a)
			r.reported(`a s  true +"TWO\n" -"2\n"`)
			r.mu.Lock()
			defer r.mu.Unlock()
			if held != (len(r.looks) > 0) {
				t.Errorf("the editor was told to look at %q", r.looks)
			}
		})
	}
}

// A look for an agent may find a save of the user in another editor before that editor
// reports it.
func TestWhatTheUserSavesElsewhereIsTheUsersAlsoIfItIsFoundFirst(t *testing.T) {
	t.Parallel()
	const base, agents, saved = "1\n2\n3\n4\n5\n", "1\nTWO\n3\n4\n5\n", "1\nTWO\n3\n4\nFIVE\n"
	for name, c := range map[string]struct {
		held, exact bool   // exact: the agent says what it has changed
		unseen      bool   // no look finds anything before the report comes
		saved       string // if it is another one
		buffer      string // what the editor here has when the report comes
		later       string // what another call of the agent makes of the file before it comes
		want        string // the file
		hunks       string // of the agent, if not only the one
	}{
		"on the disk":                          {exact: true, want: saved},
		"with what the agent says nothing of":  {want: saved},
		"a line less":                          {exact: true, saved: "1\nTWO\n3\n4\n", want: "1\nTWO\n3\n4\n"},
		"a line more":                          {saved: "0\n" + agents, want: "0\n" + agents},
		"before another change of the agent":   {exact: true, later: "ONE\nTWO\n3\n4\nFIVE\n", want: "ONE\nTWO\n3\n4\nFIVE\n", hunks: `+"ONE\nTWO\n" -"1\n2\n"`},
		"of a line that the agent changes":     {exact: true, later: "1\nTWO\n3\n4\nfive\n", want: "1\nTWO\n3\n4\nfive\n", hunks: `+"TWO\n" -"2\n"` + "\n" + `a s tool true +"five\n" -"5\n"`},
		"with what had not been seen":          {unseen: true, want: saved},
		"a line more, with that":               {unseen: true, saved: "0\n" + agents, want: "0\n" + agents},
		"nothing, with that":                   {unseen: true, saved: agents, want: agents},
		"with that, on its way to the buffer":  {unseen: true, held: true, buffer: base, want: saved},
		"on its way to the buffer":             {held: true, exact: true, buffer: agents, want: saved},
		"all on its way to the buffer":         {held: true, buffer: base, want: saved},
		"in the buffer":                        {held: true, exact: true, buffer: saved, want: saved},
		"all in the buffer":                    {held: true, buffer: saved, want: saved},
		"in the buffer, which the user edits":  {held: true, exact: true, buffer: "0\n" + saved, want: "0\n" + saved},
		"in the buffer, that line was changed": {held: true, exact: true, buffer: "1\nTWO\n3\n4\nFIFTH\n", want: "1\nTWO\n3\n4\nFIFTH\n", hunks: `+"TWO\n" -"2\n"` + "\n" + `a s disk false +"" -"5\n"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "a", base)
			saved, buffer, path := cmp.Or(c.saved, saved), base, r.path("a")
			if c.held {
				r.must(r.Hold(path, Text{Text: buffer}))
			}
			takes := func(text string) { // as the editor does after OnLook
				if a := r.Awaited(path); c.held && a != nil && buffer != text && buffer != c.buffer {
					buffer = text
					r.must(r.Changed(*a, path, nil, text))
				}
			}
			a := r.turn("s")
			tell := r.tell()
			r.write("a", agents)
			if c.exact {
				r.look(tool(a, "call"), "a")
				takes(agents)
			}
			r.write("a", saved)
			if !c.unseen {
				r.Scan(a)
				r.wait()
				takes(saved)
			}
			if c.held && buffer != c.buffer {
				buffer = c.buffer
				r.must(r.Hold(path, Text{Text: buffer})) // the user has edited it
			}
			if c.later != "" {
				r.write("a", c.later)
				r.look(tool(a, "call"), "a")
			}
			before, after := agents, saved
			tell(feed.Report{
				Kind: feed.Write, Path: path, User: true, Author: review.Author{Source: "user"},
				Before: &feed.Version{Text: &before, Size: -1}, After: &feed.Version{Text: &after, Size: -1},
			})
			if a := r.Awaited(path); a != nil {
				buffer = saved
				r.must(r.Changed(*a, path, nil, saved))
			}
			r.ends(a)
			how := "disk false"
			if c.exact {
				how = "tool true"
			}
			r.reported(`a s ` + how + ` ` + cmp.Or(c.hunks, `+"TWO\n" -"2\n"`))
			if _, now, _ := r.Review().Known("a"); now.Text != c.want {
				t.Errorf("the file is %q", now.Text)
			}
		})
	}
}

func TestAFileThatTheUserMakesElsewhereIsTheUsersAlsoIfItIsFoundFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	tell := r.tell()
	a := r.turn("s")
	r.write("a", "1\n")
	r.Scan(a)
	r.wait()
	r.reported(`a s disk false +"1\n" -""`)
	after := "1\n"
	tell(feed.Report{
		Kind: feed.Write, Path: r.path("a"), User: true, Author: review.Author{Source: "user"},
		Before: &feed.Version{Absent: true}, After: &feed.Version{Text: &after, Size: -1},
	})
	r.ends(a)
	r.reported()
}

// A report that the user has saved a change that an agent has reported does not make it
// the user's.
func TestASaveTakesNothingFromWhatIsKnownExactly(t *testing.T) {
	t.Parallel()
	r := newRig(t, "a", "1\n2\n")
	tell := r.tell()
	a := r.turn("s")
	before, after := "1\n2\n", "1\nTWO\n"
	r.write("a", after)
	r.look(tool(a, "call"), "a")
	tell(feed.Report{
		Kind: feed.Write, Path: r.path("a"), User: true, Author: review.Author{Source: "user"},
		Before: &feed.Version{Text: &before, Size: -1}, After: &feed.Version{Text: &after, Size: -1},
	})
	r.reported(`a s tool true +"TWO\n" -"2\n"`)
}

func TestAReportAboutAFileOutsideIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.tell()
	outside := t.TempDir() + "/f"
	if err := os.WriteFile(outside, []byte("1\nnew\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	version := func(text string) *feed.Version { return &feed.Version{Text: &text, Size: -1} }
	err := r.report(t.Context(), feed.Report{Kind: feed.Write, Path: outside, Author: hook, Before: version("1\n"), After: version("1\nnew\n")})
	if err == nil || !strings.HasPrefix(err.Error(), outside+": is not in the project ") {
		t.Error(err)
	}
	r.reported()
}

// A text that a file had only according to a report is shown and never written.
func TestWhatOnlyAReportSaysIsNeverWritten(t *testing.T) {
	t.Parallel()
	evil, now, plain := "evil\n", "x\n", "1\n"
	version := func(text string) *feed.Version { return &feed.Version{Text: &text, Size: -1} }
	for name, tells := range map[string]func(r *rig, tell func(feed.Report)){
		"a report": func(r *rig, tell func(feed.Report)) {
			tell(feed.Report{Kind: feed.Write, Path: r.path(".env"), Author: hook, Before: version(evil), After: version(now)})
		},
		"a report of before the review": func(r *rig, tell func(feed.Report)) {
			tell(feed.Report{Kind: feed.Write, Path: r.path(".env"), Author: hook, Before: version(evil), After: version(now), At: time.Now().Add(-time.Hour)})
		},
		"a tool call": func(r *rig, tell func(feed.Report)) {
			r.Look(tool(review.Author{Session: "s"}, "c"), Told{Path: r.path(".env"), Before: &evil, After: &now})
			r.wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, ".gitignore", ".env\n", ".env", now, "a", plain)
			tell := r.tell()
			tells(r, tell)
			if got := r.pending(); !strings.Contains(got, `.env s `) || !strings.Contains(got, `-"evil\n"`) {
				t.Error(got)
			}
			r.reopen()
			if _, err := r.Reject(review.Selection{Path: ".env"}, true); !errors.Is(err, review.ErrClaimed) {
				t.Error(err)
			}
			a := r.turn("s")
			r.write("a", "2\n")
			r.ends(a)
			plan, err := r.Reject(review.Selection{}, true)
			r.must(err)
			if err := r.Apply(plan, nil); !errors.Is(err, review.ErrClaimed) {
				t.Error(err)
			}
			for name, want := range map[string]string{"a": plain, ".env": now} {
				if text, err := os.ReadFile(r.path(name)); err != nil || string(text) != want {
					t.Errorf("%s: %q, %v", name, text, err)
				}
			}
		})
	}
}

func TestReportsThatNeverCameAreFoundByAScan(t *testing.T) {
	t.Parallel()
	r := newRig(t, "a", "1\n", "b", "1\n")
	tell := r.tell()
	r.write("a", "2\n")
	r.write("b", "2\n")
	tell(feed.Report{Kind: feed.Write, Path: r.path("b"), Author: hook, Producer: "p", Seq: 2})
	r.reported(`a s disk false +"2\n" -"1\n"`, `b s hook true +"2\n" -"1\n"`)
}

// After a restart, what was reported before is not reported again.
func TestPositionsSurviveARestart(t *testing.T) {
	t.Parallel()
	r := newRig(t, "a", "1\n")
	stop, err := r.Listen()
	if err != nil {
		t.Fatal(err)
	}
	ctx := patience.Context(t, patience.Soon)
	path := feed.Path(store.Dir(r.state, r.root))
	told := func(want uint64) {
		t.Helper()
		c, err := feed.Dial(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if seq, err := c.Resume(ctx, "p"); err != nil || seq != want {
			t.Errorf("%d, %v, want %d", seq, err, want)
		}
		if err := c.Tell(ctx, feed.Report{Kind: feed.Write, Path: r.path("a"), Author: hook, Producer: "p", Seq: 5}); err != nil {
			t.Fatal(err)
		}
	}
	r.write("a", "2\n")
	told(0)
	stop()
	r.reopen()
	r.write("a", "2\nuser\n")
	if stop, err = r.Listen(); err != nil {
		t.Fatal(err)
	}
	defer stop()
	told(5)
	r.reported(`a s hook true +"2\n" -"1\n"`)
}

// An editor may come when everything has happened already.
func TestAChangeFromBeforeTheReviewIsTheReporters(t *testing.T) {
	t.Parallel()
	r := newRig(t, "a", "3\n", "held", "2\n", "made", "new\n", "later", "user\n", "same", "x\n", "to", "moved\n")
	if err := r.Hold(r.path("held"), Text{Text: "2\n"}); err != nil {
		t.Fatal(err)
	}
	tell := r.tell()
	old := time.Now().Add(-time.Hour)
	version := func(text string) *feed.Version {
		if text == "" {
			return &feed.Version{Absent: true}
		}
		return &feed.Version{Text: &text, Size: int64(len(text)), Hash: store.HashOf([]byte(text))}
	}
	author := review.Author{Source: "shim"}
	for _, c := range []struct{ name, before, after string }{
		{"a", "1\n", "2\n"}, {"a", "2\n", "3\n"}, {"held", "1\n", "2\n"}, {"made", "", "new\n"}, {"later", "1\n", "2\n"}, {"same", "x\n", "y\n"}, {"same", "y\n", "x\n"},
	} {
		tell(feed.Report{Kind: feed.Write, Path: r.path(c.name), Author: author, At: old, Before: version(c.before), After: version(c.after)})
	}
	tell(feed.Report{Kind: feed.Remove, Path: r.path("gone"), Author: author, At: old, Before: version("g\n")})
	tell(feed.Report{Kind: feed.Rename, From: r.path("from"), Path: r.path("to"), Author: author, At: old, Before: version(""), After: version("moved\n")})
	r.reported(`a shim shim true +"3\n" -"1\n"`, `from shim shim true +"" -"moved\n"`, `gone shim shim true +"" -"g\n"`, `held shim shim true +"2\n" -"1\n"`,
		`made shim shim true +"new\n" -""`, `to shim shim true +"moved\n" -""`)
}

// An announced change is about to be reported, so it is not the user's, although a
// look sees it before the report.
func TestAnAnnouncedChangeWaitsForItsReport(t *testing.T) {
	t.Parallel()
	r := newRig(t, "f", "1\n")
	tell := r.tell()
	r.agentWrites("s", "f", "1\n2\n")
	until := r.watches()
	tell(feed.Report{Kind: feed.Write, Path: r.path("f"), Phase: feed.Pre, Author: hook})
	r.write("f", "1\n2\n3\n")
	time.Sleep(500 * time.Millisecond) // long enough for a look
	tell(feed.Report{Kind: feed.Write, Path: r.path("f"), Author: hook})
	r.reported(`f s hook true +"2\n3\n" -""`)
	r.write("f", "mine\n1\n2\n3\n") // not announced
	until("f", "mine\n1\n2\n3\n")
	r.reported(`f s hook true +"2\n3\n" -""`)
}

// The system gives the number of a process that has ended to another one.
func TestTheNumberOfAShimIsThatOfTheLatestOfThatNumber(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, s := range []struct{ dir, session string }{{"20261126T100000-7", "first"}, {"20261126T110000-8", "other"}, {"20261126T120000-7", "second"}} {
		w, err := journal.Create(filepath.Join(store.Dir(r.state, r.root), "shim", s.dir), r.root, "agent", s.session)
		r.must(err)
		r.must(w.Close())
	}
	for session, want := range map[string]int{"first": 0, "other": 8, "second": 7, "none": 0} {
		if pid := r.Process("agent", session); pid != want {
			t.Errorf("%s is process %d, want %d", session, pid, want)
		}
	}
	if _, session := r.Program(7); session != "second" {
		t.Errorf("process 7 reports as %s", session)
	}
}
