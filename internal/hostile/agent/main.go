// Command agent plays the scenario that testagent.Env holds.
package main

import "github.com/hermes-nvim/hermes/internal/testagent"

func main() { testagent.Main() }
