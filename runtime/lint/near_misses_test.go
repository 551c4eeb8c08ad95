package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// A nearMiss is a conversation at the edge of the protocol.
type nearMiss struct {
	name, text string
	// breaks are the errors that are true, as "RULE side", in the order of the catalogue.
	breaks string
}

// The phrases of nearMisses.
const (
	edgeAbilities = `{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"session":{"configOptions":{"boolean":{}}},"elicitation":{"form":{},"url":{}}}`
	edges         = `
		>"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":` + edgeAbilities + `,"clientInfo":{"name":"editor","version":"1"}}
		+400
		<"id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true,"audio":true,"embeddedContext":true},"mcpCapabilities":{"http":true,"sse":true},"sessionCapabilities":{"list":{},"resume":{},"close":{},"delete":{},"additionalDirectories":{}},"auth":{"logout":{}}},"agentInfo":{"name":"agent","version":"1"}}
		+400
		`
	begun    = edges + "new s1\n+400\n"
	work     = begun + "prompt 1\n+400\n"
	over     = "\n+400\ndone 1\n"
	stopped  = "\n+400\n" + `<"id":2,"result":{"stopReason":"cancelled"}` + "\n"
	cancel   = `>"method":"session/cancel","params":{"sessionId":"s1"}` + "\n"
	question = `<"id":0,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t","title":"Remove","kind":"edit","status":"pending"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}` + "\n+400\n"
	shell    = `
		<"id":0,"method":"terminal/create","params":{"sessionId":"s1","command":"ls"}
		+400
		>"id":0,"result":{"terminalId":"x"}
		+400
		`
	exited = `
		<"id":1,"method":"terminal/wait_for_exit","params":{"sessionId":"s1","terminalId":"x"}
		+400
		>"id":1,"result":{"exitCode":0}
		+400
		`
	release = `
		<"id":3,"method":"terminal/release","params":{"sessionId":"s1","terminalId":"x"}
		+400
		>"id":3,"result":{}
		`
)

func say(members string) string { return update("s1", members) + "+400\n" }

func ask(id int, method, params string) string {
	return fmt.Sprintf(`>"id":%d,"method":"%s","params":%s`, id, method, params) + "\n+400\n"
}

func answer(id int, result string) string {
	return fmt.Sprintf(`<"id":%d,"result":%s`, id, result) + "\n+400\n"
}

func want(id int, method, params string) string {
	return fmt.Sprintf(`<"id":%d,"method":"%s","params":%s`, id, method, params) + "\n+400\n"
}

func give(id int, result string) string {
	return fmt.Sprintf(`>"id":%d,"result":%s`, id, result) + "\n+400\n"
}

