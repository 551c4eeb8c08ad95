package lint

func authRules() []Rule {
	return []Rule{
		{
			ID: "AUT10", Severity: Warn, Side: ByAgent, Versions: All, Page: "schema/AuthMethod", Strength: Infer,
			Summary:      "The ids of the ways to log in are unique.",
			Why:          "A client that sends the id back cannot choose between two methods.",
			Requirements: []string{"ACP-AUTH-001"},
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					seen := map[string]bool{}
					for _, method := range m.Result.Get("authMethods").Items() {
						id := method.Get("id")
						if c.Version != V1 {
							id = method.Get("methodId")
						}
						if !id.IsString() {
							continue
						}
						c.Exercised()
						if seen[id.Str()] {
							c.Fail(m, id, "another method has this id")
						}
						seen[id.Str()] = true
					}
				}, "initialize")
			},
		},
	}
}
