package review

import (
	"slices"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// A span says that lines a0 to a1 of one text are replaced by lines b0 to b1 of
// another. Ends are exclusive.
type span struct{ a0, a1, b0, b1 int }

// diff returns what turns the lines a into the lines b, in order and with at
// least one common line between two spans. Its time is bounded on any input:
// lines that are unique on both sides are matched first (in n log n), and what
// lies between them is compared by a search that gives up after 100 differences
// and then returns a coarser result.
func diff(a, b []string) []span {
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	a, b = a[start:len(a)-end], b[start:len(b)-end]
	switch {
	case len(a) == 0 && len(b) == 0:
		return nil
	case len(a) == 0 || len(b) == 0 || len(a) == 1 && len(b) == 1:
		return []span{{start, start + len(a), start, start + len(b)}}
	}
	d := differ{}
	ids := make(map[string]int32, len(a)+len(b))
	intern := func(lines []string) []int32 {
		out := make([]int32, len(lines))
		for i, l := range lines {
			id, ok := ids[l]
			if !ok {
				id = int32(len(ids))
				ids[l] = id
			}
			out[i] = id
		}
		return out
	}
	x, y := intern(a), intern(b)
	d.seen = make([]occurrence, len(ids))
	d.compare(x, y, start, start, 0)
	return d.spans
}

// maxDepth bounds how often lines are looked for that are unique between those
// already matched.
const maxDepth = 8

type differ struct {
	spans []span
	seen  []occurrence // by id of a line; all zero between calls of anchors
}

type occurrence struct{ inA, inB, b int32 }

func (d *differ) compare(a, b []int32, offA, offB, depth int) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b, offA, offB = a[1:], b[1:], offA+1, offB+1
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) == 0 || len(b) == 0 || len(a) == 1 && len(b) == 1 {
		d.add(span{offA, offA + len(a), offB, offB + len(b)})
		return
	}
	var matched [][2]int32
	if depth < maxDepth {
		matched = d.anchors(a, b)
	}
	if len(matched) == 0 {
		for _, c := range lcs.DiffRunes(a, b) {
			d.add(span{offA + c.Start, offA + c.End, offB + c.ReplStart, offB + c.ReplEnd})
		}
		return
	}
	var i, j int
	for _, m := range matched {
		d.compare(a[i:m[0]], b[j:m[1]], offA+i, offB+j, depth+1)
		i, j = int(m[0])+1, int(m[1])+1
	}
	d.compare(a[i:], b[j:], offA+i, offB+j, depth+1)
}

func (d *differ) add(s span) {
	if s.a0 == s.a1 && s.b0 == s.b1 {
		return
	}
	if n := len(d.spans); n > 0 && d.spans[n-1].a1 == s.a0 && d.spans[n-1].b1 == s.b0 {
		d.spans[n-1].a1, d.spans[n-1].b1 = s.a1, s.b1
		return
	}
	d.spans = append(d.spans, s)
}

// anchors returns the longest increasing sequence of pairs of lines that occur
// once in a and once in b.
func (d *differ) anchors(a, b []int32) [][2]int32 {
	for _, id := range a {
		d.seen[id].inA++
	}
	for j, id := range b {
		d.seen[id].inB++
		d.seen[id].b = int32(j)
	}
	var pairs [][2]int32
	for i, id := range a {
		if o := d.seen[id]; o.inA == 1 && o.inB == 1 {
			pairs = append(pairs, [2]int32{int32(i), o.b})
		}
	}
	for _, id := range a {
		d.seen[id] = occurrence{}
	}
	for _, id := range b {
		d.seen[id] = occurrence{}
	}
	// Patience sorting: tails[k] ends the best sequence of length k+1.
	var tails []int32
	before := make([]int32, len(pairs))
	for i, p := range pairs {
		k, _ := slices.BinarySearchFunc(tails, p[1], func(t, b int32) int { return int(pairs[t][1] - b) })
		before[i] = -1
		if k > 0 {
			before[i] = tails[k-1]
		}
		if k == len(tails) {
			tails = append(tails, int32(i))
		} else {
			tails[k] = int32(i)
		}
	}
	if len(tails) == 0 {
		return nil
	}
	out := make([][2]int32, len(tails))
	for k, i := len(tails)-1, tails[len(tails)-1]; i >= 0; k, i = k-1, before[i] {
		out[k] = pairs[i]
	}
	return out
}