var nearMisses = []nearMiss{
	// JSON-RPC.
	{"an id is escaped in the answer", begun + `>"id":"a","method":"session/list","params":{}` + "\n+400\n" + `<"id":"\u0061","result":{"sessions":[]}`, ""},
	{"an integer is written with a fraction of zero in the answer", begun + ask(7, "session/list", `{}`) + `<"id":7.0,"result":{"sessions":[]}`, ""},
	{"an id is larger than doubles are exact", begun + `>"id":9007199254740993,"method":"session/list","params":{}` + "\n+400\n" + `<"id":9007199254740993,"result":{"sessions":[]}`, ""},
	{"params are left out", begun + `>"id":9,"method":"session/list"` + "\n+400\n" + answer(9, `{"sessions":[]}`), ""},
	{"a request of an extension has a list of params", begun + ask(9, "_vendor/ping", `[1,2]`) + answer(9, `5`), ""},
	{"a request of an extension has no params and the result null", begun + `>"id":9,"method":"_vendor/ping"` + "\n+400\n" + answer(9, `null`), ""},
	{"a notification of an extension", begun + `<"method":"_vendor/note","params":{}`, ""},
	{"white space around a message, and a carriage return", begun + `>"id":"z","method":"session/list","params":{}` + "\r\n+400\n" + `< "id" : "z" ,` + "\t" + `"result":{"sessions":[]} `, ""},
	{"a request has a string, and another one the number in it", begun + `>"id":"9","method":"session/list","params":{}` + "\n" + ask(9, "session/list", `{}`) + answer(9, `{"sessions":[]}`) + `<"id":"9","result":{"sessions":[]}`, ""},
	{"an error answers what cannot be read, with the id null", begun + `>"id":{},"method":"session/list"` + "\n+400\n" + `<"id":null,"error":{"code":-32600,"message":"no id"}`, "RPC02 client"},
	{"a result has the id null", work + `<"id":null,"result":{}` + "\n+400\n" + over, "RPC06 agent"},
	{"the id of a request is null", begun + `>"id":null,"method":"session/list","params":{}` + "\n+400\n" + `<"id":null,"result":{"sessions":[]}`, ""},
	{"a method of an old draft", begun + ask(9, "session/set_model", `{"sessionId":"s1","modelId":"m"}`) + answer(9, `{}`), ""},

	// The beginning.
	{"the capabilities of the client are null", strings.Replace(begun, edgeAbilities, `null`, 1), "RPC21 client"},
	{"the agent has only an older version", strings.Replace(begun, `"protocolVersion":1,"clientCapabilities"`, `"protocolVersion":7,"clientCapabilities"`, 1), ""},
	{"initialize is sent twice", begun + ask(5, "initialize", `{"protocolVersion":1}`) + answer(5, `{"protocolVersion":1}`) + "prompt 1" + over, ""},
	{"the login is another one than those on offer", begun + ask(5, "authenticate", `{"methodId":"m"}`) + `<"id":5,"error":{"code":-32000,"message":"no"}`, "AUT01 client"},
	{"a new session is refused after the logout", begun + ask(5, "logout", `{}`) + answer(5, `{}`) + ask(6, "session/new", `{"cwd":"/repo","mcpServers":[]}`) + `<"id":6,"error":{"code":-32000,"message":"log in"}`, ""},
	{"a request is answered before initialize", ask(0, "session/new", `{"cwd":"/repo","mcpServers":[]}`) + answer(0, `{"sessionId":"s1"}`) +
		ask(1, "initialize", `{"protocolVersion":1,"clientCapabilities":{},"clientInfo":{"name":"e","version":"1"}}`) + answer(1, `{"protocolVersion":1,"agentInfo":{"name":"a","version":"1"}}`), "INI01 client"},
	{"a capture begins in the middle, and another connection follows", ask(5, "session/new", `{"cwd":"/repo","mcpServers":[]}`) + answer(5, `{"sessionId":"s0"}`) + begun, ""},
	{"a capture begins after initialize, which is sent again", ask(1, "session/new", `{"cwd":"/repo","mcpServers":[]}`) + answer(1, `{"sessionId":"s1"}`) +
		ask(2, "initialize", `{"protocolVersion":1,"clientCapabilities":{},"clientInfo":{"name":"e","version":"1"}}`) + answer(2, `{"protocolVersion":1,"agentInfo":{"name":"a","version":"1"}}`), ""},

	// Sessions.
	{"two sessions work at a time", begun + ask(5, "session/new", `{"cwd":"/b","mcpServers":[]}`) + answer(5, `{"sessionId":"s2"}`) + "prompt 1\n" +
		ask(6, "session/prompt", `{"sessionId":"s2","prompt":[{"type":"text","text":"x"}]}`) + update("s2", `"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"b"}`) + "said 1" + over + answer(6, `{"stopReason":"end_turn"}`), ""},
	{"a folder of Windows", strings.Replace(begun, `"cwd":"/repo"`, `"cwd":"C:\\Users\\x"`, 1), ""},
	{"a share of Windows", edges + ask(1, "session/new", `{"cwd":"\\\\host\\share","mcpServers":[]}`) + answer(1, `{"sessionId":"s1"}`), ""},
	{"a load replays what there was, and a tool call of it fails later", begun + ask(5, "session/load", `{"sessionId":"old","cwd":"/repo","mcpServers":[]}`) +
		update("old", `"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"x"}`) +
		update("old", `"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}`) +
		update("old", `"sessionUpdate":"tool_call","toolCallId":"z","title":"Z","status":"completed"`) +
		update("old", `"sessionUpdate":"plan","entries":[]`) + answer(5, `null`) +
		ask(6, "session/prompt", `{"sessionId":"old","prompt":[{"type":"text","text":"x"}]}`) +
		update("old", `"sessionUpdate":"tool_call_update","toolCallId":"z","status":"failed"`) + answer(6, `{"stopReason":"end_turn"}`), ""},
	{"a tool call of a loaded session was never introduced", begun + ask(5, "session/load", `{"sessionId":"old","cwd":"/repo","mcpServers":[]}`) + answer(5, `{}`) +
		ask(6, "session/prompt", `{"sessionId":"old","prompt":[{"type":"text","text":"x"}]}`) +
		update("old", `"sessionUpdate":"tool_call_update","toolCallId":"z","status":"completed"`) + answer(6, `{"stopReason":"end_turn"}`), ""},
	{"a resume announces commands", begun + ask(5, "session/resume", `{"sessionId":"old","cwd":"/repo","mcpServers":[]}`) +
		update("old", `"sessionUpdate":"available_commands_update","availableCommands":[]`) + answer(5, `{}`), ""},
	{"updates of a session that does nothing", begun + say(`"sessionUpdate":"available_commands_update","availableCommands":[{"name":"x","description":"d"}]`) +
		say(`"sessionUpdate":"session_info_update","title":"t"`) + say(`"sessionUpdate":"usage_update","used":1,"size":2`) + say(`"sessionUpdate":"current_mode_update","currentModeId":"zzz"`), ""},
	{"servers of all three kinds", begun + ask(5, "session/new", `{"cwd":"/repo","mcpServers":[{"type":"http","name":"n","url":"https://x","headers":[]},{"name":"s","command":"/bin/x","args":[],"env":[]},{"type":"sse","name":"m","url":"https://y","headers":[{"name":"a","value":"b"}]}]}`) + answer(5, `{"sessionId":"s2"}`), ""},
	{"a session is updated before it is introduced", edges + `>"id":1,"method":"session/new","params":{"cwd":"/repo","mcpServers":[]}` + "\n+400\ncommands\n+400\n" + answer(1, `{"sessionId":"s1"}`), ""},
	{"a session that never was is deleted", begun + ask(5, "session/delete", `{"sessionId":"never"}`) + answer(5, `{}`), ""},
	{"a list has nulls", begun + ask(5, "session/list", `{"cwd":"/repo","cursor":null}`) + answer(5, `{"sessions":[{"sessionId":"a","cwd":"/repo","title":null,"updatedAt":"2026-01-02T03:04:05Z"}],"nextCursor":null}`) +
		ask(6, "session/list", `{}`) + answer(6, `{"sessions":[]}`), ""},
	{"a session is closed during its turn", work + ask(3, "session/close", `{"sessionId":"s1"}`) + `<"id":2,"result":{"stopReason":"cancelled"}` + "\n+400\n" + answer(3, `{}`), ""},
	{"a turn ends right after its session was closed", work + ask(3, "session/close", `{"sessionId":"s1"}`) + `<"id":3,"result":{}` + "\n+50\n" + `<"id":2,"result":{"stopReason":"cancelled"}`, ""},
	{"a file is in an additional directory", begun + ask(5, "session/new", `{"cwd":"/repo","mcpServers":[],"additionalDirectories":["/more"]}`) + answer(5, `{"sessionId":"s2"}`) +
		ask(6, "session/prompt", `{"sessionId":"s2","prompt":[{"type":"text","text":"x"}]}`) + want(1, "fs/read_text_file", `{"sessionId":"s2","path":"/more/a"}`) + give(1, `{"content":""}`) + answer(6, `{"stopReason":"end_turn"}`), ""},
	{"a mode is set during a turn", edges + ask(1, "session/new", `{"cwd":"/repo","mcpServers":[]}`) + answer(1, `{"sessionId":"s1","modes":`+modes+`}`) + "prompt 1\n" +
		ask(5, "session/set_mode", `{"sessionId":"s1","modeId":"code"}`) + answer(5, `{}`) + say(`"sessionUpdate":"current_mode_update","currentModeId":"code"`) + over, ""},
	{"an option is set that is in a group", edges + ask(1, "session/new", `{"cwd":"/repo","mcpServers":[]}`) + answer(1, `{"sessionId":"s1","configOptions":[{"id":"m","name":"M","type":"select","category":"model","currentValue":"b","options":[{"group":"g","name":"G","options":[{"value":"a","name":"A"},{"value":"b","name":"B"}]}]}]}`) +
		ask(5, "session/set_config_option", `{"sessionId":"s1","configId":"m","value":"a"}`) +
		answer(5, `{"configOptions":[{"id":"m","name":"M","type":"select","category":"model","currentValue":"a","options":[{"group":"g","name":"G","options":[{"value":"a","name":"A"},{"value":"b","name":"B"}]}]}]}`), ""},
	{"a value was on offer until a moment ago", optioned + strings.TrimSuffix(say(`"sessionUpdate":"config_option_update","configOptions":[`+small+`]`), "+400\n") + setTone, ""},
	{"a value was on offer two changes ago", optioned + strings.TrimSuffix(say(`"sessionUpdate":"config_option_update","configOptions":[`+small+`,`+deep+`]`), "+400\n") +
		strings.TrimSuffix(say(`"sessionUpdate":"config_option_update","configOptions":[`+small+`]`), "+400\n") + setTone, ""},
	{"a value that nobody offered is set while the options change", optioned + strings.TrimSuffix(say(`"sessionUpdate":"config_option_update","configOptions":[`+small+`]`), "+400\n") + strings.Replace(setTone, `"warm"`, `"cold"`, 1), "CFG03 client"},
	{"all options but one go", optioned + say(`"sessionUpdate":"config_option_update","configOptions":[`+small+`]`), ""},

	// Turns.
	{"an empty prompt", begun + ask(2, "session/prompt", `{"sessionId":"s1","prompt":[]}`) + answer(2, `{"stopReason":"end_turn"}`), ""},
	{"a turn with an empty text, which asked the model too often", work + say(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""}`) + answer(2, `{"stopReason":"max_turn_requests"}`), ""},
	{"content of all kinds", work + say(`"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"aGk=","mimeType":"image/png","uri":null}`) +
		say(`"sessionUpdate":"agent_message_chunk","content":{"type":"resource","resource":{"uri":"file:///a","text":"x"}}`) +
		say(`"sessionUpdate":"agent_message_chunk","content":{"type":"resource_link","name":"a","uri":"file:///a","size":3}`) + over, ""},
	{"annotations", work + say(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x","annotations":{"audience":["user"],"priority":0.5,"lastModified":"2026-01-02T03:04:05Z"}}`) + over, ""},
	{"a message goes on after a thought", work + say(`"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"x"}`) +
		say(`"sessionUpdate":"agent_thought_chunk","messageId":"m2","content":{"type":"text","text":"x"}`) + say(`"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"x"}`) + over, ""},
	{"plans without entries and without words", work + say(`"sessionUpdate":"plan","entries":[]`) + say(`"sessionUpdate":"plan","entries":[{"content":"","priority":"low","status":"pending"}]`) + over, ""},
	{"a prompt during a turn", work + ask(3, "session/prompt", `{"sessionId":"s1","prompt":[{"type":"text","text":"x"}]}`) + "said 1" + over + answer(3, `{"stopReason":"end_turn"}`), ""},
	{"nulls where the schema has none", work + say(`"sessionUpdate":"tool_call","toolCallId":"t","title":"T","kind":null,"status":null,"content":null,"locations":null,"rawInput":null,"rawOutput":null,"_meta":null`) + over, "RPC21 agent RPC21 agent RPC21 agent RPC21 agent"},
	{"nulls where the schema has them", work + say(`"sessionUpdate":"tool_call","toolCallId":"t","title":"T"`) + say(`"sessionUpdate":"tool_call_update","toolCallId":"t","title":null,"status":"completed","content":null,"kind":null`) + answer(2, `{"stopReason":"end_turn","_meta":null}`), ""},

	// Cancels.
	{"a cancelled turn says how far it came", work + say(`"sessionUpdate":"tool_call","toolCallId":"t","title":"T","status":"in_progress"`) + cancel + "+400\n" + say(`"sessionUpdate":"tool_call_update","toolCallId":"t","status":"failed"`) + "said 1" + stopped, ""},
	{"a cancel withdraws a question", work + question + cancel + "+400\n" + give(0, `{"outcome":{"outcome":"cancelled"}}`) + stopped, ""},
	{"a cancel while nothing runs", begun + cancel + "+400\nprompt 1" + over, ""},
	{"two cancels", work + cancel + cancel + stopped, ""},
	{"a turn ends as it is cancelled", work + cancel + "done 1", ""},
	{"a prompt is cancelled as a request", work + `>"method":"$/cancel_request","params":{"requestId":2}` + "\n+400\n" + `<"id":2,"error":{"code":-32800,"message":"cancelled"}`, ""},
	{"a prompt is cancelled as a request, and ends as a turn", work + `>"method":"$/cancel_request","params":{"requestId":2}` + stopped, ""},
	{"a cancelled turn ends after the next one", work + cancel + "+400\n" + ask(3, "session/prompt", `{"sessionId":"s1","prompt":[{"type":"text","text":"x"}]}`) + answer(3, `{"stopReason":"end_turn"}`) + stopped, ""},
	{"a cancelled turn has no end yet, and the next one runs", work + cancel + "+400\n" + ask(3, "session/prompt", `{"sessionId":"s1","prompt":[{"type":"text","text":"x"}]}`), ""},
	{"a cancelled turn never ends, and the next one does", work + cancel + "+400\n" + ask(3, "session/prompt", `{"sessionId":"s1","prompt":[{"type":"text","text":"x"}]}`) + answer(3, `{"stopReason":"end_turn"}`), "CAN03 agent"},
	{"a question is open after the cancel, and the session goes on", work + question + cancel + "+400\n" + stopped + ask(3, "session/prompt", `{"sessionId":"s1","prompt":[{"type":"text","text":"x"}]}`) + answer(3, `{"stopReason":"end_turn"}`), "CAN02 client"},
	{"a question is open as the turn is cancelled, and the capture ends", work + question + cancel + stopped, ""},

	// Tool calls and permissions.
	{"a question is dismissed", work + question + give(0, `{"outcome":{"outcome":"cancelled"}}`) + over, ""},
	{"a question fails, and the agent refuses to go on", work + question + `>"id":0,"error":{"code":-32603,"message":"no"}` + "\n+400\n" + answer(2, `{"stopReason":"refusal"}`), ""},
	{"a rejected tool call was introduced by its question alone", work + question + give(0, `{"outcome":{"outcome":"selected","optionId":"n"}}`) + say(`"sessionUpdate":"tool_call_update","toolCallId":"t","status":"failed"`) + over, ""},
	{"an id of a tool call is used again in the next turn", work + say(`"sessionUpdate":"tool_call","toolCallId":"t","title":"T"`) + say(`"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed"`) + over +
		ask(3, "session/prompt", `{"sessionId":"s1","prompt":[{"type":"text","text":"x"}]}`) + say(`"sessionUpdate":"tool_call","toolCallId":"t","title":"U"`) + say(`"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed"`) + answer(3, `{"stopReason":"end_turn"}`), ""},
	{"diffs of a new file and of one that becomes empty", work + say(`"sessionUpdate":"tool_call","toolCallId":"t","title":"T","kind":"edit","content":[{"type":"diff","path":"/repo/a","oldText":null,"newText":"x"},{"type":"diff","path":"/repo/b","newText":""}],"locations":[{"path":"/repo/a","line":1}]`) +
		say(`"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed"`) + over, ""},

	// Files.
	{"a file of Windows", strings.Replace(work, `"cwd":"/repo"`, `"cwd":"C:\\Users\\x"`, 1) + want(0, "fs/read_text_file", `{"sessionId":"s1","path":"C:\\Users\\x\\a.txt"}`) + give(0, `{"content":""}`) + over, ""},
	{"an empty file is written, with the result null", work + want(0, "fs/write_text_file", `{"sessionId":"s1","path":"/repo/a","content":""}`) + give(0, `null`) + over, ""},
	{"no lines are read, and all of them", work + want(0, "fs/read_text_file", `{"sessionId":"s1","path":"/repo/a","line":1,"limit":0}`) + give(0, `{"content":""}`) + want(1, "fs/read_text_file", `{"sessionId":"s1","path":"/repo/a","line":null,"limit":null}`) + give(1, `{"content":"x"}`) + over, ""},

	// Terminals.
	{"a terminal from its beginning to its end", work + shell + want(1, "terminal/wait_for_exit", `{"sessionId":"s1","terminalId":"x"}`) + give(1, `{"exitCode":0,"signal":null}`) +
		want(2, "terminal/output", `{"sessionId":"s1","terminalId":"x"}`) + give(2, `{"output":"a","truncated":false,"exitStatus":{"exitCode":0}}`) + release + over, ""},
	{"a terminal is released while its end is awaited, which fails", work + shell + want(1, "terminal/wait_for_exit", `{"sessionId":"s1","terminalId":"x"}`) + release + `>"id":1,"error":{"code":-32603,"message":"gone"}` + over, ""},
	{"a terminal is released while its end is awaited, which comes", work + shell + want(1, "terminal/wait_for_exit", `{"sessionId":"s1","terminalId":"x"}`) + strings.Replace(release, `"result":{}`, `"result":null`, 1) + give(1, `{"exitCode":null,"signal":"SIGKILL"}`) + over, ""},
	{"a terminal is shown, released and shown again", work + shell + say(`"sessionUpdate":"tool_call","toolCallId":"t","title":"T","content":[{"type":"terminal","terminalId":"x"}]`) + release +
		say(`"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed","content":[{"type":"terminal","terminalId":"x"}]`) + over, ""},
	{"a terminal outlives its turn", work + shell + over + ask(3, "session/prompt", `{"sessionId":"s1","prompt":[{"type":"text","text":"x"}]}`) +
		want(1, "terminal/output", `{"sessionId":"s1","terminalId":"x"}`) + give(1, `{"output":"","truncated":false}`) + release + "+400\n" + answer(3, `{"stopReason":"end_turn"}`), ""},
	{"the agent shows a terminal of its own to a client that can", strings.Replace(work, `"terminal":true`, `"terminal":true,"_meta":{"terminal_output":true}`, 1) + ownTerminal + over, ""},
	{"the agent shows a terminal of its own to a client that cannot", work + ownTerminal + over, "TOO08 agent"},

	// Elicitations.
	{"forms that are filled in and declined", work + want(0, "elicitation/create", `{"sessionId":"s1","mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"n":{"type":"string"}},"required":["n"]}}`) + give(0, `{"action":"accept","content":{"n":"v"}}`) +
		want(1, "elicitation/create", `{"sessionId":"s1","mode":"form","message":"m","requestedSchema":{"type":"object","properties":{}}}`) + give(1, `{"action":"decline"}`) + over, ""},

	// Only rules outside of the profile spec find these.
	{"a mode, a tool call and an option that nobody offered, and a batch", edges + ask(1, "session/new", `{"cwd":"/repo","mcpServers":[]}`) + answer(1, `{"sessionId":"s1","modes":`+strings.Replace(modes, `"currentModeId":"ask"`, `"currentModeId":"nope"`, 1)+`}`) +
		"prompt 1\n+400\n" + say(`"sessionUpdate":"tool_call_update","toolCallId":"never","status":"completed"`) + question + give(0, `{"outcome":{"outcome":"selected","optionId":"z"}}`) +
		`>[{"jsonrpc":"2.0","id":5,"method":"session/list","params":{}}]` + over, "TR06 client PER03 client TOO03 agent MOD01 agent"},

	// The end.
	{"the client leaves during a turn", work + "said 1\n+400\nclient ends\nagent ends", ""},
	{"the agent ends during a turn", work + "said 1\n+400\nagent ends", "RPC16 agent"},
	{"a request crosses the end of the agent", begun + `>"id":9,"method":"session/list","params":{}` + "\nagent ends", ""},
	{"a request of an extension crosses the end of the agent", begun + `>"id":9,"method":"_vendor/ping","params":{}` + "\nagent ends", ""},
	{"a request is sent after the end of the agent", begun + "agent ends\n+5000\n" + ask(9, "_vendor/ping", `{}`) + "client ends", ""},
	{"an agent with a terminal ends right after its turn, and the client goes on", work + shell + exited + over + "+400\nagent ends\n+60000\n" + ask(9, "session/list", `{}`) + "client ends", ""},
	{"the agent ends soon after a request that it has surely read", begun + `>"id":9,"method":"_vendor/ping","params":{}
		>"id":10,"method":"session/list","params":{}
		<"id":10,"result":{"sessions":[]}
		agent ends`, "RPC14 agent RPC16 agent"},
	{"the capture ends before a session is opened", edges + ask(1, "session/new", `{"cwd":"/repo","mcpServers":[]}`) + "+60000\n" + `<"method":"_vendor/note","params":{}`, ""},
}

const (
	optioned = edges + `>"id":1,"method":"session/new","params":{"cwd":"/repo","mcpServers":[]}
		+400
		<"id":1,"result":{"sessionId":"s1","configOptions":[` + small + `,` + deep + `,` + warm + `]}
		+400
		`
	setTone = `
		>"id":9,"method":"session/set_config_option","params":{"sessionId":"s1","configId":"tone","value":"warm"}
		+400
		<"id":9,"error":{"code":-32602,"message":"gone"}`
	ownTerminal = `
		<"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"T","content":[{"type":"terminal","terminalId":"mine"}],"_meta":{"terminal_info":{"terminal_id":"mine"}}}}`
)

// ended are the phrases for the end of a connection.
var ended = map[string]lint.Party{"client ends": lint.Client, "agent ends": lint.Agent}

// Right messages, and messages that only look wrong, are no errors in any profile. Wrong
// messages are.
func TestNearMissesAreNoErrors(t *testing.T) {
	t.Parallel()
	frozen, err := lint.FindRuleSet("2026-11")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range nearMisses {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, profile := range []lint.Profile{lint.Spec, lint.Recommended, lint.Strict} {
				for _, set := range []*lint.RuleSet{nil, frozen} {
					for _, times := range []bool{true, false} {
						got, want := errorsOf(t, times, c.text, lint.Options{Profile: profile, RuleSet: set}), c.breaks
						if got == "" && (profile == lint.Spec || !times) {
							want = "" // it may lack the rule, and order alone proves less
						}
						if got != want {
							t.Errorf("%s, frozen %v, times %v: %q, want %q", profile, set != nil, times, got, want)
						}
					}
				}
			}
		})
	}
}

