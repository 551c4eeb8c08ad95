package lint

import (
	"fmt"
	"strings"
	"time"
)

// Checker is what a rule sees of one connection. Its check subscribes handlers, and
// the handlers report what they find. A handler is called only while the connection
// speaks a version of the rule, or any version for a rule of all of them.
type Checker struct {
	*History
	rule    *Rule
	linter  *Linter
	verdict *Verdict
}

// Verdict is what a capture shows about a rule.
type Verdict struct {
	Rule      *Rule
	Exercised int       // how often the capture had what the rule is about
	Failed    int       // how many findings there are
	Counts    Counts    // and of which severity
	Findings  []Finding // the first of them
}

// Counts are numbers of findings by severity.
type Counts [Error + 1]int

// Worst is the highest severity that there are findings of, 0 without any.
func (c Counts) Worst() Severity {
	for s := Error; s > 0; s-- {
		if c[s] > 0 {
			return s
		}
	}
	return 0
}

// String returns pass, fail or not exercised.
func (v *Verdict) String() string {
	switch {
	case v.Failed > 0:
		return "fail"
	case v.Exercised > 0:
		return "pass"
	}
	return "not exercised"
}

// maxFindings is how many findings of a rule are kept. More are counted.
const maxFindings = 100

// Exercised notes that the capture has what the rule is about.
func (c *Checker) Exercised() { c.verdict.Exercised++ }

// Fail reports that the sender of m broke the rule at a value of m, which may be
// absent. The format is one sentence without a capital and full stop; quote text of
// messages with %q.
func (c *Checker) Fail(m *Message, at Value, format string, args ...any) {
	c.Report(m.Frame, Finding{Text: fmt.Sprintf(format, args...)}, at)
}

// Unknown is Fail for a word that the specification does not have, such as the name of a
// method. Two such words are two faults.
func (c *Checker) Unknown(m *Message, at Value, format string, args ...any) {
	c.Report(m.Frame, Finding{Text: fmt.Sprintf(format, args...), unknown: true}, at)
}

// FailFrame is Fail for something that is not a message.
func (c *Checker) FailFrame(f *Frame, at Value, format string, args ...any) {
	c.Report(f, Finding{Text: fmt.Sprintf(format, args...)}, at)
}

// FailEnd reports what is only certain at the end of the capture: a party broke the
// rule by the request, which may be nil.
func (c *Checker) FailEnd(by Party, r *Request, format string, args ...any) {
	c.ReportEnd(by, 0, r, format, args...)
}

// ReportEnd is FailEnd with a severity below the rule's; 0 means the rule's own.
func (c *Checker) ReportEnd(by Party, s Severity, r *Request, format string, args ...any) {
	f := Finding{By: by, Text: fmt.Sprintf(format, args...)}
	if s < c.rule.Severity {
		f.Severity = s
	}
	if r != nil {
		f.Message, f.Line, f.Time = r.Number, r.Line, r.Time
		f.Quote = quote(r.Method)
	}
	c.add(f)
}

// Report is Fail for a finding with more to say: another severity, another party,
// other messages. Text must be set; what else is not set is taken from the frame, the
// value and the rule.
func (c *Checker) Report(m *Frame, f Finding, at Value) {
	if f.By == Nobody {
		f.By = m.From
	}
	f.Message, f.Line, f.Time = m.Number, m.Line, m.Time
	if o := &c.linter.options; c.verdict.Failed < maxFindings || o.Accept != nil || o.OnFinding != nil { // the others are only counted
		f.describe(m, at)
	}
	c.add(f)
}

// Describe returns a finding about a frame that is not certain yet; Add reports it.
func (c *Checker) Describe(m *Frame, at Value, format string, args ...any) Finding {
	f := Finding{By: m.From, Message: m.Number, Line: m.Line, Time: m.Time, Text: fmt.Sprintf(format, args...)}
	f.describe(m, at)
	return f
}

// Add reports a finding that Describe made.
func (c *Checker) Add(f Finding) { c.add(f) }

func (c *Checker) add(f Finding) {
	f.Rule, f.Version = c.rule, c.Version
	f.Severity = c.linter.options.RuleSet.severity(c.rule, f.Severity)
	if s := c.linter.options.Severities[c.rule.ID]; s > 0 {
		f.Severity = s
	}
	if accept := c.linter.options.Accept; accept != nil && accept(&f) {
		c.linter.accepted++
		return
	}
	c.verdict.Failed++
	c.verdict.Counts[f.Severity]++
	if c.verdict.Failed <= maxFindings {
		c.verdict.Findings = append(c.verdict.Findings, f)
	}
	c.linter.counts[f.Severity]++
	if c.linter.options.OnFinding != nil {
		c.linter.options.OnFinding(f)
	}
}

