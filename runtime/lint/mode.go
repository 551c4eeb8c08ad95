package lint

import "slices"

func modeRules() []Rule {
	return []Rule{
		{
			ID: "MOD01", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/session-modes", Strength: Infer,
			Summary:      "The current mode is among the available ones.",
			Why:          "The client cannot show its name.",
			Requirements: []string{"ACP-MODES-001"},
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					modes := m.Result.Get("modes")
					current := modes.Get("currentModeId")
					if !current.IsString() || !modes.Get("availableModes").IsArray() {
						return
					}
					c.Exercised()
					for _, mode := range modes.Get("availableModes").Items() {
						if mode.Get("id").Is(current.Str()) {
							return
						}
					}
					c.Fail(m, current, "the mode is not available")
				}, "session/new", "session/load", "session/resume", "session/fork")
			},
		},
		{
			ID: "MOD02", Severity: Error, Side: ByClient, Versions: V1, Page: "v1/session-modes", Strength: Must,
			Summary: "session/set_mode names an available mode.",
			Why:     "The agent has no such mode and refuses it, or forgets the one it had.",
			Check: func(c *Checker) {
				modes := availableModes(c)
				c.Request(sentBy(Client, func(m *Message) {
					id := m.Params.Get("modeId")
					names, ok := modes.Get(m.SessionID)
					if !ok || !id.IsString() {
						return
					}
					c.Exercised()
					if len(names) == 0 {
						c.Fail(m, id, "the session has no modes")
					} else if !slices.Contains(names, bounded(id.Bytes())) {
						c.Fail(m, id, "the mode is not available")
					}
				}), "session/set_mode")
			},
		},
		{
			ID: "MOD03", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/session-modes", Strength: Schema,
			Summary:      "current_mode_update has a currentModeId, which is an available mode.",
			Why:          "An example of the documentation once had modeId; clients read the name that the schema has.",
			Requirements: []string{"ACP-MODES-002"},
			Check: func(c *Checker) {
				modes := availableModes(c)
				c.Update(func(m *Message) {
					c.Exercised()
					id := m.Update.Get("currentModeId")
					names, ok := modes.Get(m.SessionID)
					switch {
					case !id.IsString():
						c.Fail(m, orElse(orElse(id, m.Update.Get("modeId")), m.Update), "currentModeId is missing")
					case ok && len(names) > 0 && !slices.Contains(names, bounded(id.Bytes())):
						c.Fail(m, id, "the mode is not available")
					}
				}, "current_mode_update")
			},
		},
		{
			ID: "MOD04", Severity: Error, Side: BySender, Versions: V2, Page: "v2/migration", Strength: Schema,
			Summary: "Version 2 has no modes: they are a config option.",
			Why:     "The other side does not know them.",
			Check: func(c *Checker) {
				c.Request(func(m *Message) {
					c.Unknown(m, m.Root.Get("method"), "version 2 does not have this method")
				}, "session/set_mode")
				c.Update(func(m *Message) {
					c.Unknown(m, m.Update.Get("sessionUpdate"), "version 2 does not have this update")
				}, "current_mode_update")
				c.Answer(func(m *Message) {
					if m.Failed() {
						return
					}
					c.Exercised()
					if modes := m.Result.Get("modes"); modes.IsObject() {
						c.Fail(m, modes, "version 2 has no modes")
					}
				}, "session/new", "session/resume", "session/fork")
			},
		},
	}
}

// availableModes notes the ids of the modes of each session. A session that has none is
// there without ids; one with more modes than anybody offers is not there. The answers to
// load and resume may leave them out.
func availableModes(c *Checker) *Bounded[string, []string] {
	const most = 256
	modes := NewBounded[string, []string](maxSessions)
	c.Answer(func(m *Message) {
		session := sessionOf(m)
		list := m.Result.Get("modes", "availableModes")
		if m.Failed() || !m.Result.Exists() || session == "" || !m.Result.Get("modes").Set() && opensAgain(m) {
			return
		}
		if list.Len() > most || m.Result.Get("modes").Set() && !list.IsArray() {
			modes.Delete(session)
			return
		}
		ids := []string{}
		for _, mode := range list.Items() {
			if id := mode.Get("id"); id.IsString() {
				ids = append(ids, bounded(id.Bytes()))
			}
		}
		modes.Put(session, ids)
	}, sessionAnswers...)
	return modes
}
