package review

import "slices"

// decide gives pending facts another state: of each line those that pick returns.
func (w weave) decide(pick func(line) (add, del bool), to state, act uint32) weave {
	return w.each(func(l line) (line, bool) {
		if l.open() == nil {
			return l, true
		}
		m := l.marks()
		add, del := pick(l)
		if add && m.add.state == pending {
			m.add.state, m.add.act, m.hunk = to, act, 0
		}
		if del && m.del.state == pending {
			m.del.state, m.del.act, m.hunk = to, act, 0
		}
		return l.with(m), true
	})
}

// undo makes pending again what a decision decided and what is still so.
func (w weave) undo(act uint32, session func(ChangeID) string) weave {
	return w.each(func(l line) (line, bool) {
		m := l.marks()
		if m.add.act == act && m.add.state != never {
			m.add.state, m.add.act, m.hunk = pending, 0, 0
		}
		if m.del.act == act && m.del.state != never {
			m.del.state, m.del.act, m.hunk = pending, 0, 0
		}
		if m.add.state == pending && m.del.state == pending && session(m.add.by) == session(m.del.by) {
			m.del.state = accepted // as if the session had just deleted its own line
		}
		return l.with(m), true
	})
}

// revert takes changes back, accepted or not.
func (w weave) revert(change func(ChangeID) bool, act uint32) weave {
	return w.each(func(l line) (line, bool) {
		m := l.marks()
		for _, f := range []*fact{&m.add, &m.del} {
			if (f.state == pending || f.state == accepted) && change(f.by) {
				f.state, f.act, m.hunk = rejected, act, 0
			}
		}
		return l.with(m), true
	})
}

// committed returns the runs that a committed text has as the current text has
// them.
func (w weave) committed(text string, runs []*run) []*run {
	spans := diff(split(text), w.lines(0, w.sum.current))
	return slices.DeleteFunc(slices.Clone(runs), func(r *run) bool {
		return slices.ContainsFunc(spans, func(s span) bool {
			if s.b0 < r.current1 && r.current0 < s.b1 {
				return true
			}
			return s.a0 < s.a1 && len(r.old) > 0 && s.b0 <= r.current1 && r.current0 <= s.b1
		})
	})
}

// forget drops the older dead lines if they are above a size in bytes. The
// decisions that removed them can then not be undone; until is the last change
// that this concerns, if any.
func (w weave) forget(size int) (_ weave, until ChangeID) {
	for {
		all := w.sum
		if all.deadBytes <= size {
			return w, until
		}
		newest := func(l line) ChangeID { return max(l.m.add.by, l.m.del.by) }
		ages := make([]ChangeID, 0, all.dead)
		for _, b := range w.blocks {
			for _, l := range b.lines {
				if l.dead() {
					ages = append(ages, newest(l))
				}
			}
		}
		slices.Sort(ages)
		until = ages[len(ages)/2]
		w = w.each(func(l line) (line, bool) { return l, !l.dead() || newest(l) > until })
	}
}
