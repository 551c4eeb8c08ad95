package lint

func elicitationRules() []Rule {
	return []Rule{
		{
			ID: "ELI02", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/elicitation", Strength: Schema,
			Summary: "An elicitation names its mode.",
			Why:     "The client cannot tell whether it is a form or a web page.",
			Check: func(c *Checker) {
				c.Request(func(m *Message) {
					c.Exercised()
					if mode := m.Params.Get("mode"); !mode.IsString() {
						c.Fail(m, orElse(mode, m.Params), "mode is missing")
					}
				}, "elicitation/create")
			},
		},
	}
}
