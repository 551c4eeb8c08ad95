package lint

import (
	"bytes"
	"time"
)

func stateRules() []Rule {
	return []Rule{
		{
			ID: "STA01", Severity: Error, Side: ByAgent, Versions: V2a, Page: "v2/prompt-lifecycle", Strength: Must,
			Summary: "A prompt is answered when it is accepted, not when the work is done.",
			Why:     "The client does not know that its message arrived, and waits without a timeout.",
			Check: func(c *Checker) {
				followWork(c, work{answered: func(w *workOf, p *prompt, m *Message) {
					if m.Failed() {
						return
					}
					c.Exercised()
					if reason := m.Result.Get("stopReason"); reason.Set() {
						c.Fail(m, reason, "the answer to a prompt has a stop reason, as in version 1")
					} else if p.alone && w.endedAt > p.number && w.ranAt > p.number && w.ranAt < w.endedAt {
						c.Report(m.Frame, Finding{Text: "the prompt is answered after its work has ended", Also: []int{p.number, w.endedAt}}, Value{})
					}
				}})
			},
		},
		{
			ID: "STA02", Severity: Error, Side: ByAgent, Versions: V2b, Page: "schema-2.4.0/PromptResponse", Strength: Must,
			Summary:      "The answer to a prompt has the messageId of the user message.",
			Why:          "The client cannot tell which message of the conversation is its own.",
			Requirements: []string{"ACP-PROMPT-201"},
			Check: func(c *Checker) {
				c.Answer(func(m *Message) {
					if m.Failed() || !m.Result.Exists() {
						return
					}
					c.Exercised()
					if id := m.Result.Get("messageId"); !id.IsString() || len(id.Bytes()) == 0 {
						c.Fail(m, orElse(id, m.Result), "messageId is missing")
					}
				}, "session/prompt")
			},
		},
		{
			ID: "STA03", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/prompt-lifecycle", Strength: Must,
			Summary:      "The user message of an accepted prompt is reported before the session is idle again.",
			Why:          "The conversation that the client shows lacks what the user said.",
			Requirements: []string{"ACP-PROMPT-203"},
			Check: func(c *Checker) {
				check := func(w *workOf, p *prompt, m *Message) {
					if !p.alone || p.answer == 0 || p.failed || w.lost() {
						return
					}
					c.Exercised()
					switch {
					case p.id != "" && !w.hasMessage(p.id):
						c.Report(m.Frame, Finding{By: Agent, Text: "no update has the message of this prompt: " + quote(p.id), Also: []int{p.number, p.answer}}, Value{})
					case p.id == "" && w.userAt < p.number:
						c.Report(m.Frame, Finding{By: Agent, Text: "no update has the message of this prompt", Also: []int{p.number, p.answer}}, Value{})
					}
				}
				followWork(c, work{ended: check})
			},
		},
		{
			ID: "STA04", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/prompt-lifecycle", Strength: Must,
			Summary:      "The state running is reported when work begins.",
			Why:          "The client shows an idle session and offers no way to stop it.",
			Requirements: []string{"ACP-STATE-201"},
			Check: func(c *Checker) {
				followWork(c, work{ended: func(w *workOf, p *prompt, m *Message) {
					if !p.alone || w.outputAt < p.number { // without output it may be a report that is repeated
						return
					}
					c.Exercised()
					if w.ranAt < p.number {
						c.Report(m.Frame, Finding{Text: "the work ends, but running was never reported", Also: []int{p.number, w.outputAt}}, Value{})
					}
				}})
			},
		},
		{
			ID: "STA05", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/prompt-lifecycle", Strength: Must,
			Summary:      "The state idle is reported when the work is over.",
			Why:          "The client shows a session at work for ever and takes no prompt.",
			Requirements: []string{"ACP-STATE-202"},
			Check:        checkIdleComes,
		},
		{
			ID: "STA06", Severity: Error, Side: ByAgent, Versions: V2a, Page: "v2/prompt-lifecycle", Strength: Must,
			Summary:      "The idle state that ends work has a stop reason.",
			Why:          "The client cannot tell an answer from one that was cut off.",
			Requirements: []string{"ACP-STATE-203"},
			Check: func(c *Checker) {
				c.Update(func(m *Message) {
					if m.Session == nil || m.Session.Status != "running" && m.Session.Status != "requires_action" || !m.Update.Get("state").Is("idle") {
						return
					}
					c.Exercised()
					if reason := m.Update.Get("stopReason"); !reason.Set() {
						c.Fail(m, orElse(reason, m.Update), "the work ends without a stop reason")
					}
				}, "state_update")
			},
		},
		{
			ID: "STA07", Severity: Error, Side: ByAgent, Versions: V2, Page: "v2/prompt-lifecycle", Strength: Must,
			Summary:      "The stop reason of an idle state is a defined word or begins with an underscore.",
			Why:          "A later version may give the word another meaning.",
			Requirements: []string{"ACP-STATE-203", "ACP-CANCEL-207"},
			Check: func(c *Checker) {
				c.Update(func(m *Message) {
					reason := m.Update.Get("stopReason")
					if !reason.IsString() {
						return
					}
					c.Exercised()
					if !reason.OneOf("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error") && !isExtension(reason.Str()) {
						c.Unknown(m, reason, "not a stop reason")
					}
				}, "state_update")
			},
		},
		{
			ID: "STA08", Severity: Warn, Side: ByAgent, Versions: V2, Page: "v2/prompt-lifecycle", Strength: Should,
			Summary:      "requires_action is reported while the work waits for the user, and running when it goes on.",
			Why:          "The user does not notice that something waits for them, or looks for a question that is gone.",
			Requirements: []string{"ACP-PATCH-209"},
			Check:        checkRequiresAction,
		},
		{
			ID: "STA09", Severity: Warn, Side: ByAgent, Versions: V2b, Page: "schema-2.4.0/ErrorStopReason", Strength: Should,
			Summary: "Work that ended with an error says which one.",
			Why:     "The user learns that something failed, but not what.",
			Check: func(c *Checker) {
				c.Update(func(m *Message) {
					if !m.Update.Get("state").Is("idle") || !m.Update.Get("stopReason").Is("error") {
						return
					}
					c.Exercised()
					if !m.Update.Get("error").IsObject() {
						c.Fail(m, orElse(m.Update.Get("error"), m.Update), "the stop reason is error, and there is none")
					}
				}, "state_update")
			},
		},
		{
			ID: "STA10", Severity: Error, Side: ByAgent, Versions: V2b, Page: "schema-2.4.0/BackgroundWork", Strength: Must,
			Summary: "The list of background work names known work, each once, until it is finished.",
			Why:     "The client shows work that it knows nothing about, or calls running work done.",
			Check:   checkBackground,
		},
		{
			ID: "STA11", Severity: Error, Side: ByAgent, Versions: V2b, Page: "schema-2.4.0/session_prompt", Strength: MustNot,
			Summary: "A prompt whose message is in the conversation is not answered with an error.",
			Why:     "The client offers to send it again, and then it is there twice.",
			Check: func(c *Checker) {
				followWork(c, work{answered: func(_ *workOf, p *prompt, m *Message) {
					if p.shown == 0 {
						return
					}
					c.Exercised()
					if m.Failed() {
						c.Report(m.Frame, Finding{Text: "the prompt fails although its message was reported", Also: []int{p.number, p.shown}}, m.Error)
					}
				}})
			},
		},
	}
}

