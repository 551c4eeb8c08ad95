package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/test/llm/dialect"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model/openai"
)

// However a turn has ended, and whatever the model has written in it, the next prompt is
// answered by the strictest endpoint, in this agent and in the next one.
func TestASessionGoesOnAfterEveryTurn(t *testing.T) {
	t.Parallel()
	event := func(delta string) string { return `data: {"choices":[{"index":0,"delta":` + delta + `}]}` + "\n\n" }
	const end = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	says := func(text string) dialect.Answer {
		return dialect.Answer{Body: event(fmt.Sprintf(`{"content":%q}`, text)) + end}
	}
	called := func(name, arguments string) dialect.Answer {
		quote := func(text string) string { b, _ := json.Marshal(text); return string(b) }
		return dialect.Answer{Body: event(`{"tool_calls":[{"index":0,"id":"a","function":{"name":`+quote(name)+`,"arguments":`+quote(arguments)+`}}]}`) + end}
	}
	reads := called("read", `{"path":"a.txt"}`)
	for _, test := range []struct {
		name    string
		answers []dialect.Answer
		stop    string // cancel the turn once this is shown
		shows   string
		ends    string // how the turn ends
	}{
		{"cancelled in a command", []dialect.Answer{called("terminal", `{"command":"sleep 600"}`)}, "terminal", "failed", "cancelled"},
		{"an error behind a result", []dialect.Answer{reads, {Status: 400, Body: `{"error":{"message":"no"}}`}}, "", "completed one", "400 Bad Request: no"},
		{"empty answers behind a result", []dialect.Answer{reads, says(""), says("")}, "", "completed one", "empty answer"},
		{"the last request of a turn", slices.Repeat([]dialect.Answer{reads}, 60), "", "completed one", "max_turn_requests"},
		{"a picture is read", []dialect.Answer{called("read", `{"path":"p.png"}`), says("nice")}, "", "agent: nice", "end_turn"},
		{"half of a surrogate pair in the name of a file", []dialect.Answer{called("write", `{"path":"\ud83d","content":"x"}`), says("oh")}, "", "half of a surrogate pair", "end_turn"},
		{"half of a surrogate pair in the text of a file", []dialect.Answer{called("write", `{"path":"b.txt","content":"x\ud83dy"}`), says("oh")}, "", "half of a surrogate pair", "end_turn"},
		{"half of a surrogate pair in an edit", []dialect.Answer{called("edit", `{"path":"a.txt","old":"one","new":"\ude00"}`), says("oh")}, "", "half of a surrogate pair", "end_turn"},
		{"a whole pair", []dialect.Answer{called("edit", `{"path":"a.txt","old":"one","new":"\ud83d\ude00"}`), says("oh")}, "", `diff a.txt "one\n" "😀\n"`, "end_turn"},
		{"arguments that are no object", []dialect.Answer{called("read", `["a.txt"]`), says("oh")}, "", "failed", "end_turn"},
		{"a name with a number", []dialect.Answer{called("functions.fly:0", `{}`), says("oh")}, "", `there is no tool "functions.fly:0"`, "end_turn"},
		{"a name with a blank", []dialect.Answer{called("read file", `{}`), says("oh")}, "", `there is no tool "read file"`, "end_turn"},
		{"a long name", []dialect.Answer{called(strings.Repeat("read", 20), `{}`), says("oh")}, "", "there is no tool", "end_turn"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server, err := dialect.Habit{Answers: append(test.answers, says("well"))}.Serve()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { server.Close() })
			e := newEditor(t)
			e.model = openai.New(openai.Options{BaseURL: server.URL, Retries: -1, FirstPause: time.Millisecond})
			e.start()
			e.file("a.txt", "one\n")
			e.file("p.png", "\x89PNG\r\n\x1a\nrest")
			id := e.open()
			ended := make(chan string, 1)
			go func() {
				reason, err := e.prompt(id, acp.NewTextContent("go"))
				ended <- fmt.Sprint(reason, err)
			}()
			if test.stop != "" {
				patience.True(t, test.stop, func() bool { return strings.Contains(e.shown(), test.stop) })
				if err := e.agent.Cancel(t.Context(), &acp.CancelNotification{SessionID: id}); err != nil {
					t.Fatal(err)
				}
			}
			if got := patience.Value(t, "end of the turn", ended); !strings.Contains(got, test.ends) {
				t.Errorf("the turn ended with %s, want %s", got, test.ends)
			}
			if got := e.take(); !strings.Contains(got, test.shows) {
				t.Errorf("no %s in\n%s", test.shows, got)
			}
			if got := e.play(id, "go on", acp.StopReasonEndTurn); got != "agent: well" {
				t.Errorf("the next turn shows\n%s", got)
			}
			e.start()
			if _, err := e.LoadSession(t.Context(), e.agent, &acp.LoadSessionRequest{SessionID: id, Cwd: e.dir}); err != nil {
				t.Fatal(err)
			}
			if got := e.play(id, "go on", acp.StopReasonEndTurn); got != "agent: well" {
				t.Errorf("in the next agent, the next turn shows\n%s", got)
			}
			if list := e.content("b.txt"); !strings.Contains(list, "no such file") {
				t.Errorf("a file was written: %q", list)
			}
		})
	}
}
