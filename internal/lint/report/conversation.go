package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/internal/jtree"
	"github.com/hermes-nvim/hermes/runtime/lint"
	"github.com/hermes-nvim/hermes/runtime/trace"
)

// Limits of an HTML report, so that a browser opens it quickly.
const (
	maxRows    = 100_000  // of all captures
	maxText    = 4 << 10  // bytes of a message
	maxTexts   = 32 << 20 // bytes of all messages; then each keeps shortText
	shortText  = 200      // bytes
	maxBrief   = 160      // bytes
	maxName    = 120      // bytes of a method, a tag or an id
	maxMasked  = 1 << 20  // bytes of a message that is masked as a whole
	maxDetails = 64       // values that make up a brief
)

// Recorder collects the conversations of captures for a report, up to limits for all of
// them. The zero value is ready to use.
type Recorder struct{ rows, text int } // that were used

// Conversation returns an empty conversation. Its Watch collects it while a capture is
// judged.
func (b *Recorder) Conversation() *Conversation {
	return &Conversation{used: b, lanes: map[string]int{}, Rows: []*row{}, Sessions: []*session{}}
}

// row is a line of the timeline: a message, or something else that happened. Rows are
// numbered from 1; 0 stands for none.
type row struct {
	Number  int     `json:"n,omitempty"` // of the message
	Line    int     `json:"l,omitempty"`
	At      float64 `json:"t"`           // milliseconds since the first row; -1 if it is not known
	From    string  `json:"d"`           // client or agent, or the source of something else
	Kind    string  `json:"k"`           // request, answer, notification, batch, malformed, text, stderr, http, end, begin
	Method  string  `json:"m,omitempty"` // of an answer: the method of the request
	Tag     string  `json:"u,omitempty"` // of session/update
	ID      string  `json:"i,omitempty"`
	Session int     `json:"s,omitempty"`
	Parent  int     `json:"p,omitempty"` // the row that folds it
	Group   string  `json:"g,omitempty"` // what the row folds: turn, tool or text
	Peer    int     `json:"a,omitempty"` // the answer to a request, or the request
	Wait    float64 `json:"w,omitempty"` // milliseconds from the request to the answer, or of a turn
	Failed  bool    `json:"e,omitempty"` // the answer is an error
	Brief   string  `json:"b,omitempty"`
	Text    string  `json:"x,omitempty"`
	Left    int     `json:"c,omitempty"` // bytes that Text lacks
}

// session is a lane of the timeline.
type session struct {
	ID  string `json:"id"`
	Cwd string `json:"cwd,omitempty"`
}

// Conversation has the messages of a capture. Its members are for the HTML report.
type Conversation struct {
	used *Recorder

	Rows     []*row     `json:"rows"`
	Sessions []*session `json:"sessions"`
	Dropped  int        `json:"dropped,omitempty"` // rows above the limit
	Start    string     `json:"start,omitempty"`

	start time.Time
	lanes map[string]int // sessions by id
	tree  jtree.Tree

	// The state of the connection that is being judged.
	requests map[string]int // rows of unanswered requests
	turns    map[*lint.Turn]int
	tools    map[lint.Of]int
	run      map[string]run // of each session, if its last message is a chunk of text

	masked  []byte // the record that was read last, without secrets
	changed bool   // it had some
}

// run is a text that comes in chunks.
type run struct {
	head         int // the row of its first chunk
	tag, message string
}

