package main

import (
	"os"
	"syscall"
)

var forwarded = []os.Signal{os.Interrupt, syscall.SIGTERM}

// fromTerminal is always so: Windows has no other way to interrupt.
func fromTerminal(s os.Signal) bool { return s == os.Interrupt }

func dieBy(syscall.Signal) {}
