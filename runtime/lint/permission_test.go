package lint_test

import (
	"testing"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// History shows a refused tool call with the statuses that it had, and does nothing.
func TestARefusedToolCallMayBeReplayed(t *testing.T) {
	t.Parallel()
	const (
		refused  = `{"outcome":{"outcome":"selected","optionId":"n"}}`
		cancels  = `{"outcome":{"outcome":"cancelled"}}`
		starts   = `"sessionUpdate":"tool_call","toolCallId":"t","title":"Remove","kind":"edit","status":"in_progress"`
		fails    = `"sessionUpdate":"tool_call_update","toolCallId":"t","status":"failed"`
		sessions = `{"sessionId":"s1","cwd":"/repo","mcpServers":[]}`
	)
	for _, c := range []struct {
		name, outcome, text string
		found               bool
	}{
		{"refused, and loaded", refused, ask(3, "session/load", sessions) + say(starts) + say(fails) + answer(3, `{}`), false},
		{"cancelled, and loaded", cancels, ask(3, "session/load", sessions) + say(starts) + say(fails) + answer(3, `{}`), false},
		{"refused, and loaded just before the end of the history", refused, ask(3, "session/load", sessions) + answer(3, `{}`) + say(starts) + say(fails), false},
		{"done after the history", refused, ask(3, "session/load", sessions) + say(starts) + say(fails) + answer(3, `{}`) + "+2000\n" + say(starts), true},
		{"done in the next turn", refused, ask(3, "session/load", sessions) + answer(3, `{}`) + ask(4, "session/prompt", `{"sessionId":"s1","prompt":[{"type":"text","text":"x"}]}`) + say(starts), true},
		{"done without a load", refused, say(starts), true},
	} {
		text := work + question + give(0, c.outcome) + say(fails) + "done 1\n+400\n" + c.text
		found := false
		for _, v := range judgeScript(t, true, text, lint.Options{Profile: lint.Strict}).Verdicts {
			found = found || v.Rule.ID == "PER06" && v.Failed > 0
		}
		if found != c.found {
			t.Errorf("%s: found %v, want %v", c.name, found, c.found)
		}
	}
}
