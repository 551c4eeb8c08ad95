package history

import (
	"strings"

	"github.com/hermes-nvim/hermes/acp"
	v2 "github.com/hermes-nvim/hermes/acp/v2"
)

// Terminal is a terminal of the agent, which version 2 reports by updates. Tool
// calls show it by its id; it stands in the timeline where it was first named.
type Terminal struct {
	ID           acp.TerminalID
	Command, Dir string                 // empty: not told
	Output       string                 // as it came: may end inside a character, and hold escape sequences
	Truncated    bool                   // the beginning of the output is no longer kept
	Exit         *v2.TerminalExitStatus // nil while it runs
	Size         *v2.TerminalSize
	Capabilities *v2.TerminalCapabilities // what the client may do to it now
}

func (*Terminal) isEntry() {}

// terminal keeps the output in a builder: see message.
type terminal struct {
	now    Terminal // without the output
	output *strings.Builder
	view   *Terminal
}

// Terminal returns a terminal of the agent, nil when there is none with this id.
func (s *State) Terminal(id acp.TerminalID) *Terminal {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.terminals[id]; t != nil {
		return t.entry().(*Terminal)
	}
	return nil
}

func (s *State) terminal(id v2.TerminalID) *terminal {
	t := s.terminals[acp.TerminalID(id)]
	if t == nil {
		t = &terminal{now: Terminal{ID: acp.TerminalID(id)}, output: new(strings.Builder)}
		s.terminals[t.now.ID] = t
		s.add(t)
	}
	t.view = nil
	return t
}

func (s *State) patchTerminal(u *v2.TerminalUpdate) {
	t := s.terminal(u.TerminalID)
	before := t.size()
	u.Command.Apply(&t.now.Command, "")
	convert(&t.now.Dir, u.Cwd, "", func(p v2.AbsolutePath) string { return string(p) })
	convert(&t.now.Exit, u.ExitStatus, nil, func(e v2.TerminalExitStatus) *v2.TerminalExitStatus { return &e })
	convert(&t.now.Size, u.Size, nil, func(z v2.TerminalSize) *v2.TerminalSize { return &z })
	convert(&t.now.Capabilities, u.Capabilities, nil, func(c v2.TerminalCapabilities) *v2.TerminalCapabilities { return &c })
	if u.Output.State != acp.PatchAbsent {
		t.output, t.now.Truncated = new(strings.Builder), false
		if data, err := u.Output.V.Bytes(); err == nil {
			t.output.Write(data)
		}
	}
	s.resized(t, before)
}

func (s *State) addOutput(id v2.TerminalID, data []byte) {
	t := s.terminal(id)
	before := t.size()
	t.output.Write(data)
	s.resized(t, before)
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
