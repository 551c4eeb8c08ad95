package review

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-nvim/hermes/internal/soak"
)

// play runs the engine and the model through the same steps and reports where
// they differ. Four bytes are a step; what they mean depends on the state, so
// that any part of a sequence is a sequence too.
type play struct {
	w       weave
	m       *model
	disk    string
	changes []change // by ChangeID, from 1
	turn    int
	decided uint32
	hunkIDs uint64
	fresh   int
	seen    []string // lines that were there once
	log     []string
	quiet   bool
	mine    map[string]bool // lines that the user typed and that nobody took away with the user's consent
}

type change struct{ session, turn int }

const sessions = 2 // 2 and 3; 1 is the user

func (p *play) session(id ChangeID) string {
	if id == 0 {
		return ""
	}
	return strconv.Itoa(p.changes[id-1].session)
}

func (p *play) writer(session int, undo bool) writer {
	if session == user {
		return writer{undo: undo}
	}
	p.changes = append(p.changes, change{session, p.turn})
	return writer{
		by:   ChangeID(len(p.changes)),
		same: func(id ChangeID) bool { return p.changes[id-1].session == session },
		turn: func(id ChangeID) bool { return p.changes[id-1].turn == p.turn },
	}
}

func (p *play) next() uint64 { p.hunkIDs++; return p.hunkIDs }

func (p *play) line(who int) string {
	p.fresh++
	l := fmt.Sprintf("%c%d\n", "bu23"[who], p.fresh)
	p.seen = append(p.seen, l)
	return l
}

// start is the text before anything happened.
func (p *play) start(arg byte) {
	var text strings.Builder
	for range arg % 6 {
		text.WriteString(p.line(0))
	}
	p.disk = text.String()
	if arg&8 != 0 {
		p.disk = strings.TrimSuffix(p.disk, "\n")
	}
	if arg&16 != 0 {
		p.disk = strings.ReplaceAll(p.disk, "\n", "\r\n")
	}
	p.w, p.m = weaveOf(p.disk), newModel(p.disk)
	if p.disk == "" {
		p.m = new(model)
	}
	p.mine = make(map[string]bool)
}

func (p *play) step(op [4]byte) error {
	what, a, b, c := op[0], int(op[1]), int(op[2]), int(op[3])
	switch what % 16 {
	case 0, 1, 2, 3: // the user types
		p.edit(user, a, b, c)
	case 4, 5, 6, 7: // an agent writes
		p.edit(2+a%sessions, a/2, b, c)
	case 8, 9: // a hunk is decided
		return p.hunk(a, what%16 == 8)
	case 10: // everything, or everything of a session
		how, state := yes, accepted
		if a&1 == 0 {
			how, state = no, rejected
		}
		only := b % (sessions + 2)
		p.decided++
		p.note("decide %v of session %d", state, only)
		p.w = p.w.decide(func(l line) (bool, bool) {
			m := l.marks()
			return only < 2 || p.session(m.add.by) == fmt.Sprint(only), only < 2 || p.session(m.del.by) == fmt.Sprint(only)
		}, state, p.decided)
		p.m.decide(func(_ int, f fate) bool { return only < 2 || f.session == only }, how, int(p.decided))
	case 11: // a decision is undone
		if p.decided == 0 {
			return nil
		}
		d := p.decided - uint32(a)%p.decided
		p.note("undo decision %d", d)
		p.w = p.w.undo(d, p.session)
		p.m.undo(int(d))
	case 12: // the user saves, or loads what is on the disk
		if a&1 == 0 {
			p.note("save")
			p.disk = p.w.current()
			return nil
		}
		p.load("reload")
	case 13: // a prompt
		p.turn++
		p.note("turn %d", p.turn)
	case 14: // the program ends without a save and starts again
		w, err := again(p.w)
		if err != nil {
			return err
		}
		p.w = w
		p.load("restart")
	case 15: // back to a prompt
		if p.turn == 0 {
			return nil
		}
		p.decided++
		turn := a % p.turn
		p.note("back to turn %d", turn)
		p.w = p.w.revert(func(id ChangeID) bool { return id != 0 && p.changes[id-1].turn > turn }, p.decided)
		p.m.since(turn, int(p.decided))
	}
	return nil
}

// ambiguous reports whether a line is there twice. The model cannot know then
// which of them an edit keeps.
func (p *play) ambiguous() bool {
	now := p.m.now()
	for i := range now {
		now[i] = strings.TrimSpace(now[i])
		if slices.Contains(now[:i], now[i]) {
			return true
		}
	}
	return false
}

func (p *play) note(format string, args ...any) {
	if !p.quiet {
		p.log = append(p.log, fmt.Sprintf(format, args...))
	}
}

