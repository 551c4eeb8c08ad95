package lint

import (
	"bytes"
	"slices"
	"time"
)

// promptly is how soon after a cancel an agent stops.
const promptly = 5 * time.Second

func cancelRules() []Rule {
	return []Rule{
		{
			ID: "CAN01", Severity: Error, Side: ByClient, Versions: All, Page: "v1+v2/prompt-turn", Strength: Schema,
			Summary: "session/cancel is a notification with the id of a session that exists.",
			Why:     "Otherwise the agent works on, and the user cannot stop it.",
			Check: func(c *Checker) {
				unknown := strangers(c)
				c.Request(func(m *Message) {
					c.Exercised()
					c.Fail(m, m.ID, "the cancel is a request")
				}, "session/cancel")
				c.Notification(func(m *Message) {
					c.Exercised()
					if id := m.Params.Get("sessionId"); !id.IsString() {
						c.Fail(m, orElse(id, m.Params), "sessionId is missing")
					} else if unknown(m) {
						c.Fail(m, id, "no answer has opened this session")
					}
				}, "session/cancel")
			},
		},
		{
			ID: "CAN02", Severity: Error, Side: ByClient, Versions: V1 | V2a, Page: "v1+v2/prompt-turn", Strength: Must,
			Summary: "After session/cancel, permission requests that wait for the user are answered with the outcome cancelled.",
			Why:     "The agent still waits, or does what the user has just stopped.",
			Check:   checkPendingPermissions,
		},
		{
			ID: "CAN03", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/prompt-turn", Strength: Must,
			Summary:      "A cancelled turn ends with the stop reason cancelled, not with an error.",
			Why:          "The client shows a failure that the user has asked for, or takes a half turn for a whole one.",
			Requirements: []string{"ACP-CANCEL-001"},
			Check: func(c *Checker) {
				checkEndOfCancelled(c)
				c.TurnEnded(func(t *Turn, m *Message) {
					if t.Cancelled == 0 || t.Prompt.Cancelled > 0 {
						return
					}
					switch {
					case t.StopReason == "cancelled":
						c.Exercised()
					case t.Failed && isAboutCancel(m.Error):
						c.Report(m.Frame, Finding{Text: "a cancelled turn ends with an error", Also: []int{t.Cancelled}}, m.Error)
					case c.Crossed(t.CancelledTime, t.EndedTime): // it had ended before the cancel arrived
					case t.Failed:
						c.Report(m.Frame, Finding{Text: "a cancelled turn ends with an error", Also: []int{t.Cancelled}}, m.Error)
					case t.StopReason != "":
						c.Report(m.Frame, Finding{Text: "a cancelled turn ends with another stop reason", Also: []int{t.Cancelled}}, m.Result.Get("stopReason"))
					}
				})
			},
		},
		{
			ID: "CAN04", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/prompt-turn", Strength: Must,
			Summary:      "All updates of a cancelled turn are sent before its prompt is answered.",
			Why:          "The client believes that everything has stopped, and shows the rest with the next turn.",
			Requirements: []string{"ACP-CANCEL-002"},
			Check:        func(c *Checker) { checkLateUpdates(c, true) },
		},
		{
			ID: "CAN07", Severity: Warn, Side: ByAgent, Versions: All, Page: "v1+v2/prompt-turn", Strength: Should,
			Summary:      "Five seconds after a cancel the agent starts nothing new: no tool call, file access, terminal or question.",
			Why:          "The user has stopped it, and sees it go on.",
			Requirements: []string{"ACP-CANCEL-204"},
			Check: func(c *Checker) {
				check := func(m *Message) {
					s := m.Session
					if m.From != Agent || s == nil || s.Turn == nil || s.Turn.Cancelled == 0 || m.Time.IsZero() || s.Turn.CancelledTime.IsZero() {
						return
					}
					c.Exercised()
					if d := m.Time.Sub(s.Turn.CancelledTime); d > promptly {
						c.Report(m.Frame, Finding{Text: "the turn was cancelled " + d.Round(time.Second).String() + " before", Also: []int{s.Turn.Cancelled}}, Value{})
					}
				}
				c.Request(check, "fs/*", "terminal/create", "session/request_permission", "elicitation/create")
				c.ToolCallChanged(func(call *ToolCall, _ ToolCall, m *Message) {
					if call.First == m.Number && m.Kind == NotificationMessage {
						check(m)
					}
				})
				c.TurnEnded(func(t *Turn, _ *Message) {
					if t.Cancelled > 0 {
						c.Exercised()
					}
				})
			},
		},
		{
			ID: "CAN08", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/prompt-lifecycle", Strength: Must,
			Summary:      "When cancelled work ends, the agent reports the state idle with the stop reason cancelled, after all other updates of the work.",
			Why:          "The client waits for it before it takes the next prompt of the user.",
			Requirements: []string{"ACP-CANCEL-201", "ACP-CANCEL-202", "ACP-CANCEL-208"},
			Check:        checkCancelConfirmed,
		},
		{
			ID: "CAN09", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/prompt-lifecycle", Strength: Must,
			Summary:      "Cancelled work does not end as a failure: no error to the prompt, and no other stop reason.",
			Why:          "The client shows a failure that the user has asked for.",
			Requirements: []string{"ACP-CANCEL-203", "ACP-CANCEL-207"},
			Check: func(c *Checker) {
				c.TurnEnded(func(t *Turn, m *Message) {
					if t.Cancelled == 0 || t.Prompt.Cancelled > 0 {
						return
					}
					reason := m.Update.Get("stopReason")
					switch {
					case t.StopReason == "cancelled":
						c.Exercised()
					case t.Failed && (isAboutCancel(m.Error) || !c.Crossed(t.CancelledTime, t.EndedTime)):
						c.Report(m.Frame, Finding{Text: "cancelled work ends with an error", Also: []int{t.Cancelled}}, m.Error)
					case t.StopReason != "" && !isExtension(t.StopReason) && !c.Crossed(t.CancelledTime, t.EndedTime):
						c.Report(m.Frame, Finding{Text: "cancelled work ends with another stop reason", Also: []int{t.Cancelled}}, reason)
					}
				})
			},
		},
		{
			ID: "CAN10", Severity: Warn, Side: ByClient, Versions: All, Page: "v1+v2/prompt-turn", Strength: Infer,
			Summary: "Permission requests that arrive between a cancel and the end of the turn are answered with the outcome cancelled, too.",
			Why:     "The agent would start something in a turn that the user has stopped.",
			Check: func(c *Checker) {
				late := NewBounded[string, int](maxRequests) // the cancel, by id of the request
				c.Request(func(m *Message) {
					late.Delete(Key(m.ID))
					if s := m.Session; m.From == Agent && s != nil && s.Turn != nil && s.Turn.Cancelled > 0 {
						late.Put(Key(m.ID), s.Turn.Cancelled)
					}
				}, "session/request_permission")
				c.Answer(func(m *Message) {
					cancel, ok := late.Get(Key(m.ID))
					if !ok || m.Answers == nil {
						return
					}
					late.Delete(Key(m.ID))
					c.Exercised()
					if !m.Result.Get("outcome", "outcome").Is("cancelled") && m.ErrorCode() != codeCancelled && !c.reordered(m) {
						c.Report(m.Frame, Finding{Text: "the turn was cancelled before the request", Also: []int{cancel, m.Answers.Number}}, orElse(m.Result.Get("outcome"), m.Error))
					}
				}, "session/request_permission")
			},
		},
		{
			ID: "CAN11", Severity: Warn, Side: ByAgent, Versions: V2b, Page: "schema-2.4.0/session_cancel", Strength: Should,
			Summary:      "The agent withdraws the permission requests of cancelled work with $/cancel_request.",
			Why:          "The question stays on the screen of the user, although the answer no longer matters.",
			Requirements: []string{"ACP-INFO-CANCEL-202"},
			Check:        checkWithdrawn,
		},
		{
			ID: "CAN12", Severity: Error, Side: ByClient, Versions: V2b, Page: "schema-2.4.0/RequestPermissionOutcome", Strength: Must,
			Summary: "A permission request that the agent withdraws with $/cancel_request is answered with the outcome cancelled.",
			Why:     "The agent cannot tell an error of the client from a question that is gone.",
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					if m.Answers == nil || m.Answers.Cancelled == 0 {
						return
					}
					switch outcome := m.Result.Get("outcome"); {
					case outcome.Get("outcome").Is("cancelled"):
						c.Exercised()
					case m.ErrorCode() == codeCancelled, !c.Crossed(m.Answers.CancelledTime, m.Time):
						c.Report(m.Frame, Finding{Text: "the request was withdrawn", Also: []int{m.Answers.Number, m.Answers.Cancelled}}, orElse(outcome, m.Error))
					}
				}, "session/request_permission")
			},
		},
		{
			ID: "CAN13", Severity: Info, Side: ByClient, Versions: All, Page: "v1+v2/prompt-turn", Strength: Hygiene,
			Summary: "session/cancel is sent while a turn runs.",
			Why:     "It is harmless otherwise, but some agents apply it to the next turn.",
			Check: func(c *Checker) {
				c.Notification(func(m *Message) {
					s := m.Session
					if s == nil || s.State != Open {
						return
					}
					c.Exercised()
					if s.Turn == nil && (s.Last == nil || !c.Crossed(s.Last.EndedTime, m.Time)) {
						c.Fail(m, m.Params.Get("sessionId"), "no turn is running")
					}
				}, "session/cancel")
			},
		},
	}
}

