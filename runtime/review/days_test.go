package review

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/soak"
)

// days plays what happens to files in days of work: a user in an editor and outside of
// it, two agents whose reports come late, files that become something else, stashes,
// commits, decisions of every size, checkpoints, and programs that end or are killed
// while the next takes over. It is the judge as well: it knows of each line, of what is
// at each path and of its mode who did it, and what was decided. It shares no code with
// the engine. A sequence is a list of numbers, each of which is a step, so that a part
// of a sequence is a sequence too.
type days struct {
	*Review
	store   *memory
	rand    *rand.Rand // of the step
	now     time.Time
	files   [2]*paper
	reports []lateReport
	last    map[string]time.Time // the time of the newest thing that is known, by path
	points  map[string]int       // what was the last deed, by checkpoint
	deeds   int
	fresh   int
	refused []string // by the last plan
	log     []string
}

type lateReport struct {
	path          string
	author        Author
	before, after State
}

func (w *days) path(i int) string { return string(rune('f' + i)) }

func (w *days) note(format string, args ...any) { w.log = append(w.log, fmt.Sprintf(format, args...)) }

func (w *days) text(who int) string {
	w.fresh++
	return fmt.Sprintf("%c%d\n", "bu23"[who], w.fresh)
}

func (w *days) tick() time.Time {
	w.now = w.now.Add(time.Millisecond)
	return w.now
}

func (w *days) deed(who int) deed {
	w.deeds++
	if who == user {
		return deed{by: user}
	}
	return deed{who, w.deeds, fmt.Sprint("t", w.deeds/4), open}
}

func (w *days) author(d deed, inferred bool) Author {
	return Author{Session: fmt.Sprint(d.by), Turn: d.turn, Source: "shim", Inferred: inferred, At: w.tick()}
}

// edit changes a file. In a buffer only its text changes.
func (w *days) edit(p *paper, d deed, buffer bool) string {
	was, n := p.copy(), p.thing.now()
	defer func() {
		if p.now() == was.now() { // nobody has done anything
			*p = *was
		}
	}()
	regular := was.now().Kind == Regular
	kind := w.rand.IntN(12)
	if buffer {
		kind = 11
	}
	all := func() {
		for i := range p.lines {
			p.strike(i, d)
		}
	}
	free := d.by != user || !slices.ContainsFunc(p.lines, func(l inked) bool { return l.undone && l.now() })
	become := func(n node) {
		if d.by == user {
			p.part, p.remade = true, true
			p.mode = trait[fs.FileMode]{base: p.mode.agreed()} // it went with the file
		}
		p.thing = p.thing.by(n, d)
	}
	w.fresh++
	if p.thing.agreed().kind != Regular || p.thing.base.kind != Regular {
		p.remade = true // a mode is part of what is made then
	}
	switch {
	case kind == 0 && regular:
		to := fs.FileMode(2 * w.fresh)
		if d.by != user {
			to++
		}
		p.thing = p.thing.by(node{kind: Regular}, d) // as below
		if p.thing.agreed().kind != Regular || p.thing.base.kind != Regular {
			p.remade = true
			p.mode = trait[fs.FileMode]{base: to}
		} else {
			p.mode = p.mode.by(to, d)
		}
		return fmt.Sprintf("chmod %o", to)
	case kind == 1 && free:
		all()
		become(node{})
		return "rm"
	case kind == 2 && free:
		all()
		become(node{Link, fmt.Sprint(d.by, "/", w.fresh)})
		return "ln"
	case kind == 3 && free:
		all()
		what := []string{"a folder", "a named pipe", "a file of bytes"}[w.rand.IntN(3)]
		become(node{Other, fmt.Sprint(what, " ", w.fresh)})
		return "becomes " + what
	}
	if n.kind != Regular && !regular {
		p.part, p.remade = p.part || d.by == user, p.remade || d.by == user || p.thing.agreed().kind != Regular || p.thing.base.kind != Regular
	}
	if !regular {
		all() // lines that were decided to be back, where there was no file
	}
	// A file with lines exists, whoever removed it.
	p.thing = p.thing.by(node{kind: Regular}, d)
	if p.remade && (p.thing.agreed().kind != Regular || p.thing.base.kind != Regular) {
		p.mode = trait[fs.FileMode]{base: p.mode.now()}
	}
	what := ""
	for n := range 1 + w.rand.IntN(3) {
		i := w.rand.IntN(len(p.lines) + 1)
		if w.rand.IntN(3) > 0 || !regular && (n == 0 || d.by == user) { // no two files are alike by chance
			l := inked{text: w.text(d.by)}
			if d.by != user {
				l.add = d
			}
			p.lines = slices.Insert(p.lines, i, l)
			what += "+"
		} else if i < len(p.lines) {
			p.strike(i, d)
			what += "-"
		}
	}
	return what
}

