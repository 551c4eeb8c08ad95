package review

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func numbered(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("\tline %d of a file of some length\n", i)
	}
	return lines
}

// changed is a file of n lines of which an agent has changed one in a hundred.
func changed(b testing.TB, n int) *Review {
	r, err := Open(newMemory(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	lines := numbered(n)
	base := text(strings.Join(lines, ""))
	for i := 0; i < n; i += 100 {
		lines[i] = "changed\n"
	}
	if err := r.Changed(Author{Session: "s"}, "a", &base, text(strings.Join(lines, ""))); err != nil {
		b.Fatal(err)
	}
	return r
}

func BenchmarkAgentWrites(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := changed(b, n)
			_, now, _ := r.Known("a")
			other := strings.Replace(now.Text, "line 510 ", "line five hundred and ten ", 1)
			for i := 0; b.Loop(); i++ {
				if err := r.Changed(Author{Session: "s"}, "a", nil, text([]string{other, now.Text}[i%2])); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkUserTypes(b *testing.B) {
	for _, n := range []int{1000, 10_000, 200_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := changed(b, n)
			line := []string{"a line that the user types into\n"}
			if err := r.Edited("a", Edit{n / 2, n / 2, line}, false); err != nil {
				b.Fatal(err)
			}
			for i := 0; b.Loop(); i++ {
				line[0] = fmt.Sprintf("a line that the user types into %d\n", i)
				if err := r.Edited("a", Edit{n / 2, n/2 + 1, line}, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkHunk(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprintf("accept/%d", n), func(b *testing.B) {
			r := changed(b, n)
			for b.Loop() {
				d, err := r.Accept(Selection{Hunk: r.Hunks("a")[0].ID})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				p, err := r.Undo(d)
				if err != nil {
					b.Fatal(err)
				}
				if err := p.Apply(nil); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
		b.Run(fmt.Sprintf("reject/%d", n), func(b *testing.B) {
			r := changed(b, n)
			write := func(Change) error { return nil }
			for b.Loop() {
				p, err := r.Reject(Selection{Hunk: r.Hunks("a")[0].ID}, false)
				if err == nil {
					err = p.Apply(write)
				}
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if p, err = r.Undo(p.Decision); err == nil {
					err = p.Apply(write)
				}
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}

func thousand(b testing.TB, s Store) *Review {
	r, err := Open(s, Options{})
	if err != nil {
		b.Fatal(err)
	}
	lines := numbered(200)
	base := text(strings.Join(lines, ""))
	now := text(strings.Join(slices.Insert(lines, 100, "new\n", "lines\n"), ""))
	for i := range 1000 {
		if err := r.Changed(Author{Session: "s"}, fmt.Sprintf("dir/file%d.go", i), &base, now); err != nil {
			b.Fatal(err)
		}
	}
	return r
}

func BenchmarkThousandFiles(b *testing.B) {
	m := newMemory()
	r := thousand(b, m)
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			if _, err := Open(m, Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("list after open", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			r, err := Open(m, Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			if n := len(r.Files()); n != 1000 {
				b.Fatal(n)
			}
		}
	})
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			r.Files()
		}
	})
	b.Run("hunks of one", func(b *testing.B) {
		for b.Loop() {
			r.Hunks("dir/file7.go")
		}
	})
	b.Run("memory", func(b *testing.B) {
		var before, after runtime.MemStats
		for b.Loop() {
			runtime.GC()
			runtime.ReadMemStats(&before)
			r, err := Open(m, Options{})
			if err != nil {
				b.Fatal(err)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			runtime.KeepAlive(r)
		}
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1000, "B/file")
	})
}

func BenchmarkMerge(b *testing.B) {
	lines := numbered(10_000)
	base := strings.Join(lines, "")
	ours := strings.Join(slices.Insert(slices.Clone(lines), 5000, "u\n"), "")
	theirs := slices.Clone(lines)
	for i := 0; i < len(theirs); i += 100 {
		theirs[i] = "changed\n"
	}
	changed := strings.Join(theirs, "")
	for b.Loop() {
		Merge(base, ours, changed)
	}
}
