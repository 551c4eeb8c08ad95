package lint

import (
	"bytes"
	"errors"
	"strconv"
	"time"

	"github.com/hermes-nvim/hermes/internal/jtree"
	"github.com/hermes-nvim/hermes/internal/shape"
)

// Options configure a Linter. The zero value judges by the recommended profile.
type Options struct {
	Profile Profile // Recommended if empty
	// RuleSet is the rules of a month; nil means today's rules.
	RuleSet *RuleSet
	// Rules are the rules to use; nil means all of the profile.
	Rules []*Rule
	// Severities are severities of rules, by id, instead of their own. A rule that is here
	// is used even if it is not in the profile; with 0 it is not used.
	Severities map[string]Severity
	// Accept is called with each finding. If it returns true, the finding does not make its
	// rule fail.
	Accept func(*Finding) bool
	// Version is the version to assume in captures without initialize; zero if it is not
	// known. V2a also makes version 2 mean the draft of August 2026 after initialize.
	Version Versions
	// Race is how much later than a message another one may be sent by somebody who has
	// not read the first: 250 ms if it is zero.
	Race time.Duration
	// MaxMessage is the size of a message in bytes above which it is not read: 64 MiB if
	// it is zero.
	MaxMessage int
	// Whole says that the capture has the connection from its beginning, even if it
	// does not begin with initialize.
	Whole bool
	// OnFinding is called with each finding as soon as it is certain.
	OnFinding func(Finding)
	// Watch is called at the beginning of each connection, like the check of a rule. It
	// is for callers who only look: its findings are not in the Report.
	Watch func(*Checker)
}

const defaultRace = 250 * time.Millisecond

// MaxMessage is the size of a message in bytes above which it is not read, unless
// Options say otherwise.
const MaxMessage = 64 << 20

var byteOrderMark = []byte("\ufeff")

var errTooLarge = errors.New("message above the limit of the linter")

// Linter judges a capture: one connection, or several one after the other. It is not
// safe for concurrent use.
type Linter struct {
	options     Options
	rules       []*Rule
	verdicts    []*Verdict // of rules
	counts      [Error + 1]int
	accepted    int
	number      int
	skipped     int
	connections int
	tree        jtree.Tree
	frame       Frame // that is being judged, with its message
	current     Message
	behind      *Linter // follows the other side of a proxy; nil without one

	connection
}

// connection is what belongs to one connection.
type connection struct {
	history *History
	first   bool // no message has been seen yet
	whole   bool // it is known to be there from its beginning
	subscriptions

	plans   map[kindOfMessage]*plan // see wanted
	made    int                     // how often plans were made anew
	lookers []func(*Frame)
	planned Versions // the version that they are for
	stale   bool     // they are those of the connection before
}

// subscriptions are the handlers of all rules.
type subscriptions struct {
	frames        handlers[func(*Frame)]
	messages      handlers[func(*Message)]
	requests      byName
	answers       byName
	notifications byName
	updates       byName
	sessions      handlers[func(*Session, *Message)]
	started       handlers[func(*Turn, *Message)]
	ended         handlers[func(*Turn, *Message)]
	tools         handlers[func(*ToolCall, ToolCall, *Message)]
	http          handlers[func(*Record)]
	stderr        handlers[func(*Record)]
	closes        handlers[func(*Record)]
	beyond        handlers[func(*Message)]
	ends          handlers[func()]
	blocks        handlers[func(*Message, Value)] // of content
	shown         handlers[func(*Message, Value)] // texts
}

// emptied returns subscriptions without handlers, with the memory of these: each connection
// has as many as the one before.
func (s *subscriptions) emptied() subscriptions {
	return subscriptions{
		frames: s.frames[:0], messages: s.messages[:0], sessions: s.sessions[:0], started: s.started[:0], ended: s.ended[:0], tools: s.tools[:0], http: s.http[:0],
		stderr: s.stderr[:0], closes: s.closes[:0], beyond: s.beyond[:0], ends: s.ends[:0], blocks: s.blocks[:0], shown: s.shown[:0],
		requests: s.requests.emptied(), answers: s.answers.emptied(), notifications: s.notifications.emptied(), updates: s.updates.emptied(),
	}
}

