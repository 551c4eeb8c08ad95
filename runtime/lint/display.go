package lint

func displayRules() []Rule {
	return []Rule{
		{
			ID: "TRM01", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/tool-calls", Strength: Must,
			Summary: "The cwd of a display terminal is absolute.",
			Why:     "The client cannot tell which folder the command ran in.",
			Check: func(c *Checker) {
				c.Update(func(m *Message) {
					cwd := m.Update.Get("cwd")
					if !cwd.IsString() {
						return
					}
					c.Exercised()
					if !isAbsolute(cwd.Bytes()) {
						c.Fail(m, cwd, "cwd is not absolute")
					}
				}, "terminal_update")
			},
		},
	}
}
