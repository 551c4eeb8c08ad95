package lint

func contentRules() []Rule {
	return []Rule{
		{
			ID: "CNT06", Severity: Warn, Side: BySender, Versions: All, Page: "v2/migration", Strength: Schema,
			Summary: "The priority of an annotation lies between 0 and 1.",
			Why:     "Readers of version 2 refuse other values.",
			Check: func(c *Checker) {
				eachContent(c, func(m *Message, block Value) {
					p, ok := block.Get("annotations", "priority").Float()
					if !ok {
						return
					}
					c.Exercised()
					if p < 0 || p > 1 {
						c.Fail(m, block.Get("annotations", "priority"), "the priority is not between 0 and 1")
					}
				})
			},
		},
	}
}

// eachContent calls f with every content block of prompts, messages and tool calls.
func eachContent(c *Checker, f func(*Message, Value)) {
	each := func(m *Message, v Value) {
		if v.IsObject() {
			f(m, v)
		}
		for _, block := range v.Items() {
			if inner := block.Get("content"); block.Get("type").Is("content") && inner.IsObject() {
				block = inner // of a tool call
			}
			if block.IsObject() {
				f(m, block)
			}
		}
	}
	c.Request(func(m *Message) { each(m, m.Params.Get("prompt")) }, "session/prompt")
	c.Request(func(m *Message) { each(m, m.Params.Get("toolCall", "content")) }, "session/request_permission")
	c.Update(func(m *Message) { each(m, m.Update.Get("content")) })
}
