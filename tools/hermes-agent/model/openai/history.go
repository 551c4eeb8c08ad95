package openai

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// Sessions are stored as they happened: turns end in the middle, and models write what no
// endpoint takes back. Messages are mended here before they are sent, so that a session
// stays good whatever it has gone through and whoever stored it.

// mended returns a history whose calls endpoints accept: each has its result, a name by
// OpenAI's rules and arguments that are an object.
func mended(messages []model.Message) []model.Message {
	out := model.Repair(messages)
	for i, m := range out {
		if len(m.Calls) == 0 {
			continue
		}
		out[i].Calls = slices.Clone(m.Calls)
		for k := range out[i].Calls {
			mend(&out[i].Calls[k])
		}
	}
	return out
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// longestName is how many letters the name of a tool can have.
const longestName = 64

func mend(call *model.Call) {
	call.Name = notInNames.ReplaceAllString(call.Name, "_")
	call.Name = call.Name[:min(len(call.Name), longestName)]
	if call.Name == "" {
		call.Name = "unknown"
	}
	call.Arguments = string(model.Paired([]byte(call.Arguments)))
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(call.Arguments), &object) != nil || object == nil {
		call.Arguments = "{}"
	}
}

// Texts that are put between messages that must not follow each other.
const (
	bridge = "I have seen the results."
	goOn   = "Go on."
	blank  = "(an empty message)"
)

// alternating returns a history in which the user and the model take turns, the user first
// and last. Some chat templates refuse all others, and look only at messages of the user and
// at answers without calls. The model gets its own words where a turn has ended behind a
// result.
func alternating(messages []model.Message) []model.Message {
	var out []model.Message
	turn := model.Assistant // who sent the last message that such templates look at
	add := func(m model.Message) {
		if m.Role != model.System && m.Role != model.Tool && len(m.Calls) == 0 {
			turn = m.Role
		}
		out = append(out, m)
	}
	said := func(role model.Role, text string) { add(model.Message{Role: role, Text: text}) }
	for _, m := range messages {
		var last *model.Message
		if len(out) > 0 {
			last = &out[len(out)-1]
		}
		empty := strings.TrimSpace(m.Text) == ""
		switch {
		case m.Role == model.User:
			if empty && len(m.Images) == 0 {
				m.Text = blank
			}
			if last != nil && last.Role == model.User {
				last.Text += "\n\n" + m.Text
				last.Images = append(slices.Clone(last.Images), m.Images...)
				continue
			}
			if turn == model.User {
				said(model.Assistant, bridge)
			}
		case m.Role != model.Assistant:
		case empty && len(m.Calls) == 0:
			continue // not even a thought is an answer
		case last != nil && last.Role == model.Assistant && len(last.Calls) == 0:
			m.Text = strings.TrimSpace(last.Text + "\n\n" + m.Text)
			out, turn = out[:len(out)-1], model.User
		case turn == model.Assistant:
			said(model.User, goOn)
		}
		add(m)
	}
	if n := len(out); n == 0 || out[n-1].Role == model.Assistant || out[n-1].Role == model.System {
		said(model.User, goOn)
	}
	return out
}
