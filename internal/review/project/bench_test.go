package project

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A prompt with its look at the disk and its checkpoint, in a folder of 3,000
// files. The first one reads all of them.
func BenchmarkPrompt(b *testing.B) {
	dir := b.TempDir()
	root := filepath.Join(dir, "project")
	for i := range 3000 {
		path := filepath.Join(root, fmt.Sprint("d", i%100), fmt.Sprint("f", i))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Repeat(fmt.Sprintln("line", i), 200)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	p, err := Open(filepath.Join(dir, "state"), root, Options{home: dir + "/home"})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	if err := p.Prompt(b.Context(), "s", "0", "first"); err != nil {
		b.Fatal(err)
	}
	first := time.Since(start)
	runtime.GC()
	runtime.ReadMemStats(&after)
	time.Sleep(3 * time.Second) // files that are new are read again
	n := 0
	for b.Loop() {
		n++
		if err := p.Prompt(b.Context(), "s", fmt.Sprint(n), "again"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(first.Milliseconds()), "first-ms")
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB")
}