// workOf is what is known of the foreground work of one session of version 2. The
// numbers are numbers of messages, 0 for never.
type workOf struct {
	prompts  *Bounded[int, *prompt] // that are not done with, by number
	ids      *Bounded[string, bool] // of user messages
	status   string                 // the last state
	ranAt    int                    // running was reported
	endedAt  int                    // idle was reported with a stop reason
	outputAt int                    // something of the agent itself
	userAt   int                    // a user message
}

// prompt is a prompt that a client sent.
type prompt struct {
	number int
	alone  bool   // the session was idle and had no other prompt
	text   []byte // of the first block, the beginning
	answer int    // number of the answer, 0 before it
	failed bool
	id     string // messageId in the answer
	shown  int    // number of the user message with this very text
}

const (
	maxPrompts  = 64  // of a session, not done with
	maxMessages = 256 // ids of user messages of a session
	maxText     = 256 // bytes of a prompt that are compared
)

func (w *workOf) lost() bool { return w.prompts.Lost() || w.ids.Lost() }

func (w *workOf) hasMessage(id string) bool {
	_, ok := w.ids.Get(id)
	return ok
}

// work are the handlers of followWork. They see the state before the message.
type work struct {
	answered func(*workOf, *prompt, *Message) // a prompt was answered
	ended    func(*workOf, *prompt, *Message) // idle with a stop reason, for each prompt that was answered before
}

