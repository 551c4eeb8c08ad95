package history

import (
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
)

// maxPlans bounds the named plans of a session; the oldest is dropped first.
const maxPlans = 16

// Plan is one of the named plans of version 2.
type Plan struct {
	ID      string
	Entries []acp.PlanEntry
	bytes   int
}

// Edit changes a State in ways that updates of version 1 cannot, for the updates
// of other versions: see servicesv2.Apply. It is valid during State.Edit.
type Edit struct{ s *State }

// Edit calls f to change the state. Snapshots see either all of its changes or
// none.
func (s *State) Edit(f func(Edit)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cached = nil
	f(Edit{s})
	s.shrink()
}

// Apply adds an update of version 1.
func (e Edit) Apply(update acp.SessionUpdate) { e.s.apply(update) }

// Message patches the content of a message and creates the message if needed.
// Later chunks continue it.
func (e Edit) Message(role Role, id acp.MessageID, content acp.Patch[[]acp.ContentBlock]) {
	m := e.s.message(role, id)
	if content.State == acp.PatchAbsent {
		return
	}
	before := m.size()
	m.blocks, m.bytes, m.truncated, m.view = nil, 0, false, nil
	for _, c := range content.V {
		m.append(e.s, c)
	}
	e.s.resized(m, before)
}

// ToolCall lets f change a tool call and creates the call if needed. Lists and raw
// JSON in it must be replaced, not changed.
func (e Edit) ToolCall(id acp.ToolCallID, f func(*ToolCall)) {
	c := e.s.toolCall(id)
	before := c.bytes
	v := *c.view
	f(&v)
	c.view, c.bytes = &v, e.s.sizeOf(&v.ToolCall)
	e.s.resized(c, before)
}

// AddContent adds to what a tool call has produced, without the cost of
// ToolCall for a long list.
func (e Edit) AddContent(id acp.ToolCallID, content acp.ToolCallContent) {
	c := e.s.toolCall(id)
	before := c.bytes
	v := *c.view
	v.Content = append(v.Content, content) // earlier views end before it
	c.view = &v
	c.bytes += overhead + len(acp.AppendToolCallContent(e.s.scratch[:0], content))
	e.s.resized(c, before)
}

// Plan replaces one of the named plans.
func (e Edit) Plan(id string, entries []acp.PlanEntry) {
	s, p := e.s, Plan{id, entries, e.s.sizeOf(&acp.Plan{Entries: entries})}
	s.now.Plan = entries
	plans := slices.Clone(s.now.Plans)
	if i := slices.IndexFunc(plans, func(p Plan) bool { return p.ID == id }); i >= 0 {
		s.rest["plan"] += p.bytes - plans[i].bytes
		plans[i] = p
	} else {
		s.rest["plan"] += p.bytes
		plans = append(plans, p)
	}
	for len(plans) > 1 && (len(plans) > maxPlans || s.rest["plan"] > s.limits.Bytes) {
		s.rest["plan"] -= plans[0].bytes
		plans = slices.Delete(plans, 0, 1)
	}
	s.now.Plans = plans
}

// Usage returns what is known about the session's usage, nil if nothing is. It
// must not be changed.
func (e Edit) Usage() *acp.UsageUpdate { return e.s.now.Usage }

// Terminal lets f change a terminal of the agent, except its output, and creates
// the terminal if needed.
func (e Edit) Terminal(id acp.TerminalID, f func(*Terminal)) {
	t := e.s.terminal(id)
	before := t.size()
	f(&t.now)
	e.s.resized(t, before)
}

// Output adds to the output of a terminal, or replaces it.
func (e Edit) Output(id acp.TerminalID, data []byte, replace bool) {
	t := e.s.terminal(id)
	before := t.size()
	if replace {
		t.output, t.now.Truncated = new(strings.Builder), false
	}
	t.output.Write(data)
	e.s.resized(t, before)
}

// Activity sets what the session is doing now.
func (e Edit) Activity(a Activity) { e.s.setActivity(a) }
