package history

import (
	"strings"

	"github.com/hermes-nvim/hermes/acp"
)

// Terminal is a terminal of the agent, which version 2 reports by updates. Tool
// calls show it by its id. Its place in the timeline is where it was first named.
type Terminal struct {
	ID           acp.TerminalID
	Command, Dir string    // empty: not reported
	Output       string    // as received: may end inside a character and hold escape sequences
	Truncated    bool      // the beginning of the output is no longer kept
	Exit         *Exit     // nil while it runs
	Cols, Rows   uint16    // 0: not reported
	Capabilities acp.Extra // what the client may do to it now, such as "cancel"
}

// Exit is how the command of a terminal ended.
type Exit struct {
	Code   acp.Opt[int64] // as the system gives it, maybe negative
	Signal acp.Opt[string]
}

func (*Terminal) isEntry() {}

// terminal keeps the output in a builder: see message.
type terminal struct {
	now    Terminal // without the output
	output *strings.Builder
	view   *Terminal
}

// Terminal returns a terminal of the agent, nil if there is none with this id.
func (s *State) Terminal(id acp.TerminalID) *Terminal {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.terminals[id]; t != nil {
		return t.entry().(*Terminal)
	}
	return nil
}

func (s *State) terminal(id acp.TerminalID) *terminal {
	t := s.terminals[id]
	if t == nil {
		t = &terminal{now: Terminal{ID: id}, output: new(strings.Builder)}
		s.terminals[t.now.ID] = t
		s.add(t)
	}
	t.view = nil
	return t
}

func (t *terminal) entry() Entry {
	if t.view == nil {
		v := t.now
		v.Output = t.output.String()
		t.view = &v
	}
	return t.view
}

func (t *terminal) size() int {
	return overhead + len(t.now.ID) + len(t.now.Command) + len(t.now.Dir) + t.output.Len()
}

func (t *terminal) cut(limit int) {
	if len(t.now.Command)+len(t.now.Dir) > limit {
		t.now.Command, t.now.Dir = "", ""
	}
	kept := t.output.String()
	kept = kept[len(kept)-min(limit, len(kept)):]
	t.output, t.now.Truncated, t.view = new(strings.Builder), true, nil
	t.output.WriteString(kept)
}

func (t *terminal) forget(s *State) { delete(s.terminals, t.now.ID) }
