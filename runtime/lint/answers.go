package lint

import (
	"bytes"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/internal/jtree"
)

func checkAnswerID(c *Checker) {
	c.Message(func(m *Message) {
		if m.Kind != AnswerMessage {
			return
		}
		switch {
		case m.Answers != nil:
			c.Exercised()
			return
		case !m.ID.Exists() && m.Result.Exists():
			c.Fail(m, Value{}, "the answer has no id")
			return
		case m.ID.IsNull() && m.Result.Exists() && !m.Error.Exists() && c.Complete(m.From.Peer()):
			c.Fail(m, m.ID, "only an error can have the id null, and this is a result")
			return
		case !m.ID.IsString() && m.ID.Kind() != jtree.Number:
			return // null is for unknown requests, and RPC02 reports the others
		case !c.Complete(m.From.Peer()), c.AnsweredLately(m.From.Peer(), Key(m.ID)) != nil:
			return
		}
		for _, r := range c.Outstanding(m.From.Peer()).All() {
			if strings.TrimPrefix(r.ID, `"`) == strings.TrimPrefix(Key(m.ID), `"`) {
				c.Report(m.Frame, Finding{Text: "the id has another type than that of the request", Also: []int{r.Number}}, m.ID)
				return
			}
		}
		c.Fail(m, m.ID, "no request has this id")
	})
}

// checkAnsweredNotification finds answers to notifications. They have no id that shows
// this; but an answer without an id, from a peer that got nothing but valid messages
// and has answered all requests, can only be for a notification.
func checkAnsweredNotification(c *Checker, unknown bool) {
	var last [3]struct {
		number  int
		unknown bool
	}
	var invalid [3]bool // the party sent something that has to be answered without an id
	c.Frame(func(f *Frame) {
		invalid[f.From] = invalid[f.From] || f.Err != nil || !f.Root.IsObject()
	})
	c.Message(func(m *Message) {
		peer := m.From.Peer()
		switch {
		case m.Kind == Malformed, m.Kind == RequestMessage && m.ID.Kind() != jtree.String && m.ID.Kind() != jtree.Number, !m.Root.Get("jsonrpc").Is("2.0"):
			invalid[m.From] = true
		case m.Kind == NotificationMessage:
			last[m.From].number = m.Number
			last[m.From].unknown = m.Known == nil && c.Edition != nil && !strings.HasPrefix(m.Method, "$/cancel")
			if last[m.From].unknown || !unknown {
				c.Exercised()
			}
		case m.Kind == AnswerMessage && !m.ID.Set():
			if l := last[peer]; l.number > 0 && !invalid[peer] && c.Whole && c.Outstanding(peer).Len() == 0 && (l.unknown || !unknown) {
				c.Report(m.Frame, Finding{Text: "a notification is answered", Also: []int{l.number}}, Value{})
			}
		}
	})
	if !unknown {
		return
	}
	latest := 0 // the last message of all, to see what a disconnect follows
	c.Message(func(m *Message) { latest = m.Number })
	c.OnClose(func(r *Record) {
		if r.From == Nobody || latest == 0 {
			return
		}
		if l := last[r.From.Peer()]; l.unknown && l.number == latest && c.ClosedBy == r.From {
			c.Add(Finding{By: r.From, Message: l.number, Line: r.Line, Time: r.Time, Text: "the connection was closed after an unknown notification"})
		}
	})
}

