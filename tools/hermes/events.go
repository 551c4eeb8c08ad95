package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/acp"
)

// event is one line of the format json, except for updates: see updateEvent.
type event struct {
	Event      string          `json:"event"` // session, permission, stderr, end
	SessionID  acp.SessionID   `json:"sessionId,omitempty"`
	ToolCallID acp.ToolCallID  `json:"toolCallId,omitempty"`
	Title      string          `json:"title,omitempty"`
	Allowed    *bool           `json:"allowed,omitempty"`
	Line       string          `json:"line,omitempty"`
	StopReason acp.StopReason  `json:"stopReason,omitempty"`
	Error      string          `json:"error,omitempty"`
	Code       acp.ErrorCode   `json:"code,omitempty"`   // of the error that the agent answered
	Data       json.RawMessage `json:"data,omitempty"`   // the same
	Denied     *int            `json:"denied,omitempty"` // requests that were not allowed
	ExitStatus *int            `json:"exitStatus,omitempty"`
}

func (d *display) event(e event) {
	line, err := json.Marshal(e)
	if err != nil { // only Data could cause this, and it is already JSON
		line, _ = json.Marshal(event{Event: e.Event, Error: err.Error()})
	}
	d.line(line)
}

// updateEvent prints an update as the agent sent it. It may be large, so it is
// encoded once.
func (d *display) updateEvent(name string, n *acp.SessionNotification) {
	id, _ := json.Marshal(n.SessionID) // a string always encodes
	line := fmt.Appendf(nil, `{"event":%q,"sessionId":%s,"update":`, name, id)
	line = acp.AppendSessionUpdate(line, n.Update)
	if d.replays {
		line = append(line, `,"replay":true`...)
	}
	d.line(append(line, '}'))
}

// line prints an object. It escapes characters that printed text must not have, and
// invisible ones, so that nothing is lost in the output.
func (d *display) line(object []byte) {
	d.out.Write(append(escapeHidden(object), '\n'))
}

// escapeHidden escapes characters that a terminal obeys or does not show, in the
// strings of a JSON text. Outside of strings only blanks are such characters.
func escapeHidden(text []byte) []byte {
	var out []byte // from the first change on
	from := 0
	for i := 0; i < len(text); {
		c, size := rune(text[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRune(text[i:])
		}
		broken := c == utf8.RuneError && size == 1
		if c < ' ' || c == 0x7f || broken || c >= 0x80 && hidden(c) {
			out = append(out, text[from:i]...)
			from = i + size
			if c < ' ' {
				out = append(out, ' ')
			} else {
				for _, unit := range utf16.Encode([]rune{c}) {
					out = fmt.Appendf(out, `\u%04x`, unit)
				}
			}
		}
		i += size
	}
	if from == 0 {
		return text
	}
	return append(out, text[from:]...)
}

func hidden(r rune) bool { return obeyed(r) || unicode.Is(unicode.Cf, r) }

// name prints the line that names the session, once. d.mu is held.
func (d *display) name() {
	if !d.named && d.format == "json" {
		d.event(event{Event: "session", SessionID: d.session})
	}
	d.named = true
}

// endEvent prints the last line. d.mu is held.
func (d *display) endEvent(stop acp.StopReason, denied int, err error) {
	status := 0
	e := event{Event: "end", StopReason: stop, Denied: &denied, ExitStatus: &status}
	if err != nil {
		status, e.Error = 1, err.Error()
		if x := (*exit)(nil); errors.As(err, &x) {
			status = x.Status
		}
		if answered := (*acp.Error)(nil); errors.As(err, &answered) {
			e.Code, e.Data = answered.Code, answered.Data
		}
	}
	d.event(e)
}