// followWork follows prompts and states of version 2. It is stricter about what belongs
// to a prompt than the turns of the history are.
func followWork(c *Checker, do work) {
	sessions := NewBounded[string, *workOf](maxSessions)
	c.Request(sentBy(Client, func(m *Message) {
		if m.Session == nil {
			return
		}
		w, ok := sessions.Get(m.SessionID)
		if !ok {
			w = &workOf{prompts: NewBounded[int, *prompt](maxPrompts), ids: NewBounded[string, bool](maxMessages)}
			sessions.Put(m.SessionID, w)
		}
		busy := m.Session.Status != "" && m.Session.Status != "idle"
		p := &prompt{number: m.Number, alone: !busy && w.prompts.Len() == 0, text: promptText(m.Params.Get("prompt"))}
		w.prompts.Put(m.Number, p)
	}), "session/prompt")
	c.Answer(func(m *Message) {
		w, ok := sessions.Get(m.SessionID)
		if !ok {
			return
		}
		p, ok := w.prompts.Get(m.Answers.Number)
		if !ok {
			return
		}
		if do.answered != nil {
			do.answered(w, p, m)
		}
		p.answer, p.failed, p.id = m.Number, m.Failed(), bounded(m.Result.Get("messageId").Bytes())
		if p.failed {
			w.prompts.Delete(p.number)
		} else if w.endedAt > p.number { // the work was over before
			if do.ended != nil && c.Version == V2b {
				do.ended(w, p, m)
			}
			w.prompts.Delete(p.number)
		}
	}, "session/prompt")
	c.Update(func(m *Message) {
		w, ok := sessions.Get(m.SessionID)
		if !ok || m.From != Agent {
			return
		}
		switch m.UpdateTag {
		case "user_message", "user_message_chunk":
			w.message(m)
		case "agent_message", "agent_message_chunk", "agent_thought", "agent_thought_chunk": // tool calls may be background work
			w.outputAt = m.Number
		case "state_update":
			switch state := m.Update.Get("state"); {
			case state.Is("running"):
				w.ranAt = m.Number
			case state.Is("idle") && m.Update.Get("stopReason").Set():
				for n, p := range w.prompts.All() {
					if p.answer == 0 {
						continue
					}
					if do.ended != nil {
						do.ended(w, p, m)
					}
					w.prompts.Delete(n)
				}
				w.endedAt = m.Number
			}
			w.status = m.Update.Get("state").Str()
		}
	})
}

// message notes a user message.
func (w *workOf) message(m *Message) {
	w.userAt = m.Number
	if id := m.Update.Get("messageId"); id.IsString() {
		w.ids.Put(bounded(id.Bytes()), true)
	}
	content := m.Update.Get("content")
	text := promptText(content)
	if content.IsObject() {
		text = head(content.Get("text"))
	}
	if w.prompts.Len() != 1 || len(text) == 0 {
		return
	}
	for _, p := range w.prompts.All() {
		if p.alone && p.answer == 0 && p.shown == 0 && bytes.Equal(text, p.text) {
			p.shown = m.Number
		}
	}
}

// promptText is the beginning of the first block, if it is text.
func promptText(blocks Value) []byte {
	for _, b := range blocks.Items() {
		return head(b.Get("text"))
	}
	return nil
}

func head(text Value) []byte {
	b := text.Bytes()
	return bytes.Clone(b[:min(len(b), maxText)])
}

// quietFor is how long a session at work may be silent before it looks forgotten.
const quietFor = time.Minute