// checkEndOfCancelled finds cancelled turns of version 1 that have no end, although the
// agent has done a whole turn of the session since.
func checkEndOfCancelled(c *Checker) {
	type endless struct {
		turn  *Turn
		later *Turn // began after the cancel, and has ended
	}
	left := NewBounded[string, *endless](maxSessions) // by session
	c.TurnStarted(func(t *Turn, _ *Message) {
		s := t.Session
		if old := s.Last; old != nil && old.Ended == 0 && old.Cancelled > 0 && !c.Crossed(old.CancelledTime, t.Started) {
			if e, ok := left.Get(s.ID); !ok || e.later == nil {
				left.Put(s.ID, &endless{turn: old})
			}
		}
	})
	c.TurnEnded(func(t *Turn, _ *Message) {
		e, ok := left.Get(t.Session.ID)
		switch {
		case !ok:
		case t.Prompt.Number > e.turn.Cancelled && !t.Failed:
			e.later = t
		}
	})
	c.End(func() {
		for _, e := range left.All() {
			if r, open := c.Outstanding(Client).Get(e.turn.Prompt.ID); e.later != nil && open && r == e.turn.Prompt {
				c.Exercised()
				c.FailEnd(Agent, e.turn.Prompt, "the cancelled turn has no end, and a later one has (message %d)", e.later.Ended)
			}
		}
	})
}

