package lint

import "bytes"

func commandRules() []Rule {
	return []Rule{
		{
			ID: "CMD01", Severity: Error, Side: ByAgent, Versions: V2b, Page: "schema-2.4.0/Command", Strength: Must,
			Summary: "The name of a command has no slash and no white space, and is unique.",
			Why:     "Users type it after a slash, up to the first space.",
			Check: func(c *Checker) {
				c.Update(func(m *Message) {
					seen := map[string]bool{}
					for _, command := range m.Update.Get("availableCommands").Items() {
						name := command.Get("name")
						if !name.IsString() {
							continue
						}
						c.Exercised()
						switch b := name.Bytes(); {
						case bytes.ContainsAny(b, "/ \t\r\n"):
							c.Fail(m, name, "the name has a slash or white space")
						case seen[string(b)]:
							c.Fail(m, name, "another command has this name")
						}
						seen[name.Str()] = true
					}
				}, "available_commands_update")
			},
		},
	}
}
