//go:build unix

package process

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Group is the process group that a program leads. Its id stays taken while it has
// members. Once it is seen empty it is never signalled again, because the id may
// then belong to another group. With a keeper it consists of all descendants of the
// program, and only Terminate is for the group alone. It is safe for concurrent use.
type Group struct {
	leader int
	keeper *keeper // nil: none

	mu    sync.Mutex
	empty bool
	seen  map[identity]bool
}

func newGroup(x *exec.Cmd) *Group { return &Group{leader: x.Process.Pid} }

// Leader returns the process id of the leader, which is also the id of the
// group.
func (g *Group) Leader() int { return g.leader }

func (g *Group) signal(sig syscall.Signal) (alive bool) {
	if g.keeper != nil {
		return g.keeper.signal(sig)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.empty && errors.Is(syscall.Kill(-g.leader, sig), syscall.ESRCH) {
		g.empty = true
	}
	return !g.empty
}

// Alive reports whether the group has members; a leader that has not been
// waited for is one.
func (g *Group) Alive() bool { return g.signal(0) }

// Terminate asks all members to end, and reports whether there were any.
func (g *Group) Terminate() bool { return g.signal(syscall.SIGTERM) }

// Kill ends all members, and reports whether there were any.
func (g *Group) Kill() bool { return g.signal(syscall.SIGKILL) }

// End terminates the group, waits, and kills what is left.
func (g *Group) End(grace time.Duration) {
	if !g.Terminate() || g.wait(grace) {
		return
	}
	if g.Kill() {
		g.wait(time.Second)
	}
}

func (g *Group) wait(limit time.Duration) (empty bool) {
	pause := time.Millisecond
	for start := time.Now(); time.Since(start) < limit; pause = min(2*pause, 50*time.Millisecond) {
		if !g.Alive() {
			return true
		}
		time.Sleep(pause)
	}
	return false
}

func exitOf(s *os.ProcessState) Exit {
	status, _ := s.Sys().(syscall.WaitStatus)
	return exitStatus(status)
}

func exitStatus(s syscall.WaitStatus) Exit {
	e := Exit{Code: s.ExitStatus()}
	if s.Signaled() {
		e.Signal, e.Words = unix.SignalName(s.Signal()), s.Signal().String()
	}
	return e
}

// SameName reports whether two names are the same variable.
func SameName(a, b string) bool { return a == b }
