package review

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/soak"
)

// A decision is about what was shown: it is refused once an agent has changed that since,
// and not because the user has.
func TestADecisionIsAboutTheHunkThatWasShown(t *testing.T) {
	t.Parallel()
	for seed := range soak.Of(t, 20_000, 500) {
		if err := playVersions(t, rand.New(rand.NewPCG(uint64(seed), 1))); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// sameChanges reports whether hunks of a file that the user has left alone are the same changes.
func sameChanges(a, b Hunk) bool {
	return slices.Equal(a.Authors, b.Authors) && slices.Equal(a.Old, b.Old) && slices.Equal(a.New, b.New) && slices.Equal(a.Others, b.Others)
}

func playVersions(t *testing.T, rnd *rand.Rand) error {
	const path = "f"
	r, _ := opened(t, regular("1\n2\n3\n4\n5\n6\n7\n8\n"))
	n := 0
	edited := func(who string) State {
		_, now, _ := r.Known(path)
		lines := split(now.Text)
		from := rnd.IntN(len(lines) + 1)
		to := min(len(lines), from+rnd.IntN(3))
		var in []string
		for range rnd.IntN(3) {
			n++
			in = append(in, fmt.Sprintf("%s%d\n", who, n))
		}
		return regular(strings.Join(slices.Replace(lines, from, to, in...), ""))
	}
	type look struct {
		Hunk
		user, agent bool // did something since
		differed    bool // at a later look
	}
	var shown []look
	did := func(user bool) {
		for i := range shown {
			shown[i].user, shown[i].agent = shown[i].user || user, shown[i].agent || !user
		}
	}
	hunks := func() []Hunk {
		now := r.Hunks(path)
		for i, l := range shown {
			at := slices.IndexFunc(now, func(h Hunk) bool { return h.ID == l.ID })
			shown[i].differed = l.differed || at >= 0 && !sameChanges(now[at], l.Hunk)
		}
		return now
	}
	for range 15 {
		switch rnd.IntN(8) {
		case 0, 1, 2:
			author := Author{Session: []string{"x", "y"}[rnd.IntN(2)], Turn: "1"}
			if err := r.Changed(author, path, nil, edited("agent")); err != nil {
				return err
			}
			did(false)
			hunks()
		case 3:
			if err := r.Wrote(path, edited("user"), false); err != nil {
				return err
			}
			did(true)
		case 4:
			for _, h := range hunks() {
				shown = append(shown, look{Hunk: h})
			}
		default:
			if len(shown) == 0 {
				continue
			}
			hunks := hunks()
			l := shown[rnd.IntN(len(shown))]
			at := slices.IndexFunc(hunks, func(h Hunk) bool { return h.ID == l.ID })
			err := decide(r, Selection{Hunk: l.ID, Path: path, Version: l.Version}, rnd.IntN(2) == 0)
			refused := errors.As(err, new(*ChangedError))
			switch {
			case !refused && err != nil && !errors.Is(err, ErrNothing):
				return err
			case refused && at < 0:
				return fmt.Errorf("hunk %d is gone: %w", l.ID, err)
			case refused && !l.agent:
				return fmt.Errorf("no agent has changed hunk %d: %w", l.ID, err)
			case at >= 0 && !l.user && !refused && !sameChanges(hunks[at], l.Hunk),
				at >= 0 && !l.user && refused && !l.differed && len(hunks[at].User) == len(l.User):
				return fmt.Errorf("hunk %d was %+v and is %+v: %w", l.ID, l.Hunk, hunks[at], err)
			case err == nil:
				did(true)
			}
		}
	}
	return nil
}

func decide(r *Review, s Selection, accept bool) error {
	if accept {
		_, err := r.Accept(s)
		return err
	}
	plan, err := r.Reject(s, true)
	if err != nil {
		return err
	}
	return plan.Apply(func(Change) error { return nil })
}

func TestADecisionAboutAFileIsAboutTheHunksThatWereShown(t *testing.T) {
	t.Parallel()
	for _, accept := range []bool{true, false} {
		r, _ := opened(t, regular("1\n2\n3\n"))
		for _, text := range []string{"one\n2\n3\n", "one\n2\nthree\n"} {
			if err := r.Changed(Author{Session: "x"}, "f", nil, regular(text)); err != nil {
				t.Fatal(err)
			}
		}
		hunks := r.Hunks("f")
		var changed *ChangedError
		if err := decide(r, Selection{Path: "f", Version: hunks[0].Version}, accept); !errors.As(err, &changed) || changed.Hunk != hunks[1].ID {
			t.Errorf("accept %v of what was shown before: %v", accept, err)
		}
		if n := len(r.Hunks("f")); n != 2 {
			t.Errorf("%d hunks are left of 2", n)
		}
		if err := decide(r, Selection{Path: "f", Version: hunks[1].Version}, accept); err != nil {
			t.Error(err)
		}
	}
}
