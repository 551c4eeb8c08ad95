package lint

import (
	"bytes"
	"time"

	"github.com/hermes-nvim/hermes/internal/jtree"
)

// Limits of the lists of config options that are kept. A session with a larger
// list is not judged.
const (
	maxOptions    = 256 << 10 // bytes of the list of one session
	maxOptionsAll = 4 << 20   // of all sessions
	maxPriors     = 8         // lists that the client may not have read yet
)

// configState is the list of options that a session has, as the agent sent it last.
type configState struct {
	text    []byte // nil if it is too long
	at      time.Time
	settled bool // the client has surely read it, because it came with the session
	tree    *jtree.Tree
	prior   *configState // the one before it, which the client may have had for a while yet
}

// configs are the lists of all sessions, and the one that was replaced last.
type configs struct {
	*Bounded[string, *configState]
	bytes   int
	old     *configState
	crossed func(earlier, later time.Time) bool
}

// followConfig notes the options of each session.
func followConfig(c *Checker) *configs {
	l := &configs{Bounded: NewBounded[string, *configState](maxSessions), crossed: c.Crossed}
	c.Answer(sentBy(Agent, func(m *Message) {
		if list := m.Result.Get("configOptions"); !m.Failed() && m.Result.Exists() && (list.Set() || !opensAgain(m)) {
			l.put(m, sessionOf(m), list, true)
		}
	}), sessionAnswers...)
	c.Answer(sentBy(Agent, func(m *Message) {
		if list := m.Result.Get("configOptions"); list.IsArray() {
			l.put(m, m.SessionID, list, false)
		}
	}), "session/set_config_option")
	c.Update(func(m *Message) {
		if list := m.Update.Get("configOptions"); list.IsArray() {
			l.put(m, m.SessionID, list, false)
		}
	}, "config_option_update")
	return l
}

func (l *configs) put(m *Message, session string, list Value, settled bool) {
	l.old, _ = l.Get(session)
	if session == "" || l.Lost() {
		return
	}
	s := &configState{at: m.Time, settled: settled, text: []byte("[]"), prior: l.old}
	l.cut(s, m.Time)
	if list.IsArray() {
		s.text = nil
		if text := list.Text(); len(text) <= maxOptions && l.bytes+len(text) <= maxOptionsAll {
			s.text = bytes.Clone(text)
		}
	}
	l.bytes += len(s.text)
	l.Put(session, s)
}

// cut forgets the lists that no client uses any more once s has come.
func (l *configs) cut(s *configState, now time.Time) {
	keep := 0
	if !s.settled {
		keep = maxPriors
	}
	for ; s.prior != nil && keep > 0; s, keep = s.prior, keep-1 {
		if p := s.prior; p.settled || !l.crossed(p.at, now) {
			keep = 1
		}
	}
	for p := s.prior; p != nil; p = p.prior {
		l.bytes -= len(p.text)
	}
	s.prior = nil
}

// seen ranges over the lists that the client may have had when it sent a message: from
// the newest to the last that it has surely read. It reports whether f was called for all.
func (c *Checker) seen(s *configState, m *Message, f func(*configState)) bool {
	for ; s != nil && !s.unknown(); s = s.prior {
		if f(s); s.settled || !c.Crossed(s.at, m.Time) {
			return true
		}
	}
	return false
}

// before is the list that a message replaced, for handlers that run after followConfig
// has noted the new one.
func (l *configs) before() (*configState, bool) {
	return l.old, l.old != nil && l.old.text != nil
}

func (s *configState) unknown() bool { return s.text == nil }

func (s *configState) list() Value {
	if s.tree == nil {
		s.tree = &jtree.Tree{}
		_ = s.tree.Parse(s.text) // it was parsed before
	}
	return s.tree.Root()
}

// option returns an option by its id.
func (s *configState) option(id Value) Value {
	for _, o := range s.list().Items() {
		if own := optionID(o); own.IsString() && id.Is(own.Str()) {
			return o
		}
	}
	return Value{}
}

// refuses says what is wrong with the params of session/set_config_option, and where.
func (s *configState) refuses(params Value) (at Value, wrong string) {
	id, value := params.Get("configId"), params.Get("value")
	if !id.IsString() || !value.Exists() {
		return Value{}, "" // not what the schema wants
	}
	o := s.option(id)
	switch {
	case !o.Exists():
		return id, "the session does not have this option"
	case o.Get("type").Is("boolean") && value.Kind() != jtree.True && value.Kind() != jtree.False:
		return value, "the option is on or off, and the value is neither"
	case o.Get("type").Is("select") && !value.IsString():
		return value, "the value of a select is not a string"
	case o.Get("type").Is("select"):
		for v := range valuesOf(o.Get("options")) {
			if v.Is(value.Str()) {
				return Value{}, ""
			}
		}
		return value, "the value is not among the options"
	}
	return Value{}, ""
}

// setting reports whether another session/set_config_option of a session is not
// answered.
func (h *History) setting(session string) bool {
	for _, r := range h.Outstanding(Client).All() {
		if r.SessionID == session && r.Method == "session/set_config_option" {
			return true
		}
	}
	return false
}
