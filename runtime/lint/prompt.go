package lint

import (
	"fmt"
	"slices"
	"time"
)

// stall is how long a turn may be silent while nobody waits for anything.
const stall = 2 * time.Minute

func promptRules() []Rule {
	return []Rule{
		{
			ID: "PRM01", Severity: Error, Side: ByClient, Versions: All, Page: "v1+v2/prompt-turn", Strength: Must,
			Summary: "A prompt is sent to a session that is set up: after initialize, and after the answer that opened the session.",
			Why:     "The agent does not know the session yet.",
			Check:   checkPromptAfterSetup,
		},
		{
			ID: "PRM02", Severity: Error, Side: ByClient, Versions: All, Page: "v1+v2/prompt-turn", Strength: Must,
			Summary: "Images, audio and embedded resources are in a prompt only if the agent advertises them.",
			Why:     "Other agents refuse the prompt, or lose what the user attached.",
			Check: func(c *Checker) {
				c.Request(func(m *Message) {
					if m.From != Client || !c.AgentHello.Exists() {
						return
					}
					for _, block := range m.Params.Get("prompt").Items() {
						name := promptCapability(block)
						if name == "" {
							continue
						}
						c.Exercised()
						if !c.takes(name) {
							c.Fail(m, block.Get("type"), "the agent does not advertise %s in prompts", name)
						}
					}
				}, "session/prompt")
			},
		},
		{
			ID: "PRM03", Severity: Error, Side: ByAgent, Versions: V1, Page: "v1/prompt-turn", Strength: Must,
			Summary:      "The result of a prompt has one of the five stop reasons.",
			Why:          "The client cannot tell how the turn ended.",
			Requirements: []string{"ACP-PROMPT-001"},
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					if m.Failed() || !m.Result.Exists() {
						return
					}
					c.Exercised()
					if reason := m.Result.Get("stopReason"); !reason.Exists() {
						c.Fail(m, m.Result, "stopReason is missing")
					} else if !reason.OneOf("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled") {
						c.Unknown(m, reason, "not a stop reason of version 1")
					}
				}, "session/prompt")
			},
		},
		{
			ID: "PRM04", Severity: Warn, Side: ByAgent, Versions: V1, Page: "v1/prompt-turn", Strength: Infer,
			Summary: "The agent sends all updates of a turn before it answers the prompt.",
			Why:     "The client takes the turn for over, and shows the rest below the next prompt or not at all.",
			Check:   func(c *Checker) { checkLateUpdates(c, false) },
		},
		{
			ID: "PRM05", Severity: Warn, Side: ByAgent, Versions: V1, Page: "v1/prompt-turn", Strength: Infer,
			Summary: "When a turn ends normally, all its tool calls have ended.",
			Why:     "The client shows them as running for ever.",
			Check:   checkOpenToolCalls,
		},
		{
			ID: "PRM06", Severity: Error, Side: ByClient, Versions: V2b, Page: "schema-2.4.0/PromptRequest", Strength: MustNot,
			Summary: "A prompt has at least one block.",
			Why:     "The agent has nothing to answer, and refuses it.",
			Check: func(c *Checker) {
				c.Request(func(m *Message) {
					prompt := m.Params.Get("prompt")
					if !prompt.IsArray() {
						return
					}
					c.Exercised()
					if prompt.Len() == 0 {
						c.Fail(m, prompt, "the prompt is empty")
					}
				}, "session/prompt")
			},
		},
		{
			ID: "PRM07", Severity: Warn, Side: ByAgent, Versions: V1, Page: "v1/prompt-turn", Strength: Infer,
			Summary: "A turn ends as cancelled only if the client cancelled it.",
			Why:     "The user is told that the turn was cancelled, and looks for whoever did it.",
			Check:   checkUncalledCancel,
		},
		{
			ID: "PRM08", Severity: Warn, Side: ByAgent, Versions: V1, Page: "v1/prompt-turn", Strength: Must,
			Summary: "Chunks with the same messageId belong to one message and follow each other.",
			Why:     "The client joins chunks by the id, so two messages are mixed up or one is torn apart.",
			Check:   checkMessageIDs,
		},
		{
			ID: "PRM09", Severity: Error, Side: ByAgent, Versions: All, Page: "v1+v2/prompt-turn", Strength: Schema,
			Summary: "A usage_update has used and size, and its cost has an amount and a currency of three letters.",
			Why:     "The client cannot say how full the context is, or what the session costs.",
			Check: func(c *Checker) {
				c.Update(func(m *Message) {
					c.Exercised()
					for _, name := range []string{"used", "size"} {
						if v := m.Update.Get(name); !isInteger(v) {
							c.Fail(m, orElse(v, m.Update), "%s is not a number of tokens", name)
						}
					}
					cost := m.Update.Get("cost")
					if !cost.Set() {
						return
					}
					if _, ok := cost.Get("amount").Float(); !ok {
						c.Fail(m, orElse(cost.Get("amount"), cost), "the cost has no amount")
					}
					if v := cost.Get("currency"); !isCurrency(v.Bytes()) {
						c.Fail(m, orElse(v, cost), "the currency is not a code of three letters")
					}
				}, "usage_update")
			},
		},
		{
			ID: "PRM10", Severity: Warn, Side: ByAgent, Versions: All, Strength: Hygiene,
			Summary: "During a turn the agent is heard of every two minutes, unless it waits for the client or for a tool.",
			Why:     "The user cannot tell a long thought from an agent that hangs.",
			Check:   checkStalls,
		},
	}
}

