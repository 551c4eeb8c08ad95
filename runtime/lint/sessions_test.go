package lint_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// script is a conversation: lines of the client begin with > and those of the agent with
// <, without the member jsonrpc. They are 20 ms apart; +N waits N ms more. A line of
// words is one of the phrases.
func script(t *testing.T, times bool, text string) []lint.Record {
	t.Helper()
	var records []lint.Record
	at := time.UnixMilli(0)
	var say func(string)
	say = func(text string) {
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			switch {
			case line == "":
			case line[0] == '+':
				n, err := strconv.Atoi(line[1:])
				if err != nil {
					t.Fatal(err)
				}
				at = at.Add(time.Duration(n) * time.Millisecond)
			case line[0] == '>' || line[0] == '<':
				at = at.Add(20 * time.Millisecond)
				r := lint.Record{From: lint.Client, Bytes: []byte(`{"jsonrpc":"2.0",` + line[1:] + `}`), Line: len(records) + 1}
				if line[1] == '{' || line[1] == '[' { // it is written out
					r.Bytes = []byte(line[1:])
				}
				if line[0] == '<' {
					r.From = lint.Agent
				}
				if times {
					r.Time = at
				}
				records = append(records, r)
			case ended[line] != lint.Nobody:
				at = at.Add(20 * time.Millisecond)
				r := lint.Record{Source: lint.End, From: ended[line], Line: len(records) + 1}
				if times {
					r.Time = at
				}
				records = append(records, r)
			case phrases[line] == "":
				t.Fatalf("no phrase %q", line)
			default:
				say(phrases[line])
			}
		}
	}
	say(text)
	return records
}

var phrases = map[string]string{
	"hello 1": `
		>"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true},"terminal":true,"subagents":{}},"clientInfo":{"name":"editor","version":"1"}}
		<"id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"mcpCapabilities":{"http":true},"sessionCapabilities":{"list":{},"resume":{},"close":{},"delete":{},"additionalDirectories":{}}},"agentInfo":{"name":"agent","version":"1"}}`,
	"hello 2": `
		>"id":0,"method":"initialize","params":{"protocolVersion":2,"capabilities":{"elicitation":{"form":{}}},"info":{"name":"editor","version":"1"}}
		<"id":0,"result":{"protocolVersion":2,"capabilities":{"session":{"mcp":{"stdio":{}},"delete":{},"fork":{}}},"info":{"name":"agent","version":"1"}}`,
	"new s1": `
		>"id":1,"method":"session/new","params":{"cwd":"/repo","mcpServers":[]}
		<"id":1,"result":{"sessionId":"s1"}`,
	"prompt 1": `
		>"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"Hello"}]}`,
	"said 1":    `<"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hi"}}}`,
	"done 1":    `<"id":2,"result":{"stopReason":"end_turn"}`,
	"commands":  `<"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"available_commands_update","availableCommands":[]}}`,
	"accepted":  `<"id":2,"result":{"messageId":"m1"}`,
	"echo":      `<"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"user_message","messageId":"m1","content":[{"type":"text","text":"Hello"}]}}`,
	"running":   `<"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"state_update","state":"running"}}`,
	"action":    `<"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"state_update","state":"requires_action"}}`,
	"said 2":    `<"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","messageId":"m2","content":{"type":"text","text":"Hi"}}}`,
	"idle":      `<"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}}`,
	"idle only": `<"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"state_update","state":"idle"}}`,
	"closed": `
		>"id":9,"method":"session/close","params":{"sessionId":"s1"}
		<"id":9,"result":{}`,
	"listed": `
		>"id":10,"method":"session/list","params":{}
		<"id":10,"result":{"sessions":[]}`,
}

const (
	small = `{"id":"model","name":"Model","type":"select","currentValue":"small","options":[{"value":"small","name":"Small"},{"value":"large","name":"Large"}]}`
	large = `{"id":"model","name":"Model","type":"select","currentValue":"large","options":[{"value":"small","name":"Small"},{"value":"large","name":"Large"}]}`
	deep  = `{"id":"effort","name":"Effort","type":"select","currentValue":"low","options":[{"value":"low","name":"Low"}]}`
	warm  = `{"id":"tone","name":"Tone","type":"select","currentValue":"warm","options":[{"value":"warm","name":"Warm"}]}`
	mode  = `{"id":"mode","name":"Mode","category":"mode","type":"select","currentValue":"ask","options":[{"value":"ask","name":"Ask"},{"value":"code","name":"Code"}]}`
	modes = `{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":"code","name":"Code"}]}`
)

