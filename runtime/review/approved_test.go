package review

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// call is the tool call that the user has approved in these tests.
var call = Author{Session: "a/s", Turn: "t", ToolCall: "c", Source: "tool"}

// made is a review in which a change has made a file of before what now is.
func made(t *testing.T, by Author, before, now State) *Review {
	t.Helper()
	r, err := Open(newMemory(), Options{})
	if err == nil {
		err = r.Changed(by, "f", &before, now)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func textState(text string) State { return State{Kind: Regular, Text: text, Mode: 0o644} }

// left are the pending hunks: old and new.
func left(r *Review) (list []string) {
	for _, h := range r.Hunks("f") {
		list = append(list, fmt.Sprintf("%s %q>%q", h.Kind, strings.Join(h.Old, ""), strings.Join(h.New, "")))
	}
	return list
}

func TestWhatWasApprovedIsAccepted(t *testing.T) {
	other := func(change func(*Author)) Author { a := call; change(&a); return a }
	const before, approved = "a\nb\nc\nd\ne\nf\ng\n", "a\nB\nc\nd\ne\nF\nF2\ng\n"
	for name, c := range map[string]struct {
		by     Author
		before State
		now    string
		want   []string
	}{
		"all of it":                  {call, textState(before), approved, nil},
		"one hunk of it":             {call, textState(before), "a\nB\nc\nd\ne\nf\ng\n", nil},
		"and more elsewhere":         {call, textState(before), "a\nB\nc\nD\ne\nF\nF2\ng\n", []string{`text "d\n">"D\n"`}},
		"and more next to it":        {call, textState(before), "a\nB\nC\nd\ne\nF\nF2\ng\n", []string{`text "b\nc\n">"B\nC\n"`}},
		"and a line after it":        {call, textState(before), "a\nB\nc\nd\ne\nF\nF2\nF3\ng\n", []string{`text "f\n">"F\nF2\nF3\n"`}},
		"without its last line":      {call, textState(before), "a\nB\nc\nd\ne\nF\ng\n", []string{`text "f\n">"F\n"`}},
		"another last line":          {call, textState(before), "a\nB\nc\nd\ne\nF\nF2\ng", []string{`text "f\ng\n">"F\nF2\ng"`}},
		"another session":            {other(func(a *Author) { a.Session = "a/other" }), textState(before), approved, []string{`text "b\n">"B\n"`, `text "f\n">"F\nF2\n"`}},
		"another turn":               {other(func(a *Author) { a.Turn = "later" }), textState(before), approved, []string{`text "b\n">"B\n"`, `text "f\n">"F\nF2\n"`}},
		"another tool call":          {other(func(a *Author) { a.ToolCall = "d" }), textState(before), approved, []string{`text "b\n">"B\n"`, `text "f\n">"F\nF2\n"`}},
		"nobody knows by which call": {other(func(a *Author) { a.ToolCall = "" }), textState(before), approved, []string{`text "b\n">"B\n"`, `text "f\n">"F\nF2\n"`}},
		"only inferred":              {other(func(a *Author) { a.Inferred = true }), textState(before), approved, []string{`text "b\n">"B\n"`, `text "f\n">"F\nF2\n"`}},
		"a new file":                 {call, State{}, approved, nil},
		"a new file with more":       {call, State{}, approved + "h\n", []string{`text "">"` + strings.ReplaceAll(approved, "\n", `\n`) + `h\n"`}},
	} {
		t.Run(name, func(t *testing.T) {
			r := made(t, c.by, c.before, textState(c.now))
			if _, err := r.AcceptApproved("f", 1, call, c.before, approved); err != nil {
				t.Fatal(err)
			}
			if got := left(r); !slices.Equal(got, c.want) {
				t.Errorf("pending: %q, want %q", got, c.want)
			}
		})
	}
}

func TestAnApprovedTextAcceptsNothingElse(t *testing.T) {
	for name, c := range map[string]struct {
		before, now State
		approved    string
		after       func(r *Review) error // what happens before it is accepted
		want        []string
	}{
		"the empty file that was shown":   {State{}, textState(""), "", nil, nil},
		"an empty file instead of a text": {State{}, textState(""), "a\n", nil, []string{`created "">""`}},
		"a deleted file":                  {textState("a\n"), State{}, "", nil, []string{`text "a\n">""`}},
		"a link":                          {textState("a\n"), State{Kind: Link, Target: "a\n"}, "a\n", nil, []string{`link "">""`}},
		"another mode":                    {textState("a\n"), State{Kind: Regular, Text: "b\n", Mode: 0o755}, "b\n", nil, []string{`mode "">""`}},
		"what the user wrote into it": {textState("a\nb\n"), textState("A\nB\n"), "A\nB\n", func(r *Review) error {
			return r.Edited("f", Edit{Start: 1, End: 2, Lines: []string{"mine\n"}}, false)
		}, []string{`text "a\nb\n">"A\n"`}},
		"what an earlier call changed there": {textState("a\n"), textState("b\n"), "c\n", func(r *Review) error {
			by := call
			by.ToolCall = "earlier"
			r.authors[1] = by
			return r.Changed(call, "f", nil, textState("c\n"))
		}, []string{`text "a\n">"c\n"`}},
	} {
		t.Run(name, func(t *testing.T) {
			r := made(t, call, c.before, c.now)
			if c.after != nil {
				if err := c.after(r); err != nil {
					t.Fatal(err)
				}
			}
			for id := range r.changes {
				if _, err := r.AcceptApproved("f", id+1, call, c.before, c.approved); err != nil {
					t.Fatal(err)
				}
			}
			if got := left(r); !slices.Equal(got, c.want) {
				t.Errorf("pending: %q, want %q", got, c.want)
			}
		})
	}
}

// A text of unique lines, what was approved to become of it, and what became of it, which
// differs in one byte of one hunk: that one stays pending, and the others are accepted.
func TestAHunkThatDiffersInOneByteStaysPending(t *testing.T) {
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 7))
		var before, approved, now []string
		fresh := func(kind string) string { return fmt.Sprintf("%s%d\n", kind, rng.Uint64()) }
		hunks := 1 + rng.IntN(4)
		other := rng.IntN(hunks)
		var old, wrong []string // of the hunk that differs
		for h := range hunks {
			for range 1 + rng.IntN(3) {
				l := fresh("same ")
				before, approved, now = append(before, l), append(approved, l), append(now, l)
			}
			gone, come := rng.IntN(3), 1+rng.IntN(3)
			for range gone {
				l := fresh("old ")
				before = append(before, l)
				if h == other {
					old = append(old, l)
				}
			}
			at := rng.IntN(come)
			for i := range come {
				l := fresh("new ")
				approved = append(approved, l)
				if h == other && i == at {
					b := []byte(l)
					b[rng.IntN(len(b)-1)] ^= 1
					l = string(b)
				}
				if h == other {
					wrong = append(wrong, l)
				}
				now = append(now, l)
			}
		}
		l := fresh("same ")
		before, approved, now = append(before, l), append(approved, l), append(now, l)
		was := textState(strings.Join(before, ""))
		r := made(t, call, was, textState(strings.Join(now, "")))
		if _, err := r.AcceptApproved("f", 1, call, was, strings.Join(approved, "")); err != nil {
			t.Fatal(err)
		}
		want := []string{fmt.Sprintf("text %q>%q", strings.Join(old, ""), strings.Join(wrong, ""))}
		if got := left(r); !slices.Equal(got, want) {
			t.Fatalf("seed %d: pending: %q, want %q", seed, got, want)
		}
	}
}

