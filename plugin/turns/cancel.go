package turns

import (
	"slices"
	"time"

	"github.com/hermes-nvim/hermes/plugin/ask"
)

// AtWork reports whether the agent has a prompt of the session, and nobody has
// cancelled it.
func (s *Turns) AtWork() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn == nil || s.state.State() == cancelling {
		return false
	}
	return !s.turn.isOver() && isClosed(s.turn.sent)
}

// Cancel ends the running turn and drops those that wait, whose number it returns. It reports
// whether one ran: agents take a cancel that comes when they are idle for the next prompt.
func (s *Turns) Cancel() (ran bool, dropped int) {
	s.mu.Lock()
	queued, messages := s.queued, s.dropMessages()
	s.queued = nil
	stop := s.stopTurn()
	s.mu.Unlock()
	for _, q := range slices.Concat(messages, queued) {
		s.editor.Done(q.ID, q.cancelled())
	}
	if len(queued) > 0 {
		s.pushQueue()
	}
	return stop(), len(messages) + len(queued)
}

// stopTurn chooses the running turn, with the turns locked. It returns a
// function that cancels that turn, without the lock, and reports whether there
// was one.
func (s *Turns) stopTurn() func() bool {
	t := s.turn
	early := t != nil && !t.calling && s.state.State() != cancelling
	if early {
		close(t.dropped)
	}
	return func() bool {
		if t == nil {
			return false
		}
		s.mu.Lock()
		if s.turn == t {
			s.onLocked(turnCancelled)
		}
		s.mu.Unlock()
		if !early {
			s.editor.Start(func() { s.sendCancel(t) })
		}
		return true
	}
}

// sendCancel cancels the turn, once its prompt is on its way, and then gives the
// agent the answers it waits for.
func (s *Turns) sendCancel(t *Turn) {
	select {
	case <-t.sent:
	case <-t.over:
		return
	}
	sent, err := s.tellCancel(t)
	if !sent {
		return
	}
	name := s.agent.Name()
	if err != nil {
		s.editor.Log.Warn("cancel was not sent", "agent", name, "session", s.id, "error", err)
	}
	s.asks.CancelSession(name, string(s.id), ask.TurnCancelled)
	if err != nil {
		return
	}
	limit := s.agent.Timeouts().Cancel.Or(5 * time.Second)
	select {
	case <-t.over:
	case <-time.After(limit):
		s.editor.Notice("warn", "agent %q has not stopped %v after cancel; hermes.disconnect(%q) ends it", name, limit, name)
	}
}

// tellCancel sends the agent a cancel, unless the turn is over: agents would apply it to the
// next prompt then.
func (s *Turns) tellCancel(t *Turn) (sent bool, err error) {
	t.stop.Lock()
	defer t.stop.Unlock()
	if t.isOver() {
		return false, nil
	}
	return true, s.agent.Cancel(s.id)
}
