package files

import (
	"strings"
	"testing"
)

func BenchmarkRead(b *testing.B) {
	w, err := Open([]string{b.TempDir()}, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	path := w.Roots()[0] + "/a/b/c.txt"
	if err := w.WriteText(path, strings.Repeat("some text in a line\n", 500)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := w.ReadText(path, Range{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	w, err := Open([]string{b.TempDir()}, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	text := strings.Repeat("some text in a line\n", 500)
	for b.Loop() {
		if err := w.WriteText(w.Roots()[0]+"/a/b/c.txt", text); err != nil {
			b.Fatal(err)
		}
	}
}