func (w *days) some() (int, *paper) {
	i := w.rand.IntN(len(w.files))
	return i, w.files[i]
}

func (w *days) step() error {
	i, p := w.some()
	path := w.path(i)
	switch w.rand.IntN(22) {
	case 0, 1, 2:
		w.tick()
		thing := p.now()
		w.note("the user, outside: %s of %s: %+v", w.edit(p, w.deed(user), false), path, p.now())
		if now := p.now(); now.Kind != thing.Kind || now.Target != thing.Target {
			return w.catchUp() // nobody can know of it who sees only what comes after
		}
	case 3, 4, 5, 6:
		d := w.deed(2 + w.rand.IntN(sessions))
		before := p.now()
		what := w.edit(p, d, false)
		w.note("agent %d: %s of %s: %+v", d.by, what, path, p.now())
		w.reports = append(w.reports, lateReport{path, w.author(d, false), before, p.now()})
		if len(w.reports) > maxSteps/2 {
			return w.catchUp()
		}
	case 7, 8:
		if len(w.reports) > 0 { // of one session in their order
			who := w.reports[w.rand.IntN(len(w.reports))].author.Session
			k := slices.IndexFunc(w.reports, func(r lateReport) bool { return r.author.Session == who })
			r := w.reports[k]
			w.reports = slices.Delete(w.reports, k, k+1)
			w.note("the report of agent %s of %s", who, r.path)
			w.learned(r.path, r.author.At)
			return w.Reported(r.author, r.path, r.before, r.after)
		}
	case 9:
		w.note("a look at %s", path)
		return w.look(path, p)
	case 10, 11: // a change that only a look sees, in a turn
		if err := w.catchUp(); err != nil {
			return err
		}
		d := w.deed(2 + w.rand.IntN(sessions))
		before := p.now()
		w.note("agent %d, unreported: %s of %s: %+v", d.by, w.edit(p, d, false), path, p.now())
		if before == p.now() {
			return nil
		}
		a := w.author(d, true)
		if err := w.Found(a, path, &before, p.now(), a.At); err != nil {
			return err
		}
		return w.check()
	case 12, 13:
		return w.buffer(path, i)
	case 14, 15, 16, 17:
		return w.decideSome()
	case 18:
		return w.stash(path, p)
	case 19:
		return w.commit(path, p)
	case 20:
		return w.checkpoint()
	case 21:
		killed := w.rand.IntN(2) == 0
		if w.rand.IntN(2) == 0 && !w.crossed() {
			// The reports on their way come to the next program, which may look before it hears
			// them.
			if err := w.reopen(killed); err != nil || w.rand.IntN(2) == 0 {
				return err
			}
			return w.look(path, p)
		}
		if err := w.catchUp(); err != nil {
			return err
		}
		return w.takeOver(killed)
	}
	return nil
}

