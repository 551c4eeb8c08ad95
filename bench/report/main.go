// Command report measures everything side by side, prints the table and writes
// the results page.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/hermes-nvim/hermes/bench"
	"github.com/hermes-nvim/hermes/bench/neovim"
)

func main() {
	if bench.Role() || neovim.Role() {
		return
	}
	log.SetFlags(0)
	log.SetPrefix("report: ")
	out := flag.String("o", "", "write the page to this file")
	rounds := flag.Int("rounds", 60, "turns of each operation")
	slice := flag.Duration("slice", 10*time.Millisecond, "length of a turn")
	nvim := flag.String("nvim", "", "Neovim to measure in; none: that table is left out")
	flag.Parse()
	if err := run(*out, *nvim, *rounds, *slice); err != nil {
		log.Fatal(err)
	}
}

// neovimRounds is how often each client runs in each case.
const neovimRounds = 7

// neovimStarts is how often Neovim is started to measure the plugin file.
const neovimStarts = 60

// suites make the operations to measure, in the order of the page.
var suites = []func() ([]bench.Op, error){
	bench.Wire,
}

func run(out, nvim string, rounds int, slice time.Duration) error {
	var ops []bench.Op
	for _, suite := range suites {
		more, err := suite()
		if err != nil {
			return err
		}
		ops = append(ops, more...)
	}
	results, err := bench.Measure(ops, rounds, slice)
	if err != nil {
		return err
	}
	live, err := bench.MeasureLive()
	if err != nil {
		return err
	}
	clients, err := weigh("hermes", "coder")
	if err != nil {
		return err
	}
	if err := compile(clients); err != nil {
		return err
	}
	editor, err := measureNeovim(nvim, neovimRounds)
	if err != nil {
		return err
	}
	review, err := measureReview(nvim)
	if err != nil {
		return err
	}
	p := page{results: results, live: live, clients: clients, editor: editor, review: review, rounds: rounds, slice: slice}
	text := p.render()
	fmt.Print(text)
	if out != "" {
		if err := os.WriteFile(out, []byte(text), 0o644); err != nil {
			return err
		}
	}
	if n := p.missed; n > 0 {
		return fmt.Errorf("%d goals are missed", n)
	}
	return nil
}
