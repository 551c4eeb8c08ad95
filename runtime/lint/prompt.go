package lint

func promptRules() []Rule {
	return []Rule{
		{
			ID: "PRM03", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/prompt-turn", Strength: Must,
			Summary:      "The result of a prompt has one of the five stop reasons.",
			Why:          "The client cannot tell how the turn ended.",
			Requirements: []string{"ACP-PROMPT-001"},
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					if m.Failed() || !m.Result.Exists() {
						return
					}
					c.Exercised()
					if reason := m.Result.Get("stopReason"); !reason.Exists() {
						c.Fail(m, m.Result, "stopReason is missing")
					} else if !reason.OneOf("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled") {
						c.Fail(m, reason, "not a stop reason of version 1")
					}
				}, "session/prompt")
			},
		},
	}
}
