package history

import "github.com/hermes-nvim/hermes/acp"

// Activity is what a session of version 2 was last reported to be doing.
type Activity struct {
	// State is "running", "idle", "requires_action", or what a newer agent
	// calls it; empty before the first report, which stands for idle.
	State string
	// StopReason says why it is idle: one of version 1, "error", or what a
	// newer agent calls it; empty when it does not tell.
	StopReason acp.StopReason
	Error      *acp.Error // of the stop reason "error", when it tells
	Background []Work
	// Begun counts how often the session stopped being idle.
	Begun int
}

// Work is something that goes on in the background.
type Work struct {
	Type string // "terminal", "tool_call", or what a newer agent calls it
	ID   string // of the terminal or the tool call
}

// Idle reports whether nothing goes on in the foreground.
func (a *Activity) Idle() bool { return a.State == "" || a.State == "idle" }

// Activity returns what the session was last reported to be doing, and a channel
// that is closed by the next report.
func (s *State) Activity() (now Activity, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now.Activity, s.reported
}

func (s *State) setActivity(a Activity) {
	a.Begun = s.now.Activity.Begun
	if s.now.Activity.Idle() && !a.Idle() {
		a.Begun++
	}
	s.now.Activity = a
	close(s.reported)
	s.reported = make(chan struct{})
}

// Done is closed when the session has ended: Store.End or Store.Close.
func (s *State) Done() <-chan struct{} { return s.done }
