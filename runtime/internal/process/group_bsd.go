//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
)

// Death has no effect here: the program lives on when this process dies.
type Death int

// What Linux would do then.
const (
	Terminated Death = iota
	Killed
)

// Attr makes a program the leader of a group of its own.
func Attr(Death) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// TerminalAttr is Attr for a program whose standard input is a terminal, which
// becomes its controlling terminal.
func TerminalAttr(Death) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: true}
}

// WaitAll waits for the leader and kills what it left in its group.
func WaitAll(x *exec.Cmd, g *Group) {
	x.Wait()
	g.Kill()
}