// checkIdleComes reports sessions that were left at work. That nothing happens is not
// proof, so it warns.
func checkIdleComes(c *Checker) {
	type since struct {
		finding Finding
		at      time.Time
		open    int // tool calls that are not over
	}
	waiting := NewBounded[string, *since](maxSessions)
	c.Answer(func(m *Message) {
		if m.Failed() || m.Session == nil || m.Session.Turn == nil || m.Session.Turn.Prompt != m.Answers {
			return
		}
		waiting.Put(m.SessionID, &since{finding: c.Describe(m.Frame, Value{}, "idle was never reported for this prompt"), at: m.Time})
	}, "session/prompt")
	touch := func(m *Message) {
		if w, ok := waiting.Get(m.SessionID); ok {
			w.at = m.Time
		}
	}
	c.Update(touch)
	c.Request(touch)
	c.Answer(touch)
	c.Update(func(m *Message) {
		if _, ok := waiting.Get(m.SessionID); ok && m.Update.Get("state").Is("idle") {
			c.Exercised()
			waiting.Delete(m.SessionID)
		}
	}, "state_update")
	c.ToolCallChanged(func(call *ToolCall, before ToolCall, _ *Message) {
		w, ok := waiting.Get(call.Session.ID)
		switch {
		case !ok:
		case !before.Created && call.Created && !call.Done():
			w.open++
		case before.Created && !before.Done() && call.Done():
			w.open--
		}
	})
	c.SessionChanged(func(s *Session, _ *Message) {
		if s.State >= Closed {
			waiting.Delete(s.ID)
		}
	})
	c.End(func() {
		for id, w := range waiting.All() {
			if w.open > 0 || w.at.IsZero() || c.LastTime.Sub(w.at) < quietFor || c.asks(id) {
				continue
			}
			c.Exercised()
			w.finding.Severity = Warn
			c.Add(w.finding)
		}
	})
}

// asks reports whether a request of the agent about a session is not answered.
func (h *History) asks(session string) bool {
	for _, r := range h.Outstanding(Agent).All() {
		if r.SessionID == session {
			return true
		}
	}
	return false
}

// checkRequiresAction looks at questions to the user that took a while and during which
// the session did nothing else.
func checkRequiresAction(c *Checker) {
	type question struct {
		number int
		asked  time.Time
		quiet  bool // nothing but states came meanwhile
		told   bool // requires_action was reported
	}
	questions := NewBounded[Of, *question](maxSessions) // by session and request
	c.Request(sentBy(Agent, func(m *Message) {
		if m.Session == nil || m.Session.Turn == nil {
			return
		}
		q := &question{number: m.Number, asked: m.Time, quiet: true, told: m.Session.Status == "requires_action"}
		own := bounded(orElse(m.Params.Get("subject", "toolCall", "toolCallId"), m.Params.Get("toolCall", "toolCallId")).Bytes())
		for _, call := range c.ToolCalls.All() { // what runs beside it is not waiting
			if call.Session == m.Session && call.Status == "in_progress" && call.ID != own {
				q.quiet = false
			}
		}
		questions.Put(Of{m.SessionID, Key(m.ID)}, q)
	}), "session/request_permission", "elicitation/create")
	over := NewBounded[string, *question](maxSessions) // the last question of a session that was answered
	c.Answer(func(m *Message) {
		key := Of{m.SessionID, m.Answers.ID}
		q, ok := questions.Get(key)
		if !ok || q.number != m.Answers.Number {
			return
		}
		questions.Delete(key)
		if m.Session == nil {
			return
		}
		if q.told {
			c.Exercised()
			over.Put(m.SessionID, &question{number: m.Number, asked: m.Time})
		} else if q.quiet && !q.asked.IsZero() && m.Time.Sub(q.asked) > soonAfter && m.Session.Status == "running" {
			c.Exercised()
			c.Report(m.Frame, Finding{By: Agent, Text: "requires_action was not reported while the user was asked", Also: []int{q.number}}, Value{})
		}
	}, "session/request_permission", "elicitation/create")
	c.Update(func(m *Message) {
		state := m.UpdateTag == "state_update"
		for key, q := range questions.All() {
			if key.Session != m.SessionID {
				continue
			}
			if !state {
				q.quiet = false
			} else if m.Update.Get("state").Is("requires_action") {
				q.told = true
			}
		}
		q, ok := over.Get(m.SessionID)
		switch {
		case !ok:
		case state:
			over.Delete(m.SessionID)
		case roleOf(m.UpdateTag) == "agent" && m.Session != nil && m.Session.Status == "requires_action" && !c.asks(m.SessionID) && !c.Crossed(q.asked, m.Time):
			over.Delete(m.SessionID)
			c.Report(m.Frame, Finding{Text: "the work goes on, but running was not reported", Also: []int{q.number}}, Value{})
		}
	})
}

