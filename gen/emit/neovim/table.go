package neovim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// updateMethod is the one notification whose variants are events of their own.
const updateMethod = "session/update"

// unknown is the key of the row for everything the schema does not list.
const unknown = "*"

// Source says what causes an event.
type Source string

// The sources, in the order in which the documentation lists them.
const (
	FromUpdate       Source = "update"
	FromPrompt       Source = "prompt"
	FromRequest      Source = "request"
	FromReply        Source = "reply"
	FromNotification Source = "notification"
	FromLocal        Source = "local"
)

var sources = []Source{FromUpdate, FromPrompt, FromRequest, FromReply, FromNotification, FromLocal}

// Event is one autocommand: a row of events.json at its place in the schema.
type Event struct {
	*EventRow
	Source  Source
	Method  string // wire method; empty for local events, "*" for any other method
	Variant string // session/update variant or type of a prompt's block
	By      string // member that selected Sub, as in the row
	Sub     string
	Payload string // definition of the wire object
}

// table joins the rows with the schema, both ways: everything in v1 traffic has a
// row, and every row has its place. Events are in the order of the sources, and
// within a source in the order of the schema.
func table(s *ir.Spec, rows *EventRows) ([]Event, error) {
	t := &joiner{spec: s}
	t.traffic(rows)
	t.replies(rows)
	t.prompt(rows)
	for i, r := range rows.Local {
		at := fmt.Sprintf("local/%d", i)
		if r.By != "" || r.Answer != nil || r.Flat != nil || r.Params != nil {
			t.fail(at, "a local event has only name, alias, when and data")
		}
		t.add(at, Event{EventRow: r, Source: FromLocal})
	}
	t.unique()
	if len(t.errs) > 0 {
		slices.Sort(t.errs)
		return nil, fmt.Errorf("schema/overlay/events.json:\n  %s", strings.Join(t.errs, "\n  "))
	}
	slices.SortStableFunc(t.events, func(a, b Event) int {
		return slices.Index(sources, a.Source) - slices.Index(sources, b.Source)
	})
	return t.events, nil
}

type joiner struct {
	spec   *ir.Spec
	events []Event
	errs   []string
}

func (t *joiner) fail(at, format string, args ...any) {
	t.errs = append(t.errs, at+": "+fmt.Sprintf(format, args...))
}

// section hands out the rows of one section and reports the unused ones.
type section struct {
	t    *joiner
	name string
	rows map[string]*EventRow
	used map[string]bool
}

func (t *joiner) section(name string, rows map[string]*EventRow) *section {
	return &section{t: t, name: name, rows: rows, used: map[string]bool{}}
}

func (s *section) take(key, what string) *EventRow {
	r := s.rows[key]
	if r == nil {
		s.t.fail(s.name, "no row for %s: add %s", what, s.skeleton(key))
		return nil
	}
	s.used[key] = true
	return r
}

// skeleton is a row to paste. Its texts must be filled in.
func (s *section) skeleton(key string) string {
	answer := ""
	if s.name == "requests" {
		answer = `, "answer": {"takes": "", "table": {}}`
	}
	return fmt.Sprintf(`%q: {"name": %q, "when": ""%s}`, key, camel(key), answer)
}

