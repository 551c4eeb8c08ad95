package main

import (
	"os"
	"syscall"
)

var forwarded = []os.Signal{os.Interrupt, syscall.SIGTERM}

// asksToEnd reports whether a signal asks a program to end. On Windows all do.
func asksToEnd(os.Signal) bool { return true }

// fromTerminal reports whether a signal is an interrupt, which on Windows always
// comes from the keyboard.
func fromTerminal(s os.Signal) bool { return s == os.Interrupt }

func dieBy(syscall.Signal) {}
