package lint

import (
	"time"

	"github.com/hermes-nvim/hermes/internal/lazyregexp"
)

// clientMethodsOfSession are what a client sends about a session that is open. Methods
// that open a session, and those that also take one from session/list, are not among
// them.
var clientMethodsOfSession = []string{
	"session/prompt", "session/cancel", "session/set_mode", "session/set_model", "session/set_config_option",
}

// agentMethodsOfSession are what an agent asks about a session that is open.
var agentMethodsOfSession = []string{"session/request_permission", "elicitation/create", "fs/*", "terminal/*"}

// reopening reports whether the client has asked to open a session again.
func (h *History) reopening(session string) bool {
	for _, r := range h.Outstanding(Client).All() {
		if r.SessionID == session && (r.Method == "session/load" || r.Method == "session/resume") {
			return true
		}
	}
	return false
}

// creating reports whether a session is being created whose id only the agent knows.
func (h *History) creating() bool {
	for _, r := range h.Outstanding(Client).All() {
		if r.Method == "session/new" || r.Method == "session/fork" {
			return true
		}
	}
	return false
}

// childSessions notes the sessions that the agent creates for itself and announces by
// subagent_update.
func childSessions(c *Checker) *Bounded[string, bool] {
	children := NewBounded[string, bool](maxSessions)
	c.Update(func(m *Message) {
		if id := m.Update.Get("sessionId"); id.IsString() {
			children.Put(bounded(id.Bytes()), true)
		}
	}, "subagent_update")
	return children
}

func checkSessionIsOpen(c *Checker) {
	children := childSessions(c)
	check := func(m *Message) {
		_, child := children.Get(m.SessionID)
		switch {
		case m.SessionID == "" || child:
		case m.Session == nil && (!c.Whole || c.Sessions.Lost() || children.Lost() || m.From == Agent && c.creating()):
		case m.Session == nil:
			c.Fail(m, m.Params.Get("sessionId"), "no session with this id was opened")
		case m.From == Agent && m.Session.State == Closed && !c.reopening(m.SessionID): // of the client: SES21
			c.Report(m.Frame, Finding{Text: "the session is closed", Also: []int{m.Session.Ended}}, m.Params.Get("sessionId"))
		default:
			c.Exercised()
		}
	}
	c.Request(sentBy(Client, check), clientMethodsOfSession...)
	c.Notification(sentBy(Client, check), clientMethodsOfSession...)
	c.Request(sentBy(Agent, check), agentMethodsOfSession...)
}

func checkUpdatesOfKnownSessions(c *Checker) {
	children := childSessions(c)
	unknown := NewBounded[string, Finding](maxFindings)
	named := NewBounded[string, bool](maxSessions) // by the client, whatever came of it
	c.Request(sentBy(Client, func(m *Message) {
		if m.SessionID != "" {
			named.Put(m.SessionID, true)
			unknown.Delete(m.SessionID)
		}
	}))
	c.SessionChanged(func(s *Session, _ *Message) { unknown.Delete(s.ID) })
	c.Update(func(m *Message) {
		if m.Session != nil {
			c.Exercised()
			return
		}
		_, child := children.Get(m.SessionID)
		_, asked := named.Get(m.SessionID)
		if m.SessionID == "" || child || asked || m.UpdateTag == "session_info_update" { // which is also about what session/list shows
			return
		}
		if _, ok := unknown.Get(m.SessionID); !ok {
			unknown.Put(m.SessionID, c.Describe(m.Frame, m.Params.Get("sessionId"), "no response introduces this session"))
		}
	})
	c.End(func() {
		if !c.Whole || c.creating() || c.Sessions.Lost() || named.Lost() || children.Lost() {
			return
		}
		for id, f := range unknown.All() {
			if _, child := children.Get(id); !child {
				c.Add(f)
			}
		}
	})
}