// New returns a Linter for one capture.
func New(o Options) *Linter {
	if o.Profile == "" {
		o.Profile = Recommended
	}
	if o.Race == 0 {
		o.Race = defaultRace
	}
	if o.MaxMessage == 0 {
		o.MaxMessage = MaxMessage
	}
	if o.Version == 0 {
		o.Version = All
	}
	l := &Linter{options: o, rules: o.Rules}
	if l.rules == nil {
		for _, r := range Rules() {
			if o.uses(r) {
				l.rules = append(l.rules, r)
			}
		}
	}
	for _, r := range l.rules {
		l.verdicts = append(l.verdicts, &Verdict{Rule: r})
	}
	l.connect()
	return l
}

// uses reports whether a rule is used.
func (o *Options) uses(r *Rule) bool {
	if s, ok := o.Severities[r.ID]; ok {
		return s > 0
	}
	return o.RuleSet.Has(o.Profile, r)
}

// connect begins a connection.
func (l *Linter) connect() {
	l.connections++
	l.connection = connection{
		history: newHistory(l.options.Version), first: true, whole: l.options.Whole,
		subscriptions: l.subscriptions.emptied(), plans: l.plans, made: l.made, lookers: l.lookers[:0], stale: true,
	}
	for i, r := range l.rules {
		r.Check(&Checker{History: l.history, rule: r, linter: l, verdict: l.verdicts[i]})
	}
	if l.options.Watch != nil {
		l.options.Watch(l.everyVersion())
	}
}

// everyVersion is a checker for what rules of all versions share.
func (l *Linter) everyVersion() *Checker {
	return &Checker{History: l.history, rule: &Rule{Versions: All}, linter: l, verdict: &Verdict{}}
}

// content calls the handlers of a content block.
func (l *Linter) content(m *Message, block Value) {
	l.blocks.each(l.history.Version, func(f func(*Message, Value)) { f(m, block) })
}

// show calls the handlers of a text to be shown.
func (l *Linter) show(m *Message, text Value) {
	l.shown.each(l.history.Version, func(f func(*Message, Value)) { f(m, text) })
}

// finish ends a connection.
func (l *Linter) finish() {
	l.ends.each(l.history.Version, func(f func()) { f() })
}

// Add judges the next record of the capture.
func (l *Linter) Add(r Record) {
	if r.Beyond {
		l.follow(r)
		return
	}
	l.frame = Frame{Record: r} // which does not escape, unlike the parameter
	f := &l.frame
	switch r.Source {
	case Stderr:
		l.stderr.each(l.history.Version, func(h func(*Record)) { h(&f.Record) })
		return
	case End:
		if !l.history.Closed {
			h := l.history
			h.Closed, h.ClosedBy, h.ClosedAfter, h.ClosedTime = true, r.From, l.number, r.Time
		}
		l.closes.each(l.history.Version, func(h func(*Record)) { h(&f.Record) })
		return
	case Beginning:
		if !l.first {
			l.finish()
			l.connect()
		}
		l.whole = true
		return
	}
	if r.HTTP != nil {
		l.http.each(l.history.Version, func(h func(*Record)) { h(&f.Record) })
		if len(r.Bytes) == 0 {
			return
		}
	}
	l.number++
	f.Number = l.number
	switch {
	case r.Left > 0 || len(r.Bytes) > l.options.MaxMessage:
		f.Err, f.Tree = errTooLarge, &jtree.Tree{}
	case f.Tree == nil:
		f.Tree = &l.tree
		f.Err = l.tree.Parse(bytes.TrimPrefix(r.Bytes, byteOrderMark))
	}
	f.Root = f.Tree.Root()
	if f.From == Nobody {
		f.From = l.sender(f.Root)
	}
	if f.From == Nobody {
		l.skipped++
		return
	}
	if l.restarts(f) {
		l.finish()
		l.connect()
	}
	l.begin(f.Root)
	if f.Root.IsObject() {
		m := l.message(f, f.Root)
		l.negotiate(m)
		l.look(f)
		l.judge(m)
		l.apply(m)
	} else {
		l.look(f)
		for _, e := range f.Root.Items() { // of a batch, which only version 2a has
			if e.IsObject() {
				m := l.message(f, e)
				m.Batch = true
				if l.history.Version == V2a {
					l.judge(m)
				}
				l.apply(m)
			}
		}
	}
	if !f.Time.IsZero() {
		l.history.LastTime = f.Time
	}
}

