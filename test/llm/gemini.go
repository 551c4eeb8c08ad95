package llm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// gemini serves generateContent and streamGenerateContent.
func gemini(w http.ResponseWriter, r *http.Request) {
	model, verb, _ := strings.Cut(r.PathValue("call"), ":")
	if verb == "countTokens" {
		writeJSON(w, object{"totalTokens": 1})
		return
	}
	var req struct {
		Tools    []any
		Contents []struct {
			Role  string
			Parts []struct {
				Text             string
				FunctionResponse *struct{ Response json.RawMessage }
				FunctionCall     *struct {
					Name string
					Args json.RawMessage
				}
			}
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var conversation []event
	for _, c := range req.Contents {
		for _, p := range c.Parts {
			switch {
			case p.FunctionCall != nil:
				conversation = append(conversation, event{"call", canonical(p.FunctionCall.Name, p.FunctionCall.Args)})
			case p.FunctionResponse != nil:
				conversation = append(conversation, event{"result", string(p.FunctionResponse.Response)})
			default:
				conversation = append(conversation, event{c.Role, p.Text})
			}
		}
	}
	steps := turn(conversation, len(req.Tools))
	chunk := func(finish string, parts ...object) object {
		if parts == nil {
			parts = []object{} // null makes the agent fail
		}
		candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
		if finish != "" {
			candidate["finishReason"] = finish
		}
		return object{"candidates": []object{candidate}, "modelVersion": model, "responseId": "r1",
			"usageMetadata": object{"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}}
	}
	part := func(s step) object {
		switch s.word {
		case "THINK":
			return object{"text": s.arg, "thought": true}
		case "CALL":
			tool, input := s.call()
			return object{"functionCall": object{"name": tool, "args": input}, "thoughtSignature": "c2NyaXB0"}
		}
		return object{"text": s.arg}
	}
	if verb != "streamGenerateContent" {
		var parts []object
		stream(r.Context(), steps, func(s step) { parts = append(parts, part(s)) })
		writeJSON(w, chunk("STOP", parts...))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	stream(r.Context(), steps, func(s step) { sse(w, "", chunk("", part(s))) })
	if steps[len(steps)-1].word == "CALL" {
		sse(w, "", chunk("STOP"))
	} else {
		sse(w, "", chunk("STOP", object{"text": ""}))
	}
}

// callID names a tool call after its place in the conversation, so that ids
// repeat from run to run and differ within one.
func callID(conversation []event) string { return fmt.Sprintf("toolu_%04d", len(conversation)) }
