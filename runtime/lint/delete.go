package lint

func deleteRules() []Rule {
	return []Rule{
		{
			ID: "DEL01", Severity: Error, Side: ByClient, Versions: All, Page: "v1+v2/session-delete", Strength: MustNot,
			Summary: "session/delete is sent only if the agent advertises it.",
			Why:     "The agent does not have it, and the user believes that the session is gone.",
			Check: func(c *Checker) {
				c.Request(func(m *Message) {
					if !c.AgentHello.Exists() {
						return
					}
					c.Exercised()
					path := []string{"session", "delete"}
					if c.Version == V1 {
						path[0] = "sessionCapabilities"
					}
					if !c.AgentCapabilities.Get(path...).Set() {
						c.Fail(m, Value{}, "the agent does not advertise %s.delete", path[0])
					}
				}, "session/delete")
			},
		},
	}
}