// strangers returns a function that reports whether the capture proves that the client
// could not know the session of a message.
func strangers(c *Checker) func(*Message) bool {
	told := NewBounded[string, bool](maxSessions)
	extended := false // an extension answered, and may have opened sessions in its own way
	c.Message(func(m *Message) {
		if m.Kind == AnswerMessage && isExtension(m.Method) && !m.Failed() {
			extended = true
		}
		if m.From != Agent || m.Session != nil && m.Kind != AnswerMessage {
			return
		}
		for _, id := range []Value{m.Params.Get("sessionId"), m.Update.Get("sessionId"), m.Result.Get("sessionId")} {
			if id.IsString() {
				told.Put(bounded(id.Bytes()), true)
			}
		}
	})
	return func(m *Message) bool {
		_, ok := told.Get(m.SessionID)
		return c.Whole && m.Session == nil && m.SessionID != "" && !ok && !extended && !told.Lost() && !c.Sessions.Lost()
	}
}

func checkPromptAfterSetup(c *Checker) {
	unknown := strangers(c)
	c.Request(func(m *Message) {
		if m.From != Client || m.Batch {
			return
		}
		id := m.Params.Get("sessionId")
		switch {
		case c.Whole && !c.initialized():
			c.Fail(m, Value{}, "initialize is not answered yet")
		case unknown(m):
			c.Fail(m, id, "no answer has opened this session")
		case m.Session != nil && m.Session.State == Opening:
			c.Report(m.Frame, Finding{Text: m.Session.By + " is not answered yet", Also: []int{m.Session.Opened}}, id)
		case m.Session != nil:
			c.Exercised()
		}
	}, "session/prompt")
}

// initialized reports whether initialize was sent and answered.
func (c *Checker) initialized() bool {
	if c.Initialize == nil {
		return false
	}
	r, open := c.Outstanding(Client).Get(c.Initialize.ID)
	return !open || r != c.Initialize
}

// promptCapability names what an agent has to advertise for a block of a prompt, empty
// if nothing.
func promptCapability(block Value) string {
	switch kind := block.Get("type"); {
	case kind.Is("image"):
		return "image"
	case kind.Is("audio"):
		return "audio"
	case kind.Is("resource"):
		return "embeddedContext"
	}
	return ""
}

// takes reports whether the agent advertises something in prompts.
func (c *Checker) takes(name string) bool {
	v := c.AgentCapabilities.Get("promptCapabilities", name)
	if c.Version != V1 {
		v = c.AgentCapabilities.Get("session", "prompt", name)
	}
	return v.IsObject() || v.True()
}

// prompting reports whether a prompt of a session is not answered yet.
func (c *Checker) prompting(s *Session) bool {
	if s.Turn != nil {
		return true
	}
	for _, r := range c.Outstanding(Client).All() {
		if r.Method == "session/prompt" && r.SessionID == s.ID {
			return true
		}
	}
	return false
}

