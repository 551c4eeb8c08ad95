package main

import (
	"context"
	"fmt"
	"time"

	"github.com/hermes-nvim/hermes/bench"
	"github.com/hermes-nvim/hermes/bench/neovim"
)

const reviewRounds = 15

var reviewSizes = bench.ReviewSizes{Changed: 1000, Tree: 3000, Lines: 10_000, Pause: 3 * time.Second}

// reviewed is what was measured of the review.
type reviewed struct {
	bench.Review
	key, plain float64 // milliseconds; 0 without a Neovim
}

func measureReview(nvim string) (*reviewed, error) {
	r, err := bench.MeasureReview(context.Background(), reviewSizes, reviewRounds)
	if err != nil {
		return nil, err
	}
	all := &reviewed{Review: *r}
	if nvim != "" {
		all.key, all.plain, err = neovim.MeasureKeys(context.Background(), nvim, "..", reviewRounds)
	}
	return all, err
}

func (p *page) reviews() {
	r := p.review
	p.printf("## Review\n\nA project of %d files of 200 lines, of which an agent changes %d, and a file of %d lines, of which it changes every hundredth. The least of %d rounds. The review is on the disk, as it is for users.\n\n| | Hermes | beside it | ratio |\n|---|--:|---|--:|\n", reviewSizes.Tree, reviewSizes.Changed, reviewSizes.Lines, reviewRounds)
	row := func(name string, ours time.Duration, beside string, theirs time.Duration) {
		if theirs == 0 {
			p.printf("| %s | %s | | |\n", name, duration(float64(ours)))
			return
		}
		p.printf("| %s | %s | %s: %s | **%.1f** |\n", name, duration(float64(ours)), beside, duration(float64(theirs)), float64(ours)/float64(theirs))
	}
	row("first checkpoint, which reads every file", r.First, "", 0)
	row("every other one", r.Again, "looking at names and sizes of the files", r.Walk)
	row(fmt.Sprintf("open the review with %d changed files", reviewSizes.Changed), r.Open, "", 0)
	row("list them", r.List, "", 0)
	row("hunks of one", r.Hunks, "", 0)
	row("agent's write of the large file, with the diff", r.Change, "`git diff` of the two texts, with its start", r.Git)
	row("accept one hunk of it", r.Accept, "", 0)
	if r.key > 0 {
		p.printf("| change a line of a buffer and report it | %s | a buffer that is not under review: %s | |\n", millis(r.key), millis(r.plain))
	}
	p.printf("\nA changed file costs %.1f KiB of memory.\n\n", float64(r.Bytes)/1024)
}

func (p *page) reviewGoals(goal func(text, result string, met bool)) {
	r := p.review
	below := func(text string, took, limit time.Duration) {
		goal(fmt.Sprintf("Review, %s: below %d ms", text, limit.Milliseconds()), duration(float64(took)), took < limit)
	}
	below(fmt.Sprintf("checkpoint of %d files after the first", reviewSizes.Tree), r.Again, 50*time.Millisecond)
	below(fmt.Sprintf("open and list %d changed files", reviewSizes.Changed), r.Open+r.List, 200*time.Millisecond)
	below("open one of them", r.Hunks, 50*time.Millisecond)
	below(fmt.Sprintf("accept a hunk of %d lines", reviewSizes.Lines), r.Accept, 5*time.Millisecond)
	if r.key > 0 {
		goal("Review, a key costs less than 0.1 ms more than without it", millis(r.key-r.plain), r.key-r.plain < 0.1)
	}
}
