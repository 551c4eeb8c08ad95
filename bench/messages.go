// Package bench measures Hermes side by side with other Go bindings of the
// Agent Client Protocol. It is a module of its own, so that the others never
// become dependencies of Hermes.
package bench

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Message is the params of one session/update, as an agent would send them.
type Message struct {
	Name string
	JSON []byte
}

// Messages makes the mix: one of each message that agents send most. The text is
// generated, and the same in every run.
func Messages() []Message {
	return []Message{
		{"chunk", update(
			"sessionUpdate", "agent_message_chunk",
			"messageId", "msg_42",
			"content", object("type", "text", "text",
				"I'll look at the failing test in internal/rpc/conn_test.go first, then run it."))},
		{"tool_call", toolCall()},
		{"tool_call_update", toolCallUpdate()},
		{"plan", plan(10)},
		{"commands", commands(30)},
		{"usage", update(
			"sessionUpdate", "usage_update",
			"used", 53125,
			"size", 200000,
			"cost", object("amount", 0.4175, "currency", "USD"))},
	}
}

// toolCall announces an edit with a diff of two kilobytes.
func toolCall() []byte {
	return update(
		"_meta", object("claudeCode", object("toolName", "Edit")),
		"toolCallId", "toolu_01ebdf310297f0486093fe5a",
		"sessionUpdate", "tool_call",
		"title", "Edit `/workspace/internal/rpc/conn.go`",
		"kind", "edit",
		"status", "pending",
		"rawInput", object("file_path", "/workspace/internal/rpc/conn.go", "replace_all", false),
		"content", []any{diff("/workspace/internal/rpc/conn.go", 900, 1100)},
		"locations", []any{object("path", "/workspace/internal/rpc/conn.go", "line", 118)},
	)
}

// toolCallUpdate is the end of a long tool call: its output as text and raw, a
// diff, a terminal and the files it touched; twenty kilobytes.
func toolCallUpdate() []byte {
	out := testLog(5600)
	var locations []any
	for i := range 6 {
		locations = append(locations, object("path", fmt.Sprintf("/workspace/internal/rpc/file%d.go", i), "line", 10*i+1))
	}
	return update(
		"_meta", object("claudeCode", object("toolName", "Bash")),
		"toolCallId", "toolu_01ebdf310297f0486093fe5b",
		"sessionUpdate", "tool_call_update",
		"status", "completed",
		"rawOutput", object("exitCode", 0, "stdout", out),
		"content", []any{
			object("type", "content", "content", object("type", "text", "text", out)),
			diff("/workspace/internal/rpc/conn.go", 3500, 4000),
			object("type", "terminal", "terminalId", "term_17"),
		},
		"locations", locations,
	)
}

func plan(n int) []byte {
	var entries []any
	for i := range n {
		entries = append(entries, object(
			"content", fmt.Sprintf("Step %d: read the callers of Conn.Close and move the drain before it", i+1),
			"priority", []string{"high", "medium", "low"}[i%3],
			"status", []string{"completed", "in_progress", "pending"}[min(i/3, 2)]))
	}
	return update("sessionUpdate", "plan", "entries", entries)
}

// commands lists n commands; every third takes an argument.
func commands(n int) []byte {
	var list []any
	for i := range n {
		c := pairs{"name", fmt.Sprintf("project:command-%02d", i), "description", "Reviews the pending changes and lists what is left to do"}
		if i%3 == 0 {
			c = append(c, "input", object("hint", "what to look at"))
		}
		list = append(list, c)
	}
	return update("sessionUpdate", "available_commands_update", "availableCommands", list)
}

func diff(path string, before, after int) any {
	return object("type", "diff", "path", path, "oldText", source(before), "newText", source(after))
}

// source is Go code of about n bytes: indented lines with some quotes.
func source(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "func (c *Conn) step%d(ctx context.Context) error {\n\tif err := c.flush(ctx); err != nil {\n\t\treturn fmt.Errorf(\"step %d: %%w\", err)\n\t}\n\treturn nil\n}\n\n", i, i)
	}
	return b.String()
}

// testLog is the output of a test run of about n bytes.
func testLog(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "=== RUN   TestConn/case_%d\n--- PASS: TestConn/case_%d (0.00s)\nok  \tgithub.com/example/project/internal/rpc\t0.412s\n", i, i)
	}
	return b.String()
}

func update(members ...any) []byte {
	b, err := object("sessionId", "sess_01JABCDEF0123456789", "update", object(members...)).MarshalJSON()
	if err != nil {
		panic(err) // the values above are all plain
	}
	return b
}

// pairs is a JSON object that keeps the order of its members: names and values
// alternate.
type pairs []any

func object(members ...any) pairs { return members }

// MarshalJSON writes the members as JavaScript would, without HTML escapes.
func (p pairs) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i, v := range p {
		b.WriteByte("{:,:"[min(i, 1)*(1+(i+1)%2)])
		if err := enc.Encode(v); err != nil {
			return nil, err
		}
	}
	return []byte(strings.ReplaceAll(b.String(), "\n", "") + "}"), nil
}
