package lint

// checkDistinct checks that the elements of a list do not share the text of a member.
func checkDistinct(c *Checker, m *Message, list Value, member, problem string) {
	seen := map[string]bool{}
	for _, element := range list.Items() {
		v := element.Get(member)
		if !v.IsString() {
			continue
		}
		c.Exercised()
		if seen[v.Str()] {
			c.Fail(m, v, "%s", problem)
		}
		seen[v.Str()] = true
	}
}
