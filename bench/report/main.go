package main

import (
	"fmt"
	"os"
	"time"

	"github.com/hermes-nvim/hermes/bench"
)

func main() {
	ops, err := bench.Wire()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	rs, err := bench.Measure(ops, 100, 2*time.Millisecond)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	t := map[string]bench.Result{}
	for _, r := range rs {
		t[r.Name()] = r
	}
	for _, r := range rs {
		if r.Who == "hermes" {
			c := t[r.Group+"/"+r.Case+"/coder"]
			v := t[r.Group+"/"+r.Case+"/jsonvalid"]
			fmt.Printf("%-28s %9.0f ns %5.1f allocs %6.0f B | coder %9.0f %5.0f ×%.1f | valid %8.0f ×%.2f\n", r.Name(), r.Nanoseconds, r.Allocs, r.AllocBytes, c.Nanoseconds, c.Allocs, c.Nanoseconds/r.Nanoseconds, v.Nanoseconds, v.Nanoseconds/r.Nanoseconds)
		}
	}
}
