package lint

func extensionRules() []Rule {
	return []Rule{
		{
			ID: "EXT02", Severity: Error, Side: BySender, Versions: All, Page: "v1+v2/extensibility", Strength: Schema,
			Summary: "_meta is an object or null.",
			Why:     "Readers look for members in it, and strict ones refuse the message.",
			Check: func(c *Checker) {
				c.Message(func(m *Message) {
					eachMeta(m.Params, func(v Value) {
						c.Exercised()
						if v.Set() && !v.IsObject() {
							c.Fail(m, v, "_meta is a %s", v.Kind())
						}
					})
					eachMeta(m.Result, func(v Value) {
						c.Exercised()
						if v.Set() && !v.IsObject() {
							c.Fail(m, v, "_meta is a %s", v.Kind())
						}
					})
				})
			},
		},
	}
}

// eachMeta calls f with every _meta in a value of the protocol. What is below one, or in
// the input and output of tools, belongs to somebody else.
func eachMeta(v Value, f func(Value)) {
	for name, member := range v.Members() {
		switch string(name) {
		case "_meta":
			f(member)
		case "rawInput", "rawOutput", "data":
		default:
			eachMeta(member, f)
		}
	}
	for _, element := range v.Items() {
		eachMeta(element, f)
	}
}