// buffer has the user type, while an agent changes the buffer too. The text is saved, or
// the editor is killed before.
func (w *days) buffer(path string, i int) error {
	if err := w.catchUp(); err != nil {
		return err
	}
	p := w.files[i]
	if p.now().Kind != Regular {
		return nil
	}
	if err := w.Track(path, p.now()); err != nil {
		return err
	}
	saved := p.copy()
	agents := false
	for range 1 + w.rand.IntN(3) {
		before := split(p.now().Text)
		who := user
		if w.rand.IntN(3) == 0 {
			who, agents = 2+w.rand.IntN(sessions), true
		}
		d := w.deed(who)
		w.note("in a buffer, %d: %s of %s: %+v", who, w.edit(p, d, true), path, p.now())
		after := split(p.now().Text)
		if slices.Equal(before, after) { // a report of nothing may say more of what is known
			continue
		}
		if who != user {
			if err := w.Changed(w.author(d, false), path, nil, p.now()); err != nil {
				return err
			}
			continue
		}
		start := 0
		for start < min(len(before), len(after)) && before[start] == after[start] {
			start++
		}
		tail := 0
		for tail < min(len(before), len(after))-start && before[len(before)-1-tail] == after[len(after)-1-tail] {
			tail++
		}
		if err := w.Edited(path, Edit{start, len(before) - tail, after[start : len(after)-tail]}, false); err != nil {
			return err
		}
	}
	if err := w.check(); err != nil {
		return err
	}
	if !agents && w.rand.IntN(3) == 0 {
		w.files[i] = saved
		return w.takeOver(true)
	}
	return nil
}

// catchUp has all reports come, and then looks at everything.
func (w *days) catchUp() error {
	for _, r := range w.reports {
		if err := w.Reported(r.author, r.path, r.before, r.after); err != nil {
			return err
		}
	}
	w.reports = nil
	for i, p := range w.files {
		if err := w.Synced(w.path(i), p.now(), w.tick()); err != nil {
			return err
		}
	}
	return w.check()
}

// choose returns a selection and what it is for the judge.
func (w *days) choose() (Selection, [2]picks) {
	var s Selection
	of := func(ok func(deed) bool) picks {
		return picks{func(l inked) bool { return ok(l.add) }, func(l inked) bool { return ok(l.del) }, func(_ bool, d deed) bool { return ok(d) }}
	}
	none := of(func(deed) bool { return false })
	all := of(func(deed) bool { return true })
	switch w.rand.IntN(6) {
	case 0:
		return s, [2]picks{all, all}
	case 1:
		i, _ := w.some()
		s.Path = w.path(i)
		c := [2]picks{none, none}
		c[i] = all
		return s, c
	case 2:
		who := 2 + w.rand.IntN(sessions)
		s.Session = fmt.Sprint(who)
		c := of(func(d deed) bool { return d.by == who })
		return s, [2]picks{c, c}
	case 3:
		turn := fmt.Sprint("t", w.rand.IntN(w.deeds/4+1))
		s.Turn = turn
		c := of(func(d deed) bool { return d.turn == turn })
		return s, [2]picks{c, c}
	}
	i, p := w.some()
	hunks := w.Hunks(w.path(i))
	c := [2]picks{none, none}
	if len(hunks) == 0 {
		s.Path = w.path(i)
		c[i] = all
		return s, c
	}
	h := hunks[w.rand.IntN(len(hunks))]
	s.Hunk = h.ID
	c[i] = p.hunk(h)
	return s, c
}

// check compares everything when everything is known.
func (w *days) check() error {
	for i, p := range w.files {
		base, current, known := w.Known(w.path(i))
		if !known {
			continue
		}
		agreed := p.copy()
		agreed.order(base.Text)
		if err := p.same("the base", base, agreed.base()); err != nil {
			return fmt.Errorf("%s: %w", w.path(i), err)
		}
		p.order(current.Text)
		if err := p.same("now", current, p.now()); err != nil {
			return fmt.Errorf("%s: %w", w.path(i), err)
		}
		if current.Kind == Regular {
			if err := w.owners(w.path(i), p, current.Text); err != nil {
				return err
			}
		}
	}
	return nil
}

