package history

import "github.com/hermes-nvim/hermes/acp"

// Activity is what a session of version 2 was last reported to be doing.
type Activity struct {
	// State is "running", "idle", "requires_action", or a value of a newer
	// agent. It is empty before the first report, which means idle.
	State string
	// StopReason says why it is idle: one of version 1, "error", or a value of
	// a newer agent; empty if the agent does not say.
	StopReason acp.StopReason
	Error      *acp.Error // of the stop reason "error"; nil if the agent does not say
	Background []Work
	// Begun counts how often the session stopped being idle.
	Begun int
}

// Work is something that runs in the background.
type Work struct {
	Type string // "terminal", "tool_call", or a value of a newer agent
	ID   string // of the terminal or the tool call
}

// Idle reports whether nothing runs in the foreground.
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

// Done returns a channel that is closed when the session has ended, by Store.End
// or Store.Close.
func (s *State) Done() <-chan struct{} { return s.done }
