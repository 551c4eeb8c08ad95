package lint

func messageRules() []Rule {
	return []Rule{
		{
			ID: "MSG01", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/prompt-lifecycle", Strength: Must,
			Summary:      "Every message and every chunk of one has a messageId.",
			Why:          "The client cannot tell which message a chunk continues.",
			Requirements: []string{"ACP-PATCH-201"},
			Check: func(c *Checker) {
				c.Update(func(m *Message) {
					c.Exercised()
					if id := m.Update.Get("messageId"); !id.IsString() || len(id.Bytes()) == 0 {
						c.Fail(m, orElse(id, m.Update), "messageId is missing")
					}
				}, "user_message", "user_message_chunk", "agent_message", "agent_message_chunk", "agent_thought", "agent_thought_chunk")
			},
		},
		{
			ID: "MSG02", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/prompt-lifecycle", Strength: Infer,
			Summary:      "A messageId belongs to one message of one author, and each prompt gets its own.",
			Why:          "The client puts the text of one message into another one.",
			Requirements: []string{"ACP-PATCH-203"},
			Check: func(c *Checker) {
				type use struct {
					role   string
					number int
				}
				roles := NewBounded[Of, use](maxToolCalls)
				prompts := NewBounded[Of, int](maxToolCalls) // ids in the answers to prompts
				c.Update(func(m *Message) {
					id := m.Update.Get("messageId")
					if !id.IsString() || len(id.Bytes()) == 0 {
						return
					}
					c.Exercised()
					key, role := Of{m.SessionID, bounded(id.Bytes())}, roleOf(m.UpdateTag)
					if before, ok := roles.Get(key); !ok {
						roles.Put(key, use{role, m.Number})
					} else if before.role != role {
						f := Finding{Text: "the id is that of a message of another kind: " + before.role, Also: []int{before.number}}
						if role != "user" && before.role != "user" {
							f.Severity = Warn // a thought may be taken for a part of the message
						}
						c.Report(m.Frame, f, id)
						roles.Put(key, use{role, m.Number})
					}
				}, "user_message", "user_message_chunk", "agent_message", "agent_message_chunk", "agent_thought", "agent_thought_chunk")
				c.Answer(func(m *Message) {
					id := m.Result.Get("messageId")
					if !id.IsString() || len(id.Bytes()) == 0 {
						return
					}
					c.Exercised()
					key := Of{m.SessionID, bounded(id.Bytes())}
					if n, ok := prompts.Get(key); ok {
						c.Report(m.Frame, Finding{Text: "another prompt got this id", Also: []int{n}}, id)
					}
					prompts.Put(key, m.Number)
				}, "session/prompt")
			},
		},
	}
}
