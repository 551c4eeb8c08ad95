// Package trajectory writes conversations as ShareGPT does, for training: the roles system,
// human, gpt and tool, with reasoning, tool calls and their results between tags.
package trajectory

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// Turn is an entry of a trajectory.
type Turn struct {
	From  string `json:"from"` // system, human, gpt or tool
	Value string `json:"value"`
}

// Count says how often a tool was called, and how often that failed.
type Count struct {
	Calls  int `json:"calls"`
	Failed int `json:"failed"`
}

// Convert turns a history into a trajectory. The system prompt gets the tools. Results of
// the calls of one answer are one turn.
func Convert(history []model.Message, tools []model.Spec) []Turn {
	turns := []Turn{}
	names := map[string]string{} // of the calls
	for i, m := range history {
		var t Turn
		switch m.Role {
		case model.System:
			t = Turn{"system", m.Text + "\n\n<tools>" + encode(specs(tools)) + "</tools>"}
		case model.User:
			t = Turn{"human", m.Text + strings.Repeat("\n[image]", len(m.Images))}
		case model.Assistant:
			for _, c := range m.Calls {
				names[c.ID] = c.Name
			}
			t = Turn{"gpt", answer(m)}
		case model.Tool:
			t = Turn{"tool", response(m, names[m.CallID])}
			if i > 0 && history[i-1].Role == model.Tool {
				turns[len(turns)-1].Value += "\n" + t.Value
				continue
			}
		default:
			continue
		}
		turns = append(turns, t)
	}
	return turns
}

func specs(tools []model.Spec) []model.Spec {
	if tools == nil {
		return []model.Spec{}
	}
	return tools
}

// answer joins the thoughts, the text and the calls of the model.
func answer(m model.Message) string {
	var parts []string
	if m.Reasoning != "" {
		parts = append(parts, "<think>"+untag(m.Reasoning, "think")+"</think>")
	}
	if m.Text != "" {
		parts = append(parts, m.Text)
	}
	for _, c := range m.Calls {
		var arguments any = c.Arguments
		if json.Valid([]byte(c.Arguments)) {
			arguments = json.RawMessage(c.Arguments)
		}
		parts = append(parts, "<tool_call>"+untag(encode(struct {
			Name      string `json:"name"`
			Arguments any    `json:"arguments"`
		}{c.Name, arguments}), "tool_call")+"</tool_call>")
	}
	return strings.Join(parts, "\n")
}

func response(m model.Message, name string) string {
	return "<tool_response>" + untag(encode(struct {
		ID      string `json:"tool_call_id"`
		Name    string `json:"name"`
		Content string `json:"content"`
		Failed  bool   `json:"failed,omitempty"`
	}{m.CallID, name, m.Text, m.Failed}), "tool_response") + "</tool_response>"
}

// untag keeps a text from ending the tag around it. In JSON the result means the same.
func untag(text, tag string) string { return strings.ReplaceAll(text, "</"+tag, `<\/`+tag) }

func encode(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "null" // no such value is passed
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Counts counts the tool calls of a history.
func Counts(history []model.Message) map[string]Count {
	counts, names := map[string]Count{}, map[string]string{}
	for _, m := range history {
		for _, call := range m.Calls {
			names[call.ID] = call.Name
			c := counts[call.Name]
			c.Calls++
			counts[call.Name] = c
		}
		if m.Role == model.Tool && m.Failed {
			c := counts[names[m.CallID]]
			c.Failed++
			counts[names[m.CallID]] = c
		}
	}
	return counts
}
