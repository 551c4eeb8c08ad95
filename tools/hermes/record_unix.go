//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// forwarded are the signals that are passed on to the agent.
var forwarded = []os.Signal{
	syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
}

// fromTerminal reports whether a signal comes from the keyboard: then the agent,
// which is in the same process group, has had it already.
func fromTerminal(s os.Signal) bool {
	if s != syscall.SIGINT && s != syscall.SIGQUIT {
		return false
	}
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	return foreground(tty) == syscall.Getpgrp()
}

// dieBy ends this process as a signal ended the agent. Of other signals the
// runtime of Go makes a stack trace.
func dieBy(s syscall.Signal) {
	switch s {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP:
		signal.Reset(s)
	case syscall.SIGKILL:
	default:
		return
	}
	if syscall.Kill(os.Getpid(), s) == nil {
		time.Sleep(100 * time.Millisecond) // until it arrives
	}
}

// foreground returns the process group that the terminal's keyboard signals.
func foreground(tty *os.File) int {
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	if err != nil {
		return -1
	}
	return group
}