// replays returns a function that returns the number of the last request that makes
// the agent replay a session; 0 if there was none.
func replays(c *Checker) func(*Session) int {
	last := NewBounded[string, int](maxSessions)
	c.Request(func(m *Message) {
		if m.From == Client {
			last.Put(m.SessionID, m.Number)
		}
	}, "session/load", "session/resume")
	return func(s *Session) int {
		n, _ := last.Get(s.ID)
		return n
	}
}

// ofTurn are the updates that belong to a turn.
var ofTurn = []string{"agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"}

// checkLateUpdates finds what comes after the answer to a prompt: of turns that were
// cancelled, or of the others.
func checkLateUpdates(c *Checker, cancelled bool) {
	replay := replays(c)
	reported := NewBounded[string, int](maxSessions) // end of the turn, by session
	c.TurnEnded(func(t *Turn, _ *Message) {
		if isCancelled(t) == cancelled {
			c.Exercised()
		}
	})
	c.Update(func(m *Message) {
		s := m.Session
		if m.From != Agent || s == nil || s.Turn != nil || s.Last == nil || s.Last.Ended == 0 || s.State != Open || isCancelled(s.Last) != cancelled {
			return
		}
		if n, _ := reported.Get(s.ID); n == s.Last.Ended || replay(s) > s.Last.Ended || c.prompting(s) {
			return
		}
		if !m.Time.IsZero() && m.Time.Sub(s.Last.EndedTime) > longEnough {
			return // work of its own, about which version 1 says nothing
		}
		reported.Put(s.ID, s.Last.Ended)
		c.Report(m.Frame, Finding{Text: "the turn is over", Also: []int{s.Last.Ended}}, m.Update.Get("sessionUpdate"))
	}, ofTurn...)
}

// isCancelled reports whether a turn was cancelled and ended so.
func isCancelled(t *Turn) bool { return t.Cancelled > 0 && t.StopReason == "cancelled" }

// unfinished follows the tool calls that have not ended.
func unfinished(c *Checker) *Bounded[Of, *ToolCall] {
	open := NewBounded[Of, *ToolCall](maxToolCalls)
	c.ToolCallChanged(func(call *ToolCall, _ ToolCall, _ *Message) {
		key := Of{call.Session.ID, call.ID}
		if call.Done() {
			open.Delete(key)
		} else if call.Created || call.Status != "" {
			open.Put(key, call)
		}
	})
	return open
}

func checkOpenToolCalls(c *Checker) {
	open := unfinished(c)
	exercised := map[*Turn]bool{} // turns that run and have tool calls
	c.ToolCallChanged(func(call *ToolCall, _ ToolCall, _ *Message) {
		if call.Turn != nil && call.Turn.Ended == 0 && len(exercised) < maxSessions {
			exercised[call.Turn] = true
		}
	})
	c.TurnEnded(func(t *Turn, m *Message) {
		if !exercised[t] {
			return
		}
		delete(exercised, t)
		if t.Failed || t.Cancelled > 0 || t.StopReason == "cancelled" {
			return
		}
		c.Exercised()
		var also []int
		title := ""
		for key, call := range open.All() {
			if call.Turn == t && (call.Created || !call.Asked) {
				also, title = append(also, call.First), call.Title
				open.Delete(key)
			}
		}
		if len(also) == 0 {
			return
		}
		text := fmt.Sprintf("the tool call %q has not ended", quote(title))
		if len(also) > 1 {
			text = fmt.Sprintf("%d tool calls have not ended, such as %q", len(also), quote(title))
		}
		c.Report(m.Frame, Finding{Text: text, Also: also[:min(len(also), 8)]}, m.Result.Get("stopReason"))
	})
}

