package project

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// Reports of many changed files, one after the other over the socket. No editor is
// there, and no journal. The metric is what one report takes, which must not grow with those
// before it.
func BenchmarkReports(b *testing.B) {
	for _, n := range []int{1000, 3000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			must := func(err error) {
				if err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				b.StopTimer()
				dir := b.TempDir()
				root := filepath.Join(dir, "project")
				if err := os.MkdirAll(root, 0o755); err != nil {
					b.Fatal(err)
				}
				p, err := Open(filepath.Join(dir, "state"), root, Options{home: filepath.Join(dir, "home")})
				if err != nil {
					b.Fatal(err)
				}
				if err := p.Wait(b.Context()); err != nil {
					b.Fatal(err)
				}
				stop, err := p.Listen()
				if err != nil {
					b.Fatal(err)
				}
				c, err := feed.Dial(b.Context(), feed.Path(store.Dir(p.state, p.root)))
				if err != nil {
					b.Fatal(err)
				}
				var all []feed.Report
				for i := range n {
					path, text := filepath.Join(p.root, fmt.Sprint("f", i)), strings.Repeat(fmt.Sprintln("line", i), 20)
					if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
						b.Fatal(err)
					}
					all = append(all, feed.Report{
						Kind: feed.Write, Path: path, Author: review.Author{Session: "s", Source: "shim"}, At: time.Now(),
						Before: &feed.Version{Absent: true}, After: &feed.Version{Size: int64(len(text)), Text: &text}, Producer: "p", Seq: uint64(i + 1),
					})
				}
				b.StartTimer()
				for i, r := range all {
					if err := c.Send(b.Context(), r); err != nil {
						b.Fatal(err)
					}
					if i >= 32 {
						must(c.Answer(b.Context()))
					}
				}
				for range min(n, 32) {
					must(c.Answer(b.Context()))
				}
				b.StopTimer()
				if got := len(p.Review().Files()); got != n {
					b.Fatalf("%d files are pending of %d", got, n)
				}
				c.Close()
				stop()
				p.Close()
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/report")
		})
	}
}
