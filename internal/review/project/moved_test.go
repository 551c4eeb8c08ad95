package project

import (
	"fmt"
	"strings"
	"testing"
)

// Only the latest files wait for their other name, and take little memory.
func TestFilesThatMayHaveMovedTakeLittleMemory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ files, bytes, first, kept int }{
		{3, 100, 0, 3},
		{120, 100, 70, maxMoved},
		{40, 1 << 20, 36, 4},
		{1, maxTexts + 1, 0, 0},
	} {
		t.Run(fmt.Sprint(c.files, " of ", c.bytes), func(t *testing.T) {
			var files []moved
			for i := range c.files {
				files = append(files, moved{fmt.Sprint(i), strings.Repeat("x", c.bytes)})
			}
			kept := latest(append(files, moved{"large", strings.Repeat("x", maxTexts+1)}))
			if len(kept) != c.kept || c.kept > 0 && kept[0].name != fmt.Sprint(c.first) {
				t.Errorf("%d kept, want %d from number %d on", len(kept), c.kept, c.first)
			}
		})
	}
}

func BenchmarkMovesAreFound(b *testing.B) {
	text := func(seed int) string {
		var s strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&s, "line %d of the file %d of this project, with some words\n", i, seed)
		}
		return s.String()
	}
	var gone, made []moved
	for i := range maxMoved {
		gone = append(gone, moved{fmt.Sprint("old", i), text(i)})
		made = append(made, moved{fmt.Sprint("new", i), text(maxMoved + i)})
	}
	for b.Loop() {
		var news []map[string]int
		for _, to := range made {
			news = append(news, linesOf(to.text))
		}
		for _, from := range gone {
			old := linesOf(from.text)
			for _, to := range news {
				shared(old, to)
			}
		}
	}
}
