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
		{
			ID: "DEL02", Severity: Warn, Side: ByAgent, Versions: All, Page: "v1+v2/session-delete", Strength: Should,
			Summary:      "Deleting a session that does not exist succeeds.",
			Why:          "The user gets an error although the session is gone, as they wanted.",
			Requirements: []string{"ACP-DELETE-002", "ACP-DELETE-203"},
			Check: func(c *Checker) {
				deleted := deletedSessions(c)
				again := NewBounded[int, int](maxSessions) // requests to delete a deleted session, and the answers that deleted it
				c.Request(func(m *Message) {
					if n, ok := deleted.Get(m.SessionID); ok {
						again.Put(m.Number, n)
					}
				}, "session/delete")
				c.Answer(func(m *Message) {
					n, before := again.Get(m.Answers.Number)
					again.Delete(m.Answers.Number)
					f := Finding{Text: "deleting a session that does not exist fails"}
					if before {
						c.Exercised()
						f.Also = []int{n}
					}
					switch code := m.ErrorCode(); {
					case !m.Failed(), code == codeAuthRequired, code == codeCancelled, code == codeNoMethod:
					case code == codeNotFound && c.Version&V2b != 0: // clients take it for success
					case before, code == codeNotFound:
						c.Report(m.Frame, f, m.Error)
					}
				}, "session/delete")
			},
		},
		{
			ID: "DEL03", Severity: Warn, Side: ByAgent, Versions: All, Page: "v1+v2/session-delete", Strength: Infer,
			Summary:      "A deleted session is no longer listed.",
			Why:          "The user sees what they have deleted, and opens something that is not there.",
			Requirements: []string{"ACP-DELETE-202"},
			Check: func(c *Checker) {
				deleted := deletedSessions(c)
				eachListed(c, func(m *Message, s Value) {
					if deleted.Len() == 0 {
						return
					}
					c.Exercised()
					id := s.Get("sessionId")
					if n, ok := deleted.Get(bounded(id.Bytes())); ok && n < m.Answers.Number {
						c.Report(m.Frame, Finding{Text: "the session was deleted", Also: []int{n}}, id)
					}
				})
			},
		},
	}
}

// deletedSessions are the sessions that were deleted and not opened again, by the
// answer.
func deletedSessions(c *Checker) *Bounded[string, int] {
	deleted := NewBounded[string, int](maxSessions)
	c.Answer(func(m *Message) {
		if _, ok := deleted.Get(m.SessionID); !ok && !m.Failed() && m.SessionID != "" {
			deleted.Put(m.SessionID, m.Number)
		}
	}, "session/delete")
	c.Answer(func(m *Message) {
		if m.Failed() {
			return
		}
		if id := m.Result.Get("sessionId"); id.IsString() {
			deleted.Delete(bounded(id.Bytes()))
		}
		deleted.Delete(m.SessionID)
	}, "session/new", "session/load", "session/resume", "session/prompt")
	return deleted
}