// checkBackground follows the lists of background work. A client does not know
// all work of a session that it did not create.
func checkBackground(c *Checker) {
	const maxWork = 1024
	children := NewBounded[string, string](maxSessions) // states of child sessions
	terminals := NewBounded[Of, bool](maxTerminals)     // whether they have exited
	listed := NewBounded[string, []Of](maxSessions)     // what the last list of a session had, as kind and id
	c.Update(func(m *Message) {
		if id := m.Update.Get("sessionId"); id.IsString() {
			key := bounded(id.Bytes())
			state, _ := children.Get(key)
			if s := m.Update.Get("state", "state"); s.IsString() {
				state = s.Str()
			}
			children.Put(key, state)
		}
	}, "subagent_update")
	terminal := func(m *Message, id Value, exited bool) {
		if id.IsString() {
			key := Of{m.SessionID, bounded(id.Bytes())}
			before, _ := terminals.Get(key)
			terminals.Put(key, before || exited)
		}
	}
	c.Update(func(m *Message) {
		terminal(m, m.Update.Get("terminalId"), m.Update.Get("exitStatus").Set())
	}, "terminal_update", "terminal_output_chunk")
	c.Update(func(m *Message) {
		for _, item := range m.Update.Get("content").Items() {
			terminal(m, item.Get("terminalId"), false)
		}
		terminal(m, m.Update.Get("content", "terminalId"), false)
	}, "tool_call_update", "tool_call_content_chunk")
	known := func(session string, w Of) (known, finished bool) {
		switch w.Session {
		case "terminal":
			exited, ok := terminals.Get(Of{session, w.ID})
			return ok || terminals.Lost(), exited
		case "tool_call":
			call, ok := c.ToolCalls.Get(Of{session, w.ID})
			return ok || c.ToolCalls.Lost(), ok && call.Done()
		}
		state, ok := children.Get(w.ID)
		return ok || children.Lost(), state != "running" && state != "requires_action"
	}
	c.Update(func(m *Message) {
		list := m.Update.Get("background")
		if !list.IsArray() || m.Session == nil || list.Len() > maxWork {
			return
		}
		c.Exercised()
		var now []Of
		seen := map[Of]bool{}
		for _, item := range list.Items() {
			id := orElse(item.Get("terminalId"), orElse(item.Get("toolCallId"), item.Get("sessionId")))
			if !item.Get("type").OneOf("terminal", "tool_call", "subagent") || !id.IsString() {
				continue
			}
			w := Of{item.Get("type").Str(), bounded(id.Bytes())}
			if seen[w] {
				c.Fail(m, item, "the list has this twice")
			}
			seen[w] = true
			now = append(now, w)
			if ok, _ := known(m.SessionID, w); !ok && m.Session.By == "session/new" {
				c.Fail(m, id, "the client does not know this %s", w.Session)
			}
		}
		before, _ := listed.Get(m.SessionID)
		if m.Update.Get("state").Is("idle") { // otherwise it may have become foreground work
			for _, w := range before {
				if ok, finished := known(m.SessionID, w); ok && !finished && !seen[w] && !c.ToolCalls.Lost() && !terminals.Lost() && !children.Lost() {
					c.Fail(m, list, "%s %q left the list before it was finished", w.Session, quote(w.ID))
				}
			}
		}
		listed.Put(m.SessionID, now)
	}, "state_update")
}
