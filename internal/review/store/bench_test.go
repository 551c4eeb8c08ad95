package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkAppend is the cost of a record of a review, such as an accepted hunk.
func BenchmarkAppend(b *testing.B) {
	s := open(b, b.TempDir(), Options{Limits: Limits{Journal: 1 << 40}})
	record := []byte(strings.Repeat("r", 200))
	b.SetBytes(int64(len(record)))
	b.ReportAllocs()
	for b.Loop() {
		must(b, s.Append(record))
	}
}

// BenchmarkAppendSync also waits for the disk.
func BenchmarkAppendSync(b *testing.B) {
	s := open(b, b.TempDir(), Options{})
	record := []byte(strings.Repeat("r", 200))
	for b.Loop() {
		must(b, s.Append(record))
		must(b, s.Sync())
	}
}

// BenchmarkPut puts new blobs of the size of a source file.
func BenchmarkPut(b *testing.B) {
	s := open(b, b.TempDir(), Options{Limits: Limits{Bytes: 1 << 50, Blobs: 1 << 40}, Delay: time.Hour})
	data := []byte(strings.Repeat("0123456 line of a source file\n", 300))
	b.SetBytes(int64(len(data)))
	n := 0
	for b.Loop() {
		n++
		copy(data, fmt.Sprintf("%07d", n))
		_, err := s.Put(data)
		must(b, err)
	}
}

// BenchmarkPutKnown puts a blob that is there already.
func BenchmarkPutKnown(b *testing.B) {
	s := open(b, b.TempDir(), Options{})
	data := []byte(strings.Repeat("0123456 line of a source file\n", 300))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		_, err := s.Put(data)
		must(b, err)
	}
}

// BenchmarkOpen opens a store of a long review: 10,000 records, 10,000 blobs.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	s := open(b, dir, Options{Delay: time.Hour})
	var blobs []Hash
	for i := range 10_000 {
		blobs = append(blobs, put(b, s, fmt.Sprint("blob ", i, rand.Int())))
		must(b, s.Append([]byte(strings.Repeat("r", 200))))
	}
	must(b, s.Close())
	b.ReportAllocs()
	for b.Loop() {
		s, err := Open(dir, Options{})
		must(b, err)
		if !s.Has(blobs[7]) {
			b.Fatal("lost")
		}
		must(b, s.Close())
	}
	b.StopTimer()
	s = open(b, dir, Options{})
	done, err := s.Prune(slices.Values(blobs), 0)
	must(b, err)
	if done.Blobs > 0 {
		b.Fatal(done)
	}
}
