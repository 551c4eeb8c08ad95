package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// asAgent makes the test binary be one of testAgents.
const asAgent = "HERMES_TEST_AGENT"

// testAgents are agents that do what no recording can: they send much, send
// broken bytes, or wait for something. Each returns when its input ends.
var testAgents = map[string]func(*agentWire){}

// agentArgs are the arguments that run a test agent with flags.
func agentArgs(t *testing.T, name string, flags ...string) []string {
	t.Helper()
	if testAgents[name] == nil {
		t.Fatalf("there is no test agent %q", name)
	}
	return append(append([]string{"run", "--env", asAgent + "=" + name}, flags...), "go", "--", self(t))
}

// agentWire is the agent's side of standard input and output.
type agentWire struct {
	in  *bufio.Reader
	out *bufio.Writer
	ids int
}

func newAgentWire() *agentWire {
	return &agentWire{in: bufio.NewReaderSize(os.Stdin, 64<<10), out: bufio.NewWriterSize(os.Stdout, 64<<10)}
}

// raw sends a line as it is.
func (w *agentWire) raw(format string, args ...any) {
	fmt.Fprintf(w.out, format+"\n", args...)
}

func (w *agentWire) notify(method, params string) {
	w.raw(`{"jsonrpc":"2.0","method":%s,"params":%s}`, quoted(method), params)
}

// update sends an update of a session.
func (w *agentWire) update(session, update string) {
	w.notify("session/update", fmt.Sprintf(`{"sessionId":%s,"update":%s}`, quoted(session), update))
}

func (w *agentWire) say(session, text string) {
	w.update(session, fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}`, quoted(text)))
}

// ask sends a request and returns the line with its answer.
func (w *agentWire) ask(method, params string) string {
	w.ids++
	id := fmt.Sprintf(`"a%d"`, w.ids)
	w.raw(`{"jsonrpc":"2.0","id":%s,"method":%s,"params":%s}`, id, quoted(method), params)
	w.out.Flush()
	for {
		line, err := w.in.ReadString('\n')
		if err != nil {
			os.Exit(0)
		}
		if strings.Contains(line, `"id":`+id) {
			return line
		}
	}
}

// serve answers requests until the input ends. What answers has no entry for
// gets a usual result. An entry is called before the answer, and returns it; the
// member is result or error.
func (w *agentWire) serve(answers map[string]func(params json.RawMessage) (member, value string)) {
	for {
		w.out.Flush()
		line, err := w.in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if json.Unmarshal(line, &m) != nil || m.ID == nil || m.Method == "" {
			continue
		}
		member, value := "result", map[string]string{
			"initialize":     `{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}`,
			"session/new":    `{"sessionId":"mine"}`,
			"session/prompt": `{"stopReason":"end_turn"}`,
		}[m.Method]
		if value == "" {
			value = "{}"
		}
		if f := answers[m.Method]; f != nil {
			member, value = f(m.Params)
		}
		w.raw(`{"jsonrpc":"2.0","id":%s,%q:%s}`, m.ID, member, value)
	}
}

type answers = map[string]func(json.RawMessage) (string, string)

// always answers the same.
func always(member, value string) func(json.RawMessage) (string, string) {
	return func(json.RawMessage) (string, string) { return member, value }
}

// during does something in a turn, which then ends.
func during(turn func()) answers {
	return answers{"session/prompt": func(json.RawMessage) (string, string) {
		turn()
		return "result", `{"stopReason":"end_turn"}`
	}}
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
