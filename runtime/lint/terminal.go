package lint

func terminalRules() []Rule {
	return []Rule{
		{
			ID: "TER02", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/terminals", Strength: Must,
			Summary: "The cwd of a terminal is absolute, if there is one.",
			Why:     "The client would run the command in another folder.",
			Check: func(c *Checker) {
				c.Request(func(m *Message) {
					cwd := m.Params.Get("cwd")
					if !cwd.IsString() {
						return
					}
					c.Exercised()
					if !isAbsolute(cwd.Bytes()) {
						c.Fail(m, cwd, "cwd is not absolute")
					}
				}, "terminal/create")
			},
		},
	}
}