// follow keeps the history of the other side of a proxy, which is not judged by itself.
func (l *Linter) follow(r Record) {
	if l.behind == nil {
		l.behind = New(Options{
			Rules: []*Rule{}, Version: l.options.Version, MaxMessage: l.options.MaxMessage,
			Watch: func(c *Checker) {
				c.Message(func(m *Message) {
					l.beyond.each(l.history.Version, func(f func(*Message)) { f(m) })
				})
			},
		})
	}
	r.Beyond = false
	l.behind.Add(r)
}

// Report is the outcome of a capture.
type Report struct {
	Verdicts    []*Verdict // of all rules that were used, in the order of the catalogue
	Connections int
	Messages    int // frames that were read
	Skipped     int // frames whose sender is not known
	Accepted    int // findings that Options.Accept accepted
	// Unversioned reports that nothing in the capture shows the version, so only rules of
	// all versions were used.
	Unversioned bool
	Infos       int // findings by severity
	Warnings    int
	Errors      int
}

// Count returns how many findings are at least as bad as a severity.
func (r *Report) Count(s Severity) int {
	switch s {
	case Error:
		return r.Errors
	case Warn:
		return r.Errors + r.Warnings
	}
	return r.Errors + r.Warnings + r.Infos
}

// Report ends the capture and returns what was found. The Linter must not be used
// afterwards.
func (l *Linter) Report() *Report {
	l.finish()
	r := &Report{Unversioned: l.number > 0 && l.history.Version == All, Verdicts: l.verdicts, Messages: l.number, Connections: l.connections, Skipped: l.skipped, Accepted: l.accepted, Infos: l.counts[Info], Warnings: l.counts[Warn], Errors: l.counts[Error]}
	return r
}

// begin decides at the first message whether the capture has the beginning of the
// connection.
func (l *Linter) begin(root Value) {
	if l.first && root.IsObject() {
		l.first = false
		l.history.Whole = l.whole || root.Get("method").Is("initialize")
	}
}

// restarts reports whether a frame begins another connection: an initialize with the
// id of the first one, when the connection has ended or no request is unanswered.
// Within a connection, ids only count up.
func (l *Linter) restarts(f *Frame) bool {
	h := l.history
	return h.Negotiated && f.From == Client && f.Root.Get("method").Is("initialize") && f.Root.Get("id").Exists() &&
		Key(f.Root.Get("id")) == h.Initialize.ID && (h.Closed || h.Outstanding(Client).Len()+h.Outstanding(Agent).Len() == 0)
}

// sender finds out who sent a message by its method or by the request that it answers.
func (l *Linter) sender(root Value) Party {
	if method := root.Get("method"); method.IsString() {
		return senderOf(method.Bytes())
	}
	id := root.Get("id")
	if !id.Exists() {
		return Nobody
	}
	key := Key(id)
	_, client := l.history.sides[Client].requests.Get(key)
	_, agent := l.history.sides[Agent].requests.Get(key)
	switch {
	case client && !agent:
		return Agent
	case agent && !client:
		return Client
	}
	return Nobody
}

// message reads the members of a JSON-RPC message.
func (l *Linter) message(f *Frame, root Value) *Message {
	l.current = Message{Frame: f, Root: root}
	m := &l.current
	var method Value
	for name, v := range root.Members() {
		switch string(name) {
		case "method":
			method = first(method, v)
		case "id":
			m.ID = first(m.ID, v)
		case "params":
			m.Params = first(m.Params, v)
		case "result":
			m.Result = first(m.Result, v)
		case "error":
			m.Error = first(m.Error, v)
		}
	}
	h := l.history
	switch {
	case method.IsString() && m.ID.Exists():
		m.Kind = RequestMessage
	case method.IsString():
		m.Kind = NotificationMessage
	case !method.Exists() && (m.Result.Exists() || m.Error.Exists()):
		m.Kind = AnswerMessage
	}
	switch m.Kind {
	case RequestMessage, NotificationMessage:
		name := method.Bytes()
		if h.Edition != nil {
			m.Known = h.Edition.Method(name)
		}
		if m.Known != nil {
			m.Method = m.Known.Name
		} else {
			m.Method = bounded(name)
		}
		if id := m.Params.Get("sessionId"); id.IsString() {
			m.session(h, id.Bytes())
		}
		if m.Method == "session/update" {
			m.Update = m.Params.Get("update")
			m.UpdateTag = tagName(m.Update.Get("sessionUpdate"))
		}
	case AnswerMessage:
		if m.ID.Exists() {
			m.Answers, _ = h.sides[f.From.Peer()].requests.Get(Key(m.ID))
		}
		if m.Answers != nil {
			m.Method = m.Answers.Method
			if h.Edition != nil {
				m.Known = h.Edition.Method([]byte(m.Method))
			}
			if id := m.Answers.SessionID; id != "" {
				m.session(h, []byte(id))
			}
		}
	}
	return m
}