func checkUncalledCancel(c *Checker) {
	reason := NewBounded[string, int](maxSessions) // message of the client that an agent may take for a cancel, by session
	ended := NewBounded[string, int](maxSessions)  // the last turn, by session
	note := func(m *Message) {
		if m.From == Client {
			reason.Put(m.SessionID, m.Number)
		}
	}
	c.Notification(note)
	c.Request(func(m *Message) {
		if m.Method == "session/new" || m.Method == "session/load" && m.Session == nil || m.Method == "session/set_mode" || m.Method == "session/set_config_option" || m.Method == "initialize" || m.Method == "authenticate" {
			return
		}
		if m.Method != "session/prompt" || m.Session != nil && m.Session.Turn != nil {
			note(m)
		}
	})
	c.Answer(func(m *Message) {
		if m.Failed() || !m.Result.Get("outcome", "outcome").Is("selected") {
			note(m)
		}
	}, "session/request_permission")
	c.Answer(func(m *Message) {
		if !m.Result.Get("action").Is("accept") {
			note(m)
		}
	}, "elicitation/create")
	c.TurnEnded(func(t *Turn, m *Message) {
		began, _ := ended.Get(t.Session.ID) // not the prompt: the cancel may have missed the turn before
		ended.Put(t.Session.ID, t.Ended)
		if t.StopReason != "cancelled" {
			return
		}
		c.Exercised()
		n, _ := reason.Get(t.Session.ID)
		general, _ := reason.Get("")
		if t.Cancelled == 0 && t.Prompt.Cancelled == 0 && !c.Closed && n <= began && general <= began {
			c.Report(m.Frame, Finding{Text: "the client did not cancel", Also: []int{t.Prompt.Number}}, m.Result.Get("stopReason"))
		}
	})
}

func checkMessageIDs(c *Checker) {
	type message struct {
		session string
		replay  int // a replay sends ids again
		id      string
	}
	type stream struct{ session, tag string }
	replay := replays(c)
	authors := NewBounded[message, bool](4 * maxSessions) // whether it is the user's
	over := NewBounded[message, bool](4 * maxSessions)
	current := NewBounded[stream, message](maxSessions)
	c.Update(func(m *Message) {
		id := m.Update.Get("messageId")
		if m.Session == nil || !id.IsString() {
			return
		}
		c.Exercised()
		key := message{m.SessionID, replay(m.Session), bounded(id.Bytes())}
		user := m.UpdateTag == "user_message_chunk"
		if other, ok := authors.Get(key); ok && other != user {
			c.Fail(m, id, "the id belongs to a message of the other role")
			return
		}
		authors.Put(key, user)
		s := stream{m.SessionID, m.UpdateTag}
		last, ok := current.Get(s)
		if ok && last != key {
			over.Put(message{last.session, last.replay, m.UpdateTag + last.id}, true)
		}
		current.Put(s, key)
		if again, _ := over.Get(message{key.session, key.replay, m.UpdateTag + key.id}); again && last != key {
			c.Fail(m, id, "another message has begun since the last chunk of this one")
		}
	}, "user_message_chunk", "agent_message_chunk", "agent_thought_chunk")
}

func isCurrency(code []byte) bool {
	return len(code) == 3 && !slices.ContainsFunc(code, func(b byte) bool { return b|0x20 < 'a' || b|0x20 > 'z' })
}

func checkStalls(c *Checker) {
	open := unfinished(c)
	heard := NewBounded[string, time.Time](maxSessions) // of sessions with a turn
	silent := func(s *Session, at time.Time) time.Duration {
		last, ok := heard.Get(s.ID)
		if s.Turn == nil || !ok || at.IsZero() || at.Sub(last) <= stall || s.Status == "requires_action" || c.Outstanding(Agent).Len() > 0 {
			return 0
		}
		for _, call := range open.All() {
			if call.Session == s {
				return 0
			}
		}
		return at.Sub(last).Round(time.Second)
	}
	c.Message(func(m *Message) {
		s := m.Session
		if s == nil || m.Time.IsZero() {
			return
		}
		if d := silent(s, m.Time); d > 0 {
			c.Report(m.Frame, Finding{By: Agent, Text: "nothing was heard of the turn for " + d.String(), Also: []int{s.Turn.Prompt.Number}}, Value{})
		}
		heard.Put(s.ID, m.Time)
	})
	c.TurnEnded(func(t *Turn, _ *Message) {
		if !t.EndedTime.IsZero() {
			c.Exercised()
		}
	})
	c.End(func() {
		for _, s := range c.Sessions.All() {
			if d := silent(s, c.LastTime); d > 0 {
				c.FailEnd(Agent, s.Turn.Prompt, "nothing was heard of the turn for %s", d)
			}
		}
	})
}
