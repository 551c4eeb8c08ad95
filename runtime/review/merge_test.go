package review

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestAMergeHasBothChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, base, ours, theirs, merged string }{
		{"apart", "a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n", "A\nb\nc\nD\n"},
		{"in lines next to each other", "a\nb\n", "A\nb\n", "a\nB\n", "A\nB\n"},
		{"the same", "a\nb\n", "a\nc\n", "a\nc\n", "a\nc\n"},
		{"of them the same", "a\nb\nc\n", "A\nb\nc\n", "A\nb\nC\n", "A\nb\nC\n"},
		{"none of ours", "a\n", "a\n", "b\n", "b\n"},
		{"none of theirs", "a\n", "b\n", "a\n", "b\n"},
		{"inserted at one place", "a\nb\n", "a\nu\nb\n", "a\nx\nb\n", "a\nu\nx\nb\n"},
		{"inserted at the end", "a\n", "a\nu\n", "a\nx\n", "a\nu\nx\n"},
		{"of which one begins like the other", "a\nb\n", "a\nx\nb\n", "a\nx\ny\nb\n", "a\nx\ny\nb\n"},
		{"of which one ends like the other", "a\nb\n", "a\ny\nb\n", "a\nx\ny\nb\n", "a\nx\ny\nb\n"},
		{"inserted above what is replaced", "a\nb\nc\n", "a\nu\nb\nc\n", "a\nB\nc\n", "a\nu\nB\nc\n"},
		{"inserted below what is replaced", "a\nb\nc\n", "a\nb\nu\nc\n", "a\nB\nc\n", "a\nB\nu\nc\n"},
		{"deleted and replaced apart", "a\nb\nc\nd\n", "a\nc\nd\n", "a\nb\nc\nD\n", "a\nc\nD\n"},
		{"with CRLF", "a\r\nb\r\nc\r\n", "u\r\na\r\nb\r\nc\r\n", "a\r\nb\r\nC\r\n", "u\r\na\r\nb\r\nC\r\n"},
		{"of which one removes the last newline", "a\nb\n", "u\na\nb\n", "a\nb", "u\na\nb"},
		{"behind a last line without newline", "", "u", "x\n", "u\nx\n"},
		{"of binary files, one of them none", "a\x00", "a\x00", "b\x00", "b\x00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			merged, conflicts := Merge(c.base, c.ours, c.theirs)
			if merged != c.merged || len(conflicts) != 0 {
				t.Errorf("%q, not %q; conflicts %+v", merged, c.merged, conflicts)
			}
		})
	}
}

func TestAMergeKeepsOursWhereBothChanged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, base, ours, theirs, merged string
		conflict                         Conflict
	}{
		{"the same line", "a\nb\nc\n", "a\nu\nc\n", "a\nx\nc\nd\n", "a\nu\nc\nd\n",
			Conflict{1, []string{"b\n"}, []string{"u\n"}, []string{"x\n"}, 1}},
		{"a line that they deleted", "a\nb\nc\n", "a\nu\nc\n", "a\nc\n", "a\nu\nc\n",
			Conflict{1, []string{"b\n"}, []string{"u\n"}, nil, 1}},
		{"a line that we deleted", "a\nb\nc\n", "a\nc\n", "a\nx\nc\n", "a\nc\n",
			Conflict{1, []string{"b\n"}, nil, []string{"x\n"}, 1}},
		{"lines that they replaced, inside", "a\nb\nc\nd\n", "a\nb\nu\nc\nd\n", "x\n", "a\nb\nu\nc\nd\n",
			Conflict{0, []string{"a\n", "b\n", "c\n", "d\n"}, []string{"a\n", "b\n", "u\n", "c\n", "d\n"}, []string{"x\n"}, 0}},
		{"a line below one that they added", "a\nb\nc\n", "a\nu\nc\n", "n\na\nx\nc\n", "n\na\nu\nc\n",
			Conflict{2, []string{"b\n"}, []string{"u\n"}, []string{"x\n"}, 1}},
		{"a binary file", "a\x00", "b\x00", "c\x00", "b\x00",
			Conflict{0, []string{"a\x00"}, []string{"b\x00"}, []string{"c\x00"}, 0}},
		{"a file that both made, theirs binary", "", "u\n", "\x00", "u\n", Conflict{0, nil, []string{"u\n"}, []string{"\x00"}, 0}},
		{"a text that they made binary", "a\nb\n", "a\nu\nb\n", "\x00", "a\nu\nb\n",
			Conflict{0, []string{"a\n", "b\n"}, []string{"a\n", "u\n", "b\n"}, []string{"\x00"}, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			merged, conflicts := Merge(c.base, c.ours, c.theirs)
			if merged != c.merged {
				t.Errorf("%q, not %q", merged, c.merged)
			}
			same := func(a, b Conflict) bool {
				return a.Line == b.Line && a.At == b.At && slices.Equal(a.Base, b.Base) && slices.Equal(a.Ours, b.Ours) && slices.Equal(a.Theirs, b.Theirs)
			}
			if len(conflicts) != 1 || !same(conflicts[0], c.conflict) {
				t.Errorf("%+v, not %+v", conflicts, c.conflict)
			}
		})
	}
}

func TestAMergeLosesNoLineOfOurs(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	next := 0
	change := func(lines []string, mark string) (out, added []string) {
		for _, l := range lines {
			if r.IntN(4) == 0 {
				next++
				added = append(added, mark+string(rune('0'+next%10))+string(rune('a'+next/10%26))+string(rune('a'+next/260%26))+"\n")
				out = append(out, added[len(added)-1])
			}
			if r.IntN(4) > 0 {
				out = append(out, l)
			}
		}
		return out, added
	}
	for range 20_000 {
		base := make([]string, r.IntN(8))
		for i := range base {
			base[i] = string(rune('a'+r.IntN(4))) + "\n"
		}
		ours, mine := change(base, "u")
		theirs, its := change(base, "x")
		b, o, th := strings.Join(base, ""), strings.Join(ours, ""), strings.Join(theirs, "")
		merged, conflicts := Merge(b, o, th)
		lines := split(merged)
		follows := func(want []string) bool {
			for _, l := range lines {
				if len(want) > 0 && l == want[0] {
					want = want[1:]
				}
			}
			return len(want) == 0
		}
		if !follows(mine) {
			t.Fatalf("base %q, ours %q, theirs %q: %q lacks a line of ours", b, o, th, merged)
		}
		if len(conflicts) == 0 && !follows(its) {
			t.Fatalf("base %q, ours %q, theirs %q: %q lacks a line of theirs without a conflict", b, o, th, merged)
		}
		for _, c := range conflicts {
			if !slices.Equal(lines[c.Line:c.Line+len(c.Ours)], c.Ours) || !slices.Equal(ours[c.At:c.At+len(c.Ours)], c.Ours) {
				t.Fatalf("base %q, ours %q, theirs %q: the conflict %+v is not in %q", b, o, th, c, merged)
			}
		}
		if back, _ := Merge(b, th, o); len(conflicts) == 0 && len(back) != len(merged) {
			t.Fatalf("base %q, ours %q, theirs %q: %q, the other way round %q", b, o, th, merged, back)
		}
	}
}
