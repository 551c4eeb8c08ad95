package machine

import "testing"

func TestOnlyListedEventsChangeTheState(t *testing.T) {
	t.Parallel()
	m := New(Table[string, int]{"up": {0: 1, 1: 2}, "down": {2: 0}}, 0)
	for i, step := range []struct {
		event    string
		from, to int
	}{{"down", 0, 0}, {"up", 0, 1}, {"sideways", 1, 1}, {"up", 1, 2}, {"up", 2, 2}, {"down", 2, 0}} {
		if from, to := m.On(step.event); from != step.from || to != step.to || m.State() != step.to {
			t.Errorf("%d: %s leads from %d to %d, want %d to %d", i, step.event, from, to, step.from, step.to)
		}
	}
}
