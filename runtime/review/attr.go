package review

import "slices"

// An attribute is a fact about a file as a whole, such as its permission bits,
// in the base and now. Every change of an agent is a step; each step is decided
// on its own, like a line.
type attribute[T comparable] struct {
	base  T
	steps []step[T] // never changed in place
}

type step[T comparable] struct {
	to   T
	fact fact
	hunk uint64
}

// now returns the value of the last step that is not rejected.
func (a attribute[T]) now() T {
	for _, s := range slices.Backward(a.steps) {
		if s.fact.state != rejected {
			return s.to
		}
	}
	return a.base
}

// agreed returns the value of the last step that is accepted.
func (a attribute[T]) agreed() T {
	for _, s := range slices.Backward(a.steps) {
		if s.fact.state == accepted {
			return s.to
		}
	}
	return a.base
}

// open returns the last pending step, unless one that is accepted follows.
func (a attribute[T]) open() *step[T] {
	for i := len(a.steps) - 1; i >= 0; i-- {
		switch a.steps[i].fact.state {
		case pending:
			return &a.steps[i]
		case accepted:
			return nil
		}
	}
	return nil
}

// holds reports whether a change is pending, also one below a later one.
func (a attribute[T]) holds(change func(ChangeID) bool) bool {
	for _, s := range slices.Backward(a.steps) {
		switch {
		case s.fact.state == accepted:
			return false
		case s.fact.state == pending && change(s.fact.by):
			return true
		}
	}
	return false
}

func (a attribute[T]) set(to T, who writer) attribute[T] {
	switch {
	case a.now() == to:
		return a
	case who.by == 0:
		return attribute[T]{base: to}
	}
	// An agent that takes back what it did leaves nothing.
	without := attribute[T]{a.base, slices.DeleteFunc(slices.Clone(a.steps), func(s step[T]) bool {
		return s.fact.state == pending && who.same(s.fact.by) && who.turn(s.fact.by)
	})}
	if without.now() == to {
		return without
	}
	a.steps = append(slices.Clone(a.steps), step[T]{to: to, fact: fact{who.by, pending, 0}})
	return a
}

// each returns the attribute with its facts changed by f.
func (a attribute[T]) each(f func(step[T]) fact) attribute[T] {
	steps := slices.Clone(a.steps)
	for i, s := range steps {
		if steps[i].fact = f(s); steps[i].fact != s.fact {
			steps[i].hunk = 0
		}
	}
	a.steps = steps
	return a
}

func (a attribute[T]) decide(pick func(step[T]) bool, to state, act uint32) attribute[T] {
	return a.each(func(s step[T]) fact {
		if s.fact.state == pending && pick(s) {
			return fact{s.fact.by, to, act}
		}
		return s.fact
	})
}

func (a attribute[T]) undo(act uint32) attribute[T] {
	return a.each(func(s step[T]) fact {
		if s.fact.act == act && s.fact.state != never {
			return fact{s.fact.by, pending, 0}
		}
		return s.fact
	})
}

func (a attribute[T]) revert(change func(ChangeID) bool, act uint32) attribute[T] {
	return a.each(func(s step[T]) fact {
		if (s.fact.state == pending || s.fact.state == accepted) && change(s.fact.by) {
			return fact{s.fact.by, rejected, act}
		}
		return s.fact
	})
}
