package review

import "testing"

func TestWhoRereadsAPartKnowsWhatChangedInIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, known, now string
		start, end       int
		want             string
	}{
		{"the same", "a\nb\n", "a\nb\n", 0, 1, "a\nb\n"},
		{"inside", "a\nb\nc\n", "a\nB\nc\n", 1, 2, "a\nB\nc\n"},
		{"outside, above", "a\nb\nc\n", "A\nb\nc\n", 1, 3, "a\nb\nc\n"},
		{"outside, below", "a\nb\nc\n", "a\nb\nC\n", 0, 2, "a\nb\nc\n"},
		{"one of two", "a\nb\nc\n", "A\nb\nC\n", 2, 3, "a\nb\nC\n"},
		{"lines that were added above", "a\nb\nc\n", "n\nn\na\nb\nC\n", 4, 5, "a\nb\nC\n"},
		{"only a part of it", "a\nb\nc\nd\n", "a\nX\nY\nd\n", 2, 3, "a\nb\nc\nd\n"},
		{"lines that are gone between", "a\nb\nc\n", "a\nc\n", 0, 2, "a\nc\n"},
		{"lines that are gone at the edge", "a\nb\nc\nd\n", "a\nc\nd\n", 1, 2, "a\nb\nc\nd\n"},
		{"lines that are gone at the start", "a\nb\n", "b\n", 0, 1, "b\n"},
		{"lines that are gone at the end", "a\nb\n", "a\n", 0, 9, "a\n"},
		{"everything", "a\n", "b\nc\n", 0, 2, "b\nc\n"},
		{"of a binary file", "a\x00", "b\x00", 0, 1, "a\x00"},
	} {
		if got := Reread(c.known, c.now, c.start, c.end); got != c.want {
			t.Errorf("%s: %q, not %q", c.name, got, c.want)
		}
	}
}
