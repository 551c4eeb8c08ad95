package llm

import (
	"strings"
	"testing"
)

func TestTheRefereeKnowsTheStrictestRules(t *testing.T) {
	t.Parallel()
	const (
		system = `{"role":"system","content":"be good"}`
		user   = `{"role":"user","content":"go"}`
		says   = `{"role":"assistant","content":"well"}`
		calls  = `{"role":"assistant","tool_calls":[{"id":"call00001","type":"function","function":{"name":"read","arguments":"{}"}}]}`
		result = `{"role":"tool","tool_call_id":"call00001","content":"one"}`
	)
	change := func(text, from, to string) string {
		if !strings.Contains(text, from) {
			t.Errorf("no %s in %s", from, text)
		}
		return strings.Replace(text, from, to, 1)
	}
	for _, test := range []struct {
		name     string
		messages []string
		err      string // empty: none
	}{
		{"a turn with a call", []string{system, user, calls, result}, ""},
		{"two turns", []string{user, calls, result, says, user}, ""},
		{"a whole pair", []string{change(user, "go", `\ud83d\ude00\\ud83d`)}, ""},
		{"pictures", []string{change(user, `"go"`, `[{"type":"image_url"}]`)}, ""},
		{"nothing", nil, "the last message"},
		{"only a system prompt", []string{system}, "the last message"},
		{"an answer at the end", []string{user, says}, "the last message"},
		{"an answer at the beginning", []string{system, says, user}, "alternate"},
		{"a call at the beginning", []string{system, calls, result}, "behind"},
		{"two prompts", []string{user, user}, "alternate"},
		{"a prompt behind a result", []string{user, calls, result, user}, "alternate"},
		{"two answers", []string{user, says, says, user}, "alternate"},
		{"a call behind an answer", []string{user, says, calls, result}, "behind"},
		{"two answers, with a call between", []string{user, calls, result, says, change(says, "well", "good"), user}, "alternate"},
		{"a second system prompt", []string{user, says, system, user}, "not at the beginning"},
		{"a call without a result", []string{user, calls, user}, "no result"},
		{"a call without a result at the end", []string{user, calls}, "the last message"},
		{"a result without a call", []string{user, result}, "the result of"},
		{"an id that repeats", []string{user, calls, result, calls, result}, "the id"},
		{"an id with other letters", []string{user, change(calls, "call00001", "call_0001")}, "the id"},
		{"a name with a dot", []string{user, change(calls, "read", "functions.read")}, "the name"},
		{"no name", []string{user, change(calls, "read", "")}, "the name"},
		{"arguments that are no object", []string{user, change(calls, "{}", "[]")}, "the arguments"},
		{"half of a pair in arguments", []string{user, change(calls, "{}", `{\"a\":\"\\ud83d\"}`)}, "the arguments"},
		{"half of a pair", []string{change(user, "go", `\ude00`)}, "surrogate"},
		{"an empty prompt", []string{change(user, "go", "")}, "no content"},
		{"an empty answer", []string{user, change(says, "well", ""), user}, "neither content nor calls"},
		{"another role", []string{change(user, "user", "nobody")}, "an unknown role"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := Judge([]byte(`{"messages":[` + strings.Join(test.messages, ",") + `]}`))
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("%v, want %q", err, test.err)
			}
		})
	}
}