func first(old, new Value) Value {
	if old.Exists() {
		return old
	}
	return new
}

// session notes the session of a message. The string of a known one is used again.
func (m *Message) session(h *History, id []byte) {
	if e := h.Sessions.entries[string(id)]; e != nil {
		m.Session, m.SessionID = e.value, e.key
	} else {
		m.SessionID = bounded(id)
		m.Session, _ = h.Sessions.Get(m.SessionID)
	}
}

// tagName returns the tag of an update. Known ones allocate nothing.
func tagName(v Value) string {
	b := v.Bytes()
	for _, t := range tags {
		if t == string(b) {
			return t
		}
	}
	return bounded(b)
}

var tags = [...]string{
	"agent_message_chunk", "agent_thought_chunk", "tool_call_update", "tool_call", "user_message_chunk", "plan",
	"usage_update", "state_update", "agent_message", "tool_call_content_chunk", "available_commands_update",
}

// judge calls the handlers of a message.
func (l *Linter) judge(m *Message) {
	for _, f := range l.wanted(m) {
		f(m)
	}
}

// kindOfMessage is what decides which handlers want a message.
type kindOfMessage struct {
	kind        Kind
	method, tag string
}

// maxWanted bounds the kinds of messages whose handlers are remembered, because the other
// side chooses methods and tags.
const maxWanted = 256

// plan are the handlers that want a kind of message.
type plan struct {
	handlers []func(*Message)
	made     int // when: those of an earlier version or connection are made anew
}

// plan forgets the handlers of another version, and of another connection.
func (l *Linter) plan() {
	full := len(l.plans) >= maxWanted
	if v := l.history.Version; l.stale || l.planned != v || full {
		if l.plans == nil || full {
			l.plans = map[kindOfMessage]*plan{}
		}
		l.made++
		l.lookers, l.planned, l.stale = l.lookers[:0], v, false
		l.frames.each(v, func(f func(*Frame)) { l.lookers = append(l.lookers, f) })
	}
}

// look calls the handlers of a frame.
func (l *Linter) look(f *Frame) {
	l.plan()
	for _, h := range l.lookers {
		h(f)
	}
}

// wanted returns the handlers of all rules of the version that want a message. They are
// looked up once for each kind of message.
func (l *Linter) wanted(m *Message) []func(*Message) {
	l.plan()
	key := kindOfMessage{m.Kind, m.Method, m.UpdateTag}
	p := l.plans[key]
	if p == nil {
		p = &plan{}
		l.plans[key] = p
	}
	if p.made == l.made {
		return p.handlers
	}
	p.handlers, p.made = p.handlers[:0], l.made
	add := func(f func(*Message)) { p.handlers = append(p.handlers, f) }
	l.messages.each(l.planned, add)
	switch m.Kind {
	case RequestMessage:
		l.requests.each(l.planned, m.Method, add)
	case NotificationMessage:
		l.notifications.each(l.planned, m.Method, add)
		if m.Method == "session/update" {
			l.updates.each(l.planned, m.UpdateTag, add)
		}
	case AnswerMessage:
		l.answers.each(l.planned, m.Method, add)
	}
	return p.handlers
}

// senderOf returns who sends a method: who does not handle it.
func senderOf(method []byte) Party {
	for _, e := range []*shape.Edition{shape.V1(), shape.V2()} {
		if m := e.Method(method); m != nil {
			switch m.Handler {
			case shape.Agent:
				return Client
			case shape.Client:
				return Agent
			}
		}
	}
	return Nobody
}

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }
