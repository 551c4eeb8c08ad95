package review

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// The failures that TestDaysEndWithWhatTheUserDid has found, each as short as
// possible.

func byAgent(n string) Author { return Author{Session: n, Turn: "t" + n, Source: "shim"} }

func regular(text string) State { return State{Kind: Regular, Text: text, Mode: 0o644} }

// opened is a review of the file f.
func opened(t *testing.T, f State) (*Review, func(error)) {
	t.Helper()
	r, err := Open(newMemory(), Options{})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	must(r.Track("f", f))
	return r, must
}

func TestAUsersLineInAFileThatWasALinkStays(t *testing.T) {
	t.Parallel()
	link := State{Kind: Link, Target: "x"}
	r, must := opened(t, link)
	must(r.Changed(byAgent("a"), "f", nil, regular("a\n")))
	must(r.Wrote("f", regular("a\nmine\n"), false))
	plan, err := r.Reject(Selection{}, true)
	must(err)
	must(plan.Apply(func(Change) error { return nil }))
	if _, now, _ := r.Known("f"); now != regular("mine\n") {
		t.Errorf("it is %+v", now)
	}
	plan, err = r.Undo(plan.Decision)
	must(err)
	must(plan.Apply(func(Change) error { return nil }))
	if base, now, _ := r.Known("f"); now != regular("a\nmine\n") || base != link {
		t.Errorf("undone, it is %+v on %+v", now, base)
	}
}

func TestNoHunkIsLeftOfAFileThatTheUserHasMade(t *testing.T) {
	t.Parallel()
	r, must := opened(t, State{})
	must(r.Changed(byAgent("a"), "f", nil, regular("a\n")))
	must(r.Wrote("f", regular("a\nmine\n"), false))
	must(r.Synced("f", regular("mine\n"), time.Now()))
	if h := r.Hunks("f"); len(h) > 0 {
		t.Errorf("%+v", h)
	}
}

func TestNoHunkIsLeftOfTheModeOfAFileThatIsGone(t *testing.T) {
	t.Parallel()
	r, must := opened(t, regular("one\n"))
	must(r.Changed(byAgent("a"), "f", nil, State{Kind: Regular, Text: "one\n", Mode: 0o755}))
	must(r.Synced("f", State{}, time.Now()))
	if h := r.Hunks("f"); len(h) > 0 {
		t.Errorf("%+v", h)
	}
	must(r.Synced("f", State{Kind: Regular, Text: "other\n", Mode: 0o755}, time.Now()))
	if h := r.Hunks("f"); len(h) > 0 {
		t.Errorf("the next file has %+v", h)
	}
}

func TestASessionIsDecidedBelowALaterOne(t *testing.T) {
	t.Parallel()
	r, must := opened(t, regular("one\n"))
	must(r.Changed(byAgent("a"), "f", nil, State{Kind: Regular, Text: "one\n", Mode: 0o755}))
	must(r.Changed(byAgent("b"), "f", nil, State{Kind: Regular, Text: "one\n", Mode: 0o700}))
	if _, err := r.Accept(Selection{Session: "a"}); err != nil {
		t.Fatal(err)
	}
	plan, err := r.Reject(Selection{Session: "b"}, false)
	must(err)
	must(plan.Apply(func(Change) error { return nil }))
	if _, now, _ := r.Known("f"); now.Mode != 0o755 {
		t.Errorf("its mode is %o", now.Mode)
	}
}

func TestRestoringWhatOneSessionDidDecidesNothingOfAnother(t *testing.T) {
	t.Parallel()
	link := State{Kind: Link, Target: "x"}
	r, must := opened(t, link)
	point, err := r.Checkpoint(Checkpoint{})
	must(err)
	must(r.Changed(byAgent("a"), "f", nil, regular("a\n")))
	must(r.Wrote("f", regular("a\nmine\n"), false))
	if _, err := r.Restore(point.ID, RestoreOptions{Session: "b"}); !errors.Is(err, ErrNothing) {
		t.Errorf("%v", err)
	}
}

func TestWhatTheUserPutsInPlaceHidesNoDeletion(t *testing.T) {
	t.Parallel()
	r, must := opened(t, regular("one\n"))
	must(r.Changed(byAgent("a"), "f", nil, State{}))
	must(r.Synced("f", regular("mine\nmore\n"), time.Now()))
	must(r.Changed(byAgent("a"), "f", nil, regular("mine\n")))
	must(r.Synced("f", State{Kind: Other, Target: "a named pipe"}, time.Now()))
	must(r.Synced("f", State{}, time.Now()))
	if base, _, _ := r.Known("f"); !slices.Contains(split(base.Text), "more\n") {
		t.Errorf("the base is %q", base.Text)
	}
}

// A file that the user makes and removes again is gone because of the user.
func TestWhatIsGoneComesBackOnlyInPlaceOfTheBase(t *testing.T) {
	t.Parallel()
	pipe := State{Kind: Other, Target: "a named pipe"}
	r, must := opened(t, regular("one\n"))
	must(r.Changed(byAgent("a"), "f", nil, State{}))
	must(r.Synced("f", pipe, time.Now()))
	must(r.Changed(byAgent("b"), "f", nil, State{}))
	must(r.Synced("f", regular("mine\n"), time.Now()))
	must(r.Synced("f", State{}, time.Now()))
	if base, _, _ := r.Known("f"); base.Text != "one\n" {
		t.Errorf("the base is %+v", base)
	}
}

