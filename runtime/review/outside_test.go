package review

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/soak"
)

// world is a file on a disk that a user and two agents change without asking anybody.
// Reports of the agents' changes come late. It is the model as well: it knows of every
// line whose it is.
type world struct {
	*Review
	store   *memory
	rand    *rand.Rand
	now     time.Time
	lines   []*owned // in the order in which they were on the disk
	exists  bool
	reports [sessions][]report // that have not come
	newest  int64              // of those that have
	fresh   int
	log     []string
}

// owned is a line of the model.
type owned struct {
	text   string
	there  bool
	added  bool // by an agent, undecided
	struck bool // by an agent, undecided
	undone bool // it was, and the disk went back: who strikes it again is anybody's guess
}

type report struct {
	author        Author
	before, after State
}

func newWorld(seed uint64) *world {
	w := &world{store: newMemory(), rand: rand.New(rand.NewPCG(seed, 41)), now: time.Unix(1e9, 0), exists: true}
	for range w.rand.IntN(6) {
		w.lines = append(w.lines, &owned{text: w.text("b"), there: true})
	}
	w.Review, _ = Open(w.store, Options{})
	if w.rand.IntN(2) == 0 {
		w.Track("f", w.disk())
	}
	w.note("begin")
	return w
}

func (w *world) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf(format, args...)+": "+strconv.Quote(w.disk().Text))
}

func (w *world) text(who string) string {
	w.fresh++
	return fmt.Sprintf("%s%d\n", who, w.fresh)
}

// disk is what the file is.
func (w *world) disk() State {
	if !w.exists {
		return State{}
	}
	var b strings.Builder
	for _, l := range w.lines {
		if l.there {
			b.WriteString(l.text)
		}
	}
	return State{Kind: Regular, Text: b.String(), Mode: 0o644}
}

// edit changes the disk: an agent's change is not yet decided.
func (w *world) edit(who string, agent bool) {
	if w.rand.IntN(8) == 0 {
		for _, l := range w.lines {
			w.strike(l, agent)
		}
		w.exists = slices.ContainsFunc(w.lines, func(l *owned) bool { return l.there })
		return
	}
	w.exists = true
	for range 1 + w.rand.IntN(3) {
		if i := w.rand.IntN(len(w.lines) + 1); w.rand.IntN(3) > 0 {
			w.lines = slices.Insert(w.lines, i, &owned{text: w.text(who), there: true, added: agent})
		} else if i < len(w.lines) {
			w.strike(w.lines[i], agent)
		}
	}
}

func (w *world) strike(l *owned, agent bool) {
	if l.there && (agent || !l.undone) {
		l.there, l.struck = false, agent && !l.added
	}
}

func (w *world) step() error {
	w.now = w.now.Add(time.Millisecond)
	switch op := w.rand.IntN(18); op {
	case 0, 1, 2, 3:
		w.edit("u", false)
		w.note("user")
	case 4, 5, 6, 7:
		who := w.rand.IntN(sessions)
		before := w.disk()
		w.edit(fmt.Sprint(2+who), true)
		w.note("agent %d", 2+who)
		author := Author{Session: fmt.Sprint(2 + who), Turn: fmt.Sprint(w.now.UnixMilli() / 8), Source: "shim", At: w.now}
		w.reports[who] = append(w.reports[who], report{author, before, w.disk()})
		if len(w.reports[0])+len(w.reports[1]) > maxSteps/2 {
			return w.catchUp()
		}
	case 8, 9, 10:
		who := w.rand.IntN(sessions)
		if len(w.reports[who]) > 0 {
			w.note("report of agent %d", 2+who)
			r := w.reports[who][0]
			w.reports[who] = w.reports[who][1:]
			w.newest = max(w.newest, r.author.At.UnixNano())
			return w.report(r)
		}
	case 11, 12:
		w.note("look")
		w.newest = w.now.UnixNano()
		return w.Synced("f", w.disk(), w.now)
	case 13:
		// The order of what is known is forgotten with the program.
		if err := w.inOrder(); err != nil {
			return err
		}
		if err := w.restart(); err != nil {
			return err
		}
		return w.catchUp()
	case 14, 15:
		if err := w.catchUp(); err != nil {
			return err
		}
		return w.decide(op == 14)
	case 16:
		return w.stash(true)
	case 17:
		return w.stash(false)
	}
	return nil
}

func (w *world) restart() error {
	w.note("restart")
	if err := w.Flush(); err != nil {
		return err
	}
	r, err := Open(w.store, Options{})
	if err == nil {
		w.Review = r
	}
	return err
}

