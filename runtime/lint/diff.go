package lint

func diffRules() []Rule {
	return []Rule{
		{
			ID: "DIF03", Severity: Info, Side: ByAgent, Versions: V2, Page: "v2/tool-calls", Strength: Should,
			Summary: "A diff that changes text has a patch.",
			Why:     "Otherwise the user sees that a file changes, but not how.",
			Check: func(c *Checker) {
				c.Update(func(m *Message) {
					for _, item := range m.Update.Get("content").Items() {
						if !item.Get("type").Is("diff") || !changesText(item) {
							continue
						}
						c.Exercised()
						if !item.Get("patch").Set() {
							c.Fail(m, item, "the diff has no patch")
						}
					}
				}, "tool_call_update")
			},
		},
	}
}

// changesText reports whether a diff surely has a textual change: a file that it
// modifies and calls text.
func changesText(diff Value) bool {
	for _, change := range diff.Get("changes").Items() {
		if change.Get("operation").Is("modify") && change.Get("fileType").Is("text") {
			return true
		}
	}
	return false
}
