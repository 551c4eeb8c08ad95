package lint

func cancelRules() []Rule {
	return []Rule{
		{
			ID: "CAN13", Severity: Info, Side: ByClient, Versions: All, Page: "v1+v2/prompt-turn", Strength: Hygiene,
			Summary: "session/cancel is sent while a turn runs.",
			Why:     "It is harmless otherwise, but some agents apply it to the next turn.",
			Check: func(c *Checker) {
				c.Notification(func(m *Message) {
					s := m.Session
					if s == nil || s.State != Open {
						return
					}
					c.Exercised()
					if s.Turn == nil && (s.Last == nil || !c.Crossed(s.Last.EndedTime, m.Time)) {
						c.Fail(m, m.Params.Get("sessionId"), "no turn is running")
					}
				}, "session/cancel")
			},
		},
	}
}