// Watch is for lint.Options.
func (v *Conversation) Watch(c *lint.Checker) {
	if v.requests != nil {
		v.add(&row{Kind: "begin", At: -1, Brief: "another connection begins"})
	}
	v.requests, v.turns, v.tools, v.run = map[string]int{}, map[*lint.Turn]int{}, map[lint.Of]int{}, map[string]run{}
	var current *row // of the frame whose messages come
	c.Frame(func(f *lint.Frame) {
		current = v.record(&f.Record, "text")
		current.Number = f.Number
		if f.Root.IsArray() {
			current.Kind, current.Brief = "batch", plural(f.Root.Len(), "message")
		}
		v.add(current)
	})
	c.Message(func(m *lint.Message) {
		if !m.Batch {
			v.message(current, m)
		}
	})
	c.TurnStarted(func(t *lint.Turn, m *lint.Message) {
		if n := v.place(current); n > 0 {
			v.turns[t] = n
			current.Group, current.Parent = "turn", 0
		}
	})
	c.TurnEnded(func(t *lint.Turn, m *lint.Message) {
		if n := v.turns[t]; n > 0 {
			if !t.Started.IsZero() && !m.Time.IsZero() {
				v.Rows[n-1].Wait = milliseconds(m.Time.Sub(t.Started))
			}
			delete(v.turns, t)
		}
	})
	c.StderrLine(func(r *lint.Record) { v.add(v.record(r, "stderr")) })
	c.OnClose(func(r *lint.Record) {
		e := v.record(r, "end")
		e.Brief = "closes the connection"
		v.add(e)
	})
	c.HTTP(func(r *lint.Record) {
		if len(r.Bytes) > 0 || r.HTTP.Method == "" && r.HTTP.Status == 0 {
			return // the message has a row
		}
		e := v.record(r, "http")
		e.Text = ""
		if r.HTTP.Method != "" {
			e.Brief = v.hide(r.HTTP.Method+" "+r.HTTP.URL, maxBrief)
		} else {
			e.Brief = fmt.Sprintf("status %d", r.HTTP.Status)
		}
		v.add(e)
	})
}

// record makes a row of a record.
func (v *Conversation) record(r *lint.Record, kind string) *row {
	e := &row{Line: r.Line, From: r.From.String(), Kind: kind, At: -1}
	if !r.Time.IsZero() {
		if v.start.IsZero() {
			v.start, v.Start = r.Time, r.Time.UTC().Format(time.RFC3339Nano)
		}
		e.At = milliseconds(r.Time.Sub(v.start))
	}
	limit := maxText
	if v.used.text >= maxTexts {
		limit = shortText
	}
	text := r.Bytes
	if len(text) > maxMasked {
		text = text[:maxMasked] // masked by shape alone
	}
	v.masked, v.changed = trace.Redact(text)
	if len(v.masked) > 0 {
		e.Text = lint.Visible(v.masked, limit)
	}
	e.Left = max(len(v.masked)-limit, 0) + max(len(r.Bytes)-maxMasked, 0) + r.Left
	return e
}

// add puts a row at the end, unless there are too many.
func (v *Conversation) add(e *row) {
	if v.used.rows >= maxRows {
		v.Dropped++
		return
	}
	v.used.rows++
	v.used.text += len(e.Text)
	v.Rows = append(v.Rows, e)
}

// place returns the number of a row that was added last, 0 if there was no room.
func (v *Conversation) place(e *row) int {
	if n := len(v.Rows); n > 0 && v.Rows[n-1] == e {
		return n
	}
	return 0
}

// message fills in what a message is and belongs to.
func (v *Conversation) message(e *row, m *lint.Message) {
	n := v.place(e)
	if n == 0 {
		return
	}
	e.Method, e.Tag = v.hide(m.Method, maxName), v.hide(m.UpdateTag, maxName)
	if m.ID.Exists() {
		e.ID = v.hide(string(m.ID.Text()), maxName)
	}
	root := m.Root
	if v.changed || len(m.Bytes) > maxMasked {
		root = jtree.Value{}
		if v.tree.Parse(v.masked) == nil {
			root = v.tree.Root()
		}
	}
	switch m.Kind {
	case lint.RequestMessage:
		e.Kind = "request"
		v.requests[m.From.String()+lint.Key(m.ID)] = n
	case lint.NotificationMessage:
		e.Kind = "notification"
	case lint.AnswerMessage:
		e.Kind, e.Failed = "answer", m.Failed()
		v.answer(e, n, m)
	default:
		e.Kind = "malformed"
	}
	e.Brief = lint.Visible([]byte(brief(m, root)), maxBrief)
	v.group(e, n, m)
}

