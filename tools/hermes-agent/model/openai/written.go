package openai

import (
	"encoding/json"
	"strings"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// howToCall describes tools to a model whose server does not know them: in the words and
// tags of the Hermes models, which most models for tools have seen.
const howToCall = `You can call these functions:
<tools>
%s
</tools>
To call one, write its name and its arguments as JSON between tags on lines of their own, and stop after the last call:
<tool_call>
{"name": "function", "arguments": {"parameter": "value"}}
</tool_call>
The results follow between <tool_response> and </tool_response>.`

// written puts tools, calls and results into the text, for a server that has no words for
// them.
func written(messages []model.Message, tools []model.Spec) []model.Message {
	var out []model.Message
	for i, m := range messages {
		switch {
		case i == 0 && m.Role == model.System && len(tools) > 0:
			var list []string
			for _, t := range tools {
				list = append(list, text(object{"type": "function", "function": object{"name": t.Name, "description": t.Description, "parameters": schema(t.Parameters)}}))
			}
			m.Text += "\n\n" + strings.Replace(howToCall, "%s", strings.Join(list, "\n"), 1)
		case m.Role == model.Assistant:
			for _, c := range m.Calls {
				m.Text += "\n<tool_call>\n" + text(object{"name": c.Name, "arguments": json.RawMessage(c.Arguments)}) + "\n</tool_call>"
			}
			m.Text, m.Calls = strings.TrimPrefix(m.Text, "\n"), nil
		case m.Role == model.Tool:
			m = model.Message{Role: model.User, Text: "<tool_response>\n" + m.Text + "\n</tool_response>", Images: m.Images}
		}
		out = append(out, m)
	}
	return out
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "{}" // calls have valid arguments
	}
	return string(b)
}
