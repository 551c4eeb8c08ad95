package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
)

// display prints what happens in one of the formats of hermes run. Answers go to
// out. In the format text, the actions of the agent go to standard error.
//
// It shows the updates of its session in order, after the line that names the
// session.
type display struct {
	format string
	out    *output
	err    io.Writer
	title  func(acp.ToolCallID) string // the title of a tool call, if it is known
	losses losses

	mu      sync.Mutex
	session acp.SessionID
	known   bool // session is set
	named   bool // the line that names it was printed

	replays bool
	midline bool // a line of text has begun but not ended
	message acp.MessageID
	quiet   lastMessage
}

// output remembers that writing failed, because callers do not check each write.
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
		return &display{format: format, out: &output{w: std.out}, err: std.err}, nil
	}
	return nil, usageError("--format %q is not one of text, json, quiet", format)
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

// expect sets the session to show, as soon as it is known.
func (d *display) expect(id acp.SessionID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.session, d.known = id, true
}

// current returns the session to show, empty if it is not yet known.
func (d *display) current() acp.SessionID {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.session
}

// opened notes that the agent has opened the session.
func (d *display) opened() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.name()
}

// replay sets whether the next updates are the history of a session.
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
	if d.known {
		d.show(n)
	} else { // more than the connection holds
		d.losses.add(lostEarly, "")
	}
}

// show shows an update. d.mu is held.
func (d *display) show(n *acp.SessionNotification) {
	d.name()
	chunk, _ := n.Update.(*acp.AgentMessageChunk)
	if n.SessionID != d.session {
		kind := foreignUpdate
		if chunk != nil {
			kind = foreignText
		}
		d.losses.add(kind, fmt.Sprintf("%.40q", string(n.SessionID)))
		if d.format == "json" {
			d.updateEvent("foreign", n)
		}
		return
	}
	switch {
	case d.format == "json":
		d.updateEvent("update", n)
		return
	case d.replays:
		return
	case chunk != nil:
		d.text(chunk)
		return
	}
	switch u := n.Update.(type) {
	case *acp.ToolCall:
		d.newMessage()
		d.call(u.ToolCallID, u.Status)
	case *acp.ToolCallUpdate:
		d.call(u.ToolCallID, u.Status)
	}
}

// call shows how a tool call ended.
func (d *display) call(id acp.ToolCallID, status acp.Opt[acp.ToolCallStatus]) {
	if s := status.V; s == acp.ToolCallStatusCompleted || s == acp.ToolCallStatusFailed {
		d.remark("[%s] %s", s, d.title(id))
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
	if d.format == "quiet" {
		d.quiet.add(content.Text)
	} else if content.Text != "" {
		io.WriteString(d.out, content.Text)
		d.midline = !strings.HasSuffix(content.Text, "\n")
	}
}

// newMessage begins another message. d.mu is held.
func (d *display) newMessage() {
	d.quiet.next()
	if d.format == "text" {
		d.breakLine()
	}
}

func (d *display) permission(req *acp.RequestPermissionRequest, allowed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	title := req.ToolCall.Title.Or("")
	if title == "" {
		title = d.title(req.ToolCall.ToolCallID)
	}
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
		text, missing := d.quiet.text()
		if missing > 0 {
			d.losses.add(lostText, fmt.Sprint(missing))
		}
		if text != "" {
			fmt.Fprintln(d.out, text)
		}
	}
	note, incomplete := d.losses.summary()
	switch {
	case note == "":
	case incomplete || err != nil:
		err = alsoLost(err, note, incomplete)
	default:
		fmt.Fprintf(d.err, "hermes run: %s\n", note)
	}
	if d.format == "json" {
		d.endEvent(stop, denied, err)
	}
	return errors.Join(err, d.out.err) // the output is incomplete
}
