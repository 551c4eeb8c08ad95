package host

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/testagent"
)

func TestEveryUpdateHasItsEventAndData(t *testing.T) {
	rows := testagent.Updates()
	var script []string
	for _, r := range rows {
		script = append(script, `NOTIFY session/update {"sessionId":"$SESSION","update":`+r.JSON+`}`)
	}
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.until(`#of("AgentAvailableCommands") == 1`)
		e.lua(`for i = #seen, 1, -1 do seen[i] = nil end`)
		e.prompt(strings.Join(script, "\n"))
		for _, r := range rows {
			e.is(`#of("`+r.Event+`")`, 1)
			e.is(`of("`+r.Event+`")[1].`+r.Key, r.Value)
			e.is(`of("`+r.Event+`")[1].sessionId`, "s1")
			e.is(`of("`+r.Event+`")[1].promptId`, "prompt-3")
		}
		e.seesOnly(func(name string) bool {
			return slices.ContainsFunc(rows, func(r testagent.Update) bool { return r.Event == name })
		}, "StateChanged", "TurnStarted", "ClientTextMessage", "CheckpointCreated", "ToolCallState", "Prompted", "TurnEnded")
	})
}

func TestEveryBlockOfAPromptHasItsEventAndData(t *testing.T) {
	var list []string
	for _, b := range testagent.Blocks {
		list = append(list, b.JSON)
	}
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.lua(`hermes.prompt(s, vim.json.decode(...), { on_done = finish("turn") })`, "["+strings.Join(list, ",")+"]")
		e.until("done.turn")
		for _, b := range testagent.Blocks {
			e.is(`#of("Client`+b.Name+`Message")`, 1)
			e.is(`of("Client`+b.Name+`Message")[1].`+b.Key, b.Value)
			e.is(`of("Client`+b.Name+`Message")[1].source`, "client")
		}
	})
}

func TestEveryReplyHasItsEventAndData(t *testing.T) {
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		for _, r := range []struct{ call, event, key, value string }{
			{`hermes.authenticate("key", o)`, "Authenticated", "methodId", "key"},
			{`hermes.list_sessions(o)`, "SessionsListed", "sessions[1].sessionId", "old"},
			{`hermes.resume_session("old", vim.tbl_extend("error", o, { force = true }))`, "SessionResumed", "sessionId", "old"},
			{`hermes.load_session("older", o)`, "SessionLoaded", "sessionId", "older"},
			{`hermes.fork_session(s, o)`, "SessionForked", "sessionId", "s1-fork"},
			{`hermes.set_mode(s, "plan", o)`, "ModeUpdated", "modeId", "plan"},
			{`hermes.set_config_option(s, { id = "m", value = "small" }, o)`, "ConfigurationUpdated", "configId", "m"},
			{`hermes.close_session("older", o)`, "SessionClosed", "sessionId", "older"},
			{`hermes.delete_session("old", o)`, "SessionDeleted", "sessionId", "old"},
			{`hermes.logout(nil, o)`, "LoggedOut", "agent", "tester"},
		} {
			e.lua(`done.op = nil
local o = { on_done = finish("op") }
_G.op = ` + r.call)
			e.until("done.op")
			e.is("done.op.err == nil or done.op.err.message", true)
			e.is(`#of("`+r.event+`")`, 1)
			e.is(`of("`+r.event+`")[1].`+r.key, r.value)
			e.is(`of("`+r.event+`")[1].opId == op`, true)
		}
	})
}

func TestEveryRequestOfTheAgentHasItsEventAndData(t *testing.T) {
	rows := []struct{ method, params, answer, event, key, value, result string }{
		{"elicitation/create", `{"sessionId":"s1","mode":"form","message":"m","requestedSchema":{"type":"object","properties":{}}}`,
			`{ action = "accept", content = { a = "b" } }`, "FormElicitation", "message", "m", `"action":"accept","content":{"a":"b"}`},
		{"elicitation/create", `{"sessionId":"s1","mode":"url","message":"m","elicitationId":"e","url":"https://example.com"}`,
			`"decline"`, "UrlElicitation", "url", "https://example.com", `"action":"decline"`},
		{"elicitation/create", `{"sessionId":"s1","mode":"_voice","message":"m"}`, `"cancel"`, "UnknownElicitation", "mode", "_voice", `"action":"cancel"`},
		{"fs/read_text_file", `{"sessionId":"s1","path":"/p"}`, `"text"`, "ReadTextFile", "path", "/p", `"content":"text"`},
		{"fs/write_text_file", `{"sessionId":"s1","path":"/p","content":"c"}`, `true`, "WriteTextFile", "content", "c", `{}`},
		{"terminal/create", `{"sessionId":"s1","command":"c"}`, `"t1"`, "TerminalCreate", "command", "c", `"terminalId":"t1"`},
		{"terminal/output", `{"sessionId":"s1","terminalId":"t1"}`, `"out"`, "TerminalOutput", "terminalId", "t1", `"output":"out"`},
		{"terminal/wait_for_exit", `{"sessionId":"s1","terminalId":"t1"}`, `3`, "TerminalExit", "terminalId", "t1", `"exitCode":3`},
		{"terminal/kill", `{"sessionId":"s1","terminalId":"t1"}`, `true`, "TerminalKill", "terminalId", "t1", `{}`},
		{"terminal/release", `{"sessionId":"s1","terminalId":"t1"}`, `true`, "TerminalRelease", "terminalId", "t1", `{}`},
		{"session/request_permission", `{"sessionId":"s1","toolCall":{"toolCallId":"c"},"options":[{"optionId":"y","name":"Y","kind":"allow_once"}]}`,
			`"y"`, "PermissionRequest", "toolCall.toolCallId", "c", `"optionId":"y"`},
		{"_vendor/x", `{"a":"b"}`, `{ c = "d" }`, "ExtRequest", "params.a", "b", `"c":"d"`},
	}
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		for _, r := range rows {
			key := r.event
			if r.event == "ExtRequest" {
				key = r.method
			}
			e.lua(`for i = #seen, 1, -1 do seen[i] = nil end
hermes.on_request("` + key + `", function() return ` + r.answer + ` end)`)
			e.prompt("CALL " + r.method + " " + r.params)
			e.is(`#of("`+r.event+`")`, 1)
			e.is(`of("`+r.event+`")[1].`+r.key, r.value)
			e.is(`of("`+r.event+`")[1].requestId ~= nil`, true)
			e.is(`said():find(`+luaText(r.result)+`, 1, true) ~= nil or said()`, true)
		}
		e.prompt(`NOTIFY elicitation/complete {"elicitationId":"e"}` + "\n" + `NOTIFY _vendor/y {"a":"b"}`)
		e.is(`of("ElicitationComplete")[1].elicitationId`, "e")
		e.is(`of("ExtNotification")[1].params.a`, "b")
	})
}

func luaText(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// seesOnly fails when an event came that is neither meant nor in more.
func (e *editor) seesOnly(meant func(name string) bool, more ...string) {
	e.t.Helper()
	var names []string
	if err := json.Unmarshal([]byte(e.json(`vim.tbl_map(function(x) return x.event end, seen)`)), &names); err != nil {
		e.t.Fatal(err)
	}
	for _, name := range names {
		if !meant(name) && !slices.Contains(more, name) {
			e.t.Errorf("unexpected event %s", name)
		}
	}
}
