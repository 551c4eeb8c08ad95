package review

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// The model by which TestDaysEndWithWhatTheUserDid judges.

// deed is something that an agent did.
type deed struct {
	by, at int
	turn   string
	how    int // open or yes; 0: nobody did it
}

// inked is a line.
type inked struct {
	text     string
	gone     bool // for good
	add, del deed
	undone   bool // its deletion was undone: who deletes it again is anybody's guess
}

func (l inked) now() bool  { return !l.gone && l.del.how == 0 }
func (l inked) base() bool { return !l.gone && l.add.how != open && l.del.how != yes }

// trait is a fact about a file as a whole.
type trait[T comparable] struct {
	base  T
	deeds []traitDeed[T]
}

type traitDeed[T comparable] struct {
	deed
	to T
}

func (t trait[T]) last(picks func(deed) bool) T {
	v := t.base
	for _, d := range t.deeds {
		if picks(d.deed) {
			v = d.to
		}
	}
	return v
}
func (t trait[T]) now() T    { return t.last(func(deed) bool { return true }) }
func (t trait[T]) agreed() T { return t.last(func(d deed) bool { return d.how == yes }) }

// seen reports whether a pending deed is picked that no accepted one hides.
func (t trait[T]) seen(picks func(deed) bool) (some bool) {
	for _, d := range t.deeds {
		some = d.how != yes && (some || picks(d.deed))
	}
	return some
}

// by is what somebody makes of it.
func (t trait[T]) by(to T, d deed) trait[T] {
	if t.now() == to {
		return t
	}
	if d.by == user {
		return trait[T]{base: to}
	}
	without := trait[T]{t.base, slices.DeleteFunc(slices.Clone(t.deeds), func(o traitDeed[T]) bool {
		return o.how == open && o.by == d.by && o.turn == d.turn
	})}
	if without.now() == to {
		return without
	}
	return trait[T]{t.base, append(slices.Clone(t.deeds), traitDeed[T]{d, to})}
}

// each decides deeds: 0 takes one back.
func (t trait[T]) each(f func(traitDeed[T]) int) trait[T] {
	var kept []traitDeed[T]
	for _, d := range t.deeds {
		if d.how = f(d); d.how != 0 {
			kept = append(kept, d)
		}
	}
	return trait[T]{t.base, kept}
}

// paper is a file.
type paper struct {
	lines  []inked
	thing  trait[node]
	mode   trait[fs.FileMode]
	part   bool // decided by hunks, or remade by the user: whether it is empty or absent is not judged
	remade bool // by the user, or created: its mode is not judged
}

func (p *paper) copy() *paper {
	c := *p
	c.lines = slices.Clone(p.lines)
	return &c
}

func (p *paper) state(n node, mode fs.FileMode, in func(inked) bool) State {
	var b strings.Builder
	for _, l := range p.lines {
		if in(l) {
			b.WriteString(l.text)
		}
	}
	return stateIs(n, mode, b.String())
}

func stateIs(n node, mode fs.FileMode, text string) State {
	switch {
	case n.kind == Link || n.kind == Other:
		return State{Kind: n.kind, Target: n.target}
	case n.kind == Regular || text != "":
		return State{Kind: Regular, Text: text, Mode: mode}
	}
	return State{}
}

func (p *paper) now() State  { return p.state(p.thing.now(), p.mode.now(), inked.now) }
func (p *paper) base() State { return p.state(p.thing.agreed(), p.mode.agreed(), inked.base) }

func (p *paper) strike(i int, d deed) {
	switch l := &p.lines[i]; {
	case !l.now() || l.undone && d.by == user:
	case d.by == user, l.add.how == open && l.add.by == d.by && l.add.turn == d.turn:
		l.gone = true
	case l.add.how == open && l.add.by == d.by:
		d.how = yes
		l.del = d
	default:
		l.del = d
	}
}

// picks is what a decision is about.
type picks struct {
	add, del func(inked) bool
	whole    func(mode bool, d deed) bool
}

