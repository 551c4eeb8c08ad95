package host

import "time"

// watchSilence tells the user when the agent has said nothing for long in a
// turn: some try a model that fails again and again, for minutes. It ends
// nothing. Waiting for the user does not count as silence.
func (s *session) watchSilence(t *turn) {
	c := s.conn
	limit := c.host.timeouts().Silence.Or(2 * time.Minute)
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
			c.host.Notice("warn", "agent %q has said nothing for %v; hermes.cancel(%q) ends the turn", c.name, limit, string(s.id))
		}
	}
}
