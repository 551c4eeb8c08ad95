package claudehooks

import "encoding/json"

// event is what Claude Code posts to a hook, as far as it is used. All events share
// one form.
//
// See https://code.claude.com/docs/en/hooks.
type event struct {
	Name string `json:"hook_event_name"`
	Cwd  string `json:"cwd"`

	Prompt string `json:"prompt"` // of UserPromptSubmit

	// Of a tool call.
	Tool     string          `json:"tool_name"`
	Call     string          `json:"tool_use_id"`
	Input    json.RawMessage `json:"tool_input"`
	Response json.RawMessage `json:"tool_response"`
	Error    json.RawMessage `json:"error"` // of PostToolUseFailure and StopFailure

	// Of a Notification.
	Message string `json:"message"`
	Kind    string `json:"notification_type"`
}

// idlePrompt is the kind of the notification that nothing has been typed for a minute
// after a turn.
const idlePrompt = "idle_prompt"

// waits has the kinds of notifications that Claude Code sends when it waits for an
// answer. Old versions name no kind.
var waits = map[string]bool{
	"": true, "permission_prompt": true, "worker_permission_prompt": true, "agent_needs_input": true,
	"elicitation_dialog": true,
}

// answer is what a hook says. The zero value has no opinion.
type answer struct {
	Continue *bool     `json:"continue,omitempty"` // false: Claude Code stops
	Reason   string    `json:"stopReason,omitempty"`
	Decision *decision `json:"hookSpecificOutput,omitempty"`
}

type decision struct {
	Event  string `json:"hookEventName"`
	Is     string `json:"permissionDecision"` // allow or deny
	Reason string `json:"permissionDecisionReason,omitempty"`
}

func allow() answer { return answer{Decision: &decision{Event: preToolUse, Is: "allow"}} }

func deny(reason string) answer {
	return answer{Decision: &decision{Event: preToolUse, Is: "deny", Reason: reason}}
}

// halt stops Claude Code, because the client has cancelled its turn.
func halt(event string) answer {
	const why = "The user has cancelled this in the editor."
	a := answer{Continue: new(bool), Reason: why}
	if event == preToolUse {
		a.Decision = deny(why).Decision
	}
	return a
}
