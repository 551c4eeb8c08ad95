package jx

import "slices"

// Grow returns s with room for one more element, which has just been read. It
// makes room for as many elements as the text after the cursor can hold when
// they are as long as those before, at most four times as many as there are.
func Grow[T any](d *Dec, s []T, start Mark) []T {
	if len(s) < cap(s) {
		return s
	}
	return slices.Grow(s, d.guess(len(s)+1, start))
}

// guess returns how many elements to make room for: the one that was read as
// number n of the array that started at m, and those that may follow.
func (d *Dec) guess(n int, start Mark) int {
	if d.p < len(d.b) && d.b[d.p] == ']' {
		return 1
	}
	mean := (d.p-start.p)/n + 1
	return 1 + min(3*n, (len(d.b)-d.p)/mean)
}
