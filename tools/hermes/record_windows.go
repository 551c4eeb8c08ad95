package main

import (
	"os"
	"syscall"
)

var forwarded = []os.Signal{os.Interrupt, syscall.SIGTERM}

// fromTerminal reports whether a signal is an interrupt, which on Windows always
// comes from the keyboard.
func fromTerminal(s os.Signal) bool { return s == os.Interrupt }

func dieBy(syscall.Signal) {}
