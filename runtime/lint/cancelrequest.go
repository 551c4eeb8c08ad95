package lint

import "github.com/hermes-nvim/hermes/internal/jtree"

func cancelRequestRules() []Rule {
	return []Rule{
		{
			ID: "CXR01", Severity: Error, Side: BySender, Versions: All, Page: "v1+v2/cancellation", Strength: Must,
			Summary: "A request that its sender cancels is still answered: with a result, or with the error -32800.",
			Why:     "The sender waits for the answer, and takes any other error for a failure.",
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					if m.Answers == nil || m.Answers.Cancelled == 0 {
						return
					}
					c.Exercised()
					if m.Failed() && m.ErrorCode() != codeCancelled && m.ErrorCode() != codeNoMethod && isAboutCancel(m.Error) {
						c.Report(m.Frame, Finding{Text: "a cancelled request is answered with another code than -32800", Also: []int{m.Answers.Number, m.Answers.Cancelled}}, m.Error.Get("code"))
					}
				})
				unanswered(c, func(r *Request, s Severity, why string) {
					if r.Cancelled > 0 {
						c.ReportEnd(r.From.Peer(), s, r, "%s was cancelled and is not answered: %s", quote(r.Method), why)
					}
				})
			},
		},
		{
			ID: "CXR02", Severity: Warn, Side: BySender, Versions: All, Page: "v1+v2/cancellation", Strength: Hygiene,
			Summary: "The error -32800 answers a request that was cancelled.",
			Why:     "The sender did not cancel it, and does not tell the user about an error that it takes for its own wish.",
			Check:   checkUncalledCancelled,
		},
		{
			ID: "CXR04", Severity: Error, Side: BySender, Versions: All, Page: "v1+v2/cancellation", Strength: Infer,
			Summary: "$/cancel_request names a request of its own sender.",
			Why:     "Both sides count their ids from the same number, so it may cancel something else.",
			Check: func(c *Checker) {
				c.Notification(func(m *Message) {
					id := m.Params.Get("requestId")
					if !id.IsString() && !isInteger(id) || c.hasOtherType(m.From, id) {
						return // CXR06 reports it
					}
					key := Key(id)
					if _, open := c.Outstanding(m.From).Get(key); open || c.AnsweredLately(m.From, key) != nil {
						c.Exercised()
						return
					}
					if !c.Complete(m.From) || c.reordered(m) {
						return
					}
					c.Exercised()
					if r, ok := c.Outstanding(m.From.Peer()).Get(key); ok {
						c.Report(m.Frame, Finding{Text: "only the " + m.From.Peer().String() + " has sent a request with this id", Also: []int{r.Number}}, id)
					} else {
						c.Fail(m, id, "the %s has sent no request with this id", m.From)
					}
				}, "$/cancel_request")
			},
		},
		{
			ID: "CXR05", Severity: Warn, Side: BySender, Versions: All, Page: "v1+v2/cancellation", Strength: Infer,
			Summary: "$/cancel_request for a request that is unknown or answered is ignored: it is not answered itself.",
			Why:     "The cancel and the answer may cross, and the sender has nothing to match another answer with.",
			Check:   checkIgnoredCancel,
		},
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

func checkUncalledCancelled(c *Checker) {
	stopped := NewBounded[string, int](maxSessions) // last message that ends work, by session
	note := func(m *Message) { stopped.Put(m.SessionID, m.Number) }
	c.Notification(note, "session/cancel", "$/cancel_request")
	c.Request(note, "session/cancel", "session/close", "session/delete", "logout", "auth/logout", "tool_call/cancel", "terminal/cancel", "terminal/kill", "terminal/release")
	c.Answer(func(m *Message) {
		r := m.Answers
		if r == nil || m.ErrorCode() != codeCancelled {
			return
		}
		c.Exercised()
		session, _ := stopped.Get(r.SessionID)
		all, _ := stopped.Get("")
		if ended := c.prompted(r); r.Cancelled == 0 && session < r.Number && all < r.Number && !ended && !c.Closed {
			c.Report(m.Frame, Finding{Text: quote(m.Method) + " was not cancelled", Also: []int{r.Number}}, m.Error.Get("code"))
		}
	})
}

// prompted reports whether the turn of a request was cancelled or is over.
func (c *Checker) prompted(r *Request) bool {
	s, ok := c.Sessions.Get(r.SessionID)
	if !ok {
		return false
	}
	return s.Turn != nil && s.Turn.Cancelled > 0 || s.Last != nil && s.Last.Ended > r.Number || s.State > Open
}

// checkIgnoredCancel looks for an answer right after a $/cancel_request that has nothing
// to cancel.
func checkIgnoredCancel(c *Checker) {
	var last [3]struct { // $/cancel_request of a party, until the peer says something
		number int
		id     string
	}
	var invalid [3]bool // the party sent something that has to be answered without an id
	c.Frame(func(f *Frame) {
		invalid[f.From] = invalid[f.From] || f.Err != nil || !f.Root.IsObject()
	})
	c.Message(func(m *Message) {
		peer := m.From.Peer()
		invalid[m.From] = invalid[m.From] || m.Kind == Malformed || m.Kind == RequestMessage && !m.ID.Set()
		if m.Kind != AnswerMessage || last[peer].number == 0 {
			return
		}
		l := last[peer]
		again := m.Answers == nil && m.ID.Set() && Key(m.ID) == l.id && m.Failed()
		nothing := !m.ID.Set() && m.Failed() && !invalid[peer] && c.Whole && c.Outstanding(peer).Len() == 0
		if again || nothing {
			c.Report(m.Frame, Finding{Text: "a $/cancel_request is answered", Also: []int{l.number}}, m.Error)
		}
		last[peer].number = 0
	})
	c.Notification(func(m *Message) {
		id := m.Params.Get("requestId")
		if _, open := c.Outstanding(m.From).Get(Key(id)); open || !id.IsString() && !isInteger(id) {
			return
		}
		if c.AnsweredLately(m.From, Key(id)) != nil || c.Complete(m.From) {
			c.Exercised()
			last[m.From].number, last[m.From].id = m.Number, Key(id)
		}
	}, "$/cancel_request")
}
