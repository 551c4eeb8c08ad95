package lint

// manySessions is how many entries of a page are still sane.
const manySessions = 500

func listRules() []Rule {
	return []Rule{
		{
			ID: "LST06", Severity: Info, Side: ByAgent, Versions: All, Page: "v1+v2/session-list", Strength: Should,
			Summary: "A page of sessions has 500 entries at most.",
			Why:     "Giant pages exceed the message limits of clients and block their pickers.",
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					sessions := m.Result.Get("sessions")
					if !sessions.IsArray() {
						return
					}
					c.Exercised()
					if n := sessions.Len(); n > manySessions {
						c.Fail(m, sessions, "the page has %d entries", n)
					}
				}, "session/list")
			},
		},
	}
}
