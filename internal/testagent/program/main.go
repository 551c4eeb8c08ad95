// The program that plays the scenario in testagent.Env. Tests with the race detector start it
// instead of themselves where the agent is not what they look at: it starts many times sooner.
package main

import (
	"fmt"
	"os"

	"github.com/hermes-nvim/hermes/internal/testagent"
)

func main() {
	testagent.Main()
	fmt.Fprintln(os.Stderr, testagent.Env+" is not set")
	os.Exit(2)
}
