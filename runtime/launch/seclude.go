package launch

import "github.com/hermes-nvim/hermes/internal/process"

// Seclude keeps other processes of the user from reading the memory and the first
// environment of this one. It is for agents that have a key there. It lasts until this
// process executes a program; the processes that it starts are not secluded. It does
// nothing outside of Linux, and nothing in `hermes shim`, which reads in the memory
// which files a process changes.
func Seclude() { process.Seclude() }
