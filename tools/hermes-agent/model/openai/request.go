package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// object is JSON. Its members are written in the order of their names, so that every
// request begins with the same bytes and endpoints can cache them.
type object map[string]any

// bytesOf returns a request as it is sent. It replaces halves of surrogate pairs in the
// texts of models and of servers of tools, because one half would make the whole request
// unreadable.
func bytesOf(body object) ([]byte, error) {
	b, err := json.Marshal(body)
	return model.Paired(b), err
}

// requestBody is a request in the words of the endpoint that a profile is about. from names
// the model.
func requestBody(r model.Request, p Profile, from string) object {
	messages := mended(r.Messages)
	if p.refuses(pictures) {
		messages = withoutPictures(messages)
	}
	messages = withPictures(messages)
	body := object{"model": r.Model, "stream": true, "stream_options": object{"include_usage": true}}
	if p.refuses(streaming) {
		body["stream"] = false
		delete(body, "stream_options")
	}
	if p.refuses(tools) {
		messages = written(messages, r.Tools)
	} else if len(r.Tools) > 0 {
		var list []object
		for _, t := range r.Tools {
			list = append(list, object{"type": "function", "function": object{"name": t.Name, "description": t.Description, "parameters": schema(t.Parameters)}})
		}
		body["tools"] = list
	}
	messages = alternating(messages)
	if p.refuses(system) && messages[0].Role == model.System { // the user's first message is behind it
		first := messages[1]
		first.Text = messages[0].Text + "\n\n" + first.Text
		messages = append([]model.Message{first}, messages[2:]...)
	}
	turn := 0 // where the messages behind the last prompt begin
	for i, m := range messages {
		if m.Role == model.User {
			turn = i
		}
	}
	var list []object
	for i, m := range messages {
		list = append(list, message(m, p, from, i > turn))
	}
	body["messages"] = list
	for name, value := range r.Parameters {
		if !required[name] {
			body[name] = value
		}
	}
	if most, ok := body["max_tokens"]; ok && p.refuses("max_tokens") {
		body["max_completion_tokens"] = most // newer models of OpenAI know only this one
	}
	for _, name := range p.Refuses {
		if !required[name] {
			delete(body, name)
		}
	}
	if strings.Contains(strings.ToLower(r.Model), "claude") && !p.refuses(cacheControl) {
		cache(list)
	}
	return body
}

const cacheControl = "cache_control"

// cache marks the end of the prompt and the end of the conversation. Claude is the one model
// that caches nothing without such marks.
func cache(messages []object) {
	mark := func(m object) {
		text, ok := m["content"].(string)
		if ok && text != "" {
			m["content"] = []object{{"type": "text", "text": text, cacheControl: object{"type": "ephemeral"}}}
		}
	}
	if len(messages) > 0 {
		mark(messages[0])
	}
	if len(messages) > 1 {
		mark(messages[len(messages)-1])
	}
}

// schema is the schema of a tool as it is.
func schema(raw json.RawMessage) json.RawMessage {
	if !json.Valid(raw) {
		panic(fmt.Sprintf("schema of a tool: %s", raw)) // tool.Set checks schemas
	}
	return raw
}

// message is a message of a request. One of the turn that goes on may have reasoning in its
// text.
func message(m model.Message, p Profile, from string, goesOn bool) object {
	switch m.Role {
	case model.System:
		return object{"role": "system", "content": m.Text}
	case model.Tool:
		return object{"role": "tool", "content": m.Text, "tool_call_id": m.CallID}
	case model.Assistant:
		return assistant(m, p, from, goesOn)
	}
	if len(m.Images) == 0 {
		return object{"role": "user", "content": m.Text}
	}
	var parts []object
	if m.Text != "" {
		parts = append(parts, object{"type": "text", "text": m.Text})
	}
	for _, image := range m.Images {
		parts = append(parts, object{"type": "image_url", "image_url": object{"url": "data:" + image.MimeType + ";base64," + image.Data}})
	}
	return object{"role": "user", "content": parts}
}

// defaultReasoning is where reasoning goes if nobody knows where it comes from. Most
// endpoints have this member.
const defaultReasoning = "reasoning_content"

// assistant returns reasoning to the model, because reasoning models continue it between
// their calls, and what only that model understands.
func assistant(m model.Message, p Profile, from string, goesOn bool) object {
	a := object{"role": "assistant"}
	text := m.Text
	mine := m.From == from || m.From == "" // stored by a version that did not know
	where := p.Reasoning
	if where == "" {
		where = defaultReasoning
	}
	extra := func(name string, value any) {
		if !p.refuses(name) && !p.refuses(extras) {
			a[name] = value
		}
	}
	if mine && m.Reasoning != "" {
		switch where {
		case "text":
			if goesOn {
				text = strings.TrimSpace("<think>\n" + m.Reasoning + "\n</think>\n\n" + text)
			}
		case "content":
		default:
			extra(where, m.Reasoning)
		}
	}
	if p.demands(defaultReasoning) {
		a[defaultReasoning] = m.Reasoning
	}
	if text != "" || len(m.Calls) == 0 || p.demands(content) {
		a["content"] = text
	}
	if mine && m.Reasoning != "" && where == "content" && !p.refuses("thinking") {
		parts := []object{{"type": "thinking", "thinking": []object{{"type": "text", "text": m.Reasoning}}}}
		if text != "" {
			parts = append(parts, object{"type": "text", "text": text})
		}
		a["content"] = parts
	}
	if mine {
		for name, value := range m.Opaque {
			extra(name, value)
		}
	}
	var calls []object
	for _, c := range m.Calls {
		call := object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": c.Arguments}}
		if mine && !p.refuses(extras) {
			for name, value := range c.Opaque {
				if !p.refuses(name) {
					call[name] = value
				}
			}
		}
		if _, signed := call["extra_content"]; !signed && p.demands(signature) && len(calls) == 0 {
			// Google names this value for calls that none of its models has made.
			call["extra_content"] = object{"google": object{"thought_signature": "skip_thought_signature_validator"}}
		}
		calls = append(calls, call)
	}
	if calls != nil {
		a["tool_calls"] = calls
	}
	return a
}

// required are the members that no request can do without.
var required = map[string]bool{
	"model": true, "messages": true, "role": true, "content": true, "tool_calls": true, "tool_call_id": true,
	"id": true, "type": true, "function": true, "tools": true, "stream": true,
}

// optional lists the members of a request that it can do without.
func optional(body object) []string {
	var list []string
	collect := func(o object) {
		for name := range o {
			if !required[name] {
				list = with(list, name)
			}
		}
	}
	collect(body)
	for _, m := range body["messages"].([]object) {
		collect(m)
		if calls, ok := m["tool_calls"].([]object); ok {
			for _, call := range calls {
				collect(call)
			}
		}
		if parts, ok := m["content"].([]object); ok {
			if parts[0]["type"] == "thinking" {
				list = with(list, "thinking")
			}
			if parts[0][cacheControl] != nil {
				list = with(list, cacheControl)
			}
		}
	}
	slices.Sort(list)
	return list
}

// hasExtras reports whether messages have members that are not OpenAI's.
func hasExtras(body object) bool {
	return slices.ContainsFunc(optional(object{"messages": body["messages"]}), func(name string) bool { return name != "thinking" })
}