// isAboutCancel reports whether an error says that something was cancelled.
func isAboutCancel(err Value) bool {
	if n, _ := err.Get("code").Int(); n == codeCancelled {
		return true
	}
	text := bytes.ToLower(err.Text())
	return bytes.Contains(text, []byte("cancel")) || bytes.Contains(text, []byte("abort"))
}

// reordered reports whether a message may have been sent before messages of its sender
// that precede it in the capture. Over HTTP each message of the client is a request of
// its own.
func (c *Checker) reordered(m *Message) bool {
	return m.HTTP != nil && m.HTTP.Opcode == 0 && m.From == Client
}

// checkPendingPermissions follows the permission requests that wait when the client
// cancels. The client sends the cancel and the answers itself, so nothing can cross.
func checkPendingPermissions(c *Checker) {
	type pending struct {
		request *Request
		cancel  int
		at      time.Time
	}
	waiting := NewBounded[string, pending](maxRequests) // by id
	over := NewBounded[string, *Turn](maxSessions)      // the last turn that ended, by session
	c.TurnEnded(func(t *Turn, _ *Message) { over.Put(t.Session.ID, t) })
	c.Notification(func(m *Message) {
		if m.From != Client || m.SessionID == "" {
			return
		}
		for _, r := range c.Outstanding(Agent).All() {
			if r.Method == "session/request_permission" && r.SessionID == m.SessionID {
				waiting.Put(r.ID, pending{r, m.Number, m.Time})
			}
		}
	}, "session/cancel")
	c.Answer(func(m *Message) {
		p, ok := waiting.Get(Key(m.ID))
		if !ok || m.Answers != p.request {
			return
		}
		waiting.Delete(Key(m.ID))
		c.Exercised()
		f := Finding{Also: []int{p.request.Number, p.cancel}}
		switch outcome := m.Result.Get("outcome", "outcome"); {
		case outcome.Is("cancelled"), c.reordered(m) && c.Crossed(p.at, m.Time):
		case m.Failed():
			f.Text = "a permission request of cancelled work is answered with an error"
			if m.ErrorCode() == codeCancelled && p.request.Cancelled > 0 {
				f.Severity = Warn // an example of the specification does so
			}
			c.Report(m.Frame, f, m.Error)
		default:
			f.Text = "the session was cancelled before"
			c.Report(m.Frame, f, orElse(outcome, m.Result))
		}
	}, "session/request_permission")
	c.End(func() {
		for id, p := range waiting.All() {
			if r, open := c.Outstanding(Agent).Get(id); !open || r != p.request || c.ClosedBy == Agent {
				continue
			}
			if t, ok := over.Get(p.request.SessionID); ok && t.Prompt.Number > p.cancel && !c.Crossed(p.at, t.Started) {
				c.FailEnd(Client, p.request, "the request is not answered, although the session was cancelled (message %d) and prompted again (message %d)", p.cancel, t.Prompt.Number)
			} else if d := c.LastTime.Sub(p.at); !p.at.IsZero() && !c.LastTime.IsZero() && d > longEnough {
				c.FailEnd(Client, p.request, "the request is not answered, although the session was cancelled %s before the end", d.Round(time.Second))
			}
		}
	})
}

