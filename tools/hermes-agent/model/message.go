package model

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Role is whose a message is.
type Role string

const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool" // the result of a call
)

// Message is one entry of a conversation. Its JSON form is what sessions are
// stored as.
type Message struct {
	Role      Role    `json:"role"`
	Text      string  `json:"text,omitempty"`
	Reasoning string  `json:"reasoning,omitempty"` // of an assistant
	Images    []Image `json:"images,omitempty"`    // of a user, or of a tool
	Calls     []Call  `json:"calls,omitempty"`     // of an assistant
	CallID    string  `json:"call_id,omitempty"`   // of a tool: the call that it answers
	Failed    bool    `json:"failed,omitempty"`    // of a tool
	From      string  `json:"from,omitempty"`      // of an assistant: the endpoint and the model that wrote it
	Usage     Usage   `json:"usage,omitzero"`      // of an assistant: of the request that gave it
	Opaque    Opaque  `json:"opaque,omitempty"`    // of an assistant
}

// Author is the name of the model at its endpoint that wrote a message, if that is known.
func (m Message) Author() string {
	if at := strings.LastIndex(m.From, " at http"); at > 0 {
		return m.From[:at]
	}
	return ""
}

// Opaque is what only the model understands that wrote it, such as the signature of its
// reasoning. It goes back to that model and to no other.
type Opaque map[string]json.RawMessage

// Image is a picture in a prompt.
type Image struct {
	MimeType string `json:"mime_type"`
	Data     string `json:"data"` // base64
}

// Call is a tool call. Name and Arguments are what the model wrote: arguments should be a
// JSON object, but may be anything.
type Call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Opaque    Opaque `json:"opaque,omitempty"`
}

// Repair returns a history that endpoints accept: each call has exactly one
// result, right behind it, and each result has its call. Results that are missing
// because a program ended in the middle of a turn become failures.
func Repair(history []Message) []Message {
	var out []Message
	open := map[string]bool{}
	var order []string
	finish := func() {
		for _, id := range order {
			if open[id] {
				out = append(out, Message{Role: Tool, CallID: id, Text: "interrupted: the call may or may not have taken effect", Failed: true})
			}
		}
		clear(open)
		order = nil
	}
	for _, m := range history {
		if m.Role == Tool {
			if open[m.CallID] {
				open[m.CallID] = false
				out = append(out, m)
			}
			continue
		}
		finish()
		out = append(out, m)
		for _, c := range m.Calls {
			open[c.ID] = true
			order = append(order, c.ID)
		}
	}
	finish()
	return out
}

// Bound cuts the middle out of a text that has more than most bytes: files and commands say
// what matters at the beginning and at the end.
func Bound(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := text[:most/2], text[len(text)-most/2:]
	return strings.ToValidUTF8(fmt.Sprintf("%s\n[%d bytes were left out]\n%s", head, len(text)-most, tail), "")
}
