package review

import (
	"slices"
	"strings"
)

// A ChangeID names one change of an agent. Later changes have larger numbers.
// Zero is no change: the base, or the user.
type ChangeID uint32

type state uint8

const (
	never    state = iota
	pending        // the agent's word, not yet the user's
	accepted       // of both
	rejected       // of neither
)

// A fact is what a change did to a line: adding it, or deleting it.
type fact struct {
	by    ChangeID
	state state
	act   uint32 // the decision that gave it its state, 0 for an edit
}

// marks are everything about a line that is not simply there. They are not
// changed but replaced, because weaves share them.
type marks struct {
	add, del fact
	user     bool   // the user wrote the line into a pending change
	hunk     uint64 // while pending
}

// A line includes its terminator. Without marks it is in the base and in the
// current text.
type line struct {
	text string
	m    *marks
}

func (l line) inBase() bool {
	return l.m == nil || (l.m.add.state == never || l.m.add.state == accepted) && l.m.del.state != accepted
}

func (l line) inCurrent() bool {
	return l.m == nil || l.m.add.state != rejected && (l.m.del.state == never || l.m.del.state == rejected)
}

// dead lines are kept only so that what removed them can be undone.
func (l line) dead() bool {
	return l.m != nil && (l.m.add.state == rejected || l.m.del.state == accepted)
}

// open returns the fact that a decision about the line is about, or nil. If one
// agent deleted what another one added, it is the deletion.
func (l line) open() *fact {
	switch {
	case l.m == nil || l.dead():
		return nil
	case l.m.del.state == pending:
		return &l.m.del
	case l.m.add.state == pending:
		return &l.m.add
	}
	return nil
}

// with returns the line with other marks, or without any that say nothing.
func (l line) with(m marks) line {
	if l.m != nil && *l.m == m {
		return l
	}
	l.m = nil
	if m.add.state != never || m.del.state != never || m.user {
		l.m = &m
	}
	return l
}

func (l line) marks() marks {
	if l.m == nil {
		return marks{}
	}
	return *l.m
}

// A weave is every line that is in the base, in the current text or remembered,
// in order. It is a value: methods return a new weave, which shares with the
// old one the blocks that are the same, so a copy is free and a change costs
// what it touches.
type weave struct {
	blocks []*block
	crlf   bool     // the terminator for lines that get one
	held   *version // of its lines, whatever their marks
	sum    tally
}

// A version is as good as another with the same address.
type version struct{ _ byte }

// blockLines is how many lines a block has at most.
const blockLines = 512

// block is never changed once it is in a weave.
type block struct {
	lines []line
	tally
}

// tally says how many lines are in the base, are in the current text, have
// marks, and are dead.
type tally struct {
	base, current, marked, dead int
	bytes, deadBytes            int
}

func (t *tally) add(o tally, sign int) {
	t.base += sign * o.base
	t.current += sign * o.current
	t.marked += sign * o.marked
	t.dead += sign * o.dead
	t.bytes += sign * o.bytes
	t.deadBytes += sign * o.deadBytes
}

func newBlock(lines []line) *block {
	b := &block{lines: lines}
	for _, l := range lines {
		b.bytes += len(l.text)
		if l.m == nil {
			b.base++
			b.current++
			continue
		}
		b.marked++
		if l.inBase() {
			b.base++
		}
		if l.inCurrent() {
			b.current++
		}
		if l.dead() {
			b.dead++
			b.deadBytes += len(l.text)
		}
	}
	return b
}

func newWeave(blocks []*block, crlf bool, held *version) weave {
	w := weave{blocks: blocks, crlf: crlf, held: held}
	for _, b := range blocks {
		w.sum.add(b.tally, 1)
	}
	return w
}

func appendBlocks(blocks []*block, lines []line) []*block {
	for len(lines) > 0 {
		n := min(len(lines), blockLines)
		if len(lines) > n && len(lines) < 2*blockLines {
			n = len(lines) / 2
		}
		blocks = append(blocks, newBlock(slices.Clip(lines[:n])))
		lines = lines[n:]
	}
	return blocks
}

// weaveOf returns the weave of a text without changes.
func weaveOf(text string) weave {
	cut := split(text)
	lines := make([]line, len(cut))
	for i, l := range cut {
		lines[i].text = l
	}
	return newWeave(appendBlocks(nil, lines), len(lines) > 0 && strings.HasSuffix(cut[0], "\r\n"), new(version))
}

// A place is before line i of block b, or at the end of the weave.
type place struct{ b, i int }

// after returns the place after the nth line of the current text, counted from
// 1; 0 is the start. Lines that are not current come after it.
func (w weave) after(n int) place {
	if n == 0 {
		return place{}
	}
	for b, block := range w.blocks {
		if n > block.current {
			n -= block.current
			continue
		}
		for i, l := range block.lines {
			if l.inCurrent() {
				if n--; n == 0 {
					return place{b, i + 1}
				}
			}
		}
	}
	return place{len(w.blocks), 0}
}

