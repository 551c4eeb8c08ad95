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

// asksToEnd reports whether a signal asks a program to end.
func asksToEnd(s os.Signal) bool {
	switch s {
	case syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT:
		return true
	}
	return false
}

// fromTerminal reports whether a signal comes from the keyboard. The agent has then
// already received it, because it is in the same process group.
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

// dieBy ends this process by the signal that ended the agent. For other signals the
// Go runtime would print a stack trace.
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

// foreground returns the process group that gets the signals of the keyboard.
func foreground(tty *os.File) int {
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	if err != nil {
		return -1
	}
	return group
}
