package project

import (
	"fmt"
	"iter"
	"path/filepath"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/review"
)

// compactions counts how often a journal is made short, and what is written then.
type compactions struct {
	review.Store
	records int
}

func (c *compactions) Compact(records iter.Seq[[]byte]) error {
	return c.Store.Compact(func(yield func([]byte) bool) {
		for r := range records {
			if c.records++; !yield(r) {
				return
			}
		}
	})
}

// Making the journal short writes every file that is known. It happens so rarely that each of
// many changed files costs as much as each of few.
func TestMakingTheJournalShortCostsAsMuchForEachOfManyFiles(t *testing.T) {
	t.Parallel()
	var c *compactions
	dir := t.TempDir()
	p, err := Open(filepath.Join(dir, "state"), t.TempDir(), Options{
		home: filepath.Join(dir, "home"),
		wrap: func(s review.Store) review.Store { c = &compactions{Store: s}; return c },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	if err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	const files = 8 * maxRecords
	before := review.State{}
	for i := range files {
		after := review.State{Kind: review.Regular, Text: fmt.Sprintln(i), Mode: 0o644}
		if err := p.review.Changed(review.Author{Session: "s"}, fmt.Sprint("f", i), &before, after); err != nil {
			t.Fatal(err)
		}
		p.tidy()
	}
	if c.records == 0 || c.records > 3*files {
		t.Errorf("%d records were written again for %d files", c.records, files)
	}
}