func (p *paper) decide(c picks, accept bool) {
	how, some := 0, false
	if accept {
		how = yes
	}
	for i := range p.lines {
		l := &p.lines[i]
		if l.gone || l.del.how == yes {
			continue
		}
		add, del := l.add.how == open && c.add(*l), l.del.how == open && c.del(*l)
		some = some || add || del
		if add {
			l.gone = !accept
			l.add.how = how
		}
		if del {
			if l.del.how = how; !accept {
				l.del = deed{}
			}
		}
	}
	mode := func(d deed) bool { return c.whole(true, d) }
	thing := func(d deed) bool { return c.whole(false, d) }
	if some = some || p.mode.seen(mode) || p.thing.seen(thing); !some {
		return
	}
	// All of it, also below what was accepted.
	p.mode = p.mode.each(func(d traitDeed[fs.FileMode]) int {
		if d.how == open && mode(d.deed) {
			return how
		}
		return d.how
	})
	p.thing = p.thing.each(func(d traitDeed[node]) int {
		if d.how == open && thing(d.deed) {
			return p.needed(d, how)
		}
		return d.how
	})
	p.exists()
}

// exists says that a file with lines exists, whatever was decided about that.
func (p *paper) exists() {
	base, now := slices.ContainsFunc(p.lines, inked.base), slices.ContainsFunc(p.lines, inked.now)
	p.thing = p.thing.each(func(d traitDeed[node]) int {
		switch {
		case d.how == open && d.to.kind == Regular && base:
			return yes
		case d.how == open && d.to.kind == Absent && now:
			return 0
		}
		return d.how
	})
}

// needed is what becomes of a deed: lines of the user need a file.
func (p *paper) needed(d traitDeed[node], how int) int {
	if how == 0 && d.to.kind == Regular && slices.ContainsFunc(p.lines, inked.base) {
		return yes
	}
	return how
}

// hunk is what a hunk is for the judge.
func (p *paper) hunk(h Hunk) picks {
	if h.Kind == Text {
		session, _ := strconv.Atoi(h.Session)
		return picks{
			func(l inked) bool { return l.del.how == 0 && slices.Contains(h.New, l.text) && l.add.by == session },
			func(l inked) bool {
				return (slices.Contains(h.Old, l.text) || slices.Contains(h.Others, l.text)) && l.del.by == session
			},
			func(bool, deed) bool { return false },
		}
	}
	nobody := func(inked) bool { return false }
	if h.Kind == Mode {
		last := 0
		if n := len(p.mode.deeds); n > 0 {
			last = p.mode.deeds[n-1].at
		}
		return picks{nobody, nobody, func(mode bool, d deed) bool { return mode && d.at == last }}
	}
	last := -1
	for _, d := range p.thing.deeds {
		if d.how == open {
			last = d.at
		}
	}
	return picks{func(l inked) bool { return l.add.at == last }, func(l inked) bool { return l.del.at == last }, func(_ bool, d deed) bool { return d.at == last }}
}

// order puts lines in the order of a text: where the review puts lines that come back
// is its business.
func (p *paper) order(text string) {
	at := func(l inked) int { return strings.Index("\n"+text, "\n"+l.text) }
	there := slices.DeleteFunc(slices.Clone(p.lines), func(l inked) bool { return at(l) < 0 })
	slices.SortStableFunc(there, func(a, b inked) int { return at(a) - at(b) })
	p.lines = append(there, slices.DeleteFunc(p.lines, func(l inked) bool { return at(l) >= 0 })...)
}

// errOpen ends a sequence about which the judge does not know more: whether a file that
// was decided by hunks is there without its lines.
var errOpen = errors.New("the judge does not know")

func (p *paper) same(what string, got, want State) error {
	if p.remade {
		got.Mode, want.Mode = 0, 0
	}
	switch {
	case got == want:
		return nil
	case p.part && got.Text == "" && want.Text == "" && (want.Kind == Absent || want.Kind == Regular):
		return errOpen
	}
	return fmt.Errorf("%s is %+v, not %+v", what, got, want)
}
