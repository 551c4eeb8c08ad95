package llm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// responses serves the Responses API, streaming.
func responses(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Tools []any
		Input []struct {
			Type, Role, Name, Arguments string
			Output                      json.RawMessage
			Content                     []struct{ Type, Text string }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var conversation []event
	for _, item := range req.Input {
		switch item.Type {
		case "message":
			for _, c := range item.Content {
				conversation = append(conversation, event{item.Role, c.Text})
			}
		case "function_call":
			conversation = append(conversation, event{"call", canonical(item.Name, json.RawMessage(item.Arguments))})
		case "function_call_output":
			var text string
			json.Unmarshal(item.Output, &text)
			conversation = append(conversation, event{"result", text})
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(name string, v object) { v["type"] = name; sse(w, name, v) }
	send("response.created", object{"response": object{"id": "resp_1"}})
	index := 0
	stream(r.Context(), turn(conversation, len(req.Tools)), func(s step) {
		id := fmt.Sprintf("%d_%d", len(conversation), index)
		var item object
		switch s.word {
		case "SAY":
			item = object{"type": "message", "role": "assistant", "id": "msg_" + id, "content": []any{}}
			send("response.output_item.added", object{"output_index": index, "item": item})
			for word := range strings.FieldsSeq(s.arg) {
				send("response.output_text.delta", object{"item_id": "msg_" + id, "output_index": index, "content_index": 0, "delta": word + " "})
			}
			item = object{"type": "message", "role": "assistant", "id": "msg_" + id, "content": []any{object{"type": "output_text", "text": s.arg}}}
		case "THINK":
			item = object{"type": "reasoning", "id": "rs_" + id, "summary": []any{}}
			send("response.output_item.added", object{"output_index": index, "item": item})
			send("response.reasoning_summary_text.delta", object{"item_id": "rs_" + id, "output_index": index, "summary_index": 0, "delta": s.arg})
			item = object{"type": "reasoning", "id": "rs_" + id, "summary": []any{object{"type": "summary_text", "text": s.arg}}}
		case "CALL":
			tool, input := s.call()
			item = object{"type": "function_call", "id": "fc_" + id, "call_id": "call_" + id, "name": tool, "arguments": string(input)}
		}
		send("response.output_item.done", object{"output_index": index, "item": item})
		index++
	})
	send("response.completed", object{"response": object{"id": "resp_1", "usage": object{
		"input_tokens": 100, "input_tokens_details": object{"cached_tokens": 10},
		"output_tokens": 20, "output_tokens_details": object{"reasoning_tokens": 5}, "total_tokens": 120,
	}}})
}