// stash gives the disk the text of the base, as git stash and checkout do, and back.
func (w *world) stash(back bool) error {
	if err := w.catchUp(); err != nil {
		return err
	}
	base, _, known := w.Known("f")
	if !known {
		return nil
	}
	type line struct {
		*owned
		was owned
	}
	var then []line
	was := w.exists
	for _, l := range w.lines {
		then = append(then, line{l, *l})
		l.undone = l.undone || l.struck
		l.there, l.added, l.struck = l.struck || l.there && !l.added, false, false
	}
	w.exists = base.Kind != Absent
	w.order(base.Text)
	w.note("stash")
	if err := w.catchUp(); err != nil || !back {
		return err
	}
	if w.rand.IntN(2) == 0 {
		if err := w.restart(); err != nil {
			return err
		}
	}
	w.lines = nil
	for _, l := range then {
		*l.owned = l.was
		w.lines = append(w.lines, l.owned)
	}
	w.exists = was
	return w.catchUp()
}

func (w *world) report(r report) error {
	return w.Reported(r.author, "f", r.before, r.after)
}

// inOrder has those come that are older than one that has come.
func (w *world) inOrder() error {
	for who := range w.reports {
		for len(w.reports[who]) > 0 && w.reports[who][0].author.At.UnixNano() < w.newest {
			if err := w.report(w.reports[who][0]); err != nil {
				return err
			}
			w.reports[who] = w.reports[who][1:]
		}
	}
	return nil
}

// catchUp has all reports come, in the order of time, and then looks.
func (w *world) catchUp() error {
	all := slices.Concat(w.reports[0], w.reports[1])
	slices.SortFunc(all, func(a, b report) int { return cmp.Compare(a.author.At.UnixNano(), b.author.At.UnixNano()) })
	w.reports = [sessions][]report{}
	for _, r := range all {
		if err := w.report(r); err != nil {
			return err
		}
	}
	w.now = w.now.Add(time.Millisecond)
	if err := w.Synced("f", w.disk(), w.now); err != nil {
		return err
	}
	w.note("all is known")
	return w.check()
}

// decide accepts or rejects everything.
func (w *world) decide(accept bool) error {
	if accept {
		w.Accept(Selection{})
	} else if plan, err := w.Reject(Selection{}, true); err == nil {
		if err := plan.Apply(func(c Change) error { w.exists = c.After.Kind != Absent; return nil }); err != nil {
			return err
		}
	}
	for _, l := range w.lines {
		switch {
		case accept:
			l.added, l.struck = false, false
		case l.added:
			l.there, l.added = false, false
		case l.struck:
			l.there, l.struck = true, false
		}
	}
	_, current, _ := w.Known("f")
	w.order(current.Text)
	w.note("accept %v", accept)
	return w.check()
}

// order puts the lines in the order of a text: where the review puts lines that come
// back is its business.
func (w *world) order(text string) {
	at := func(l *owned) int { return strings.Index("\n"+text, "\n"+l.text) }
	there := slices.DeleteFunc(slices.Clone(w.lines), func(l *owned) bool { return at(l) < 0 })
	slices.SortStableFunc(there, func(a, b *owned) int { return at(a) - at(b) })
	w.lines = append(there, slices.DeleteFunc(w.lines, func(l *owned) bool { return at(l) >= 0 })...)
}

// check compares when everything is known.
func (w *world) check() error {
	base, current, known := w.Known("f")
	if !known {
		return nil
	}
	if current.Text != w.disk().Text {
		return fmt.Errorf("the review has %q, the disk %q", current.Text, w.disk().Text)
	}
	got := strings.SplitAfter(base.Text, "\n")
	for _, l := range w.lines {
		want := l.struck || l.there && !l.added
		if slices.Contains(got, l.text) != want {
			return fmt.Errorf("that %q is in the base must be %v: %q", l.text, want, base.Text)
		}
	}
	pending := make(map[string]bool)
	lines := strings.SplitAfter(current.Text, "\n")
	for _, b := range w.Blame("f") {
		for _, l := range lines[b.Start:b.End] {
			pending[l] = b.Pending
		}
	}
	for _, l := range w.lines {
		if l.there && pending[l.text] != l.added {
			return fmt.Errorf("that %q is an agent's must be %v", l.text, l.added)
		}
	}
	return nil
}

// TestWhatIsWrittenOutsideIsTheUsers is the property of looks and reports.
func TestWhatIsWrittenOutsideIsTheUsers(t *testing.T) {
	t.Parallel()
	total := soak.Of(t, 100_000, 500)
	const workers = 4
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			for i := range total / workers {
				seed := uint64(i*workers + worker)
				w := newWorld(seed)
				var err error
				for n := 0; n < 30 && err == nil; n++ {
					err = w.step()
				}
				if err == nil {
					err = w.catchUp()
				}
				if err == nil {
					err = w.decide(false)
				}
				if err != nil {
					t.Errorf("seed %d: %v\n%s", seed, err, strings.Join(w.log, "\n"))
					return
				}
			}
		})
	}
	wg.Wait()
}
