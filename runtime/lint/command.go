package lint

import "bytes"

func commandRules() []Rule {
	return []Rule{
		{
			ID: "CMD01", Severity: Error, Side: ByAgent, Versions: V2b, Page: "schema-2.4.0/Command", Strength: Must,
			Summary: "The name of a command has no slash and no white space, and is unique.",
			Why:     "Users type it after a slash, up to the first space.",
			Check: func(c *Checker) {
				eachCommands(c, func(m *Message, commands Value) {
					seen := map[string]bool{}
					for _, command := range commands.Items() {
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
				})
			},
		},
		{
			ID: "CMD02", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/slash-commands", Strength: Must,
			Summary: "The input of a command has a type, which is text or begins with an underscore.",
			Why:     "Without a type the client does not know what to ask the user for.",
			Check: func(c *Checker) {
				eachCommands(c, func(m *Message, commands Value) {
					for _, command := range commands.Items() {
						input := command.Get("input")
						if !input.IsObject() {
							continue
						}
						c.Exercised()
						if kind := input.Get("type"); !kind.IsString() {
							c.Fail(m, orElse(kind, input), "the input has no type")
						} else if !kind.Is("text") && !isExtension(kind.Str()) {
							c.Unknown(m, kind, "not a type of input")
						}
					}
				})
			},
		},
	}
}

// eachCommands calls f with each list of commands that an agent offers.
func eachCommands(c *Checker, f func(*Message, Value)) {
	c.Update(func(m *Message) { f(m, m.Update.Get("availableCommands")) }, "available_commands_update")
	c.Answer(sentBy(Agent, func(m *Message) { f(m, m.Result.Get("availableCommands")) }), sessionAnswers...)
}