// Rejecting a session also rejects its changes that an accepted change hides, so
// that no checkpoint brings them back.
func TestRejectingASessionRejectsWhatAnAcceptedChangeHides(t *testing.T) {
	t.Parallel()
	link := func(target string) State { return State{Kind: Link, Target: target} }
	r, must := opened(t, link("the user's"))
	must(r.Changed(byAgent("a"), "f", nil, State{}))
	point, err := r.Checkpoint(Checkpoint{})
	must(err)
	must(r.Changed(byAgent("b"), "f", nil, link("accepted")))
	if _, err := r.Accept(Selection{Session: "b"}); err != nil {
		t.Fatal(err)
	}
	later := byAgent("a")
	later.Turn = "later"
	must(r.Changed(later, "f", nil, link("later")))
	plan, err := r.Reject(Selection{Session: "a"}, false)
	must(err)
	must(plan.Apply(func(Change) error { return nil }))
	if _, now, _ := r.Known("f"); now != link("accepted") {
		t.Errorf("it is %+v", now)
	}
	plan, err = r.Restore(point.ID, RestoreOptions{})
	must(err)
	must(plan.Apply(func(Change) error { return nil }))
	if base, now, _ := r.Known("f"); now != link("the user's") || base != now || len(r.Hunks("f")) > 0 {
		t.Errorf("restored, it is %+v on %+v with %+v", now, base, r.Hunks("f"))
	}
}

// A decision that leaves no line of a file says nothing of the file itself if that has a hunk of
// its own, or if another session or turn made or removed it.
func TestWhatWasNotChosenIsNotDecided(t *testing.T) {
	t.Parallel()
	link, none := State{Kind: Link, Target: "x"}, State{}
	type change struct {
		session, turn string
		to            State
	}
	for _, c := range []struct {
		name      string
		was       State
		changes   []change
		accept    bool
		s         Selection // or, if it is zero, the hunk of lines
		base, now State
		hunk      HunkKind // of session a, is left
	}{
		{
			name: "a file that another session made", was: none, s: Selection{Session: "b"},
			changes: []change{{"a", "", regular("")}, {"b", "", regular("b\n")}},
			base:    none, now: regular(""), hunk: Created,
		},
		{
			name: "a file that an earlier turn made", was: none, s: Selection{Turn: "2"},
			changes: []change{{"a", "1", regular("one\n")}, {"a", "2", regular("two\n")}},
			base:    none, now: regular(""), hunk: Created,
		},
		{
			name: "the removal of a file that another session emptied", was: regular("one\n"), accept: true, s: Selection{Session: "b"},
			changes: []change{{"b", "", regular("")}, {"a", "", none}},
			base:    regular(""), now: none, hunk: Deleted,
		},
		{
			name: "a link that became a file, of which a hunk of lines is rejected", was: link,
			changes: []change{{"a", "1", regular("one\n")}, {"a", "2", regular("two\n")}},
			base:    link, now: regular(""), hunk: Linked,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, must := opened(t, c.was)
			for _, change := range c.changes {
				must(r.Changed(Author{Session: change.session, Turn: change.turn}, "f", nil, change.to))
			}
			if c.s == (Selection{}) {
				hunks := r.Hunks("f")
				c.s.Hunk = hunks[slices.IndexFunc(hunks, func(h Hunk) bool { return h.Kind == Text })].ID
			}
			if c.accept {
				_, err := r.Accept(c.s)
				must(err)
			} else {
				plan, err := r.Reject(c.s, false)
				must(err)
				must(plan.Apply(func(Change) error { return nil }))
			}
			if base, now, _ := r.Known("f"); base != c.base || now != c.now {
				t.Errorf("it is %+v on %+v", now, base)
			}
			if h := r.Hunks("f"); len(h) != 1 || h[0].Kind != c.hunk || h[0].Session != "a" {
				t.Errorf("%+v is pending", h)
			}
		})
	}
}

// A session makes a file of a link, removes it and makes it again. That lines of another session
// are rejected in between changes nothing of that.
func TestALinkComesBackThoughLinesOfAnotherSessionWereRejected(t *testing.T) {
	t.Parallel()
	link := State{Kind: Link, Target: "x"}
	r, must := opened(t, link)
	reject := func(s Selection) {
		t.Helper()
		plan, err := r.Reject(s, false)
		must(err)
		must(plan.Apply(func(Change) error { return nil }))
	}
	later := byAgent("a")
	later.Turn = "later"
	must(r.Changed(byAgent("a"), "f", nil, regular("one\n")))
	must(r.Changed(byAgent("b"), "f", nil, regular("one\nb\n")))
	must(r.Changed(later, "f", nil, State{}))
	reject(Selection{Session: "b"})
	must(r.Changed(later, "f", nil, regular("again\n")))
	reject(Selection{Hunk: r.Hunks("f")[0].ID})
	if _, now, _ := r.Known("f"); now != link {
		t.Errorf("it is %+v", now)
	}
}

// A restored file is as it was at the checkpoint, whatever was decided about it in
// between.
func TestAFileThatAnAgentMadeBeforeACheckpointIsRestored(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		was, point State
		reject     bool // what came after the checkpoint, before it is restored
	}{
		{"an empty file", State{}, regular(""), false},
		{"a file in place of a link", State{Kind: Link, Target: "x"}, regular("one\n"), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, must := opened(t, c.was)
			must(r.Changed(byAgent("a"), "f", nil, c.point))
			point, err := r.Checkpoint(Checkpoint{})
			must(err)
			later := byAgent("a")
			later.Turn = "later"
			must(r.Changed(later, "f", nil, regular("two\n")))
			if c.reject {
				plan, err := r.Reject(Selection{Turn: "later"}, false)
				must(err)
				must(plan.Apply(func(Change) error { return nil }))
			}
			plan, err := r.Restore(point.ID, RestoreOptions{})
			must(err)
			must(plan.Apply(func(Change) error { return nil }))
			if base, now, _ := r.Known("f"); base != c.was || now != c.point {
				t.Errorf("it is %+v on %+v", now, base)
			}
		})
	}
}
