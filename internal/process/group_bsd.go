//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
)

// Death has no effect here: the program keeps running when this process dies.
type Death int

// What Linux would do when this process dies.
const (
	Terminated Death = iota
	Killed
)

func attr(k Kind, _ *syscall.SysProcAttr) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: !k.Terminal, Setsid: k.Terminal, Setctty: k.Terminal}
}

// waitAll waits for the leader and kills the rest of its group.
func waitAll(x *exec.Cmd, g *Group) {
	x.Wait()
	g.Kill()
}

// Look does nothing: processes that leave the group are out of reach.
func (g *Group) Look() {}

// Programs returns none: only Linux is asked.
func (g *Group) Programs() []string { return nil }
