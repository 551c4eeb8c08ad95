package lint

func planRules() []Rule {
	return []Rule{
		{
			ID: "PLN01", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/agent-plan", Strength: Schema,
			Summary: "Each entry of a plan has content, a defined priority and a defined status.",
			Why:     "Clients drop an entry or the whole plan.",
			Check: func(c *Checker) {
				c.Update(func(m *Message) {
					for _, e := range m.Update.Get("entries").Items() {
						c.Exercised()
						priority, status := e.Get("priority"), e.Get("status")
						if !e.Get("content").IsString() {
							c.Fail(m, e, "the entry has no content")
						}
						if !priority.OneOf("high", "medium", "low") {
							c.Fail(m, orElse(priority, e), "the entry has no defined priority")
						}
						if !status.OneOf("pending", "in_progress", "completed") {
							c.Fail(m, orElse(status, e), "the entry has no defined status")
						}
					}
				}, "plan")
			},
		},
	}
}
