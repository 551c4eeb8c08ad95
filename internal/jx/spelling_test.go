package jx

import (
	"strings"
	"testing"
)

func TestNearFindsWhatWasMeant(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ meant, words, want string }{
		{"sessionId", "sessionID", "sessionID"},
		{"sessionId", "SessionId", "SessionId"},
		{"sessionId", "update session_id _meta", "session_id"},
		{"stopReason", "stop_reason", "stop_reason"},
		{"newText", "oldText new_text path", "new_text"},
		{"toolCallId", "toolcallid", "toolcallid"},
		{"mimeType", "mimetype data", "mimetype"},
		{"tool_cal", "tool_call tool_call_update plan", "tool_call"},
		{"toolCall", "tool_call tool_call_update plan", "tool_call"},
		{"agent_mesage_chunk", "agent_message_chunk agent_thought_chunk", "agent_message_chunk"},
		{"plna", "plan", "plan"},
		{"cancelled", "canceled", "canceled"},
		{"end-turn", "end_turn max_tokens", "end_turn"},

		{"path", "oldPath name", ""},
		{"uri", "url", ""},
		{"id", "ID", "ID"},
		{"data", "date", "date"},
		{"title", "kind status", ""},
		{"nope", "user_message_chunk plan", ""},
		{"sessionId", "sessionId", ""},
		{"sessionId", strings.Repeat("sessionId", 100000), ""},
		{"a", "", ""},
	} {
		if got := Near(c.meant, strings.Fields(c.words)); got != c.want {
			t.Errorf("%s of %.60s: got %q, want %q", c.meant, c.words, got, c.want)
		}
	}
}
