package lint

import (
	"github.com/hermes-nvim/hermes/internal/jx"
)

func displayRules() []Rule {
	return []Rule{
		{
			ID: "TRM01", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/tool-calls", Strength: Must,
			Summary:      "The cwd of a display terminal is absolute.",
			Why:          "The client cannot tell which folder the command ran in.",
			Requirements: []string{"ACP-PATCH-206"},
			Check: func(c *Checker) {
				c.Update(func(m *Message) {
					c.checkAbsolute(m, m.Update.Get("cwd"), "cwd")
				}, "terminal_update")
			},
		},
		{
			ID: "TRM02", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/tool-calls", Strength: Schema,
			Summary:      "Each piece of output of a display terminal is base64 by itself.",
			Why:          "Clients decode the pieces one by one, because a terminal has to see the bytes as they come.",
			Requirements: []string{"ACP-PATCH-207"},
			Check: func(c *Checker) {
				look := func(m *Message, data Value) {
					if !data.IsString() {
						return
					}
					c.Exercised()
					if !jx.IsBase64(string(data.Bytes())) {
						c.Fail(m, data, "not standard base64")
					}
				}
				c.Update(func(m *Message) { look(m, m.Update.Get("data")) }, "terminal_output_chunk")
				c.Update(func(m *Message) { look(m, m.Update.Get("output", "data")) }, "terminal_update")
			},
		},
		{
			ID: "TRM03", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/tool-calls", Strength: MustNot,
			Summary:      "The id of a display terminal is not used again for another one.",
			Why:          "The client replaces the output of the first, which the user wants to keep.",
			Requirements: []string{"ACP-PATCH-206"},
			Check: func(c *Checker) {
				terminals := NewBounded[Of, *shown](maxTerminals)
				c.Update(func(m *Message) {
					t := display(terminals, m)
					if t == nil || c.reopening(m.SessionID) { // a replay
						return
					}
					command := m.Update.Get("command")
					restarts := m.Update.Get("exitStatus").IsNull() || m.Update.Get("output").Exists()
					if t.known && command.IsString() {
						c.Exercised()
						if t.exited > 0 && restarts && t.command != "" && t.command != bounded(command.Bytes()) {
							c.Report(m.Frame, Finding{Text: "another command had this terminal, and it is over", Also: []int{t.exited}}, m.Update.Get("terminalId"))
						}
					}
					t.note(m)
				}, "terminal_update")
			},
		},
		{
			ID: "TRM04", Severity: Info, Side: ByAgent, Versions: V2, Page: "v2/tool-calls", Strength: Should,
			Summary: "The first update about a display terminal names its command.",
			Why:     "The client shows a terminal without a title until it does.",
			Check: func(c *Checker) {
				terminals := NewBounded[Of, *shown](maxTerminals)
				c.Update(func(m *Message) {
					t := display(terminals, m)
					if t == nil || t.known {
						return
					}
					t.known = true
					switch command := m.Update.Get("command"); {
					case len(command.Bytes()) > 0:
						c.Exercised()
					case c.Whole && !terminals.Lost():
						c.Fail(m, orElse(command, m.Update), "the terminal is new, and has no command")
					}
				}, "terminal_update", "terminal_output_chunk")
			},
		},
		{
			ID: "TRM06", Severity: Warn, Side: ByAgent, Versions: V2, Page: "v2/tool-calls", Strength: Infer,
			Summary: "A display terminal has no more output after its exit status.",
			Why:     "Clients may have closed it, and the output is lost.",
			Check: func(c *Checker) {
				terminals := NewBounded[Of, *shown](maxTerminals)
				c.Update(func(m *Message) {
					if t := display(terminals, m); t != nil && !c.reopening(m.SessionID) { // a replay
						t.note(m)
					}
				}, "terminal_update")
				c.Update(func(m *Message) {
					t := display(terminals, m)
					if t == nil || c.reopening(m.SessionID) {
						return
					}
					c.Exercised()
					if t.exited > 0 {
						c.Report(m.Frame, Finding{Text: "the command is over", Also: []int{t.exited}}, m.Update.Get("terminalId"))
					}
				}, "terminal_output_chunk")
			},
		},
	}
}

// shown is what is known of a display terminal.
type shown struct {
	known   bool
	command string
	exited  int // number of the message with its exit status, 0 without one
}

// display returns the display terminal that an update is about, nil if there is none.
func display(terminals *Bounded[Of, *shown], m *Message) *shown {
	id := m.Update.Get("terminalId")
	if m.From != Agent || m.SessionID == "" || !id.IsString() {
		return nil
	}
	key := Of{m.SessionID, bounded(id.Bytes())}
	t, ok := terminals.Get(key)
	if !ok {
		t = &shown{}
		terminals.Put(key, t)
	}
	return t
}

func (t *shown) note(m *Message) {
	t.known = true
	if command := m.Update.Get("command"); command.IsString() {
		t.command = bounded(command.Bytes())
	}
	if status := m.Update.Get("exitStatus"); status.Set() {
		t.exited = m.Number
	} else if status.IsNull() {
		t.exited = 0
	}
}
