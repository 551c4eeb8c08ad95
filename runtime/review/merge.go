package review

import (
	"slices"
	"strings"
)

// A Conflict is a place where two texts changed the same lines differently.
type Conflict struct {
	Line               int // of the merged text, from 0, where Ours starts
	Base, Ours, Theirs []string
	At                 int // the line of ours, from 0, where Ours starts
}

// Merge applies to ours what changed from base to theirs, by lines. Both may
// insert at the same place; ours comes first then. Where both changed the same
// lines differently, or one of the texts is binary and both changed, the merged
// text has the lines of ours. No line that ours added or changed is ever lost.
func Merge(base, ours, theirs string) (merged string, conflicts []Conflict) {
	switch {
	case ours == theirs || theirs == base:
		return ours, nil
	case ours == base:
		return theirs, nil
	case opaque(base) || opaque(ours) || opaque(theirs):
		return ours, []Conflict{{Base: split(base), Ours: split(ours), Theirs: split(theirs)}}
	}
	m := merger{base: split(base), ours: split(ours), theirs: split(theirs)}
	m.merge(diff(m.base, m.ours), diff(m.base, m.theirs))
	return m.text(), m.conflicts
}

type merger struct {
	base, ours, theirs []string
	out                []string
	done               int // lines of base
	conflicts          []Conflict
}

func (m *merger) merge(a, b []span) {
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && before(a[0], b[0]):
			m.take(a[0], m.ours)
			a = a[1:]
		case len(a) == 0 || before(b[0], a[0]):
			m.take(b[0], m.theirs)
			b = b[1:]
		default:
			// Spans that overlap, and those that overlap these.
			i, j := 1, 1
			for {
				if i < len(a) && !before(b[j-1], a[i]) {
					i++
				} else if j < len(b) && !before(a[i-1], b[j]) {
					j++
				} else {
					break
				}
			}
			m.both(a[:i], b[:j])
			a, b = a[i:], b[j:]
		}
	}
	m.out = append(m.out, m.base[m.done:]...)
}

// before reports whether s is over when t starts. Of two insertions at one
// place, neither is.
func before(s, t span) bool {
	return s.a1 < t.a0 || s.a1 == t.a0 && (s.a0 < s.a1 || t.a0 < t.a1)
}

func (m *merger) take(s span, from []string) {
	m.out = append(m.out, m.base[m.done:s.a0]...)
	m.out = append(m.out, from[s.b0:s.b1]...)
	m.done = s.a1
}

func (m *merger) both(a, b []span) {
	start, end := min(a[0].a0, b[0].a0), max(a[len(a)-1].a1, b[len(b)-1].a1)
	region := func(spans []span, of []string) (int, []string) {
		first, last := spans[0], spans[len(spans)-1]
		at := first.b0 - (first.a0 - start)
		return at, of[at : last.b1+(end-last.a1)]
	}
	at, ours := region(a, m.ours)
	_, theirs := region(b, m.theirs)
	m.out = append(m.out, m.base[m.done:start]...)
	m.done = end
	switch {
	case slices.Equal(ours, theirs):
		m.out = append(m.out, ours...)
	case start == end:
		m.insertBoth(ours, theirs)
	default:
		m.conflicts = append(m.conflicts, Conflict{len(m.out), slices.Clone(m.base[start:end]), slices.Clone(ours), slices.Clone(theirs), at})
		m.out = append(m.out, ours...)
	}
}

// insertBoth inserts what both begin or end with once.
func (m *merger) insertBoth(ours, theirs []string) {
	head, tail := 0, 0
	for head < min(len(ours), len(theirs)) && ours[head] == theirs[head] {
		head++
	}
	ours, theirs, m.out = ours[head:], theirs[head:], append(m.out, ours[:head]...)
	for tail < min(len(ours), len(theirs)) && ours[len(ours)-1-tail] == theirs[len(theirs)-1-tail] {
		tail++
	}
	m.out = append(append(m.out, ours[:len(ours)-tail]...), theirs...)
}

func (m *merger) text() string {
	end := "\n"
	if len(m.out) > 0 && strings.HasSuffix(m.out[0], "\r\n") {
		end = "\r\n"
	}
	var b strings.Builder
	for i, l := range m.out {
		b.WriteString(l)
		if i < len(m.out)-1 && ragged(l) {
			b.WriteString(end)
		}
	}
	return b.String()
}
