package lint

func filesRules() []Rule {
	return []Rule{
		{
			ID: "FS03", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/file-system", Strength: Must,
			Summary: "The path of a file is absolute.",
			Why:     "The client has no folder that a relative path would start from.",
			Check: func(c *Checker) {
				c.Request(func(m *Message) {
					path := m.Params.Get("path")
					if !path.IsString() {
						return
					}
					c.Exercised()
					if !isAbsolute(path.Bytes()) {
						c.Fail(m, path, "the path is relative")
					}
				}, "fs/*")
			},
		},
	}
}