// unanswered calls f at the end of the capture for the requests that should have been
// answered, with the severity of what the capture proves.
//
// It is certain that the receiver has left a request out if it ended the connection after
// it had read the request, if it answered a later one like it, or if it had plenty of
// time for one that needs no person and no work. It is only likely if the request may
// have crossed the end of the connection, or if a request that needs no person and no
// model was open for a while when the capture ended. A request that was sent after its
// receiver had ended has no answer coming.
func unanswered(c *Checker, f func(r *Request, s Severity, why string)) {
	type kind struct {
		from   Party
		method string
	}
	later := map[kind]int{} // the last quick request that was answered
	var read [3]int         // the last request of a party that its peer has answered, so that it had read all before
	c.Answer(func(m *Message) {
		r := m.Answers
		if r == nil {
			return
		}
		if isQuick(r.Method) {
			k := kind{r.From, r.Method}
			later[k] = max(later[k], r.Number)
		}
		if m.HTTP == nil { // otherwise each message is a request of its own, and may come late
			read[r.From] = max(read[r.From], r.Number)
		}
	})
	c.End(func() {
		for _, from := range []Party{Client, Agent} {
			ended := c.Closed && c.ClosedBy == from.Peer()
			for _, r := range c.Outstanding(from).All() {
				if r.ID == "null" || r.Batch || ended && r.Number > c.ClosedAfter {
					continue
				}
				age := time.Duration(0)
				if !r.Time.IsZero() && !c.LastTime.IsZero() {
					age = c.LastTime.Sub(r.Time)
				}
				severity, why := Error, ""
				switch {
				case ended:
					if why = "the " + from.Peer().String() + " ended the connection"; read[from] < r.Number && c.Crossed(r.Time, c.ClosedTime) {
						severity, why = Warn, why+" and may not have read it"
					}
				case isQuick(r.Method) && later[kind{from, r.Method}] > r.Number:
					why = "a later one is"
				case isQuick(r.Method) && age > longEnough:
					why = "the capture ends " + age.Round(time.Second).String() + " later"
				case !needsPatience(r) && age > whileOpen:
					severity, why = Warn, "the capture ends "+age.Round(time.Second).String()+" later"
				default:
					continue
				}
				f(r, severity, why)
			}
		}
	})
}

// isQuick reports whether a request is answered without a person, a program or a model.
func isQuick(method string) bool {
	switch method {
	case "session/list", "session/set_mode", "session/set_config_option", "terminal/output", "terminal/kill", "terminal/release":
		return true
	}
	return false
}

// needsPatience reports whether a request may wait for a person, a program or a model.
func needsPatience(r *Request) bool {
	switch r.Method {
	case "session/prompt", "authenticate", "terminal/wait_for_exit":
		return true
	case "terminal/output", "terminal/kill", "terminal/release":
		return false
	}
	return r.From == Agent // the client may ask its user about anything else
}

func checkSurvival(c *Checker) {
	var wrong [3]int // number of the last failed request of a party
	var since [3]int // what its peer has sent since
	c.Message(func(m *Message) {
		peer := m.From.Peer()
		if wrong[peer] == 0 {
			// nothing failed yet
		} else if since[peer]++; since[peer] == 1 {
			c.Exercised()
		}
		if m.Failed() {
			wrong[peer], since[peer] = m.Number, 0
		}
	})
	c.OnClose(func(r *Record) {
		if from := r.From.Peer(); r.From != Nobody && c.ClosedBy == r.From && wrong[from] > 0 && since[from] == 0 {
			c.Add(Finding{By: r.From, Message: wrong[from], Line: r.Line, Time: r.Time, Text: "the connection was closed after a request that failed"})
		}
	})
}

// checkEcho looks for the request in the data of its error.
func checkEcho(c *Checker) {
	var bad [3][]byte // the beginning of the last line of a party that was not a message
	c.Frame(func(f *Frame) {
		if f.Err != nil && len(f.Bytes) >= echoed {
			bad[f.From] = bytes.Clone(f.Bytes[:echoed])
		}
	})
	c.Answer(func(m *Message) {
		data := m.Error.Get("data")
		if !data.Set() {
			return
		}
		c.Exercised()
		var params []byte
		if m.Answers != nil {
			params = m.Answers.Params().Text()
		}
		line := bad[m.From.Peer()]
		for v := range data.Below() {
			switch {
			case v.IsObject() && len(params) >= echoed && bytes.Equal(v.Text(), params),
				v.IsString() && len(params) >= echoed && bytes.Contains(v.Bytes(), params),
				v.IsString() && line != nil && bytes.Contains(v.Bytes(), line):
				c.Fail(m, v, "the data repeats the request")
				return
			}
		}
	})
}
