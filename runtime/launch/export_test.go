package launch

import (
	"context"
	"time"
)

// Clock replaces the clock of s.
func (s *Supervisor) Clock(now func() time.Time, sleep func(context.Context, time.Duration) error) {
	s.now, s.sleep = now, sleep
}
