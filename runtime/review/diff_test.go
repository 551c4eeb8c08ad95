package review

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/soak"
)

func apply(a, b []string, spans []span) []string {
	var out []string
	i := 0
	for _, s := range spans {
		out = append(out, a[i:s.a0]...)
		out = append(out, b[s.b0:s.b1]...)
		i = s.a1
	}
	return append(out, a[i:]...)
}

func TestADiffTurnsOneTextIntoTheOther(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	random := func() []string {
		lines := make([]string, r.IntN(12))
		for i := range lines {
			lines[i] = string(rune('a'+r.IntN(5))) + "\n"
		}
		return lines
	}
	for range 20_000 {
		a, b := random(), random()
		spans := diff(a, b)
		if got := apply(a, b, spans); !slices.Equal(got, b) {
			t.Fatalf("%q to %q by %v: %q", a, b, spans, got)
		}
		i, j := 0, 0
		for n, s := range spans {
			if n > 0 && s.a0 == i || s.a0-i != s.b0-j || s.a0 == s.a1 && s.b0 == s.b1 {
				t.Fatalf("%q to %q: spans %v touch, are empty or skip a line", a, b, spans)
			}
			i, j = s.a1, s.b1
		}
	}
}

func TestADiffFindsEveryOfManySmallChanges(t *testing.T) {
	t.Parallel()
	var a []string
	for i := range 10_000 {
		a = append(a, fmt.Sprintf("\tline %d\n", i), "}\n")
	}
	b := slices.Clone(a)
	for i := 0; i < len(b); i += 40 {
		b[i] = "changed\n"
	}
	if n := len(diff(a, b)); n != 500 {
		t.Fatalf("%d differences, not 500", n)
	}
}

// hostile are texts on which the usual algorithms need quadratic time or space.
func hostile(lines int) map[string][2][]string {
	few := func(seed uint64) []string {
		r := rand.New(rand.NewPCG(seed, 0))
		out := make([]string, lines)
		for i := range out {
			out[i] = string(rune('a'+r.IntN(3))) + "\n"
		}
		return out
	}
	distinct := func(prefix string) []string {
		out := make([]string, lines)
		for i := range out {
			out[i] = prefix + fmt.Sprint(i) + "\n"
		}
		return out
	}
	long := func(end string) []string {
		out := make([]string, lines/100)
		for i := range out {
			out[i] = strings.Repeat("x", 10_000) + fmt.Sprint(i%7) + end
		}
		return out
	}
	reversed := distinct("a")
	slices.Reverse(reversed)
	pairs := append(distinct("a"), distinct("a")...)
	slices.Sort(pairs)
	return map[string][2][]string{
		"three different lines in any order": {few(1), few(2)},
		"nothing in common":                  {distinct("a"), distinct("b")},
		"the same lines in reverse":          {distinct("a"), reversed},
		"every line twice":                   {append(distinct("a"), distinct("a")...), pairs},
		"long lines":                         {long("a\n"), long("b\n")},
	}
}

func TestADiffOfHostileTextsIsBounded(t *testing.T) {
	t.Parallel()
	lines := soak.Of(t, 200_000, 50_000) // of which a search without bounds would take minutes
	for name, c := range hostile(lines) {
		spans := patience.Ends(t, name, func() []span { return diff(c[0], c[1]) })
		if !slices.Equal(apply(c[0], c[1], spans), c[1]) {
			t.Errorf("%s: wrong", name)
		}
	}
}

func BenchmarkDiff(b *testing.B) {
	for _, n := range []int{10_000, 200_000} {
		for name, c := range hostile(n) {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				for b.Loop() {
					diff(c[0], c[1])
				}
			})
		}
		var text []string
		for i := range n {
			text = append(text, fmt.Sprintf("\tline %d\n", i))
		}
		changed := slices.Clone(text)
		for i := 0; i < n; i += 100 {
			changed[i] = "changed\n"
		}
		b.Run(fmt.Sprintf("%d/one line in a hundred", n), func(b *testing.B) {
			for b.Loop() {
				diff(text, changed)
			}
		})
		changed = slices.Insert(slices.Clone(text), n/2, "new\n")
		b.Run(fmt.Sprintf("%d/one line", n), func(b *testing.B) {
			for b.Loop() {
				diff(text, changed)
			}
		})
	}
}
