package lint

import "slices"

func batchRules() []Rule {
	return []Rule{
		{
			ID: "BAT01", Severity: Error, Side: BySender, Versions: V2a, Page: "v2/transports", Strength: Must,
			Summary:      "A batch has at least one entry.",
			Why:          "An empty one can only be answered with an error.",
			Requirements: []string{"ACP-TRANSPORT-201"},
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
		{
			ID: "BAT02", Severity: Error, Side: BySender, Versions: V2a, Page: "v2/transports", Strength: MustNot,
			Summary:      "Notifications in a batch are not answered, and a batch without requests gets no answer at all.",
			Why:          "The sender has nothing to match the answer with.",
			Requirements: []string{"ACP-BATCH-202"},
			Check:        checkBatchNotifications,
		},
		{
			ID: "BAT03", Severity: Warn, Side: BySender, Versions: V2a, Page: "v2/transports", Strength: Should,
			Summary:      "A batch is answered by one batch, which has the answers to all its requests.",
			Why:          "The sender may wait for a batch before it reads any of them.",
			Requirements: []string{"ACP-BATCH-204"},
			Check:        checkBatchAnswers,
		},
		{
			ID: "BAT04", Severity: Warn, Side: BySender, Versions: V2a, Page: "v2/transports", Strength: ShouldNot,
			Summary:      "initialize, auth/login, session/new, session/resume and session/prompt are not in a batch.",
			Why:          "Entries of a batch may be handled in any order, and these depend on what came before.",
			Requirements: []string{"ACP-BATCH-208"},
			Check: func(c *Checker) {
				c.Request(func(m *Message) {
					c.Exercised()
					if m.Batch {
						c.Fail(m, m.Root.Get("method"), "%s is in a batch", m.Method)
					}
				}, "initialize", "auth/login", "session/new", "session/resume", "session/prompt")
			},
		},
		{
			ID: "BAT05", Severity: Error, Side: BySender, Versions: V2b, Page: "sdk-2.4.0", Strength: Must,
			Summary: "An array is refused with one error -32600 with the id null, and none of its entries is run.",
			Why:     "Version 2 has no batches, so the sides would disagree about what was asked.",
			Check:   checkBatchRefused,
		},
	}
}

func checkBatchNotifications(c *Checker) {
	var silent [3]int // the last batch of a party that must not be answered
	c.Frame(func(f *Frame) {
		peer := f.From.Peer()
		if n := silent[peer]; n > 0 && c.Outstanding(peer).Len() == 0 {
			refused := func(v Value) bool {
				return !v.Get("method").Exists() && v.Get("id").IsNull() && (v.Get("error").Exists() || v.Get("result").Exists())
			}
			answered := f.Root.IsArray() && f.Root.Len() == 0 || refused(f.Root)
			for _, v := range f.Root.Items() {
				answered = answered || refused(v)
			}
			if answered {
				c.Report(f, Finding{Text: "a batch of notifications is answered", Also: []int{n}}, f.Root)
			}
		}
		silent[peer] = 0
		if f.Err != nil {
			return
		}
		if !f.Root.IsArray() {
			if !f.Root.IsObject() || !f.Root.Get("method").IsString() {
				silent[f.From] = 0
			}
			return
		}
		notifications := 0
		for _, v := range f.Root.Items() {
			if v.Get("method").IsString() && v.Get("jsonrpc").Is("2.0") && !v.Get("id").Exists() {
				notifications++
			}
		}
		if notifications > 0 && notifications == f.Root.Len() {
			c.Exercised()
			silent[f.From] = f.Number
		}
	})
}

func checkBatchAnswers(c *Checker) {
	c.Frame(func(f *Frame) {
		peer := f.From.Peer()
		if !f.Root.IsArray() {
			if f.Root.Get("method").Exists() {
				return
			}
			if r, ok := c.Outstanding(peer).Get(Key(f.Root.Get("id"))); ok && r.Batch {
				c.Report(f, Finding{Text: "the request was in a batch, and is answered alone", Also: []int{r.Number}}, f.Root.Get("id"))
			}
			return
		}
		answered := map[*Request]bool{}
		var batches []int
		for _, v := range f.Root.Items() {
			if r, ok := c.Outstanding(peer).Get(Key(v.Get("id"))); ok && r.Batch && !v.Get("method").Exists() {
				answered[r] = true
				if !slices.Contains(batches, r.Number) {
					batches = append(batches, r.Number)
				}
			}
		}
		if len(batches) == 0 {
			return
		}
		c.Exercised()
		missing := 0
		for _, r := range c.Outstanding(peer).All() {
			if r.Batch && slices.Contains(batches, r.Number) && !answered[r] {
				missing++
			}
		}
		if missing > 0 {
			c.Report(f, Finding{Text: "the batch lacks answers", Also: batches[:1]}, f.Root)
		}
	})
}

func checkBatchRefused(c *Checker) {
	var last [3]int // array of a party that is not refused yet
	c.Frame(func(f *Frame) {
		if f.Root.IsArray() {
			if f.From != Nobody && hasRequest(f.Root) || f.Root.Len() == 0 {
				last[f.From] = f.Number
			}
			if n := last[f.From.Peer()]; n > 0 && !hasRequest(f.Root) {
				c.Report(f, Finding{Text: "an array is answered with an array", Also: []int{n}}, f.Root)
				last[f.From.Peer()] = 0
			}
		}
	})
	c.Answer(func(m *Message) {
		peer := m.From.Peer()
		switch n := last[peer]; {
		case m.Answers != nil && m.Answers.Batch:
			c.Report(m.Frame, Finding{Text: "an entry of an array is answered", Also: []int{m.Answers.Number}}, m.ID)
		case n > 0 && !m.ID.Set() && m.ErrorCode() == codeInvalidRequest:
			c.Exercised()
			last[peer] = 0
		case n > 0 && m.ID.IsNull() && m.Failed() && m.ErrorCode() != codeParse:
			c.Report(m.Frame, Finding{Text: "an array is refused with another code than -32600", Also: []int{n}}, m.Error.Get("code"))
			last[peer] = 0
		}
	})
}

// hasRequest reports whether an array has an entry with a method.
func hasRequest(array Value) bool {
	for _, v := range array.Items() {
		if v.Get("method").Exists() {
			return true
		}
	}
	return false
}
