package lint

func permissionRules() []Rule {
	return []Rule{
		{
			ID: "PER01", Severity: Error, Side: ByAgent, Versions: All, Page: "v2/tool-calls", Strength: Must,
			Summary: "A permission request has at least one option.",
			Why:     "The user can only cancel.",
			Check: func(c *Checker) {
				c.Request(func(m *Message) {
					options := m.Params.Get("options")
					if !options.IsArray() {
						return
					}
					c.Exercised()
					if options.Len() == 0 {
						c.Fail(m, options, "there are no options")
					}
				}, "session/request_permission")
			},
		},
	}
}
