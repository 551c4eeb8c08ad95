package lint

func stateRules() []Rule {
	return []Rule{
		{
			ID: "STA07", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/prompt-lifecycle", Strength: Must,
			Summary: "The stop reason of an idle state is a defined word or begins with an underscore.",
			Why:     "A later version may give the word another meaning.",
			Check: func(c *Checker) {
				c.Update(func(m *Message) {
					reason := m.Update.Get("stopReason")
					if !reason.IsString() {
						return
					}
					c.Exercised()
					if !reason.OneOf("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error") && !isExtension(reason.Str()) {
						c.Fail(m, reason, "not a stop reason")
					}
				}, "state_update")
			},
		},
	}
}
