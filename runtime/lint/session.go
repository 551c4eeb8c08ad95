package lint

func sessionRules() []Rule {
	return []Rule{
		{
			ID: "SES02", Severity: Error, Side: ByClient, Versions: All, Page: "v1+v2/session-setup", Strength: Must,
			Summary: "The cwd of a session is an absolute path.",
			Why:     "The agent runs in another folder, so it would resolve a relative path to something else.",
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
				}, "session/new", "session/load", "session/resume", "session/list", "session/fork")
			},
		},
	}
}
