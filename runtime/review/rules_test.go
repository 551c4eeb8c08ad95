package review

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/soak"
)

// TestRulesHoldForLinesThatLookAlike plays texts of very few different lines,
// with empty ones, other line ends and none at the end, where the model cannot
// know which line is meant. Its checks do not depend on that.
func TestRulesHoldForLinesThatLookAlike(t *testing.T) {
	t.Parallel()
	total := soak.Of(t, 40_000, 4_000)
	for seed := range total {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		var log []string
		if err := alike(r, func(format string, args ...any) { log = append(log, fmt.Sprintf(format, args...)) }); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, strings.Join(log, "\n"))
		}
	}
}

func alike(r *rand.Rand, note func(string, ...any)) error {
	lines := []string{"a\n", "b\n", "\n", "a\r\n", "c\n"}
	random := func() string {
		var b strings.Builder
		for range r.IntN(7) {
			b.WriteString(lines[r.IntN(len(lines))])
		}
		if r.IntN(4) == 0 {
			return strings.TrimSuffix(b.String(), "\n")
		}
		return b.String()
	}
	text := random()
	note("%q", text)
	h := newHistory(text)
	// How often each line is there as an agent's.
	agents := func() map[string]int {
		n := make(map[string]int)
		for _, b := range h.w.blocks {
			for _, l := range b.lines {
				if l.inCurrent() && l.marks().add.state == pending {
					n[strings.TrimRight(l.text, "\r\n")]++
				}
			}
		}
		return n
	}
	for range 2 + r.IntN(12) {
		base, current := h.w.base(), h.w.current()
		switch r.IntN(8) {
		case 0, 1:
			to := random()
			s := string(rune('s' + r.IntN(2)))
			note("%s writes %q", s, to)
			if h.agent(s, to); h.w.current() != to {
				return fmt.Errorf("the current text is %q, not %q", h.w.current(), to)
			}
			if h.w.base() != base {
				return fmt.Errorf("an agent has changed the base from %q to %q", base, h.w.base())
			}
		case 2, 3:
			to, undo := random(), r.IntN(3) == 0
			note("the user writes %q, undo %v", to, undo)
			before := agents()
			h.w = h.w.write(to, writer{undo: undo})
			if h.w.current() != to {
				return fmt.Errorf("the current text is %q, not %q", h.w.current(), to)
			}
			for l, n := range agents() {
				if n > before[l] && !undo {
					return fmt.Errorf("the user's %q became an agent's", l)
				}
			}
		case 4, 5:
			runs := h.runs()
			if len(runs) == 0 {
				continue
			}
			id, to := runs[r.IntN(len(runs))].id, accepted
			if r.IntN(2) == 0 {
				to = rejected
			}
			note("hunk %d: %d", id, to)
			h.decide(id, to)
			if to == accepted && h.w.current() != current {
				return fmt.Errorf("accepting changes the text from %q to %q", current, h.w.current())
			}
			if to == rejected && h.w.base() != base {
				return fmt.Errorf("rejecting changes the base from %q to %q", base, h.w.base())
			}
			if r.IntN(2) == 0 {
				note("undo")
				h.w = h.w.undo(h.decided, h.session)
				if h.w.current() != current || h.w.base() != base {
					return fmt.Errorf("undone, it is %q and %q, not %q and %q", h.w.current(), h.w.base(), current, base)
				}
			}
		case 6:
			note("restart")
			w, err := again(h.w)
			if err != nil {
				return err
			}
			if h.w = w; h.w.current() != current || h.w.base() != base {
				return fmt.Errorf("after a restart it is %q and %q, not %q and %q", h.w.current(), h.w.base(), current, base)
			}
		case 7:
			note("forget")
			if h.w, _ = h.w.forget(4); h.w.current() != current || h.w.base() != base {
				return fmt.Errorf("remembering less, it is %q and %q, not %q and %q", h.w.current(), h.w.base(), current, base)
			}
		}
		for _, run := range h.runs() {
			now := strings.Join(h.w.lines(run.current0, run.current1), "")
			if got := strings.Join(run.new, ""); strings.TrimRight(got, "\r\n") != strings.TrimRight(now, "\r\n") {
				return fmt.Errorf("hunk %d is %q, and its lines are %q", run.id, got, now)
			}
		}
	}
	full := newHistory("")
	*full = *h
	if full.decide(0, accepted); full.w.current() != h.w.current() || full.w.base() != h.w.current() {
		return fmt.Errorf("accepted, %q is %q on %q", h.w.current(), full.w.current(), full.w.base())
	}
	for base := h.w.base(); len(h.runs()) > 0; {
		if h.decide(h.runs()[0].id, rejected); len(h.runs()) == 0 && h.w.current() != base {
			return fmt.Errorf("rejected, it is %q, not %q", h.w.current(), base)
		}
	}
	return nil
}

// Text that one agent wrote and another replaced was never in the base, so it is not
// shown as deleted from it.
func TestTwoAgentsOnOneLineShowTheBaseOnce(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.disk["f"] = text("Hello, wrold\n")
	p.agent("a", "f", text("Hello, world\n"))
	p.agent("b", "f", text("Hello, moon\n"))
	var old, now, others []string
	for _, h := range p.Hunks("f") {
		old, now, others = append(old, h.Old...), append(now, h.New...), append(others, h.Others...)
	}
	for _, c := range []struct {
		got  []string
		want string
	}{{old, "Hello, wrold\n"}, {now, "Hello, moon\n"}, {others, "Hello, world\n"}} {
		if strings.Join(c.got, "") != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	if f := p.Files()[0]; f.Added != 1 || f.Removed != 1 {
		t.Errorf("+%d -%d", f.Added, f.Removed)
	}
}