// edit replaces some lines by a mix of them, of new ones and of one that was
// there before.
func (p *play) edit(who, a, b, c int) {
	now := p.m.now()
	from := a % (len(now) + 1)
	to := from + b%4%(len(now)-from+1)
	var lines []string
	old := now[from:to]
	for i := range 4 {
		switch (c >> (2 * i)) % 4 {
		case 0:
			lines = append(lines, p.line(who))
		case 1: // an old line stays
			if len(old) > 0 {
				lines = append(lines, old[0])
			}
		case 2: // and again
			if i == 2 && b >= 64 {
				if l := p.back(now, lines); l != "" {
					lines = append(lines, l)
				}
			}
		}
		if len(old) > 0 {
			old = old[1:]
		}
	}
	if b&4 != 0 { // the whole text at once
		lines = append(append(slices.Clone(now[:from]), lines...), now[to:]...)
		from, to = 0, len(now)
	}
	for i := range lines {
		if i < len(lines)-1 || to < len(now) {
			if !strings.HasSuffix(lines[i], "\n") {
				lines[i] += "\n"
			}
		} else if b&8 != 0 {
			lines[i] = strings.TrimSuffix(lines[i], "\n")
		}
	}
	p.write(who, from, to, lines, who == user && b&16 != 0)
}

// back returns a line that is not in the current text and stands at most once in
// the model.
func (p *play) back(now, lines []string) string {
	for i := len(p.seen) - 1; i >= 0; i-- {
		l := p.seen[i]
		n := 0
		for _, have := range p.m.cut() {
			if strings.TrimSpace(spell(have)) == strings.TrimSpace(l) {
				n++
			}
		}
		same := func(have string) bool { return strings.TrimSpace(have) == strings.TrimSpace(l) }
		if n == 1 && !slices.ContainsFunc(now, same) && !slices.ContainsFunc(lines, same) {
			return l
		}
	}
	return ""
}

func (p *play) write(who, from, to int, lines []string, undo bool) {
	now, written := p.m.now()[from:to], 0 // lines that are deleted now and come back
	for _, l := range lines {
		for _, have := range p.m.cut() {
			if len(have) == len(l) && spell(have) == l && !slices.Contains(now, l) {
				written++
			}
		}
	}
	if written > 1 { // perhaps in another order
		return
	}
	p.note("session %d edits %d to %d: %q undo %v", who, from, to, lines, undo)
	if who == user {
		for _, l := range now {
			delete(p.mine, strings.TrimSpace(l))
		}
		for _, l := range lines {
			if l[0] == 'u' {
				p.mine[strings.TrimSpace(l)] = true
			}
		}
	}
	p.w = p.w.edit(from, to, lines, p.writer(who, undo))
	p.m.edit(from, to, slices.Clone(lines), who, p.turn, undo)
}

