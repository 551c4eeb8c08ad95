//go:build unix

package terminal

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

var suffixes = []string{""}

func mayRun(mode fs.FileMode) bool { return mode.Perm()&0o111 != 0 }

func shellArgv(line string) []string { return []string{"/bin/sh", "-c", line} }

func statusOf(p *os.ProcessState) Status {
	if ws, ok := p.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return Status{Code: -1, Signal: unix.SignalName(ws.Signal())}
	}
	return Status{Code: p.ExitCode()}
}

// processGroup is the group a command leads. Its id stays taken while it has
// members; once it is seen empty it is never signalled again, because the id
// may then belong to somebody else.
type processGroup struct {
	leader int

	mu    sync.Mutex
	empty bool
}

// signal reports whether the group still has members.
func (g *processGroup) signal(sig syscall.Signal) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.empty && errors.Is(syscall.Kill(-g.leader, sig), syscall.ESRCH) {
		g.empty = true
	}
	return !g.empty
}

// reaped looks, when the leader is gone, whether others remain.
func (g *processGroup) reaped() { g.signal(0) }

// terminate sends TERM, waits, and sends KILL to what is left.
func (g *processGroup) terminate(grace time.Duration) {
	if !g.signal(syscall.SIGTERM) || g.wait(grace) {
		return
	}
	if g.signal(syscall.SIGKILL) {
		g.wait(time.Second)
	}
}

func (g *processGroup) wait(limit time.Duration) (empty bool) {
	pause := time.Millisecond
	for start := time.Now(); time.Since(start) < limit; pause = min(2*pause, 50*time.Millisecond) {
		if !g.signal(0) {
			return true
		}
		time.Sleep(pause)
	}
	return false
}
