package lint

func modeRules() []Rule {
	return []Rule{
		{
			ID: "MOD01", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/session-modes", Strength: Infer,
			Summary:      "The current mode is among the available ones.",
			Why:          "The client cannot show its name.",
			Requirements: []string{"ACP-MODES-001"},
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					modes := m.Result.Get("modes")
					current := modes.Get("currentModeId")
					if !current.IsString() || !modes.Get("availableModes").IsArray() {
						return
					}
					c.Exercised()
					for _, mode := range modes.Get("availableModes").Items() {
						if mode.Get("id").Is(current.Str()) {
							return
						}
					}
					c.Fail(m, current, "the mode is not available")
				}, "session/new", "session/load", "session/resume", "session/fork")
			},
		},
	}
}
