package review

import "slices"

// A run is a hunk as the weave has it: pending lines of one session with no
// line between them that is in both texts, other than the user's.
type run struct {
	id                 uint64
	session            string
	changes            []ChangeID // ascending
	facts              uint64     // a sum of what is pending in its lines
	version            ChangeID   // see Hunk.Version
	base0, base1       int        // lines of the base that it replaces
	current0, current1 int        // by these of the current text
	old, new           []string
	others             []string // what it deleted of other sessions', which the base never had
	user               []int    // lines of the current text, in it or next to it, that the user wrote into it
}

// runs returns the hunks, in order, and the weave in which each has its number.
// A hunk keeps its number while a line of it is pending. If two become one, the
// older number stays; if one is split, its first part keeps it.
func (w weave) runs(session func(ChangeID) string, next func() uint64) ([]*run, weave) {
	if w.sum.marked == 0 {
		return nil, w
	}
	var all []*run
	var of []*run // of each marked line, or nil
	used := make(map[uint64]bool)
	var now *run            // still open
	var loose []int         // lines of the user since the end of the last run, with no other between
	var looseOf []int       // their places in of
	var ids []uint64        // that lines of the open run have
	var betweenOld []string // what goes into the open run if it goes on
	end := func() {
		if now == nil {
			return
		}
		for _, id := range ids {
			if id != 0 && !used[id] && (now.id == 0 || id < now.id) {
				now.id = id
			}
		}
		if now.id == 0 {
			now.id = next()
		}
		used[now.id] = true
		now.new = w.lines(now.current0, now.current1)
		now = nil
	}
	base, current := 0, 0
	for _, b := range w.blocks {
		if b.marked == 0 {
			end()
			loose, looseOf = nil, nil
			base += b.base
			current += b.current
			continue
		}
		for _, l := range b.lines {
			if l.m == nil {
				end()
				loose, looseOf = nil, nil
				base++
				current++
				continue
			}
			of = append(of, nil)
			place := len(of) - 1
			f := l.open()
			switch {
			case f != nil:
				if s := session(f.by); now == nil || now.session != s {
					end()
					now = &run{session: s, base0: base, current0: current, user: slices.Clone(loose)}
					all = append(all, now)
					ids, betweenOld = nil, nil
				}
				for _, i := range looseOf {
					of[i] = now
				}
				now.old = append(now.old, betweenOld...)
				loose, looseOf, betweenOld = nil, nil, nil
				of[place] = now
				ids = append(ids, l.m.hunk)
				now.facts = summed(now.facts, l.m.add, l.m.del)
				if i, found := slices.BinarySearch(now.changes, f.by); !found {
					now.changes = slices.Insert(now.changes, i, f.by)
				}
				switch {
				case l.inCurrent():
				case !l.inBase():
					now.others = append(now.others, l.text)
				default:
					now.old = append(now.old, l.text)
				}
				now.base1, now.current1 = base, current
				if l.inBase() {
					now.base1++
				}
				if l.inCurrent() {
					now.current1++
				}
			case l.m.user && !l.dead():
				if now != nil {
					now.user = append(now.user, current)
					of[place] = now
					betweenOld = append(betweenOld, l.text)
				}
				loose, looseOf = append(loose, current), append(looseOf, place)
			case l.dead():
			default:
				end()
				loose, looseOf = nil, nil
			}
			if l.inBase() {
				base++
			}
			if l.inCurrent() {
				current++
			}
		}
	}
	end()
	i := -1
	return all, w.each(func(l line) (line, bool) {
		i++
		m := l.marks()
		switch {
		case of[i] == nil:
			m.user = false // nothing is pending there any more
		case l.open() != nil:
			m.hunk = of[i].id
		}
		return l.with(m), true
	})
}

// summed adds facts to a sum of facts, which depends on their order.
func summed(sum uint64, facts ...fact) uint64 {
	for _, f := range facts {
		sum = (sum^uint64(f.by)<<3^uint64(f.state))*0x9e3779b97f4a7c15 + 1
	}
	return sum
}
