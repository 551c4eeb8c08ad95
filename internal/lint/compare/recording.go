// Package compare says what two captures of the same script do differently: captures of
// two versions of an agent, or of two clients. Ids, times and random names differ in
// every run, so they count as equal.
package compare

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hermes-nvim/hermes/internal/jtree"
	"github.com/hermes-nvim/hermes/internal/lint/capture"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/runtime/trace"
)

// Limits of a capture that can be compared: both captures are in memory at
// once.
const (
	maxMessages = 500_000
	maxBytes    = 256 << 20
	maxIDs      = 100_000
)

// ErrTooLarge is the error for captures above the limits.
var ErrTooLarge = errors.New("too large to be compared")

// Recording is a capture in parts: what happens before the first prompt, and each turn.
type Recording struct {
	Report *lint.Report
	parts  []*part
	bytes  int
	err    error
	names  names

	messages map[int]string // what the frames are called, by number
}

// part is a turn with what follows it, or what precedes the first turn of a connection.
type part struct {
	connection, turn int    // from 1; turn 0 precedes the first prompt
	anytime          bool   // updates whose place does not count, of the whole connection
	prompt           string // JSON
	shown            string // the prompt as it is
	messages         []*message
}

// message is one message, or a text that came in chunks.
type message struct {
	Number, Line int
	label        string // who says what
	name         string // for people
	text         []byte // without secrets
	chunks       []byte // the text of all chunks, if it is one
	chunked      bool
	aside        bool  // its place does not count
	tree         *node // of text, when it is needed
	hash         uint64
}

// joined is the text of all chunks, without secrets.
func (m *message) joined() []byte {
	text, _ := trace.Redact(m.chunks)
	return text
}

// Read judges a capture and keeps its messages.
func Read(ctx context.Context, r *capture.Reader, o lint.Options) (*Recording, error) {
	rec := &Recording{messages: map[int]string{}}
	rec.names.init()
	connection := 0
	o.Watch = func(c *lint.Checker) {
		connection++
		rec.watch(c, connection)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l := lint.New(o)
	err := capture.Each(ctx, r, func(record lint.Record) {
		l.Add(record)
		if rec.err != nil {
			cancel(rec.err)
		}
	})
	if err != nil {
		return nil, err
	}
	rec.Report = l.Report()
	if rec.Report.Messages == 0 {
		return nil, fmt.Errorf("no messages")
	}
	return rec, nil
}

// run is a text of a session that comes in chunks.
type run struct {
	head         *message
	tag, message string
}

func (r *Recording) watch(c *lint.Checker, connection int) {
	begin := func(turn int) *part {
		p := &part{connection: connection, turn: turn}
		r.parts = append(r.parts, p)
		return p
	}
	now := begin(0) // where messages outside of turns belong
	anytime := begin(0)
	anytime.anytime = true
	turns := map[*lint.Turn]*part{}
	runs := map[string]run{}
	turn := 0
	var current *message
	var in *part
	c.Frame(func(f *lint.Frame) {
		current, in = &message{Number: f.Number, Line: f.Line, name: "a line that is not a message"}, now
		if f.Root.IsArray() {
			current.name = "batch"
		}
		current.label = f.From.String() + " " + current.name
		current.text, _ = trace.Redact(f.Bytes)
		if r.bytes += len(f.Bytes); r.bytes > maxBytes || f.Number > maxMessages {
			r.err = ErrTooLarge
			return
		}
		current.text = append([]byte(nil), current.text...)
		in.messages = append(in.messages, current)
	})
	c.Message(func(m *lint.Message) {
		if m.Batch || r.err != nil {
			return
		}
		r.describe(current, m)
		r.names.learn(m)
		p := turns[turnOf(m)]
		if announcements[m.UpdateTag] {
			p = anytime
		}
		if p != nil && p != in {
			in.drop(current)
			in = p
			in.messages = append(in.messages, current)
		}
		if current.aside = asides[m.UpdateTag]; current.aside || m.Session == nil {
			return // does not end a text
		}
		before := runs[m.SessionID]
		delete(runs, m.SessionID)
		if !strings.HasSuffix(m.UpdateTag, "_chunk") || !m.Update.Get("content", "text").IsString() {
			return
		}
		text := m.Update.Get("content", "text").Bytes()
		id := string(m.Update.Get("messageId").Text())
		if before.head != nil && before.tag == m.UpdateTag && before.message == id {
			before.head.chunks = append(before.head.chunks, text...)
			in.drop(current)
			runs[m.SessionID] = before
			return
		}
		current.chunked, current.chunks = true, append([]byte(nil), text...)
		runs[m.SessionID] = run{current, m.UpdateTag, id}
	})
	c.TurnStarted(func(t *lint.Turn, m *lint.Message) {
		if r.err != nil {
			return
		}
		in.drop(current)
		turn++
		now = begin(turn)
		in = now
		now.messages = append(now.messages, current)
		now.prompt, now.shown = r.prompt(current)
		turns[t] = now
	})
	c.TurnEnded(func(t *lint.Turn, _ *lint.Message) { delete(turns, t) })
}

// drop removes a message if it was added last.
func (p *part) drop(m *message) {
	if n := len(p.messages); n > 0 && p.messages[n-1] == m {
		p.messages = p.messages[:n-1]
	}
}

// announcements are updates about a session that an agent sends when it knows better, so
// another turn may run by then.
var announcements = map[string]bool{"available_commands_update": true, "session_info_update": true}

// asides are updates that come between others in an order that depends on the run.
var asides = map[string]bool{
	"available_commands_update": true, "session_info_update": true, "usage_update": true, "config_option_update": true, "current_mode_update": true,
}

// turnOf returns the turn that runs in the session of a message, nil without one.
func turnOf(m *lint.Message) *lint.Turn {
	if m.Session == nil {
		return nil
	}
	return m.Session.Turn
}

// describe says what a message is.
func (r *Recording) describe(m *message, x *lint.Message) {
	method := lint.Visible([]byte(x.Method), 100)
	switch x.Kind {
	case lint.RequestMessage:
		m.name = method
	case lint.NotificationMessage:
		m.name = method
		if x.UpdateTag != "" {
			m.name = lint.Visible([]byte(x.UpdateTag), 100)
		}
	case lint.AnswerMessage:
		m.name = "answer to " + method
		if method == "" {
			m.name = "answer to an unknown request"
		}
	default:
		m.name = "malformed message"
	}
	m.label = x.From.String() + " " + m.name
	if status := x.Update.Get("status"); status.IsString() {
		m.label += " " + lint.Visible(status.Bytes(), 100)
	}
	r.messages[x.Number] = m.label
}

// prompt returns the text of a prompt.
func (r *Recording) prompt(m *message) (normal, shown string) {
	var tree jtree.Tree
	if tree.Parse(m.text) != nil {
		return "", ""
	}
	v := tree.Root().Get("params", "prompt")
	var words []string
	for _, e := range v.Items() {
		if t := e.Get("text"); t.IsString() {
			words = append(words, t.Str())
		}
	}
	return string(v.Text()), lint.Visible([]byte(strings.Join(words, " ")), 60)
}
