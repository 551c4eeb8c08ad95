package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
)

// display prints what happens in one of the formats of hermes run. Answers go
// to out; in the format text, what the agent does goes to standard error.
type display struct {
	format string
	out    *output
	err    io.Writer

	mu       sync.Mutex
	replays  bool
	midline  bool // a line of text has begun and not ended
	message  acp.MessageID
	last     strings.Builder // the last message
	previous string          // the one before it
	titles   map[acp.ToolCallID]string
}

// output remembers that writing failed: nobody looks at each write.
type output struct {
	w   io.Writer
	err error // the first
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

func newDisplay(format string, std *stdio) (*display, error) {
	switch format {
	case "text", "json", "quiet":
		return &display{format: format, out: &output{w: std.out}, err: std.err, titles: map[acp.ToolCallID]string{}}, nil
	}
	return nil, usageError("--format %q is none of text, json, quiet", format)
}

// event is one line of the format json.
type event struct {
	Event      string          `json:"event"` // session, update, permission, stderr, end
	SessionID  acp.SessionID   `json:"sessionId,omitempty"`
	Update     json.RawMessage `json:"update,omitempty"` // of the protocol
	Replay     bool            `json:"replay,omitempty"` // the update is the past of the session
	ToolCallID acp.ToolCallID  `json:"toolCallId,omitempty"`
	Title      string          `json:"title,omitempty"`
	Allowed    *bool           `json:"allowed,omitempty"`
	Line       string          `json:"line,omitempty"`
	StopReason acp.StopReason  `json:"stopReason,omitempty"`
	Error      string          `json:"error,omitempty"`
	Denied     *int            `json:"denied,omitempty"` // requests that were not allowed
	ExitStatus *int            `json:"exitStatus,omitempty"`
}

func (d *display) event(e event) {
	line, err := json.Marshal(e)
	if err != nil { // an update is JSON, so this is a fault of ours to see
		line, _ = json.Marshal(event{Event: e.Event, Error: err.Error()})
	}
	d.out.Write(append(line, '\n'))
}

// remark prints a line about what happens, in the format text.
func (d *display) remark(format string, args ...any) {
	if d.format != "text" {
		return
	}
	d.breakLine()
	fmt.Fprintf(d.err, "%s\n", oneLine(fmt.Sprintf(format, args...)))
}

// breakLine ends a begun line of text.
func (d *display) breakLine() {
	if d.midline {
		fmt.Fprintln(d.out)
		d.midline = false
	}
}

func (d *display) open(id acp.SessionID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.format == "json" {
		d.event(event{Event: "session", SessionID: id})
	}
}

// replay says whether what comes is the past of a session.
func (d *display) replay(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.replays = on
}

// note shows a line of the agent's standard error.
func (d *display) note(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.format == "json" {
		d.event(event{Event: "stderr", Line: line})
		return
	}
	d.remark("stderr: %s", line)
}

func (d *display) update(n *acp.SessionNotification) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.format == "json" {
		var params struct{ Update json.RawMessage }
		if json.Unmarshal(n.AppendJSON(nil), &params) == nil {
			d.event(event{Event: "update", SessionID: n.SessionID, Update: params.Update, Replay: d.replays})
		}
		return
	}
	if d.replays {
		return
	}
	switch u := n.Update.(type) {
	case *acp.AgentMessageChunk:
		d.text(u)
	case *acp.ToolCall:
		d.newMessage()
		d.titles[u.ToolCallID] = u.Title
		if s := u.Status.Or(acp.ToolCallStatusPending); s == acp.ToolCallStatusCompleted || s == acp.ToolCallStatusFailed {
			d.remark("[%s] %s", s, u.Title)
		}
	case *acp.ToolCallUpdate:
		if u.Title.OK {
			d.titles[u.ToolCallID] = u.Title.V
		}
		if s := u.Status.V; s == acp.ToolCallStatusCompleted || s == acp.ToolCallStatusFailed {
			d.remark("[%s] %s", s, d.titles[u.ToolCallID])
		}
	}
}

// text shows a piece of a message. d.mu is held.
func (d *display) text(u *acp.AgentMessageChunk) {
	content, ok := u.Content.(*acp.TextContent)
	if !ok {
		d.remark("[%T]", u.Content)
		return
	}
	if id := u.MessageID.Or(""); id != d.message {
		if d.message != "" && id != "" {
			d.newMessage()
		}
		d.message = id
	}
	d.last.WriteString(content.Text)
	if d.format == "text" && content.Text != "" {
		io.WriteString(d.out, content.Text)
		d.midline = !strings.HasSuffix(content.Text, "\n")
	}
}

// newMessage begins another message. d.mu is held.
func (d *display) newMessage() {
	if strings.TrimSpace(d.last.String()) != "" {
		d.previous = d.last.String()
	}
	d.last.Reset()
	if d.format == "text" {
		d.breakLine()
	}
}

func (d *display) permission(req *acp.RequestPermissionRequest, allowed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	title := req.ToolCall.Title.Or(d.titles[req.ToolCall.ToolCallID])
	if d.format == "json" {
		d.event(event{Event: "permission", SessionID: req.SessionID, ToolCallID: req.ToolCall.ToolCallID, Title: title, Allowed: &allowed})
		return
	}
	word := "denied"
	if allowed {
		word = "allowed"
	}
	d.remark("[%s] %s", word, title)
}

// end shows how the turn ended and returns the error of the program.
func (d *display) end(stop acp.StopReason, denied int, err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch d.format {
	case "text":
		d.breakLine()
	case "quiet":
		text := d.last.String()
		if strings.TrimSpace(text) == "" {
			text = d.previous
		}
		if text = strings.TrimRight(text, "\n"); text != "" {
			fmt.Fprintln(d.out, text)
		}
	case "json":
		status := 0
		e := event{Event: "end", StopReason: stop, Denied: &denied, ExitStatus: &status}
		if err != nil {
			status, e.Error = 1, err.Error()
			if x := (*exit)(nil); errors.As(err, &x) {
				status = x.Status
			}
		}
		d.event(e)
	}
	if err == nil {
		err = d.out.err // what was shown is not complete
	}
	return err
}
