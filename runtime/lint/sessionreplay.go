package lint

import "time"

// replay is a session/load or session/resume and what the agent sends about the
// session until the client prompts it.
type replay struct {
	method   string
	number   int  // of the request
	wanted   bool // the client asked for the history
	live     bool // the session was at work, so what comes may be new
	answered int  // number of the response, 0 before it
	at       time.Time

	messages int // messages of the conversation before the response
	userAt   int // number of the last user message before the response
	state    string
	stateAt  int                      // number of the last state_update
	roles    *Bounded[string, string] // by messageId
	reported bool
	pending  []Finding
}

const (
	maxReplayed = 4096        // ids of messages of one replay
	soonAfter   = time.Second // what comes so soon after a response belongs to it
)

// followReplays calls update with each update between the request and the next prompt,
// and answer with the response. Both see the replay as it was before, and may be nil.
func followReplays(c *Checker, update, answer func(*replay, *Message)) {
	running := NewBounded[string, *replay](64)
	c.Request(sentBy(Client, func(m *Message) {
		if m.SessionID == "" {
			return
		}
		r := &replay{method: m.Method, number: m.Number, roles: NewBounded[string, string](maxReplayed)}
		r.wanted = m.Method == "session/load" || c.Version != V1 && m.Params.Get("replayFrom").Set()
		if s := m.Session; s != nil && s.State == Open {
			r.live = s.Turn != nil || s.Status == "running" || s.Status == "requires_action"
		}
		running.Put(m.SessionID, r)
	}), "session/load", "session/resume")
	c.Request(func(m *Message) { running.Delete(m.SessionID) }, "session/prompt", "session/close", "session/delete")
	c.Update(func(m *Message) {
		if running.Len() == 0 || m.From != Agent {
			return
		}
		r, ok := running.Get(m.SessionID)
		if !ok {
			return
		}
		if update != nil {
			update(r, m)
		}
		r.note(m)
	})
	c.Answer(func(m *Message) {
		r, ok := running.Get(m.SessionID)
		if !ok || r.number != m.Answers.Number {
			return
		}
		if answer != nil {
			answer(r, m)
		}
		r.answered, r.at = m.Number, m.Time
		if m.Failed() {
			running.Delete(m.SessionID)
		}
	}, "session/load", "session/resume")
}

func (r *replay) note(m *Message) {
	if m.UpdateTag == "state_update" {
		r.state, r.stateAt = m.Update.Get("state").Str(), m.Number
	}
	role := roleOf(m.UpdateTag)
	if role == "" || r.answered > 0 {
		return
	}
	r.messages++
	if role == "user" {
		r.userAt = m.Number
	}
	if id := m.Update.Get("messageId"); id.IsString() {
		r.roles.Put(bounded(id.Bytes()), role)
	}
}

// busy reports whether the agent said that the session is at work.
func (r *replay) busy() bool {
	return r.live || r.state == "running" || r.state == "requires_action"
}

// soon reports whether a message follows the response so closely that it belongs to
// the replay.
func (r *replay) soon(m *Message) bool {
	return r.at.IsZero() || m.Time.IsZero() || m.Time.Sub(r.at) <= soonAfter
}

// roleOf returns whose message an update is about, empty if it is not about one.
func roleOf(tag string) string {
	switch tag {
	case "user_message", "user_message_chunk":
		return "user"
	case "agent_message", "agent_message_chunk":
		return "agent"
	case "agent_thought", "agent_thought_chunk":
		return "thought"
	}
	return ""
}

func checkLoadIsComplete(c *Checker) {
	followReplays(c, func(r *replay, m *Message) {
		if r.method != "session/load" || r.answered == 0 || r.reported || r.live || !r.soon(m) {
			return
		}
		id := m.Update.Get("messageId")
		_, begun := r.roles.Get(bounded(id.Bytes()))
		switch role := roleOf(m.UpdateTag); {
		case role == "user", role != "" && id.IsString() && begun:
			r.reported = true
			c.Report(m.Frame, Finding{Text: "this part of the history follows the response to session/load", Also: []int{r.answered}}, Value{})
		}
	}, func(r *replay, m *Message) {
		if r.method == "session/load" && !m.Failed() {
			c.Exercised()
		}
	})
}

func checkLoadReplays(c *Checker) {
	type talk struct {
		spoke bool // the agent said something in the turn that runs
		turns int
	}
	talks := NewBounded[string, *talk](maxSessions)
	of := func(session string) *talk {
		t, ok := talks.Get(session)
		if !ok {
			t = &talk{}
			talks.Put(session, t)
		}
		return t
	}
	c.Update(func(m *Message) {
		if m.Session != nil && m.Session.Turn != nil {
			of(m.SessionID).spoke = true
		}
	}, "agent_message_chunk")
	c.TurnEnded(func(t *Turn, _ *Message) {
		if k := of(t.Session.ID); k.spoke && t.StopReason == "end_turn" {
			k.turns++
			k.spoke = false
		}
	})
	followReplays(c, nil, func(r *replay, m *Message) {
		if k := of(m.SessionID); r.method == "session/load" && !m.Failed() && k.turns > 0 {
			c.Exercised()
			if r.messages == 0 {
				c.Report(m.Frame, Finding{Text: "the session has had turns on this connection, and nothing of them is replayed", Also: []int{r.number}}, Value{})
			}
		}
	})
}

func checkNoReplay(c *Checker) {
	followReplays(c, func(r *replay, m *Message) {
		role := roleOf(m.UpdateTag)
		if r.wanted || r.answered > 0 || role == "" || r.reported {
			return
		}
		f := c.Describe(m.Frame, Value{}, "history is replayed although the client did not ask for it")
		switch {
		case role == "user":
			r.reported = true
			r.pending = []Finding{f}
		case len(r.pending) == 0: // it may be a greeting
			f.Severity = Warn
			r.pending = []Finding{f}
		}
	}, func(r *replay, m *Message) {
		if r.wanted {
			return
		}
		c.Exercised()
		if !r.busy() {
			for _, f := range r.pending {
				c.Add(f)
			}
		}
	})
}

func checkReplayIsComplete(c *Checker) {
	seen := NewBounded[Of, bool](maxReplayed) // user messages of the connection
	followReplays(c, func(r *replay, m *Message) {
		if !r.wanted || r.answered == 0 || r.reported || r.busy() || !r.soon(m) || roleOf(m.UpdateTag) != "user" || !m.Update.Get("content").Set() {
			return
		}
		r.reported = true
		f := Finding{Text: "this part of the replay follows the response to session/resume", Also: []int{r.answered}}
		if _, known := seen.Get(Of{m.SessionID, bounded(m.Update.Get("messageId").Bytes())}); !known {
			f.Severity = Warn // another client of the session may have written it
		}
		c.Report(m.Frame, f, Value{})
	}, func(r *replay, m *Message) {
		if r.wanted && !m.Failed() {
			c.Exercised()
		}
	})
	c.Update(func(m *Message) {
		if id := m.Update.Get("messageId"); id.IsString() {
			seen.Put(Of{m.SessionID, bounded(id.Bytes())}, true)
		}
	}, "user_message", "user_message_chunk")
}
