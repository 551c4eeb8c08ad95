package lint

func batchRules() []Rule {
	return []Rule{
		{
			ID: "BAT01", Severity: Error, Side: BySender, Versions: V2a, Page: "v2/transports", Strength: Must,
			Summary: "A batch has at least one entry.",
			Why:     "An empty one can only be answered with an error.",
			Check: func(c *Checker) {
				c.Frame(func(f *Frame) {
					if !f.Root.IsArray() {
						return
					}
					c.Exercised()
					if f.Root.Len() == 0 {
						c.FailFrame(f, f.Root, "the batch is empty")
					}
				})
			},
		},
	}
}
