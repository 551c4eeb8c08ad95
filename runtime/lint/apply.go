package lint

import (
	"slices"

	"github.com/hermes-nvim/hermes/internal/shape"
)

// negotiate reads initialize before the message is judged, because it decides which
// version the message is judged by.
func (l *Linter) negotiate(m *Message) {
	h := l.history
	switch {
	case m.Kind == RequestMessage && m.Method == "initialize" && m.From == Client && !h.Negotiated:
		if n, ok := m.Params.Get("protocolVersion").Int(); ok {
			l.version(n)
		}
		if len(m.Bytes) <= maxCapability && m.Params.IsObject() {
			h.ClientHello = h.keep(0, m.Params)
		}
	case m.Kind == AnswerMessage && m.Method == "initialize" && m.From == Agent && !h.Negotiated && m.Result.IsObject():
		if n, ok := m.Result.Get("protocolVersion").Int(); ok {
			if n <= newest || h.Version == All { // otherwise it is written as it was asked for
				l.version(n)
			}
			h.Negotiated = true
			h.Initialized = m.Number
		}
		if len(m.Bytes) <= maxCapability {
			h.AgentHello = h.keep(1, m.Result)
		}
	default:
		l.infer(m)
		return
	}
	if h.Version == V1 {
		h.ClientCapabilities, h.AgentCapabilities = h.ClientHello.Get("clientCapabilities"), h.AgentHello.Get("agentCapabilities")
	} else {
		h.ClientCapabilities, h.AgentCapabilities = h.ClientHello.Get("capabilities"), h.AgentHello.Get("capabilities")
	}
	if h.Edition != nil { // the answer may have made it another one
		m.Known = h.Edition.Method([]byte(m.Method))
	}
}

// infer finds out the version in a capture without initialize: by a method that
// succeeded and that only one version has.
func (l *Linter) infer(m *Message) {
	if l.history.Version != All || m.Kind != AnswerMessage || m.Failed() || m.Method == "" {
		return
	}
	name := []byte(m.Method)
	one, two := shape.V1().Method(name) != nil, shape.V2().Method(name) != nil
	switch {
	case one && !two, m.Method == "session/prompt" && m.Result.Get("stopReason").IsString():
		l.version(1)
	case two && !one:
		l.version(2)
	default:
		return
	}
	if l.history.Edition != nil {
		m.Known = l.history.Edition.Method(name)
	}
}

// keep copies a value, so that it outlives its message.
func (h *History) keep(slot int, v Value) Value {
	t := &h.hellos[slot]
	_ = t.Parse(slices.Clone(v.Text())) // it was parsed before
	return t.Root()
}

func (l *Linter) version(n int64) {
	v := V1 // also for a version that does not exist
	if n == 2 {
		v = V2b
		if l.options.Version == V2a {
			v = V2a
		}
	}
	if v != l.history.Version {
		l.history.setVersion(v)
	}
}

// apply changes the history by a message and calls the handlers of transitions.
func (l *Linter) apply(m *Message) {
	h := l.history
	switch m.Kind {
	case RequestMessage:
		r := h.ask(m)
		switch m.Method {
		case "initialize":
			if h.Initialize == nil && m.From == Client {
				h.Initialize = r
			}
		case "session/load", "session/resume":
			if m.Session == nil && m.SessionID != "" {
				l.open(m, m.SessionID, r, Opening)
			}
		case "session/prompt":
			if m.Session != nil {
				l.start(m, r)
			}
		case "session/request_permission":
			call := m.Params.Get("toolCall")
			if subject := m.Params.Get("subject", "toolCall"); subject.IsObject() {
				call = subject
			}
			l.toolCall(m, call, false)
		}
	case NotificationMessage:
		l.notified(m)
	case AnswerMessage:
		l.answered(m)
	}
}