// before returns the place of the nth line of the current text, counted from 0.
func (w weave) before(n int) place {
	for b, block := range w.blocks {
		if n >= block.current {
			n -= block.current
			continue
		}
		for i, l := range block.lines {
			if l.inCurrent() {
				if n == 0 {
					return place{b, i}
				}
				n--
			}
		}
	}
	return place{len(w.blocks), 0}
}

// between returns the lines between two places.
func (w weave) between(from, to place) []line {
	var out []line
	for b := from.b; b <= to.b && b < len(w.blocks); b++ {
		lines := w.blocks[b].lines
		if b == to.b {
			lines = lines[:to.i]
		}
		if b == from.b {
			lines = lines[from.i:]
		}
		out = append(out, lines...)
	}
	return out
}

// replace returns the weave with other lines between two places.
func (w weave) replace(from, to place, lines []line) weave {
	if from.b == len(w.blocks) && from.b > 0 {
		from = place{from.b - 1, len(w.blocks[from.b-1].lines)}
	}
	var changed []line
	if from.b < len(w.blocks) {
		changed = append(changed, w.blocks[from.b].lines[:from.i]...)
	}
	changed = append(changed, lines...)
	rest := to.b
	if to.b < len(w.blocks) {
		changed = append(changed, w.blocks[to.b].lines[to.i:]...)
		rest++
	}
	if len(changed) < blockLines/4 && rest < len(w.blocks) { // keep blocks from getting small
		changed = append(changed, w.blocks[rest].lines...)
		rest++
	}
	blocks := make([]*block, 0, len(w.blocks)+len(lines)/blockLines+2)
	blocks = append(blocks, w.blocks[:from.b]...)
	blocks = appendBlocks(blocks, changed)
	sum := w.sum
	for _, b := range w.blocks[min(from.b, rest):rest] {
		sum.add(b.tally, -1)
	}
	for _, b := range blocks[from.b:] {
		sum.add(b.tally, 1)
	}
	return weave{append(blocks, w.blocks[rest:]...), w.crlf, new(version), sum}
}

// each returns the weave with every marked line replaced by what f returns for
// it; false removes the line.
func (w weave) each(f func(line) (line, bool)) weave {
	blocks := make([]*block, 0, len(w.blocks))
	changed, removed := false, false
	for _, b := range w.blocks {
		if b.marked == 0 {
			blocks = append(blocks, b)
			continue
		}
		var lines []line // nil while none differs
		for i, l := range b.lines {
			to, keep := l, true
			if l.m != nil {
				to, keep = f(l)
				removed = removed || !keep
			}
			if lines == nil && (to != l || !keep) {
				lines = append(make([]line, 0, len(b.lines)), b.lines[:i]...)
			}
			if lines != nil && keep {
				lines = append(lines, to)
			}
		}
		switch {
		case lines == nil:
			blocks = append(blocks, b)
			continue
		case len(lines) > 0:
			blocks = append(blocks, newBlock(lines))
		}
		changed = true
	}
	if !changed {
		return w
	}
	lines := w.held
	if removed {
		lines = new(version)
	}
	return newWeave(blocks, w.crlf, lines)
}

// text joins the lines that one side has. Changes can put lines behind one that
// has no terminator because it was the last; as long as it is not, it has one.
func (w weave) text(in func(line) bool) string {
	var b strings.Builder
	b.Grow(w.sum.bytes)
	open := false
	for _, block := range w.blocks {
		for _, l := range block.lines {
			if !in(l) {
				continue
			}
			if open {
				b.WriteString(w.terminator())
			}
			b.WriteString(l.text)
			open = ragged(l.text)
		}
	}
	return b.String()
}

func (w weave) base() string    { return w.text(line.inBase) }
func (w weave) current() string { return w.text(line.inCurrent) }

// lines returns lines from to to, exclusive, of the current text.
func (w weave) lines(from, to int) []string {
	if from >= to {
		return nil
	}
	out := make([]string, 0, to-from)
	p := w.before(from)
	for b := p.b; b < len(w.blocks); b++ {
		for _, l := range w.blocks[b].lines[p.i:] {
			if !l.inCurrent() {
				continue
			}
			if n := len(out); n > 0 && ragged(out[n-1]) {
				out[n-1] += w.terminator()
			}
			if len(out) == to-from {
				return out
			}
			out = append(out, l.text)
		}
		p.i = 0
	}
	return out
}

func (w weave) terminator() string {
	if w.crlf {
		return "\r\n"
	}
	return "\n"
}

// terminate makes the last line of the current text what it is with a
// terminator.
func (w weave) terminate(text string) weave {
	last := w.before(w.sum.current - 1)
	l := w.blocks[last.b].lines[last.i]
	l.text = text
	return w.replace(last, place{last.b, last.i + 1}, []line{l})
}
