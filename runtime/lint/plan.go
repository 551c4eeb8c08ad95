package lint

import "slices"

func planRules() []Rule {
	return []Rule{
		{
			ID: "PLN01", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/agent-plan", Strength: Schema,
			Summary: "Each entry of a plan has content, a defined priority and a defined status.",
			Why:     "Clients drop an entry or the whole plan.",
			Check: func(c *Checker) {
				c.Update(func(m *Message) {
					for _, e := range m.Update.Get("entries").Items() {
						c.Exercised()
						priority, status := e.Get("priority"), e.Get("status")
						if !e.Get("content").IsString() {
							c.Fail(m, e, "the entry has no content")
						}
						if !priority.OneOf("high", "medium", "low") {
							c.Fail(m, orElse(priority, e), "the entry has no defined priority")
						}
						if !status.OneOf("pending", "in_progress", "completed") {
							c.Fail(m, orElse(status, e), "the entry has no defined status")
						}
					}
				}, "plan")
			},
		},
		{
			ID: "PLN02", Severity: Warn, Side: ByAgent, Versions: All, Page: "v1+v2/agent-plan", Strength: Must,
			Summary: "Each update of a plan has all of its entries.",
			Why:     "The client replaces the plan, and the entries that did not change are gone.",
			Check:   checkWholePlan,
		},
		{
			ID: "PLN05", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/agent-plan", Strength: Must,
			Summary:      "A plan has a planId, and custom types, priorities and statuses begin with an underscore.",
			Why:          "The client cannot tell which plan it is, and later versions may give the words another meaning.",
			Requirements: []string{"ACP-PATCH-205", "ACP-ENUM-201"},
			Check: func(c *Checker) {
				c.Update(func(m *Message) {
					plan := m.Update.Get("plan")
					if !plan.IsObject() {
						return
					}
					c.Exercised()
					if id := plan.Get("planId"); !id.IsString() || len(id.Bytes()) == 0 {
						c.Fail(m, orElse(id, plan), "the plan has no planId")
					}
					defined := func(v Value, what string, words ...string) {
						if v.IsString() && !v.OneOf(words...) && !isExtension(v.Str()) {
							c.Fail(m, v, "not a %s", what)
						}
					}
					defined(plan.Get("type"), "type of plan", "items", "file", "markdown")
					for _, e := range plan.Get("entries").Items() {
						defined(e.Get("priority"), "priority", "high", "medium", "low")
						defined(e.Get("status"), "status", "pending", "in_progress", "completed", "cancelled")
					}
				}, "plan_update")
			},
		},
		{
			ID: "PLN06", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/draft/agent-plan", Strength: MustNot,
			Summary: "Named plans, notices and compaction updates are sent only to clients that advertise them.",
			Why:     "Other clients refuse or drop the update, and the user does not see the plan.",
			Check: func(c *Checker) {
				for _, x := range []struct {
					tags []string
					path []string
				}{
					{[]string{"plan_update", "plan_removed"}, []string{"plan"}},
					{[]string{"notice"}, []string{"session", "notices"}},
					{[]string{"compaction_update", "compaction_summary_chunk"}, []string{"session", "compaction"}},
				} {
					c.Update(func(m *Message) {
						if !c.ClientHello.Exists() {
							return
						}
						c.Exercised()
						if !advertised(c.ClientCapabilities, x.path) {
							c.Fail(m, m.Update.Get("sessionUpdate"), "the client does not advertise it")
						}
					}, x.tags...)
				}
			},
		},
	}
}

// checkWholePlan reports an update that has only some of the entries before, if those
// that it left out come back in the next one: then the agent has not dropped them. A
// plan may shrink otherwise.
func checkWholePlan(c *Checker) {
	const most = 256
	type plan struct {
		entries []string // the last update
		missing []string // what the last update left out of the one before
		part    Finding  // about the last update
	}
	plans := NewBounded[Of, *plan](maxSessions)
	c.Update(func(m *Message) {
		key, entries := Of{m.SessionID, ""}, m.Update.Get("entries")
		if m.UpdateTag == "plan_update" {
			key.ID, entries = bounded(m.Update.Get("plan", "planId").Bytes()), m.Update.Get("plan", "entries")
		}
		if !entries.IsArray() || entries.Len() > most {
			plans.Delete(key)
			return
		}
		c.Exercised()
		var now []string
		for _, e := range entries.Items() {
			now = append(now, c.recent.bounded(e.Get("content").Bytes()))
		}
		p, ok := plans.Get(key)
		if !ok {
			p = &plan{}
			plans.Put(key, p)
		}
		for _, content := range p.missing {
			if slices.Contains(now, content) {
				c.Add(p.part)
				break
			}
		}
		before := p.entries
		p.entries, p.missing = now, nil
		if len(now) == 0 || len(now) >= len(before) {
			return
		}
		for _, content := range now {
			if !slices.Contains(before, content) {
				return // the plan is another one
			}
		}
		for _, content := range before {
			if !slices.Contains(now, content) {
				p.missing = append(p.missing, content)
			}
		}
		p.part = c.Describe(m.Frame, entries, "the update has only %d of the %d entries of the plan", len(now), len(before))
	}, "plan", "plan_update")
}
