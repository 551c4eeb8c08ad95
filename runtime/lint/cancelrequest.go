package lint

import "github.com/hermes-nvim/hermes/internal/jtree"

func cancelRequestRules() []Rule {
	return []Rule{
		{
			ID: "CXR06", Severity: Error, Side: BySender, Versions: All, Page: "schema/CancelRequestNotification", Strength: Schema,
			Summary: "The requestId of a $/cancel_request is a string or an integer, of the type of the request's id.",
			Why:     "The request is not found, so it goes on.",
			Check: func(c *Checker) {
				c.Notification(func(m *Message) {
					c.Exercised()
					id := m.Params.Get("requestId")
					switch {
					case !id.IsString() && !isInteger(id):
						c.Fail(m, orElse(id, m.Params), "requestId is neither a string nor an integer")
					case c.hasOtherType(m.From, id):
						c.Fail(m, id, "the id of the request has another type")
					}
				}, "$/cancel_request")
			},
		},
	}
}

// hasOtherType reports whether a request of a party has an id that differs only in its
// type.
func (c *Checker) hasOtherType(from Party, id Value) bool {
	key := Key(id)
	other := `"` + key
	if id.Kind() == jtree.String {
		other = key[1:]
	}
	_, same := c.Outstanding(from).Get(key)
	_, found := c.Outstanding(from).Get(other)
	return found && !same
}
