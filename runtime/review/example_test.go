package review_test

import (
	"fmt"
	"log"
	"os"

	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/runtime/review"
)

func Example() {
	dir, err := os.MkdirTemp("", "review")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	r, err := review.Open(s, review.Options{})
	if err != nil {
		log.Fatal(err)
	}

	file := func(text string) review.State {
		return review.State{Kind: review.Regular, Text: text, Mode: 0o644}
	}
	before := file("one\ntwo\nthree\n")
	author := review.Author{Session: "s1", Turn: "rename things", Source: "write"}
	if err := r.Changed(author, "list.txt", &before, file("one\n2\nthree\nfour\n")); err != nil {
		log.Fatal(err)
	}
	// The user goes on typing: a line at the top.
	if err := r.Edited("list.txt", review.Edit{Start: 0, End: 0, Lines: []string{"zero\n"}}, false); err != nil {
		log.Fatal(err)
	}
	hunks := r.Hunks("list.txt")
	for _, h := range hunks {
		fmt.Printf("%s: line %d: %q becomes %q\n", h.Authors[0].Turn, h.Current.Start+1, h.Old, h.New)
	}
	if _, err := r.Accept(review.Selection{Hunk: hunks[0].ID}); err != nil {
		log.Fatal(err)
	}
	plan, err := r.Reject(review.Selection{Session: "s1"}, false)
	if err != nil {
		log.Fatal(err)
	}
	err = plan.Apply(func(c review.Change) error {
		fmt.Printf("%s becomes %q\n", c.Path, c.After.Text)
		return nil // after writing it
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// rename things: line 3: ["two\n"] becomes ["2\n"]
	// rename things: line 5: [] becomes ["four\n"]
	// list.txt becomes "zero\none\n2\nthree\n"
}
