package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/testagent"
)

// testAgents are agents that do what no recording can, by name: scenarios of
// package testagent. They send much, send broken bytes, or wait for something.
var testAgents = map[string]string{}

// agentArgs are the arguments that run a test agent with flags.
func agentArgs(t *testing.T, name string, flags ...string) []string {
	t.Helper()
	if testAgents[name] == "" {
		t.Fatalf("there is no test agent %q", name)
	}
	return scenarioArgs(t, testAgents[name], flags...)
}

// scenarioArgs are the arguments that run an agent with a scenario.
func scenarioArgs(t *testing.T, scenario string, flags ...string) []string {
	t.Helper()
	return append(append([]string{"run", "--env", testagent.Env + "=" + scenario}, flags...), "go", "--", self(t))
}

// steps are a scenario.
func steps(steps ...string) string { return strings.Join(steps, "\n") }

// turnOf is the scenario of an agent that takes steps in its turn.
func turnOf(in ...string) string {
	return steps("TALK session/prompt", steps(in...), "REPLY session/prompt", "TALK")
}

// answering is the step after which requests for a method get a result.
func answering(method, result string) string { return "ANSWER " + method + ` "result":` + result }

// refusing is the step after which requests for a method get an error.
func refusing(method, failure string) string { return "ANSWER " + method + ` "error":` + failure }

// notify is the step that sends a notification.
func notify(method, params string) string {
	return fmt.Sprintf(`LINE {"jsonrpc":"2.0","method":%s,"params":%s}`, quoted(method), params)
}

// updateOf is the step that sends an update of a session.
func updateOf(session, update string) string {
	return notify("session/update", fmt.Sprintf(`{"sessionId":%s,"update":%s}`, quoted(session), update))
}

// say is the step that sends text in a session.
func say(session, text string) string {
	return updateOf(session, fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}`, quoted(text)))
}

// ask is the step that sends a request and waits for its answer.
func ask(method, params string) string { return "REQUEST " + quoted(method) + " " + params }

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