func checkCloseCancels(c *Checker) {
	type closing struct {
		turn     *Turn
		asked    time.Time
		answered time.Time
		number   int // of the answer, 0 before it
	}
	busy := NewBounded[string, *closing](maxSessions)
	c.Request(sentBy(Client, func(m *Message) {
		if m.Session != nil && m.Session.Turn != nil {
			busy.Put(m.SessionID, &closing{turn: m.Session.Turn, asked: m.Time})
		}
	}), "session/close")
	c.Answer(func(m *Message) {
		cl, ok := busy.Get(m.SessionID)
		if !ok || cl.turn.Ended > 0 {
			return
		}
		if m.Failed() {
			busy.Delete(m.SessionID)
			return
		}
		cl.answered, cl.number = m.Time, m.Number
		// Version 2 of November allows nothing about the session from here on.
		_, unanswered := c.Outstanding(Client).Get(cl.turn.Prompt.ID)
		if c.Version == V2b && !unanswered && m.Session != nil && (m.Session.Status == "running" || m.Session.Status == "requires_action") {
			c.Exercised()
			c.Report(m.Frame, Finding{Text: "the session is closed, and its work was not reported as cancelled", Also: []int{cl.turn.Prompt.Number}}, Value{})
			busy.Delete(m.SessionID)
		}
	}, "session/close")
	c.TurnEnded(func(t *Turn, m *Message) {
		cl, ok := busy.Get(t.Session.ID)
		if !ok || cl.turn != t {
			return
		}
		c.Exercised()
		busy.Delete(t.Session.ID)
		if t.StopReason == "cancelled" || m.ErrorCode() == codeCancelled || cl.number == 0 && c.Crossed(cl.asked, m.Time) {
			return
		}
		if t.Failed {
			c.Fail(m, m.Error, "the work that the close ended is reported as an error")
		} else {
			c.Fail(m, orElse(m.Result.Get("stopReason"), m.Update.Get("stopReason")), "the work that the close ended has another stop reason than cancelled")
		}
	})
	c.End(func() {
		for _, cl := range busy.All() {
			if cl.number > 0 && cl.turn.Ended == 0 && c.LastTime.Sub(cl.answered) > 10*time.Second {
				c.Exercised()
				c.FailEnd(Agent, cl.turn.Prompt, "the session was closed and the turn never ended")
			}
		}
	})
}

func checkMissingSession(c *Checker) {
	children := childSessions(c)
	missing := NewBounded[int, bool](maxSessions) // requests about sessions that do not exist, by number
	c.Request(sentBy(Client, func(m *Message) {
		_, child := children.Get(m.SessionID)
		unknown := m.Session == nil && c.Whole && !c.Sessions.Lost() && !child
		closed := m.Session != nil && m.Session.State == Closed && !c.reopening(m.SessionID)
		if m.SessionID != "" && (unknown || closed) && !m.Mismatch() {
			missing.Put(m.Number, true)
		}
	}), "session/prompt", "session/set_config_option", "session/close")
	c.Answer(func(m *Message) {
		if _, ok := missing.Get(m.Answers.Number); !ok || !m.Failed() {
			return
		}
		missing.Delete(m.Answers.Number)
		switch code := m.ErrorCode(); code {
		case codeAuthRequired, codeNoMethod, codeCancelled:
		case codeNotFound:
			c.Exercised()
			if id := m.Error.Get("data", "sessionId"); !id.IsString() || bounded(id.Bytes()) != m.SessionID {
				c.Fail(m, orElse(id, m.Error), "data does not name the session")
			}
		default:
			c.Exercised()
			c.Report(m.Frame, Finding{Text: "a session that does not exist is refused with another code than -32002", Also: []int{m.Answers.Number}}, m.Error.Get("code"))
		}
	}, "session/prompt", "session/set_config_option", "session/close")
}

var missingSession = lazyregexp.New(`(?i)\b(unknown|invalid|expired|no( such)?) session([ _-]?id)?([^\w/]|$)` +
	`|\bsession([ _-]?id)?( with( the)? id)?([^\w/]+[\w-]+)?[^\w/]+(is |was |has |could )?(not (be )?(found|exist|known)|does(n't| not) exist|unknown|expired)` +
	`|\bsession_?not_?found`)

// missesSession reports whether an error says that there is no such session. The peer has
// then not looked at the rest of the request.
func (m *Message) missesSession() bool {
	if !m.Failed() {
		return false
	}
	id := m.Error.Get("data", "sessionId")
	return id.IsString() && bounded(id.Bytes()) == m.SessionID || missingSession().Match(m.Error.Text())
}
