package review

import (
	"slices"
	"strings"
)

// A writer is who changes the current text. The zero writer is the user.
type writer struct {
	by   ChangeID            // an agent's change
	same func(ChangeID) bool // whether a change is of the same session
	turn func(ChangeID) bool // and of the same turn
	undo bool                // the user's editor undoes or redoes
	seen bool                // only by a look, which may be wrong about who it was
}

// write returns the weave with another current text.
func (w weave) write(text string, who writer) weave {
	return w.edit(0, w.sum.current, split(text), who)
}

// edit returns the weave with lines from to to, exclusive, of the current text
// replaced by others.
func (w weave) edit(from, to int, lines []string, who writer) weave {
	old := w.lines(from, to)
	spans := diff(old, lines)
	if len(spans) == 0 {
		return w
	}
	n := w.sum.current
	last := "" // of the text that follows
	switch {
	case to < n:
	case len(lines) > 0:
		last = lines[len(lines)-1]
	case from > 0:
		last = w.lines(from-1, from)[0]
	}
	for _, s := range slices.Backward(spans) { // positions before a span stay
		w = w.replaceLines(from+s.a0, from+s.a1, lines[s.b0:s.b1], who)
	}
	// A line that had no terminator of its own may be the last now, with one.
	if n := w.sum.current; last != "" && !ragged(last) && ragged(w.lines(n-1, n)[0]) {
		if who.by != 0 {
			return w.replaceLines(n-1, n, []string{last}, who)
		}
		return w.terminate(last)
	}
	return w
}

// replaceLines replaces lines of the current text, all of them.
func (w weave) replaceLines(from, to int, lines []string, who writer) weave {
	start, end := w.after(from), w.before(to)
	gap := w.between(start, end)
	touched, front := false, false
	if who.by == 0 { // the user
		var before, after line
		if from > 0 {
			before = w.blocks[start.b].lines[start.i-1]
		}
		if end.b < len(w.blocks) {
			after = w.blocks[end.b].lines[end.i]
		}
		ofHunk := func(l line) bool { return l.open() != nil || l.m != nil && l.m.user }
		touched = ofHunk(before) && ofHunk(after)
		front = before.open() == nil && after.open() != nil
	}
	left := make([]line, 0, len(gap)+len(lines))
	for _, l := range gap {
		if l.inCurrent() {
			if l.m != nil && (l.m.user || l.m.add.state == pending) {
				touched, front = true, front && l.m.user
			}
			var keep bool
			if l, keep = who.remove(l); !keep {
				continue
			}
		}
		left = append(left, l)
	}
	return w.replace(start, end, who.insert(left, lines, touched, front))
}

// remove deletes a line of the current text; false: nothing of it is left.
func (who writer) remove(l line) (line, bool) {
	m := l.marks()
	switch {
	case who.by != 0 && m.add.state == pending && who.same(m.add.by):
		if who.turn(m.add.by) {
			return l, false
		}
		m.del = fact{who.by, accepted, 0} // going back to the earlier turn needs it
	case who.by != 0:
		m.del = fact{who.by, pending, 0}
	case who.undo && m.del.state == rejected:
		m.del.state, m.del.act = pending, 0
	case m.add.state == pending:
		m.add.state, m.add.act = rejected, 0 // so that the editor's undo brings it back as the agent's
	default:
		return l, false
	}
	m.hunk = 0
	return l.with(m), true
}

// restore brings back a line that is not in the current text because of somebody
// who now, in effect, takes that back.
func (who writer) restore(l line) (line, bool) {
	m := l.marks()
	switch {
	case who.by != 0 && m.add.state != rejected && (m.del.state == pending || m.add.state == pending && m.del.state == accepted):
		m.del = fact{}
	case who.by != 0:
		return l, false
	case m.del.state == pending && (m.add.state != pending || who.undo) && m.add.state != rejected:
		m.del.state, m.del.act = rejected, 0
	case who.undo && m.add.state == rejected && m.del.state != pending && m.del.state != accepted:
		m.add.state, m.add.act = pending, 0
	default:
		return l, false
	}
	m.hunk = 0
	return l.with(m), true
}

// insert puts lines into a gap, which has no line of the current text. A line
// that the gap holds already is restored, and the others go around it. If there
// is none, they go to the end, after what is deleted, or to the front, so that
// what the user writes above a pending change stays out of it.
func (who writer) insert(gap []line, lines []string, touched, front bool) []line {
	var may []int // places in the gap
	var texts []string
	for i, l := range gap {
		if _, ok := who.restore(l); ok {
			may, texts = append(may, i), append(texts, l.text)
		}
	}
	fresh := func(out []line, lines []string) []line {
		for _, text := range lines {
			l := line{text: strings.Clone(text)} // not the whole text it is cut from
			if who.by != 0 {
				l = l.with(marks{add: fact{who.by, pending, 0}})
			} else if touched {
				l = l.with(marks{user: true})
			}
			out = append(out, l)
		}
		return out
	}
	spans := diff(texts, lines)
	if len(spans) == 1 && spans[0] == (span{0, len(texts), 0, len(lines)}) { // nothing comes back
		if front {
			return append(fresh(nil, lines), gap...)
		}
		return fresh(gap, lines)
	}
	var out []line
	done, next := 0, 0 // of the gap, of the lines
	keep := func(a0, a1, b0 int) {
		for a := a0; a < a1; a++ {
			out = append(out, gap[done:may[a]]...)
			if b := b0 + a - a0; b > next {
				out = fresh(out, lines[next:b])
			}
			l, _ := who.restore(gap[may[a]])
			out = append(out, l)
			done, next = may[a]+1, b0+a-a0+1
		}
	}
	a, b := 0, 0
	for _, s := range spans {
		keep(a, s.a0, b)
		a, b = s.a1, s.b1
	}
	keep(a, len(texts), b)
	out = append(out, gap[done:]...)
	return fresh(out, lines[next:])
}
