package lint

func configRules() []Rule {
	return []Rule{
		{
			ID: "CFG01", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/session-config-options", Strength: Must,
			Summary:      "Each config option has a current value, and that of a select is one of its options.",
			Why:          "The client cannot show what is chosen.",
			Requirements: []string{"ACP-CONFIG-001"},
			Check: func(c *Checker) {
				check := func(m *Message, options Value) {
					for _, o := range options.Items() {
						if o.IsObject() {
							c.Exercised()
							checkCurrentValue(c, m, o)
						}
					}
				}
				c.Answer(func(m *Message) { check(m, m.Result.Get("configOptions")) })
				c.Update(func(m *Message) { check(m, m.Update.Get("configOptions")) }, "config_option_update")
			},
		},
	}
}

func checkCurrentValue(c *Checker, m *Message, o Value) {
	current := o.Get("currentValue")
	if !current.Set() {
		c.Fail(m, o, "currentValue is missing")
		return
	}
	if !o.Get("type").Is("select") || !current.IsString() || !o.Get("options").IsArray() {
		return
	}
	for _, x := range o.Get("options").Items() {
		if x.Get("value").Is(current.Str()) {
			return
		}
		for _, y := range x.Get("options").Items() { // of a group
			if y.Get("value").Is(current.Str()) {
				return
			}
		}
	}
	c.Fail(m, current, "the current value is not among the options")
}