// Crossed reports whether a message that was sent at one time may have been written
// before its sender had read one that was sent at the other. Without times everything
// may have crossed, unless it comes much later; so use it only for messages in a
// row.
func (c *Checker) Crossed(earlier, later time.Time) bool {
	if earlier.IsZero() || later.IsZero() {
		return true
	}
	return later.Sub(earlier) <= c.linter.options.Race
}

// Frame subscribes to every line, also to those that are not messages.
func (c *Checker) Frame(f func(*Frame)) { c.linter.frames.add(c, f) }

// Message subscribes to every message.
func (c *Checker) Message(f func(*Message)) { c.linter.messages.add(c, f) }

// Request subscribes to the requests of some methods, or to all requests. A name may
// end in *, such as fs/*.
func (c *Checker) Request(f func(*Message), methods ...string) {
	c.linter.requests.add(c, f, methods)
}

// Answer subscribes to the answers to the requests of some methods, or to all answers.
// The answer of a request that is not known has no method.
func (c *Checker) Answer(f func(*Message), methods ...string) {
	c.linter.answers.add(c, f, methods)
}

// Notification subscribes to the notifications of some methods, or to all.
func (c *Checker) Notification(f func(*Message), methods ...string) {
	c.linter.notifications.add(c, f, methods)
}

// Update subscribes to session/update notifications with some tags, or to all.
func (c *Checker) Update(f func(*Message), tags ...string) {
	c.linter.updates.add(c, f, tags)
}

// SessionChanged subscribes to sessions that became known, open, closed or deleted.
func (c *Checker) SessionChanged(f func(*Session, *Message)) { c.linter.sessions.add(c, f) }

// TurnStarted subscribes to prompts that started a turn.
func (c *Checker) TurnStarted(f func(*Turn, *Message)) { c.linter.started.add(c, f) }

// TurnEnded subscribes to messages that ended a turn.
func (c *Checker) TurnEnded(f func(*Turn, *Message)) { c.linter.ended.add(c, f) }

// ToolCallChanged subscribes to messages about tool calls, together with the tool call
// as it was before.
func (c *Checker) ToolCallChanged(f func(call *ToolCall, before ToolCall, m *Message)) {
	c.linter.tools.add(c, f)
}

// HTTP subscribes to the requests, responses and WebSocket frames of captures that have
// them, before what they carry is judged. Many of them carry no message.
func (c *Checker) HTTP(f func(*Record)) { c.linter.http.add(c, f) }

// StderrLine subscribes to the lines of the agent's standard error.
func (c *Checker) StderrLine(f func(*Record)) { c.linter.stderr.add(c, f) }

// OnClose subscribes to a side that ended the connection, or its half of it.
func (c *Checker) OnClose(f func(*Record)) { c.linter.closes.add(c, f) }

// Beyond subscribes to the messages on the other side of a proxy, in captures of both.
func (c *Checker) Beyond(f func(*Message)) { c.linter.beyond.add(c, f) }

// End subscribes to the end of the capture.
func (c *Checker) End(f func()) { c.linter.ends.add(c, f) }

// handler is a subscription of a rule.
type handler[F any] struct {
	checker *Checker
	f       F
}

type handlers[F any] []handler[F]

func (l *handlers[F]) add(c *Checker, f F) { *l = append(*l, handler[F]{c, f}) }

// each calls do with the handlers of the rules about some versions.
func (l handlers[F]) each(v Versions, do func(F)) {
	for i := range l {
		if l[i].checker.rule.covers(v) {
			do(l[i].f)
		}
	}
}

// byName are the subscriptions to messages with certain names.
type byName struct {
	all     handlers[func(*Message)]
	named   map[string]handlers[func(*Message)]
	pattern map[string]handlers[func(*Message)] // by what precedes the *
}

func (n *byName) emptied() byName {
	for _, lists := range []map[string]handlers[func(*Message)]{n.named, n.pattern} {
		for name, list := range lists {
			lists[name] = list[:0]
		}
	}
	return byName{n.all[:0], n.named, n.pattern}
}

func (n *byName) add(c *Checker, f func(*Message), names []string) {
	if len(names) == 0 {
		n.all.add(c, f)
	}
	for _, name := range names {
		where := &n.named
		if prefix, ok := strings.CutSuffix(name, "*"); ok {
			name, where = prefix, &n.pattern
		}
		if *where == nil {
			*where = map[string]handlers[func(*Message)]{}
		}
		list := (*where)[name]
		list.add(c, f)
		(*where)[name] = list
	}
}

// each calls do with the handlers of a name, of the rules about some versions.
func (n *byName) each(v Versions, name string, do func(func(*Message))) {
	n.all.each(v, do)
	n.named[name].each(v, do)
	for prefix, list := range n.pattern {
		if strings.HasPrefix(name, prefix) {
			list.each(v, do)
		}
	}
}
