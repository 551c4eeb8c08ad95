package turns

import "time"

// Heard notes that a message of the agent came.
func (s *Turns) Heard() { s.heard.Add(1) }

// watchSilence notifies the user when the agent has sent nothing for long in a
// turn: some try a model that fails again and again, for minutes. It ends
// nothing. Waiting for the user does not count as silence.
func (s *Turns) watchSilence(t *Turn) {
	limit := s.agent.Timeouts().Silence.Or(2 * time.Minute)
	// Four looks to a limit, so that it is exceeded by a quarter at most.
	look := time.NewTicker(limit / 4)
	defer look.Stop()
	heard, quiet := s.heard.Load(), 0
	for {
		select {
		case <-t.over:
			return
		case <-look.C:
		}
		s.mu.Lock()
		asking := s.asked > 0
		s.mu.Unlock()
		if now := s.heard.Load(); now != heard || asking {
			heard, quiet = now, 0
			continue
		}
		if quiet++; quiet == 4 {
			s.editor.Notice("warn", "agent %q has said nothing for %v; hermes.cancel(%q) ends the turn", s.agent.Name(), limit, string(s.id))
		}
	}
}