// camel proposes an event name for a wire name.
func camel(wire string) string {
	var name strings.Builder
	for _, part := range strings.FieldsFunc(wire, notLetter) {
		name.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return name.String()
}

func (s *section) done() {
	for _, k := range slices.Sorted(maps.Keys(s.rows)) {
		if !s.used[k] {
			s.t.fail(s.name, "row %q is not used: the schema has nothing with that name, remove the row", k)
		}
	}
}

func (t *joiner) add(at string, e Event) {
	switch {
	case e.Name == "":
		t.fail(at, "the row has no name")
	case strings.ContainsFunc(e.Name, notLetter) || strings.ToUpper(e.Name[:1]) != e.Name[:1]:
		t.fail(at, "event name %q: use letters only, the first a capital", e.Name)
	case e.When == "":
		t.fail(at, "%s does not say when it fires: add \"when\"", e.Name)
	default:
		t.events = append(t.events, e)
	}
}

func notLetter(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }

// row adds the event of a row or, when the row is split, one event for each
// variant of the member it names.
func (t *joiner) row(at string, r *EventRow, e Event) {
	if r == nil {
		return
	}
	t.check(at, r, e)
	if r.By == "" {
		if r.Rows != nil {
			t.fail(at, "\"rows\" without \"by\"")
		}
		e.EventRow = r
		t.add(at, e)
		return
	}
	if r.Name != "" {
		t.fail(at, "has \"name\" and \"by\": the names belong in \"rows\"")
		return
	}
	u, err := taggedBy(t.spec, e.Payload, r.By)
	if err != nil {
		t.fail(at, "%v", err)
		return
	}
	sub := t.section(at+"/rows", r.Rows)
	for _, tag := range append(u, unknown) {
		row := sub.take(tag, fmt.Sprintf("%s %q of %s", r.By, tag, e.Payload))
		if row == nil {
			continue
		}
		merged := *row
		if merged.Answer == nil {
			merged.Answer = r.Answer
		}
		x := e
		x.EventRow, x.By, x.Sub = &merged, r.By, tag
		t.add(at+"/rows/"+tag, x)
	}
	sub.done()
}

// check refuses a row that contradicts the schema.
func (t *joiner) check(at string, r *EventRow, e Event) {
	for _, k := range slices.Sorted(maps.Keys(r.Flat)) {
		p := r.Flat[k]
		if !slices.Contains([]string{"", "json", "blocks", "options"}, p.As) {
			t.fail(at, "flat key %q: \"as\" is %q, not json, blocks or options", k, p.As)
		}
		if member(t.spec, e.Payload, p.Of) == nil {
			t.fail(at, "flat key %q: %s has no member %q", k, e.Payload, p.Of)
		}
	}
	if (r.Answer != nil) != (e.Source == FromRequest) {
		t.fail(at, "\"answer\" belongs to requests, and each of them needs one")
	}
	if len(r.Params) > 0 && e.Source != FromReply {
		t.fail(at, "\"params\" belongs to replies")
	}
	for _, d := range r.Data {
		if name := strings.TrimSuffix(d.Name, "?"); member(t.spec, e.Payload, name) != nil {
			t.fail(at, "\"data\" says what no schema describes, but %s has a member %q", e.Payload, name)
		}
	}
}

func (t *joiner) traffic(rows *EventRows) {
	requests := t.section("requests", rows.Requests)
	notifications := t.section("notifications", rows.Notifications)
	for _, m := range t.spec.Methods {
		if m.Handler != "client" {
			continue
		}
		if m.Request != "" {
			r := requests.take(m.Wire, "the request "+m.Wire)
			t.row("requests/"+m.Wire, r, Event{Source: FromRequest, Method: m.Wire, Payload: m.Request})
			if r != nil && r.Answer != nil {
				for _, err := range checkAnswer(t.spec, m.Response, r.Answer) {
					t.fail("requests/"+m.Wire, "%v", err)
				}
			}
		}
		if m.Notification == "" {
			continue
		}
		if m.Wire == updateMethod {
			t.updates(rows.Updates, m.Notification)
			continue
		}
		t.row("notifications/"+m.Wire, notifications.take(m.Wire, "the notification "+m.Wire),
			Event{Source: FromNotification, Method: m.Wire, Payload: m.Notification})
	}
	t.row("requests/*", requests.take(unknown, "requests that the schema does not list"),
		Event{Source: FromRequest, Method: unknown})
	t.row("notifications/*", notifications.take(unknown, "notifications that the schema does not list"),
		Event{Source: FromNotification, Method: unknown})
	requests.done()
	notifications.done()
}

func (t *joiner) updates(rows map[string]*EventRow, notification string) {
	updates := t.section("updates", rows)
	u := member(t.spec, notification, "update")
	if u == nil || unionOf(t.spec, u.Type.Ref) == nil {
		t.fail("updates", "%s has no member \"update\" that is a union", notification)
		return
	}
	union := unionOf(t.spec, u.Type.Ref)
	for _, v := range union.Variants {
		t.row("updates/"+v.Wire, updates.take(v.Wire, fmt.Sprintf("%s %q", union.Tag, v.Wire)),
			Event{Source: FromUpdate, Method: updateMethod, Variant: v.Wire, Payload: v.Ref})
	}
	t.row("updates/*", updates.take(unknown, "updates that the schema does not list"),
		Event{Source: FromUpdate, Method: updateMethod, Variant: unknown})
	updates.done()
}

func (t *joiner) replies(rows *EventRows) {
	replies := t.section("replies", rows.Replies)
	for _, m := range t.spec.Methods {
		if m.Handler != "agent" || m.Response == "" {
			continue
		}
		r := replies.take(m.Wire, "the reply to "+m.Wire)
		if r == nil {
			continue
		}
		for _, p := range r.Params {
			if member(t.spec, m.Request, p) == nil {
				t.fail("replies/"+m.Wire, "%s has no member %q to repeat", m.Request, p)
			}
		}
		t.row("replies/"+m.Wire, r, Event{Source: FromReply, Method: m.Wire, Payload: m.Response})
	}
	replies.done()
}

func (t *joiner) prompt(rows *EventRows) {
	blocks := t.section("prompt", rows.Prompt)
	block := t.spec.ByName["ContentBlock"]
	if block == nil || block.Union == nil {
		t.fail("prompt", "the schema has no union ContentBlock")
		return
	}
	for _, v := range block.Union.Variants {
		t.row("prompt/"+v.Wire, blocks.take(v.Wire, fmt.Sprintf("a content block of type %q", v.Wire)),
			Event{Source: FromPrompt, Method: "session/prompt", Variant: v.Wire, Payload: v.Ref})
	}
	t.row("prompt/*", blocks.take(unknown, "content blocks that the schema does not list"),
		Event{Source: FromPrompt, Method: "session/prompt", Variant: unknown})
	blocks.done()
}

// unique refuses a name or an alias that stands for two events.
func (t *joiner) unique() {
	first := map[string]string{}
	for _, e := range t.events {
		for _, n := range append([]string{e.Name}, e.Alias...) {
			if other, dup := first[n]; dup {
				t.fail(n, "names both %s and %s: give one of them another name", other, e.place())
				continue
			}
			first[n] = e.place()
		}
	}
}

// place names the cause of the event.
func (e Event) place() string {
	var s string
	switch e.Source {
	case FromLocal:
		return "the local event " + e.Name
	case FromReply:
		return "the reply to " + e.Method
	case FromPrompt:
		s = "a " + e.Variant + " block of a prompt"
	case FromUpdate:
		s = "session/update " + e.Variant
	case FromRequest:
		s = "the request " + e.Method
	case FromNotification:
		s = "the notification " + e.Method
	}
	if e.Sub != "" {
		s += " with " + e.By + " " + e.Sub
	}
	return s
}
