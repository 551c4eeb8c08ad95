package openai

import (
	"encoding/json"
	"fmt"
	"slices"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// params is a request in the endpoint's words.
func params(r model.Request) sdk.ChatCompletionNewParams {
	p := sdk.ChatCompletionNewParams{
		Model:         r.Model,
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: sdk.Bool(true)},
	}
	for _, m := range joined(withPictures(r.Messages)) {
		p.Messages = append(p.Messages, message(m))
	}
	for _, t := range r.Tools {
		p.Tools = append(p.Tools, sdk.ChatCompletionFunctionTool(sdk.FunctionDefinitionParam{
			Name: t.Name, Description: sdk.String(t.Description), Parameters: schema(t.Parameters),
		}))
	}
	return p
}

// joined makes one message of several that the user sent in a row, for example after a
// turn that failed: some chat templates refuse a conversation whose roles do not alternate.
func joined(messages []model.Message) []model.Message {
	var out []model.Message
	for _, m := range messages {
		if n := len(out); n > 0 && m.Role == model.User && out[n-1].Role == model.User {
			out[n-1].Text += "\n\n" + m.Text
			out[n-1].Images = append(slices.Clone(out[n-1].Images), m.Images...)
			continue
		}
		out = append(out, m)
	}
	return out
}

// schema keeps the schema of a tool as it is, so that every request begins with the
// same bytes and endpoints can cache them.
func schema(raw json.RawMessage) sdk.FunctionParameters {
	parameters := sdk.FunctionParameters{}
	if err := json.Unmarshal(raw, &parameters); err != nil {
		panic(fmt.Sprintf("schema of a tool: %v", err)) // tool.Set checks schemas
	}
	return parameters
}

func message(m model.Message) sdk.ChatCompletionMessageParamUnion {
	switch m.Role {
	case model.System:
		return sdk.SystemMessage(m.Text)
	case model.Tool:
		return sdk.ToolMessage(m.Text, m.CallID)
	case model.Assistant:
		return assistant(m)
	}
	if len(m.Images) == 0 {
		return sdk.UserMessage(m.Text)
	}
	var parts []sdk.ChatCompletionContentPartUnionParam
	if m.Text != "" {
		parts = append(parts, sdk.TextContentPart(m.Text))
	}
	for _, image := range m.Images {
		url := "data:" + image.MimeType + ";base64," + image.Data
		parts = append(parts, sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: url}))
	}
	return sdk.UserMessage(parts)
}

// assistant returns reasoning to the model, because reasoning models continue it
// between their calls.
func assistant(m model.Message) sdk.ChatCompletionMessageParamUnion {
	var a sdk.ChatCompletionAssistantMessageParam
	if m.Text != "" || len(m.Calls) == 0 {
		a.Content.OfString = param.NewOpt(m.Text)
	}
	for _, c := range m.Calls {
		a.ToolCalls = append(a.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
				ID:       c.ID,
				Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: c.Arguments},
			},
		})
	}
	if m.Reasoning != "" {
		a.SetExtraFields(map[string]any{"reasoning_content": m.Reasoning})
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: &a}
}
