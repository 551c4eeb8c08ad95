package jx

import (
	"bytes"
	"slices"
)

// Grow returns s with room for the element that has just been read, and for those
// that probably follow. list is where the array started.
func Grow[T any](d *Dec, s []T, list Mark) []T {
	if len(s) < cap(s) {
		return s
	}
	return slices.Grow(s, 1+d.following(len(s)+1, list))
}

// following guesses how many elements follow the first n of a list. It assumes that
// they are as long as the earlier ones and that the list ends at the next bracket.
// A wrong guess costs memory, so it is limited by what was actually read.
func (d *Dec) following(n int, list Mark) int {
	end := bytes.IndexByte(d.b[d.p:], ']')
	if end <= 0 {
		return 0
	}
	guess := end/((d.p-list.p)/n+1) + 1
	return min(guess+guess/4, max(31, 3*n))
}