// ask notes a request.
func (h *History) ask(m *Message) *Request {
	r := &Request{From: m.From, ID: Key(m.ID), Method: m.Method, Number: m.Number, Line: m.Line, Time: m.Time, SessionID: m.SessionID, Batch: m.Batch}
	if text := m.Params.Text(); len(text) <= maxParams && h.paramBytes+len(text) <= maxParamsAll {
		r.params = slices.Clone(text)
		h.paramBytes += len(text)
	}
	requests := h.sides[m.From].requests
	if old, ok := requests.Get(r.ID); ok {
		r.displaced = old.displaced + 1
		h.forget(old)
	} else if requests.Len() == requests.limit {
		h.forget(requests.first.value) // Put drops it
	}
	requests.Put(r.ID, r)
	return r
}

// forget gives up the room of a request's params.
func (h *History) forget(r *Request) { h.paramBytes -= len(r.params) }

func (l *Linter) notified(m *Message) {
	h := l.history
	switch m.Method {
	case "session/cancel":
		if m.Session != nil && m.Session.Turn != nil && m.Session.Turn.Cancelled == 0 {
			m.Session.Turn.Cancelled, m.Session.Turn.CancelledTime = m.Number, m.Time
		}
	case "$/cancel_request":
		if r, ok := h.sides[m.From].requests.Get(Key(m.Params.Get("requestId"))); ok && r.Cancelled == 0 {
			r.Cancelled, r.CancelledTime = m.Number, m.Time
		}
	case "session/update":
		switch m.UpdateTag {
		case "tool_call":
			l.toolCall(m, m.Update, true)
		case "tool_call_update":
			l.toolCall(m, m.Update, h.Version != V1)
		case "state_update":
			l.state(m)
		}
	}
}

func (l *Linter) answered(m *Message) {
	h := l.history
	r := m.Answers
	if r == nil {
		if a := h.AnsweredLately(m.From.Peer(), Key(m.ID)); a != nil && a.Owed > 0 {
			a.Owed--
		}
		return
	}
	h.sides[r.From].requests.Delete(r.ID)
	h.forget(r)
	h.sides[r.From].answered.Delete(r.ID)
	h.sides[r.From].answered.Put(r.ID, &Answered{Method: r.Method, Number: m.Number, Time: m.Time, Failed: m.Failed(), Owed: r.displaced})
	ok := m.Result.Exists() && !m.Failed()
	switch r.Method {
	case "session/new", "session/fork":
		if id := m.Result.Get("sessionId"); ok && id.IsString() {
			l.open(m, bounded(id.Bytes()), r, Open)
		}
	case "session/load", "session/resume":
		if s := m.Session; s != nil && s.State == Opening && ok {
			s.State = Open
			l.sessionChanged(s, m)
		} else if s != nil && s.State == Opening {
			h.Sessions.Delete(s.ID)
		} else if s != nil && ok && s.State != Open { // closed and opened again
			s.State, s.Ended = Open, 0
			l.sessionChanged(s, m)
		}
	case "session/close", "session/delete":
		if s := m.Session; s != nil && ok {
			s.State = Closed
			if r.Method == "session/delete" {
				s.State = Deleted
			}
			s.Ended = m.Number
			l.sessionChanged(s, m)
		}
	case "session/prompt":
		l.promptAnswered(m, r)
	case "terminal/create":
		if id := m.Result.Get("terminalId"); ok && id.IsString() && m.Session != nil {
			key := Of{m.SessionID, bounded(id.Bytes())}
			h.Terminals.Put(key, &Terminal{ID: key.ID, Session: m.Session, Created: m.Number, Line: m.Line})
		}
	case "terminal/release":
		if m.Session != nil && ok {
			key := Of{m.SessionID, bounded(r.Params().Get("terminalId").Bytes())}
			if t, found := h.Terminals.Get(key); found && t.Released == 0 {
				t.Released = m.Number
			}
		}
	}
}