// load makes what is on the disk the current text, which is the user's doing.
func (p *play) load(why string) {
	p.note("%s", why)
	var lines []string
	if p.disk != "" {
		lines = strings.SplitAfter(p.disk, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
	}
	now, common := p.m.now(), []string(nil)
	for _, l := range now {
		if slices.Contains(lines, l) {
			common = append(common, l)
		}
	}
	for _, l := range lines {
		if len(common) > 0 && l == common[0] {
			common = common[1:]
		}
	}
	if len(common) > 0 { // lines changed places, so what stays and what moves is a matter of taste
		p.disk = p.w.current()
		return
	}
	p.write(user, 0, len(now), lines, false)
}

// hunk accepts or rejects one hunk.
func (p *play) hunk(n int, accept bool) error {
	var runs []*run
	runs, p.w = p.w.runs(p.session, p.next)
	hunks := p.m.hunks()
	if len(hunks) == 0 {
		return nil
	}
	h := hunks[n%len(hunks)]
	lines := p.m.copy().cut()
	// The numbers that the engine gave the pending lines, by line of the model.
	ids := make(map[int]uint64)
	at := -1
	for _, b := range p.w.blocks {
		for _, l := range b.lines {
			if l.open() == nil {
				continue
			}
			for at++; at < len(lines) && lines[at][0].decides() == 0; at++ {
			}
			if at == len(lines) || strings.TrimSpace(spell(lines[at])) != strings.TrimSpace(l.text) {
				return fmt.Errorf("%q is pending in the engine only", l.text)
			}
			ids[at] = l.m.hunk
		}
	}
	id := ids[h.lines[0]]
	if id == 0 || !slices.ContainsFunc(runs, func(r *run) bool { return r.id == id }) {
		return fmt.Errorf("the engine has no hunk with %q", spell(lines[h.lines[0]]))
	}
	how, state := no, rejected
	if accept {
		how, state = yes, accepted
	}
	p.decided++
	p.note("%v hunk of session %d at %q", state, h.session, spell(lines[h.lines[0]]))
	// Lines that the user wrote into a hunk do not split it. The model does not
	// know which these are.
	chosen := make(map[int]bool)
	last := -1
	for i := range lines {
		if ids[i] != id {
			continue
		}
		for between := last + 1; last >= 0 && between < i; between++ {
			if c := lines[between][0]; !c.gone() && c.wrote != user {
				return fmt.Errorf("a hunk goes on after %q", spell(lines[between]))
			}
		}
		last = i
	}
	for _, other := range hunks {
		for _, i := range other.lines {
			if ids[i] != ids[other.lines[0]] {
				return fmt.Errorf("a hunk of session %d is split at %q", h.session, spell(lines[i]))
			}
			chosen[i] = ids[i] == id
		}
	}
	decides := h.session
	p.w = p.w.decide(only(id), state, p.decided)
	p.m.decide(func(line int, f fate) bool {
		if !chosen[line] {
			return false
		}
		c := lines[line][0]
		return f.session == decides && (f == c.del || c.del.how != open)
	}, how, int(p.decided))
	return nil
}

// check compares everything that can be seen.
func (p *play) check() error {
	if got, want := p.w.current(), p.m.text(cell.now); got != want {
		return fmt.Errorf("the current text is %q, not %q", got, want)
	}
	if got, want := p.w.base(), p.m.text(cell.base); got != want {
		return fmt.Errorf("the base is %q, not %q", got, want)
	}
	// Authors, byte by byte.
	var got []byte
	for _, b := range p.w.blocks {
		for _, l := range b.lines {
			if !l.inCurrent() {
				continue
			}
			who := byte('0')
			if m := l.marks(); m.add.state == pending {
				who = p.session(m.add.by)[0]
			}
			for range l.text {
				got = append(got, who)
			}
		}
	}
	i := 0
	for _, c := range p.m.bytes {
		if !c.now() {
			continue
		}
		want := byte('0')
		if c.add.how == open {
			want = byte('0' + c.add.session)
		}
		if got[i] != want {
			return fmt.Errorf("byte %d of %q is of %c, not %c", i, p.w.current(), got[i], want)
		}
		if c.wrote == user && got[i] != '0' {
			return fmt.Errorf("byte %d of %q is the user's, and attributed to %c", i, p.w.current(), got[i])
		}
		i++
	}
	return nil
}

// finish checks what must be so at the end of any sequence.
func (p *play) finish(r byte) error {
	all := func(line) (bool, bool) { return true, true }
	none := p.reject(p.w)
	if got := none.current(); got != p.w.base() {
		return fmt.Errorf("rejecting everything gives %q, the base is %q", got, p.w.base())
	}
	if n := none.runsLeft(p); n != 0 {
		return fmt.Errorf("%d hunks after rejecting everything", n)
	}
	for l := range p.mine {
		if p.has(l, cell.base) && !strings.Contains("\n"+none.current(), "\n"+l) {
			return fmt.Errorf("the user's %q is lost by rejecting everything: %q", l, none.current())
		}
	}
	for _, l := range split(none.current()) {
		if l[0] == '2' || l[0] == '3' {
			if !p.has(strings.TrimSpace(l), func(c cell) bool { return c.wrote == user || c.add.how == yes }) {
				return fmt.Errorf("%q of an agent is there after rejecting everything", l)
			}
		}
	}
	full := p.w.decide(all, accepted, 1<<20)
	if full.current() != p.w.current() || full.base() != p.w.current() {
		return fmt.Errorf("accepting everything gives %q and the base %q, not %q", full.current(), full.base(), p.w.current())
	}
	runs, w := p.w.runs(p.session, p.next)
	if again, _ := w.runs(p.session, p.next); len(again) != len(runs) {
		return fmt.Errorf("%d hunks, then %d", len(runs), len(again))
	}
	each := w
	for _, i := range rand.New(rand.NewPCG(uint64(r), 0)).Perm(len(runs)) {
		each = each.decide(only(runs[i].id), accepted, 1<<20)
	}
	for each.runsLeft(p) > 0 { // deletions of what became the base
		var more []*run
		more, each = each.runs(p.session, p.next)
		each = each.decide(only(more[0].id), accepted, 1<<20)
	}
	if each.current() != full.current() || each.base() != full.base() {
		return fmt.Errorf("accepting one by one gives %q and the base %q, not %q", each.current(), each.base(), full.base())
	}
	for i := range runs {
		j := (i + 1 + int(r)) % len(runs)
		if i == j {
			continue
		}
		one := w.decide(only(runs[i].id), accepted, 1<<20).decide(only(runs[j].id), rejected, 1<<20)
		two := w.decide(only(runs[j].id), rejected, 1<<20).decide(only(runs[i].id), accepted, 1<<20)
		if one.current() != two.current() || one.base() != two.base() {
			return fmt.Errorf("accepting hunk %d and rejecting %d does not commute: %q and %q", i, j, one.current(), two.current())
		}
	}
	return nil
}

func only(id uint64) func(line) (bool, bool) {
	return choice{id, func(ChangeID) bool { return true }}.line
}

// reject rejects hunk by hunk until none is left.
func (p *play) reject(w weave) weave {
	for {
		runs, numbered := w.runs(p.session, p.next)
		if len(runs) == 0 {
			return numbered
		}
		w = numbered.decide(only(runs[len(runs)/2].id), rejected, 1<<20)
	}
}

func (w weave) runsLeft(p *play) int {
	runs, _ := w.runs(p.session, p.next)
	return len(runs)
}

func (p *play) has(text string, as func(cell) bool) bool {
	return slices.ContainsFunc(p.m.cut(), func(l []cell) bool { return strings.TrimSpace(spell(l)) == text && as(l[0]) })
}

func interleave(steps []byte, quiet bool) (log []string, err error) {
	if len(steps) == 0 {
		return nil, nil
	}
	p := &play{quiet: quiet}
	p.start(steps[0])
	p.note("the text is %q", p.disk)
	for steps = steps[1:]; len(steps) >= 4; steps = steps[4:] {
		if err = p.step([4]byte(steps)); err == nil {
			err = p.check()
		}
		if !p.quiet {
			p.note("  now %q, base %q", p.m.text(cell.now), p.m.text(cell.base))
		}
		if err == nil && p.ambiguous() {
			break
		}
		if err != nil {
			return p.log, err
		}
	}
	return p.log, p.finish(byte(p.fresh))
}

// shrink returns the shortest sequence it finds that still fails.
func shrink(steps []byte) []byte {
	fails := func(s []byte) bool { _, err := interleave(s, true); return err != nil }
	for n := len(steps) / 4; n > 0; {
		shorter := false
		for i := 1; i+4*n <= len(steps); i += 4 {
			if s := slices.Delete(slices.Clone(steps), i, i+4*n); fails(s) {
				steps, shorter = s, true
				break
			}
		}
		if !shorter {
			n /= 2
		}
	}
	for i := range steps {
		for _, smaller := range []byte{0, 1, steps[i] & 15, steps[i] & 0x3f} {
			if smaller < steps[i] {
				if s := slices.Clone(steps); true {
					s[i] = smaller
					if fails(s) {
						steps = s
						break
					}
				}
			}
		}
	}
	return steps
}

const seeds = "testdata/fuzz/FuzzInterleavings"

// TestNoByteOfTheUserIsLostOrAttributedToAnAgent is the property of the engine.
// A sequence that fails is kept as a seed of FuzzInterleavings, so that it is
// run again from then on.
func TestNoByteOfTheUserIsLostOrAttributedToAnAgent(t *testing.T) {
	t.Parallel()
	total, workers := soak.Of(t, 200_000, 10_000), 4
	var once sync.Once
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(worker), 11))
			for range total / workers {
				steps := make([]byte, 1+4*(2+r.IntN(12)))
				for i := range steps {
					steps[i] = byte(r.Uint32())
				}
				if _, err := interleave(steps, true); err != nil {
					once.Do(func() {
						small := shrink(steps)
						log, err := interleave(small, false)
						name := filepath.Join(seeds, fmt.Sprintf("%x", small[:min(len(small), 16)]))
						if err := os.MkdirAll(seeds, 0o755); err == nil {
							os.WriteFile(name, fmt.Appendf(nil, "go test fuzz v1\n[]byte(%q)\n", small), 0o644)
						}
						t.Errorf("%v\n%s\nkept in %s", err, strings.Join(log, "\n"), name)
					})
					return
				}
			}
		})
	}
	wg.Wait()
}

func FuzzInterleavings(f *testing.F) {
	r := rand.New(rand.NewPCG(0, 12))
	for range 8 {
		steps := make([]byte, 1+4*20)
		for i := range steps {
			steps[i] = byte(r.Uint32())
		}
		f.Add(steps)
	}
	f.Fuzz(func(t *testing.T, steps []byte) {
		if len(steps) > 400 {
			steps = steps[:400]
		}
		if log, err := interleave(steps, false); err != nil {
			t.Errorf("%v\n%s", err, strings.Join(log, "\n"))
		}
	})
}