// checkCancelConfirmed follows what comes after the cancel of work of version 2.
func checkCancelConfirmed(c *Checker) {
	background := NewBounded[string, bool](maxSessions) // the last idle leaves work in the background, by session
	reported := NewBounded[string, int](maxSessions)    // end of the turn, by session
	replay := replays(c)
	c.TurnEnded(func(t *Turn, m *Message) {
		background.Put(t.Session.ID, m.Update.Get("background").Len() > 0)
		switch {
		case t.Cancelled == 0 || t.Failed:
		case t.StopReason == "cancelled":
			c.Exercised()
		case t.StopReason == "" && !c.Crossed(t.CancelledTime, t.EndedTime):
			c.Report(m.Frame, Finding{Text: "the state idle has no stop reason", Also: []int{t.Cancelled}}, m.Update)
		}
	})
	c.Update(func(m *Message) {
		s := m.Session
		if m.From != Agent || s == nil || s.Turn != nil || s.Last == nil || !isCancelled(s.Last) || s.Status != "idle" || s.State != Open {
			return
		}
		leftover, _ := background.Get(s.ID)
		n, _ := reported.Get(s.ID)
		if leftover || n == s.Last.Ended || replay(s) > s.Last.Ended || !m.Time.IsZero() && m.Time.Sub(s.Last.EndedTime) > longEnough {
			return
		}
		if id := m.Update.Get("toolCallId"); id.IsString() {
			call, known := c.ToolCalls.Get(Of{s.ID, bounded(id.Bytes())})
			if !known || call.Turn != s.Last {
				return
			}
		}
		reported.Put(s.ID, s.Last.Ended)
		c.Report(m.Frame, Finding{Text: "the cancelled work is over", Also: []int{s.Last.Ended}}, m.Update.Get("sessionUpdate"))
	}, "agent_message_chunk", "agent_thought_chunk", "agent_message", "agent_thought", "tool_call_update", "tool_call_content_chunk")
	c.End(func() {
		for _, s := range c.Sessions.All() {
			t := s.Turn
			if t == nil || t.Cancelled == 0 || s.State != Open || t.CancelledTime.IsZero() || c.LastTime.IsZero() {
				continue
			}
			if d := c.LastTime.Sub(t.CancelledTime); d > longEnough {
				c.FailEnd(Agent, t.Prompt, "the cancel is not confirmed: the capture ends %s later", d.Round(time.Second))
			}
		}
	})
}

// checkWithdrawn follows the permission requests that are open when cancelled work
// ends. An answer that the client has sent by itself proves nothing.
func checkWithdrawn(c *Checker) {
	type left struct {
		request *Request
		turn    *Turn
	}
	var open []left
	fail := func(l left, r *Request) {
		c.FailEnd(Agent, r, "the work was cancelled, but the request was not withdrawn")
	}
	c.Notification(func(m *Message) {
		if r, ok := c.Outstanding(Agent).Get(Key(m.Params.Get("requestId"))); ok && m.From == Agent && r.Method == "session/request_permission" {
			if s, known := c.Sessions.Get(r.SessionID); known && (s.Turn != nil && s.Turn.Cancelled > 0 || s.Last != nil && s.Last.Cancelled > 0) {
				c.Exercised()
			}
			open = slices.DeleteFunc(open, func(l left) bool { return l.request == r })
		}
	}, "$/cancel_request")
	c.TurnEnded(func(t *Turn, _ *Message) {
		if t.Cancelled == 0 {
			return
		}
		for _, r := range c.Outstanding(Agent).All() {
			if r.Method == "session/request_permission" && r.SessionID == t.Session.ID && r.Cancelled == 0 && len(open) < maxFindings {
				open = append(open, left{r, t})
			}
		}
	})
	c.Answer(func(m *Message) {
		open = slices.DeleteFunc(open, func(l left) bool {
			if l.request != m.Answers {
				return false
			}
			if !c.Crossed(l.turn.EndedTime, m.Time) {
				fail(l, l.request)
			}
			return true
		})
	}, "session/request_permission")
	c.End(func() {
		for _, l := range open {
			if !c.Crossed(l.turn.EndedTime, c.LastTime) {
				fail(l, l.request)
			}
		}
	})
}