// judgeScript lints a script.
func judgeScript(t *testing.T, times bool, text string, o lint.Options) *lint.Report {
	t.Helper()
	l := lint.New(o)
	for _, r := range script(t, times, text) {
		l.Add(r)
	}
	return l.Report()
}

// errorsOf judges a script and lists its errors.
func errorsOf(t *testing.T, times bool, text string, o lint.Options) string {
	t.Helper()
	var got []string
	for _, v := range judgeScript(t, times, text, o).Verdicts {
		for _, f := range v.Findings {
			if f.Severity == lint.Error {
				got = append(got, v.Rule.ID+" "+f.By.String())
				t.Logf("%s: %s (message %d)", v.Rule.ID, f.Text, f.Message)
			}
		}
	}
	return strings.Join(got, " ")
}

// A request that is not answered when the capture ends is worth a warning if nothing
// explains it.
func TestARequestThatIsOpenWhenTheCaptureEndsIsAWarning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"for a while", begun + ask(9, "_vendor/ping", `{}`) + "+6000\ncommands", "RPC14 warn, RPC16 warn"},
		{"not long enough", begun + ask(9, "_vendor/ping", `{}`) + "+1000\ncommands", ""},
		{"but waits for a model", work + "+60000\nsaid 1", ""},
		{"but waits for the user", work + question + "+60000\nsaid 1", ""},
		{"as the agent leaves", begun + `>"id":9,"method":"session/list","params":{}` + "\nagent ends", "RPC16 warn"},
		{"of an agent that had left", begun + "agent ends\n" + ask(9, "session/list", `{}`) + "client ends", ""},
	} {
		var got []string
		for _, v := range judgeScript(t, true, c.text, lint.Options{Profile: lint.Strict}).Verdicts {
			for _, f := range v.Findings {
				if strings.HasPrefix(v.Rule.ID, "RPC1") {
					got = append(got, v.Rule.ID+" "+f.Severity.String())
				}
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A terminal that an agent has forgotten when it ends is worth a warning: the capture does
// not show whether it has crashed, nor when.
func TestATerminalThatIsLeftWhenTheAgentEndsIsAWarning(t *testing.T) {
	t.Parallel()
	frozen, err := lint.FindRuleSet("2026-11")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, text, want, before string }{
		{"long after the turn", exited + over + "+12000\nagent ends", "warn", ""},
		{"long after the turn, which a message proves", exited + over + "+12000\ncommands\n+400\nagent ends", "error", "error"},
		{"after the client has left", exited + over + "+12000\nclient ends\n+400\nagent ends", "error", "error"},
		{"right after the turn", exited + over + "+400\nagent ends", "", ""},
		{"right after the turn, and the client goes on", exited + over + "+400\nagent ends\n+60000\n" + ask(9, "session/list", `{}`), "", ""},
		{"during the turn", exited + "+60000\nagent ends", "", ""},
		{"and the command still runs", over + "+60000\nagent ends", "", ""},
		{"and the command may have ended", `<"id":1,"method":"terminal/wait_for_exit","params":{"sessionId":"s1","terminalId":"x"}` + over + "+60000\n" + `>"id":1,"result":{"exitCode":0}` + "\nagent ends", "", ""},
		{"and the command ended after the next turn", `<"id":1,"method":"terminal/wait_for_exit","params":{"sessionId":"s1","terminalId":"x"}` + over + "+400\n" +
			ask(6, "session/prompt", `{"sessionId":"s1","prompt":[{"type":"text","text":"x"}]}`) + answer(6, `{"stopReason":"end_turn"}`) + `>"id":1,"result":{"exitCode":0}` + "\nagent ends", "", ""},
		{"and was forgotten in the next turn", exited + over + "+400\n" + ask(6, "session/prompt", `{"sessionId":"s1","prompt":[{"type":"text","text":"x"}]}`) + answer(6, `{"stopReason":"end_turn"}`) + "agent ends", "error", "error"},
		{"and was released as it ended", exited + over + "+60000\n" + `<"id":3,"method":"terminal/release","params":{"sessionId":"s1","terminalId":"x"}` + "\nagent ends", "", ""},
		{"and the session is closed", exited + over + ask(5, "session/close", `{"sessionId":"s1"}`) + answer(5, `{}`) + "+60000\nagent ends", "", ""},
	} {
		for set, want := range map[*lint.RuleSet]string{nil: c.want, frozen: c.before} {
			got := ""
			for _, v := range judgeScript(t, true, work+shell+c.text, lint.Options{RuleSet: set}).Verdicts {
				for _, f := range v.Findings {
					if v.Rule.ID == "TER05" {
						got += f.Severity.String()
					}
				}
			}
			if got != want {
				t.Errorf("%s, frozen %v: %q, want %q", c.name, set != nil, got, want)
			}
		}
	}
}

// Every rule of severity error is part of a default run.
func TestADefaultRunHasEveryRuleOfSeverityError(t *testing.T) {
	t.Parallel()
	for _, r := range lint.Rules() {
		if r.Severity == lint.Error && !lint.Recommended.Has(r) {
			t.Errorf("%s is an error, and only strict has it", r.ID)
		}
	}
}
