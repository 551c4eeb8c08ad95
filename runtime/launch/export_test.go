package launch

import (
	"context"
	"time"
)

// Clock makes s live in another time.
func (s *Supervisor) Clock(now func() time.Time, sleep func(context.Context, time.Duration) error) {
	s.now, s.sleep = now, sleep
}