func update(session, members string) string {
	return `<"method":"session/update","params":{"sessionId":"` + session + `","update":{` + members + "}}\n"
}

// Conforming peers break no rule about sessions, and nor does what a capture
// leaves open. Some rules find what is only odd.
func TestSessionsAreJudgedByWhatTheCaptureProves(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, breaks string }{
		{"an update precedes the answer that introduces its session", "hello 1\n" +
			`>"id":1,"method":"session/new","params":{"cwd":"/repo","mcpServers":[]}` + "\ncommands\n" +
			`<"id":1,"result":{"sessionId":"s1"}`, ""},
		{"the capture ends before the session is introduced", "hello 1\n" +
			`>"id":1,"method":"session/new","params":{"cwd":"/repo","mcpServers":[]}` + "\ncommands", ""},
		{"a session that is not open gets a title", "hello 1\nlisted\n" +
			update("s7", `"sessionUpdate":"session_info_update","title":"Old"`), ""},
		{"the agent asks for a session that it is creating", "hello 1\n" +
			`>"id":1,"method":"session/new","params":{"cwd":"/repo","mcpServers":[]}
			<"id":100,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t"},"options":[]}
			>"id":100,"result":{"outcome":{"outcome":"cancelled"}}
			<"id":1,"result":{"sessionId":"s1"}`, ""},
		{"a session of the agent's own is announced", "hello 1\nnew s1\n" +
			update("s1", `"sessionUpdate":"subagent_update","sessionId":"child"`) +
			update("child", `"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hi"}`) +
			`<"id":100,"method":"session/request_permission","params":{"sessionId":"child","toolCall":{"toolCallId":"t"},"options":[]}`, ""},
		{"a session of the agent's own is announced late", "hello 1\nnew s1\n" +
			update("child", `"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hi"}`) +
			update("s1", `"sessionUpdate":"subagent_update","sessionId":"child"`), ""},
		{"the agent greets after a load", "hello 1\n" +
			`>"id":1,"method":"session/load","params":{"sessionId":"s1","cwd":"/repo","mcpServers":[]}
			<"id":1,"result":{}
			commands
			said 1`, ""},
		{"a load of a session whose turn runs", "hello 1\nnew s1\nprompt 1\nsaid 1\n" +
			`>"id":3,"method":"session/load","params":{"sessionId":"s1","cwd":"/repo","mcpServers":[]}` + "\n" +
			update("s1", `"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"Hello"}`) +
			`<"id":3,"result":{}
			said 1
			done 1`, ""},
		{"a load that fails", "hello 1\n" +
			`>"id":1,"method":"session/load","params":{"sessionId":"s1","cwd":"/repo","mcpServers":[]}` + "\n" +
			update("s1", `"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"Hello"}`) +
			`<"id":1,"error":{"code":-32603,"message":"Broken"}`, ""},
		{"a resume that comes with modes", "hello 1\n" +
			`>"id":1,"method":"session/resume","params":{"sessionId":"s1","cwd":"/repo","mcpServers":[]}
			commands
			<"id":1,"result":{}`, ""},
		{"a greeting before a resume is answered", "hello 1\n" +
			`>"id":1,"method":"session/resume","params":{"sessionId":"s1","cwd":"/repo"}
			said 1
			<"id":1,"result":{}`, "warn SES14"},
		{"work ended by itself when the session was closed", "hello 1\nnew s1\nprompt 1\nsaid 1\n" +
			`>"id":9,"method":"session/close","params":{"sessionId":"s1"}
			done 1
			<"id":9,"result":{}`, ""},
		{"work that a close ended succeeds much later", "hello 1\nnew s1\nprompt 1\nsaid 1\n" +
			`>"id":9,"method":"session/close","params":{"sessionId":"s1"}
			+2000
			done 1
			<"id":9,"result":{}`, "error SES19"},
		{"work that a close ended never ends", "hello 1\nnew s1\nprompt 1\nsaid 1\nclosed\n+60000\nlisted", "error SES19"},
		{"work that a close ended may still end", "hello 1\nnew s1\nprompt 1\nsaid 1\nclosed\nlisted", ""},
		{"a deleted session is used: what happens is up to the agent", "hello 1\nnew s1\n" +
			`>"id":9,"method":"session/delete","params":{"sessionId":"s1"}
			<"id":9,"result":{}
			prompt 1
			said 1
			done 1`, "warn SES21"},
		{"a closed session is loaded again", "hello 1\nnew s1\nclosed\n" +
			`>"id":3,"method":"session/load","params":{"sessionId":"s1","cwd":"/repo","mcpServers":[]}
			<"id":100,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t"},"options":[]}
			prompt 1
			<"id":3,"result":{}`, ""},
		{"the agent asks about a closed session", "hello 1\nnew s1\nclosed\n" +
			`<"id":100,"method":"fs/read_text_file","params":{"sessionId":"s1","path":"/repo/a"}`, "error SES06"},
		{"an agent without HTTP is given no MCP servers", strings.Replace(phrases["hello 1"], `"http":true`, "", 1) + "\nnew s1", ""},
		{"an agent without HTTP is given MCP servers twice", strings.Replace(phrases["hello 1"], `"http":true`, "", 1) + `
			>"id":1,"method":"session/new","params":{"cwd":"/repo","mcpServers":[{"name":"x","command":"/bin/x","args":[],"env":[]},{"name":"y","command":"/bin/y","args":[],"env":[]}]}
			<"id":1,"result":{"sessionId":"s1"}
			>"id":2,"method":"session/new","params":{"cwd":"/repo","mcpServers":[{"name":"x","command":"/bin/x","args":[],"env":[]}]}
			<"id":2,"result":{"sessionId":"s2"}`, "info SES31"},
		{"paths of Windows", "hello 1\n" +
			`>"id":1,"method":"session/new","params":{"cwd":"C:\\work","additionalDirectories":["d:/lib","\\\\server\\share"],"mcpServers":[{"name":"x","command":"C:\\bin\\x.exe","args":[],"env":[]}]}
			<"id":1,"result":{"sessionId":"s1"}` + "\n" +
			update("s1", `"sessionUpdate":"tool_call","toolCallId":"t","title":"Read","kind":"read","status":"pending","locations":[{"path":"c:\\Work\\a.txt"},{"path":"D:\\lib\\b"}]`) +
			update("s1", `"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed"`), ""},
		{"the user allowed a file elsewhere", "hello 1\n" +
			`>"id":1,"method":"session/new","params":{"cwd":"/repo","additionalDirectories":["/lib"],"mcpServers":[]}
			<"id":1,"result":{"sessionId":"s1"}` + "\n" +
			update("s1", `"sessionUpdate":"tool_call","toolCallId":"t","title":"Read","kind":"read","status":"pending","locations":[{"path":"/etc/hosts"}]`) +
			`<"id":100,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}
			>"id":100,"result":{"outcome":{"outcome":"selected","optionId":"y"}}` + "\n" +
			update("s1", `"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed"`), ""},
		{"no directories are wanted any more", "hello 1\n" +
			`>"id":1,"method":"session/new","params":{"cwd":"/repo","additionalDirectories":["/lib"],"mcpServers":[]}
			<"id":1,"result":{"sessionId":"s1"}
			closed
			>"id":3,"method":"session/resume","params":{"sessionId":"s1","cwd":"/repo","additionalDirectories":[],"mcpServers":[]}
			<"id":3,"result":{}`, ""},
		{"an empty list of directories for any agent", strings.Replace(phrases["hello 1"], `,"additionalDirectories":{}`, "", 1) + "\n" +
			`>"id":1,"method":"session/new","params":{"cwd":"/repo","additionalDirectories":[],"mcpServers":[]}
			<"id":1,"result":{"sessionId":"s1"}`, ""},
		{"the last page is asked for again after a new beginning", "hello 1\n" +
			`>"id":1,"method":"session/list","params":{}
			<"id":1,"result":{"sessions":[],"nextCursor":"a"}
			>"id":2,"method":"session/list","params":{"cursor":"a"}
			<"id":2,"result":{"sessions":[]}
			>"id":3,"method":"session/list","params":{}
			<"id":3,"result":{"sessions":[],"nextCursor":"a"}
			>"id":4,"method":"session/list","params":{"cursor":"a"}
			<"id":4,"result":{"sessions":[]}`, ""},
		{"a cursor of another connection that is still valid", "hello 1\n" +
			`>"id":1,"method":"session/list","params":{}
			<"id":1,"result":{"sessions":[{"sessionId":"a","cwd":"/repo"}],"nextCursor":"1"}
			>"id":2,"method":"session/list","params":{"cursor":"2"}
			<"id":2,"result":{"sessions":[{"sessionId":"c","cwd":"/repo"}]}`, "error LST03"},
		{"a time without a zone, which is ISO 8601", "hello 1\n" +
			`>"id":1,"method":"session/list","params":{}
			<"id":1,"result":{"sessions":[{"sessionId":"a","cwd":"/repo","updatedAt":"2026-08-01T10:00:00"}]}`, ""},
		{"the version is not known: a time that version 1 allows",
			`>"id":1,"method":"session/list","params":{}
			<"id":1,"result":{"sessions":[{"sessionId":"a","cwd":"/repo","updatedAt":"2026-08-01T10:00:00"}]}`, ""},
		{"the version is not known: an error that version 2 allows",
			`>"id":1,"method":"session/delete","params":{"sessionId":"a"}
			<"id":1,"error":{"code":-32002,"message":"No such session"}`, ""},
		{"modes without a mode", "hello 1\n" +
			`>"id":1,"method":"session/load","params":{"sessionId":"s1","cwd":"/repo","mcpServers":[]}
			<"id":1,"result":{"modes":{"currentModeId":"","availableModes":[]}}`, "error MOD01"},
		{"the folder has another name on macOS, and a slash", "hello 1\n" +
			`>"id":1,"method":"session/list","params":{"cwd":"/tmp/x/"}
			<"id":1,"result":{"sessions":[{"sessionId":"a","cwd":"/private/tmp/x"}]}`, ""},
		{"a session was listed before it was deleted", "hello 1\n" +
			`>"id":1,"method":"session/list","params":{}
			>"id":2,"method":"session/delete","params":{"sessionId":"a"}
			<"id":2,"result":{}
			<"id":1,"result":{"sessions":[{"sessionId":"a","cwd":"/repo"}]}`, ""},
		{"a deleted session is loaded, and listed", "hello 1\n" +
			`>"id":2,"method":"session/delete","params":{"sessionId":"s1"}
			<"id":2,"result":{}
			>"id":3,"method":"session/load","params":{"sessionId":"s1","cwd":"/repo","mcpServers":[]}
			<"id":3,"result":{}
			>"id":4,"method":"session/list","params":{}
			<"id":4,"result":{"sessions":[{"sessionId":"s1","cwd":"/repo"}]}`, ""},
		{"an option is set while the options change", "hello 1\n" +
			`>"id":1,"method":"session/new","params":{"cwd":"/repo","mcpServers":[]}
			<"id":1,"result":{"sessionId":"s1","configOptions":[` + small + "," + deep + `]}` + "\n" +
			update("s1", `"sessionUpdate":"config_option_update","configOptions":[`+small+`,`+warm+`]`) +
			`>"id":2,"method":"session/set_config_option","params":{"sessionId":"s1","configId":"effort","value":"low"}
			<"id":2,"error":{"code":-32602,"message":"Gone"}`, ""},
		{"an option is set long after it went", "hello 1\n" +
			`>"id":1,"method":"session/new","params":{"cwd":"/repo","mcpServers":[]}
			<"id":1,"result":{"sessionId":"s1","configOptions":[` + small + "," + deep + `]}` + "\n" +
			update("s1", `"sessionUpdate":"config_option_update","configOptions":[`+small+`,`+warm+`]`) +
			`+5000
			>"id":2,"method":"session/set_config_option","params":{"sessionId":"s1","configId":"effort","value":"low"}
			<"id":2,"error":{"code":-32602,"message":"Gone"}`, "error CFG03"},
		{"an option goes with the value of another one", "hello 1\n" +
			`>"id":1,"method":"session/new","params":{"cwd":"/repo","mcpServers":[]}
			<"id":1,"result":{"sessionId":"s1","configOptions":[` + small + "," + deep + "," + warm + `]}
			>"id":2,"method":"session/set_config_option","params":{"sessionId":"s1","configId":"model","value":"large"}
			<"id":2,"result":{"configOptions":[` + large + "," + warm + `]}`, ""},
		{"the only other option goes", "hello 1\n" +
			`>"id":1,"method":"session/new","params":{"cwd":"/repo","mcpServers":[]}
			<"id":1,"result":{"sessionId":"s1","configOptions":[` + small + "," + deep + `]}
			>"id":2,"method":"session/set_config_option","params":{"sessionId":"s1","configId":"model","value":"large"}
			<"id":2,"result":{"configOptions":[` + large + `]}`, "warn CFG04"},
		{"an option is set twice at once", "hello 1\n" +
			`>"id":1,"method":"session/new","params":{"cwd":"/repo","mcpServers":[]}
			<"id":1,"result":{"sessionId":"s1","configOptions":[` + small + `]}
			>"id":2,"method":"session/set_config_option","params":{"sessionId":"s1","configId":"model","value":"large"}
			>"id":3,"method":"session/set_config_option","params":{"sessionId":"s1","configId":"model","value":"small"}
			<"id":2,"result":{"configOptions":[` + small + `]}
			<"id":3,"result":{"configOptions":[` + small + `]}`, ""},
		{"a client that knows only modes", "hello 1\n" +
			`>"id":1,"method":"session/new","params":{"cwd":"/repo","mcpServers":[]}
			<"id":1,"result":{"sessionId":"s1","modes":` + modes + `,"configOptions":[` + mode + `]}
			>"id":2,"method":"session/set_mode","params":{"sessionId":"s1","modeId":"code"}` + "\n" +
			update("s1", `"sessionUpdate":"config_option_update","configOptions":[`+strings.Replace(mode, `"currentValue":"ask"`, `"currentValue":"code"`, 1)+`]`) +
			`<"id":2,"result":{}`, ""},
		{"a session is loaded again, and its offers are left out", "hello 1\n" +
			`>"id":1,"method":"session/new","params":{"cwd":"/repo","mcpServers":[]}
			<"id":1,"result":{"sessionId":"s1","modes":` + modes + `,"configOptions":[` + mode + `]}
			>"id":3,"method":"session/load","params":{"sessionId":"s1","cwd":"/repo","mcpServers":[]}
			<"id":3,"result":{}
			>"id":4,"method":"session/set_config_option","params":{"sessionId":"s1","configId":"mode","value":"ask"}
			<"id":4,"result":{"configOptions":[` + mode + `]}`, ""},
		{"a session was loaded, and its offers are not known", "hello 1\n" +
			`>"id":3,"method":"session/load","params":{"sessionId":"s1","cwd":"/repo","mcpServers":[]}
			<"id":3,"result":{}
			>"id":4,"method":"session/set_mode","params":{"sessionId":"s1","modeId":"ask"}
			<"id":4,"result":{}
			>"id":5,"method":"session/set_config_option","params":{"sessionId":"s1","configId":"mode","value":"ask"}
			<"id":5,"result":{"configOptions":[` + mode + `]}`, ""},
		{"a plan gets shorter as it is done", "hello 1\nnew s1\nprompt 1\n" +
			update("s1", `"sessionUpdate":"plan","entries":[{"content":"a","priority":"low","status":"in_progress"},{"content":"b","priority":"low","status":"pending"}]`) +
			update("s1", `"sessionUpdate":"plan","entries":[{"content":"b","priority":"low","status":"pending"}]`) +
			update("s1", `"sessionUpdate":"plan","entries":[]`) + "done 1", ""},

		{"a prompt that joins work in progress", "hello 2\nnew s1\nprompt 1\naccepted\necho\nrunning\nsaid 2\n" +
			`>"id":3,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"And this"}]}
			<"id":3,"result":{"messageId":"m3"}
			idle
			running` + "\n" +
			update("s1", `"sessionUpdate":"user_message","messageId":"m3","content":[{"type":"text","text":"And this"}]`) + "idle", ""},
		{"idle is said twice", "hello 2\nnew s1\nidle only\nprompt 1\naccepted\necho\nrunning\nsaid 2\nidle\nidle", ""},
		{"a command that needs no model", "hello 2\nnew s1\nprompt 1\naccepted\necho\nidle", ""},
		{"the echo precedes the answer", "hello 2\nnew s1\nprompt 1\necho\nrunning\naccepted\nsaid 2\nidle", ""},
		{"the answer comes last of all", "hello 2\nnew s1\nprompt 1\necho\nrunning\nsaid 2\nidle\naccepted", ""},
		{"a command that needs no model, while work goes on in the background", "hello 2\nnew s1\nprompt 1\naccepted\necho\n" +
			update("s1", `"sessionUpdate":"tool_call_update","toolCallId":"t","title":"Build","status":"in_progress"`) + "idle", ""},
		{"a thought has the id of its message", "hello 2\nnew s1\nprompt 1\naccepted\necho\nrunning\n" +
			update("s1", `"sessionUpdate":"agent_thought_chunk","messageId":"m2","content":{"type":"text","text":"Hm"}`) + "said 2\nidle", "warn MSG02"},
		{"a prompt is not accepted", "hello 2\nnew s1\nprompt 1\n" +
			`<"id":2,"error":{"code":-32603,"message":"No model"}` + "\n" +
			update("s1", `"sessionUpdate":"state_update","state":"idle","stopReason":"error","error":{"code":-32603,"message":"No model"}`), ""},
		{"a prompt fails while another client writes", "hello 2\nnew s1\nprompt 1\n" +
			update("s1", `"sessionUpdate":"user_message","messageId":"x","content":[{"type":"text","text":"Something else"}]`) +
			`<"id":2,"error":{"code":-32603,"message":"No model"}`, ""},
		{"a long turn", "hello 2\nnew s1\nprompt 1\naccepted\necho\nrunning\n" +
			update("s1", `"sessionUpdate":"tool_call_update","toolCallId":"t","title":"Build","status":"in_progress"`) + "+600000\nlisted", ""},
		{"a session at work is reopened", "hello 2\n" +
			`>"id":1,"method":"session/resume","params":{"sessionId":"s1","cwd":"/repo"}
			running
			said 2
			<"id":1,"result":{}
			said 2`, ""},
		{"a closed session is replayed", "hello 2\nnew s1\nprompt 1\naccepted\necho\nrunning\nsaid 2\nidle\nclosed\n" +
			`>"id":3,"method":"session/resume","params":{"sessionId":"s1","cwd":"/repo/","replayFrom":{"type":"start"}}
			echo
			said 2
			idle only
			<"id":3,"result":{}`, ""},
		{"somebody else writes after a resume", "hello 2\n" +
			`>"id":3,"method":"session/resume","params":{"sessionId":"s1","cwd":"/repo","replayFrom":{"type":"start"}}
			idle only
			<"id":3,"result":{}
			echo`, "warn SES15"},
		{"work comes back to the foreground", "hello 2\nnew s1\nprompt 1\naccepted\necho\nrunning\n" +
			update("s1", `"sessionUpdate":"tool_call_update","toolCallId":"t","title":"Build","status":"in_progress"`) +
			update("s1", `"sessionUpdate":"state_update","state":"running","background":[{"type":"tool_call","toolCallId":"t"}]`) +
			update("s1", `"sessionUpdate":"state_update","state":"running","background":[]`), ""},
		{"background work of a session that was reopened", "hello 2\n" +
			`>"id":1,"method":"session/resume","params":{"sessionId":"s1","cwd":"/repo"}` + "\n" +
			update("s1", `"sessionUpdate":"state_update","state":"idle","background":[{"type":"terminal","terminalId":"x"},{"type":"_cron","id":"y"}]`) +
			`<"id":1,"result":{}`, ""},
		{"a question that is answered at once", "hello 2\nnew s1\nprompt 1\naccepted\necho\nrunning\n" +
			`<"id":100,"method":"session/request_permission","params":{"sessionId":"s1","title":"Run?","options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}
			>"id":100,"result":{"outcome":{"outcome":"selected","optionId":"y"}}
			said 2
			idle`, ""},
		{"a question, after which the work goes on unannounced", "hello 2\nnew s1\nprompt 1\naccepted\necho\nrunning\n" +
			`<"id":100,"method":"session/request_permission","params":{"sessionId":"s1","title":"Run?","options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}
			action
			+3000
			>"id":100,"result":{"outcome":{"outcome":"selected","optionId":"y"}}
			+1000
			said 2
			idle`, "warn STA08"},
		{"extensions", "hello 2\n" +
			`>"id":1,"method":"session/new","params":{"cwd":"/repo","mcpServers":[{"type":"_pipe","name":"x"}]}
			<"id":1,"result":{"sessionId":"s1","configOptions":[{"configId":"x","name":"X","type":"_slider","category":"_x"}],"availableCommands":[{"type":"command","name":"x","description":"X","input":{"type":"_form"}}]}` + "\n" +
			update("s1", `"sessionUpdate":"plan_update","plan":{"type":"_tree","planId":"p","entries":[{"content":"a","priority":"_now","status":"_blocked"}]}`) +
			update("s1", `"sessionUpdate":"state_update","state":"idle","stopReason":"_lunch"`), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, times := range []bool{true, false} {
				l := strict()
				for _, r := range script(t, times, c.text) {
					l.Add(r)
				}
				got := about(l.Report())
				if times && strings.Join(got, " ") != c.breaks || !times && !subset(got, c.breaks) {
					t.Errorf("times %v: %q, want %q", times, got, c.breaks)
				}
			}
		})
	}
}

