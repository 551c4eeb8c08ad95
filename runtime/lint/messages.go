package lint

func messageRules() []Rule {
	return []Rule{
		{
			ID: "MSG01", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/prompt-lifecycle", Strength: Must,
			Summary: "Every message and every chunk of one has a messageId.",
			Why:     "The client cannot tell which message a chunk continues.",
			Check: func(c *Checker) {
				c.Update(func(m *Message) {
					c.Exercised()
					if id := m.Update.Get("messageId"); !id.IsString() || len(id.Bytes()) == 0 {
						c.Fail(m, orElse(id, m.Update), "messageId is missing")
					}
				}, "user_message", "user_message_chunk", "agent_message", "agent_message_chunk", "agent_thought", "agent_thought_chunk")
			},
		},
	}
}
