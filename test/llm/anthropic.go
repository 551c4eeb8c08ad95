package llm

import (
	"encoding/json"
	"net/http"
)

// anthropic serves the Messages API, streaming and not.
func anthropic(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Model    string
		Stream   bool
		Tools    []any
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var conversation []event
	for _, m := range req.Messages {
		var blocks []struct {
			Type, Text, Name string
			Content, Input   json.RawMessage
		}
		if json.Unmarshal(m.Content, &blocks) != nil {
			var text string
			json.Unmarshal(m.Content, &text)
			conversation = append(conversation, event{m.Role, text})
		}
		for _, b := range blocks {
			switch b.Type {
			case "text":
				conversation = append(conversation, event{m.Role, b.Text})
			case "tool_use":
				conversation = append(conversation, event{"call", canonical(b.Name, b.Input)})
			case "tool_result":
				conversation = append(conversation, event{"result", resultText(b.Content)})
			}
		}
	}
	steps := turn(conversation, len(req.Tools))
	usage := object{"input_tokens": 10, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
	message := object{"id": "msg_1", "type": "message", "role": "assistant", "model": req.Model, "usage": usage, "stop_sequence": nil}
	stop := "end_turn"
	if last := steps[len(steps)-1]; last.word == "CALL" {
		stop = "tool_use"
	}
	if !req.Stream {
		var content []object
		stream(r.Context(), steps, func(s step) {
			if s.word == "SAY" {
				content = append(content, object{"type": "text", "text": s.arg})
			}
		})
		message["content"], message["stop_reason"] = content, stop
		writeJSON(w, message)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	message["content"], message["stop_reason"] = []any{}, nil
	sse(w, "message_start", object{"type": "message_start", "message": message})
	index := 0
	stream(r.Context(), steps, func(s step) {
		var block, delta object
		switch s.word {
		case "SAY":
			block, delta = object{"type": "text", "text": ""}, object{"type": "text_delta", "text": s.arg}
		case "THINK":
			block, delta = object{"type": "thinking", "thinking": "", "signature": ""}, object{"type": "thinking_delta", "thinking": s.arg}
		case "CALL":
			tool, input := s.call()
			block = object{"type": "tool_use", "id": callID(conversation), "name": tool, "input": object{}}
			delta = object{"type": "input_json_delta", "partial_json": string(input)}
		}
		sse(w, "content_block_start", object{"type": "content_block_start", "index": index, "content_block": block})
		sse(w, "content_block_delta", object{"type": "content_block_delta", "index": index, "delta": delta})
		sse(w, "content_block_stop", object{"type": "content_block_stop", "index": index})
		index++
	})
	sse(w, "message_delta", object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	sse(w, "message_stop", object{"type": "message_stop"})
}

// resultText is the text of a tool result, which is a string or a list of blocks.
func resultText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var blocks []struct{ Text string }
	json.Unmarshal(raw, &blocks)
	for _, b := range blocks {
		text += b.Text
	}
	return text
}
