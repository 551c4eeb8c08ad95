package launch

import "github.com/hermes-nvim/hermes/internal/process"

// Keep is the main function of a keeper (see Command.Keeper): it starts the
// agent that the arguments name, ends what it leaves behind, and returns the
// exit status for the program. Call it from the goroutine that runs main, while
// nothing else runs in the program.
func Keep(args []string) (status int) { return process.Keep(args) }
