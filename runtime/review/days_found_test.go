package review

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// What TestDaysEndWithWhatTheUserDid has found, as short as it can be told.

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

// What an accepted change hides of a session goes with the rest of it, so that no
// checkpoint brings it back.
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