// owners compares whose the lines are.
func (w *days) owners(path string, p *paper, text string) error {
	whose := make(map[string]string)
	lines := split(text)
	for _, b := range w.Blame(path) {
		for _, l := range lines[b.Start:b.End] {
			if b.Pending {
				whose[l] = b.Author.Session
			}
		}
	}
	for _, l := range p.lines {
		want := ""
		if l.add.how == open {
			want = fmt.Sprint(l.add.by)
		}
		if l.now() && whose[l.text] != want {
			return fmt.Errorf("%s: %q is of %q, not %q", path, l.text, whose[l.text], want)
		}
	}
	return nil
}

// day plays a sequence.
func day(steps []uint64) (log []string, err error) {
	w := &days{store: newMemory(), now: time.Unix(1e9, 0), points: make(map[string]int)}
	w.Review, _ = Open(w.store, Options{})
	w.rand = rand.New(rand.NewPCG(steps[0], 77))
	for i := range w.files {
		p := &paper{thing: trait[node]{base: node{kind: Regular}}, mode: trait[fs.FileMode]{base: 0o777}}
		for range w.rand.IntN(5) {
			p.lines = append(p.lines, inked{text: w.text(0)})
		}
		w.files[i] = p
		if w.rand.IntN(2) == 0 {
			w.Track(w.path(i), p.now())
		}
		w.note("%s is %+v", w.path(i), p.now())
	}
	for _, s := range steps[1:] {
		w.rand = rand.New(rand.NewPCG(s, 78))
		if err = w.step(); err != nil {
			return w.log, err
		}
	}
	if err = w.catchUp(); err != nil {
		return w.log, err
	}
	// The tree is what it was before agents changed it, with what the user did.
	w.note("reject everything")
	plan, err := w.Reject(Selection{}, true)
	if err = w.apply(plan, err); err != nil && !errors.Is(err, ErrNothing) {
		return w.log, err
	}
	all := picks{func(inked) bool { return true }, func(inked) bool { return true }, func(bool, deed) bool { return true }}
	for i, p := range w.files {
		w.changed(i, func() { p.decide(all, false) })
	}
	return w.log, w.check()
}

// TestDaysEndWithWhatTheUserDid is the property of everything that happens to files in
// days of work. HERMES_SEED is the first sequence that is tried. A failing sequence is made as
// short as possible.
func TestDaysEndWithWhatTheUserDid(t *testing.T) {
	t.Parallel()
	first, _ := strconv.Atoi(os.Getenv("HERMES_SEED"))
	total := soak.Of(t, 200_000, 400)
	const workers = 4
	var once sync.Once
	var wg sync.WaitGroup
	var unknown atomic.Int64
	for worker := range workers {
		wg.Go(func() {
			for i := range total / workers {
				seed := uint64(first + i*workers + worker)
				r := rand.New(rand.NewPCG(seed, 43))
				steps := make([]uint64, 25)
				for k := range steps {
					steps[k] = uint64(r.Uint32())
				}
				_, err := day(steps)
				if errors.Is(err, errOpen) {
					unknown.Add(1)
				} else if err != nil {
					once.Do(func() {
						steps = shorter(steps)
						log, err := day(steps)
						t.Errorf("HERMES_SEED=%d: %v\nday(%#v)\n%s", seed, err, steps, strings.Join(log, "\n"))
					})
					return
				}
			}
		})
	}
	wg.Wait()
	if n := int(unknown.Load()); n > total/4 {
		t.Errorf("the judge knew the end of %d sequences only, of %d", total-n, total)
	}
}

// shorter leaves out steps as long as the sequence fails.
func shorter(steps []uint64) []uint64 {
	for n := len(steps) / 2; n > 0; {
		cut := false
		for i := 1; i+n <= len(steps); i++ {
			if less := slices.Delete(slices.Clone(steps), i, i+n); len(less) > 0 {
				if _, err := day(less); err != nil && !errors.Is(err, errOpen) {
					steps, cut = less, true
					break
				}
			}
		}
		if !cut {
			n /= 2
		}
	}
	return steps
}
