package lint

func toolCallRules() []Rule {
	return []Rule{
		{
			ID: "TOO01", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/tool-calls", Strength: Schema,
			Summary: "Every message about a tool call has a toolCallId that is not empty.",
			Why:     "The client cannot tell which tool call it is about.",
			Check: func(c *Checker) {
				c.Update(func(m *Message) {
					c.Exercised()
					id := m.Update.Get("toolCallId")
					if !id.IsString() || len(id.Bytes()) == 0 {
						c.Fail(m, orElse(id, m.Update), "toolCallId is missing or empty")
					}
				}, "tool_call", "tool_call_update", "tool_call_content_chunk")
			},
		},
	}
}
