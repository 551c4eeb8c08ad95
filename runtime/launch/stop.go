package launch

import (
	"context"
	"fmt"
	"time"
)

// cancelWait is how long running turns may take to end once they are cancelled.
const cancelWait = time.Second

// Stop ends the agent and everything it has started. It cancels the running
// turns and gives them a second to end, closes standard input, and if the agent
// does not exit in time sends TERM, then KILL. Many agents run commands in
// process groups of their own, and these end only with their turn. Leftovers
// are killed; see Command.Keeper for how far that reaches.
//
// It returns when the agent is gone, or with an error after the sum of the
// three waits of Command. When ctx ends, Stop continues with KILL at once.
// Stopping twice, or stopping an agent that has exited, is not an error.
func (p *Process) Stop(ctx context.Context) error {
	p.stopOnce.Do(func() { go p.shutDown() })
	select {
	case <-p.stopped:
	case <-ctx.Done():
		select {
		case <-p.done:
		default:
			p.group.Look()
			p.group.Kill()
		}
		<-p.stopped
	}
	return p.stopErr
}

func (p *Process) shutDown() {
	defer close(p.stopped)
	began := time.Now()
	p.group.Look()
	if !p.cmd.LeaveTurns {
		p.cancelTurns()
	}
	p.pipes.Stdin.Close()
	if p.gone(max(p.cmd.EOFWait-time.Since(began), p.cmd.EOFWait/2)) {
		return
	}
	p.group.Terminate()
	if p.gone(p.cmd.TermWait) {
		return
	}
	p.group.Kill()
	if !p.gone(p.cmd.KillWait) {
		p.stopErr = fmt.Errorf("%s: still running %v after KILL (pid %d)", p.cmd, p.cmd.KillWait, p.PID())
	}
}

// cancelTurns cancels the running turns and waits for them to end, at most for
// cancelWait.
func (p *Process) cancelTurns() {
	msgs, idle := p.turns.leave()
	if idle == nil {
		return
	}
	go p.io.write(msgs...) // an agent that does not read blocks this until its input is closed
	t := time.NewTimer(cancelWait)
	defer t.Stop()
	select {
	case <-idle:
	case <-p.done:
	case <-t.C:
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