// Whatever an agent writes, only hunks that were approved are accepted, even if lines repeat.
// The file itself never changes.
func TestOnlyWhatWasApprovedIsAccepted(t *testing.T) {
	some := 0
	for seed := range uint64(8000) {
		rng := rand.New(rand.NewPCG(seed, 11))
		text := func(from []string) []string {
			to := slices.Clone(from)
			for range rng.IntN(4) {
				i := rng.IntN(len(to) + 1)
				n := min(rng.IntN(3), len(to)-i)
				var lines []string
				for range rng.IntN(3) {
					lines = append(lines, string(rune('a'+rng.IntN(4)))+"\n")
				}
				to = slices.Replace(to, i, i+n, lines...)
			}
			return to
		}
		before := text(text(nil))
		approved := text(before)
		now := text(approved)
		was := textState(strings.Join(before, ""))
		r := made(t, call, was, textState(strings.Join(now, "")))
		if len(left(r)) == 0 {
			continue
		}
		accepted, err := r.AcceptApproved("f", 1, call, was, strings.Join(approved, ""))
		if err != nil {
			t.Fatal(err)
		}
		base, current, _ := r.Known("f")
		if current.Text != strings.Join(now, "") {
			t.Fatalf("seed %d: the file became %q", seed, current.Text)
		}
		if slices.Equal(now, approved) && len(left(r)) > 0 {
			t.Fatalf("seed %d: %q became %q as approved, and %q is pending", seed, before, now, left(r))
		}
		if !accepted {
			continue
		}
		some++
		if !isPart(before, approved, split(base.Text)) {
			t.Fatalf("seed %d: %q, approved %q, now %q: accepted %q", seed, before, approved, now, base.Text)
		}
	}
	if some < 500 {
		t.Errorf("something was accepted in %d cases only", some)
	}
}

// isPart reports whether a text has some of the hunks that turn before into approved, and
// nothing else.
func isPart(before, approved, text []string) bool {
	shown := diff(before, approved)
	for set := range 1 << len(shown) {
		part := slices.Clone(before)
		for i, s := range slices.Backward(shown) {
			if set&(1<<i) != 0 {
				part = slices.Replace(part, s.a0, s.a1, approved[s.b0:s.b1]...)
			}
		}
		if slices.Equal(part, text) {
			return true
		}
	}
	return false
}