// open makes a session known.
func (l *Linter) open(m *Message, id string, r *Request, state SessionState) {
	h := l.history
	s, known := h.Sessions.Get(id)
	if !known {
		s = &Session{ID: id, Opened: m.Number, By: r.Method}
		h.Sessions.Evict(func(s *Session) bool { return s.State >= Closed })
		h.Sessions.Put(id, s)
	}
	s.State = state
	if params := r.Params(); params.IsObject() {
		s.Cwd = bounded(params.Get("cwd").Bytes())
		s.Roots = nil
		for i, d := range params.Get("additionalDirectories").Items() {
			if i == maxRoots {
				break
			}
			s.Roots = append(s.Roots, bounded(d.Bytes()))
		}
	}
	l.sessionChanged(s, m)
}

func (l *Linter) sessionChanged(s *Session, m *Message) {
	l.sessions.each(l.history.Version, func(f func(*Session, *Message)) { f(s, m) })
}

// start begins a turn. A prompt during a turn of version 1 begins the next one.
func (l *Linter) start(m *Message, r *Request) {
	s := m.Session
	if s.Turn != nil {
		if l.history.Version != V1 {
			return
		}
		s.Last = s.Turn
	}
	s.Turn = &Turn{Session: s, Prompt: r, Started: m.Time}
	l.started.each(l.history.Version, func(f func(*Turn, *Message)) { f(s.Turn, m) })
}

func (l *Linter) promptAnswered(m *Message, r *Request) {
	s := m.Session
	if s == nil {
		return
	}
	for _, t := range []*Turn{s.Turn, s.Last} {
		if t == nil || t.Prompt != r || t.Ended > 0 {
			continue
		}
		if reason := m.Result.Get("stopReason"); l.history.Version == V1 || m.Failed() || reason.IsString() {
			t.Failed = m.Failed()
			l.end(t, m, bounded(reason.Bytes()))
		}
		return
	}
}

func (l *Linter) end(t *Turn, m *Message, reason string) {
	t.Ended, t.EndedTime, t.StopReason = m.Number, m.Time, reason
	if t.Session.Turn == t {
		t.Session.Last, t.Session.Turn = t, nil
	}
	l.ended.each(l.history.Version, func(f func(*Turn, *Message)) { f(t, m) })
}

// state follows the state of a session of version 2.
func (l *Linter) state(m *Message) {
	if m.Session == nil {
		return
	}
	m.Session.Status = bounded(m.Update.Get("state").Bytes())
	if t := m.Session.Turn; t != nil && m.Session.Status == "idle" {
		l.end(t, m, bounded(m.Update.Get("stopReason").Bytes()))
	}
}

// toolCall follows a tool call.
func (l *Linter) toolCall(m *Message, v Value, creates bool) {
	id := v.Get("toolCallId")
	if m.Session == nil || !id.IsString() || m.From != Agent {
		return
	}
	s := m.Session
	key := Of{s.ID, l.history.recent.bounded(id.Bytes())}
	call, known := l.history.ToolCalls.Get(key)
	if !known {
		call = &ToolCall{ID: key.ID, Session: s, Turn: s.Turn, First: m.Number}
		l.history.ToolCalls.Evict((*ToolCall).Done)
		l.history.ToolCalls.Put(key, call)
	}
	before := *call
	call.Last = m.Number
	call.Created = call.Created || creates
	call.Asked = call.Asked || m.Kind == RequestMessage
	for _, x := range []struct {
		name string
		to   *string
	}{{"status", &call.Status}, {"kind", &call.Kind}, {"title", &call.Title}, {"name", &call.Name}} {
		if t := v.Get(x.name); t.IsString() && !t.Is(*x.to) {
			*x.to = l.history.recent.bounded(t.Bytes())
		}
	}
	if creates && !before.Created && call.Status == "" {
		call.Status = "pending"
	}
	call.Input = call.Input || v.Get("rawInput").Set() || v.Get("content").Set() || v.Get("locations").Set()
	l.tools.each(l.history.Version, func(f func(*ToolCall, ToolCall, *Message)) { f(call, before, m) })
}
