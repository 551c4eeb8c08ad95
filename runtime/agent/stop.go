package agent

import (
	"context"
	"fmt"
	"time"
)

// Stop ends the agent and everything in its process group: it closes standard
// input, and if that does not help in time sends TERM, then KILL. It returns
// when the agent is gone, at the latest after the sum of the three waits, and
// then with an error. When ctx ends Stop goes on with KILL at once. Stopping
// twice, or an agent that has exited, is no error.
func (p *Process) Stop(ctx context.Context) error {
	p.stopOnce.Do(func() { go p.ladder() })
	select {
	case <-p.stopped:
	case <-ctx.Done():
		select {
		case <-p.done:
		default:
			p.group.Kill()
		}
		<-p.stopped
	}
	return p.stopErr
}

func (p *Process) ladder() {
	defer close(p.stopped)
	p.stdin.Close()
	if p.gone(p.cmd.EOFWait) {
		return
	}
	p.group.Terminate()
	if p.gone(p.cmd.TermWait) {
		return
	}
	p.group.Kill()
	if !p.gone(p.cmd.KillWait) {
		p.stopErr = fmt.Errorf("%s: still runs %v after KILL (pid %d)", p.cmd, p.cmd.KillWait, p.PID())
	}
}

// gone waits for the exit.
func (p *Process) gone(limit time.Duration) bool {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-p.done:
		return true
	case <-t.C:
		return false
	}
}
