package llm

import (
	"encoding/json"
	"io"
	"net/http"
)

// openai serves chat completions, streaming only.
func (s *Server) openai(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Model    string
		Stream   bool
		Tools    []any
		Messages []struct {
			Role      string
			Content   json.RawMessage
			ToolCalls []struct {
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &req)
	}
	if err == nil && r.UserAgent() == "hermes-agent" { // the other agents are not ours to judge
		err = Judge(body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !req.Stream {
		http.Error(w, "only streams are served", http.StatusBadRequest)
		return
	}
	var conversation []event
	for _, m := range req.Messages {
		text := resultText(m.Content)
		if m.Role == "tool" {
			conversation = append(conversation, event{"result", text})
			continue
		}
		conversation = append(conversation, event{m.Role, text})
		for _, c := range m.ToolCalls {
			conversation = append(conversation, event{"call", canonical(c.Function.Name, json.RawMessage(c.Function.Arguments))})
		}
	}
	if s.script != "" {
		scripted(conversation, s.script)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := func(delta object, finish any) object {
		choice := object{"index": 0, "delta": delta, "finish_reason": finish}
		return object{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": req.Model, "choices": []object{choice}}
	}
	finish, calls := "stop", 0
	stream(r.Context(), turn(conversation, len(req.Tools)), func(s step) {
		switch s.word {
		case "SAY":
			sse(w, "", chunk(object{"role": "assistant", "content": s.arg}, nil))
		case "THINK":
			sse(w, "", chunk(object{"role": "assistant", "reasoning_content": s.arg}, nil))
		case "CALL":
			finish = "tool_calls"
			name, input := s.call()
			half := len(input) / 2
			function := object{"name": name, "arguments": string(input[:half])}
			sse(w, "", chunk(object{"tool_calls": []object{{"index": calls, "id": callID(conversation), "type": "function", "function": function}}}, nil))
			rest := object{"arguments": string(input[half:])}
			sse(w, "", chunk(object{"tool_calls": []object{{"index": calls, "function": rest}}}, nil))
			calls++
		}
	})
	last := chunk(object{}, finish)
	last["usage"] = object{"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
	sse(w, "", last)
	w.Write([]byte("data: [DONE]\n\n"))
}

// openaiModels lists one model.
func openaiModels(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, object{"object": "list", "data": []object{{"id": "scripted", "object": "model", "created": 1, "owned_by": "tests", "max_model_len": 1000}}})
}