// answer joins an answer to its request.
func (v *Conversation) answer(e *row, n int, m *lint.Message) {
	key := m.From.Peer().String() + lint.Key(m.ID)
	asked := v.requests[key]
	if m.Answers == nil || asked == 0 {
		return
	}
	delete(v.requests, key)
	r := v.Rows[asked-1]
	r.Peer, e.Peer, r.Failed = n, asked, e.Failed
	if r.At >= 0 && e.At >= 0 {
		e.Wait = e.At - r.At
		r.Wait = e.Wait
	}
}

// group finds the lane of a message and the row that folds it.
func (v *Conversation) group(e *row, n int, m *lint.Message) {
	if id := m.SessionID; id != "" {
		e.Session = v.lane(id, m.Session)
	} else if result := m.Result.Get("sessionId"); result.IsString() && m.Method != "session/list" {
		e.Session = v.lane(result.Str(), nil)
	}
	if m.Session == nil {
		return
	}
	if m.Session.Turn != nil {
		e.Parent = v.turns[m.Session.Turn]
	}
	before := v.run[m.SessionID]
	delete(v.run, m.SessionID)
	if call := toolCall(m); call != "" {
		key := lint.Of{Session: m.SessionID, ID: call}
		if head := v.tools[key]; head == 0 {
			v.tools[key] = n
		} else {
			e.Parent = head
			v.Rows[head-1].Group = "tool"
		}
	} else if e.Kind == "answer" && e.Method == "session/request_permission" && e.Peer > 0 {
		if asked := v.Rows[e.Peer-1]; asked.Parent > 0 && v.Rows[asked.Parent-1].Group == "tool" {
			e.Parent = asked.Parent
		} else {
			e.Parent, asked.Group = e.Peer, "tool"
		}
	} else if strings.HasSuffix(e.Tag, "_chunk") {
		v.chunk(e, n, m, before)
	}
}

// chunk joins a chunk of text to those before it.
func (v *Conversation) chunk(e *row, n int, m *lint.Message, before run) {
	this := run{n, m.UpdateTag, string(m.Update.Get("messageId").Text())}
	if before.head > 0 && before.tag == this.tag && before.message == this.message {
		this.head = before.head
		e.Parent = before.head
		first := v.Rows[before.head-1]
		first.Group = "text"
		if room := maxBrief - len(first.Brief); room > 0 {
			first.Brief += lint.Visible([]byte(e.Brief), room)
		}
	}
	v.run[m.SessionID] = this
}

// lane returns the number of a session, from 1.
func (v *Conversation) lane(id string, s *lint.Session) int {
	n := v.lanes[id]
	if n == 0 {
		v.Sessions = append(v.Sessions, &session{ID: v.hide(id, maxName)})
		n = len(v.Sessions)
		v.lanes[id] = n
	}
	if s != nil && s.Cwd != "" && v.Sessions[n-1].Cwd == "" {
		v.Sessions[n-1].Cwd = v.hide(s.Cwd, maxBrief)
	}
	return n
}

// hide returns text of a message that is shown on its own, without secrets.
func (v *Conversation) hide(text string, limit int) string {
	if text == "" {
		return ""
	}
	masked, _ := trace.Redact([]byte(text))
	return lint.Visible(masked, limit)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// toolCall returns the tool call that a message is about.
func toolCall(m *lint.Message) string {
	call := m.Update
	if m.Kind == lint.RequestMessage && m.Method == "session/request_permission" {
		if call = m.Params.Get("toolCall"); !call.Exists() {
			call = m.Params.Get("subject", "toolCall")
		}
	}
	return call.Get("toolCallId").Str()
}