// about lists the findings about sessions and what belongs to them.
func about(r *lint.Report) (list []string) {
	for _, v := range r.Verdicts {
		if !slices.Contains([]string{"SES", "LST", "DEL", "STA", "MSG", "CFG", "MOD", "CMD", "PLN"}, v.Rule.Area()) {
			continue
		}
		for _, f := range v.Findings {
			list = append(list, f.Severity.String()+" "+v.Rule.ID)
		}
	}
	return list
}

func subset(list []string, of string) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return s != of })
}

// A side that answers that it does not know the session has not looked at the rest of the
// request: the rules about that are neither broken nor kept.
func TestAnErrorAboutTheSessionSaysNothingAboutTheRequest(t *testing.T) {
	t.Parallel()
	missing := []string{
		`"message":"Session not found"`, `"message":"Session not found: s1"`, `"message":"session s1 not found"`, `"message":"Session \"s1\" was not found."`,
		`"message":"Unknown session s1"`, `"message":"unknown sessionId: s1"`, `"message":"No such session"`, `"message":"Invalid session ID"`,
		`"message":"session/prompt: there is no session s1"`, `"message":"A session with id s1 does not exist"`, `"message":"The session has expired"`,
		`"message":"Internal error","data":{"details":"Session s1 not found"}`, `"message":"Invalid params","data":"session_not_found"`,
		`"message":"Invalid params","data":{"sessionId":"s1"}`,
	}
	other := []string{
		`"message":"Invalid params"`, `"message":"session/prompt: not supported"`, `"message":"session/prompt: unknown type"`, `"message":"Session s1 does not take this"`,
		`"message":"invalid session/prompt: the content is not found"`, `"message":"no","data":{"sessionId":"s2"}`,
	}
	answered := regexp.MustCompile(`"error":\{"code":(-?\d+),.*\}\}\}`)
	for _, id := range []string{"INI18", "CNT08", "CFG13", "ELI18", "RPC26"} {
		capture := lint.Example(id, false)
		if !answered.Match(capture) {
			t.Fatalf("%s: its example has no error", id)
		}
		judged := func(code, says string) *lint.Verdict {
			text := answered.ReplaceAll(capture, []byte(`"error":{"code":`+code+`,`+says+`}}}`))
			return outcome(judge(t, text, options(id)), id)
		}
		for _, says := range missing {
			for _, code := range []string{"$1", "-32602"} {
				if v := judged(code, says); v.Failed > 0 || v.Exercised > 0 {
					t.Errorf("%s: the error %s (%s): failed %d times, exercised %d times", id, says, code, v.Failed, v.Exercised)
				}
			}
		}
		for _, says := range other {
			if v := judged("$1", says); v.Failed == 0 && id != "CNT08" { // whose error has to be about the content
				t.Errorf("%s: the error %s is not found", id, says)
			}
		}
	}
}
