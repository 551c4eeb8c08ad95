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

// Group is the process group a program leads. Its id stays taken while it has
// members; once it is seen empty it is never signalled again, because the id
// may then belong to somebody else. It is safe for concurrent use.
type Group struct {
	leader int

	mu    sync.Mutex
	empty bool
}

func newGroup(x *exec.Cmd) *Group { return &Group{leader: x.Process.Pid} }

// Leader returns the process id of the leader, which is also that of the group.
func (g *Group) Leader() int { return g.leader }

func (g *Group) signal(sig syscall.Signal) (alive bool) {
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

// Signal returns the signal that ended a process, as its name (SIGKILL) and in
// words (killed); both are empty when it exited by itself.
func Signal(s *os.ProcessState) (name, words string) {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return unix.SignalName(ws.Signal()), ws.Signal().String()
	}
	return "", ""
}

// SameName reports whether two names are the same variable.
func SameName(a, b string) bool { return a == b }
