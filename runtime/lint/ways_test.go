package lint_test

import (
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// begun2 opens a session of version 2, and work2 has a prompt in it.
const (
	begun2 = "hello 2\n+400\nnew s1\n+400\n"
	work2  = begun2 + "prompt 1\n+400\naccepted\n+400\necho\nrunning\n+400\n"
)

func configured(list string) string {
	return say(`"sessionUpdate":"config_option_update","configOptions":[` + list + `]`)
}

func prompted(blocks string) string {
	return begun + ask(2, "session/prompt", `{"sessionId":"s1","prompt":[`+blocks+`]}`)
}

// outputs are answers to terminal/output, one after the other.
func outputs(results ...string) string {
	var text strings.Builder
	for i, result := range results {
		text.WriteString(want(i+1, "terminal/output", `{"sessionId":"s1","terminalId":"x"}`) + give(i+1, result))
	}
	return text.String()
}

// A way is a conversation that breaks a rule, with part of what the finding says.
type way struct{ rule, finding, text string }

// A rule can be broken in several ways. Its example in testdata shows one of them; these
// are the others.
var ways = []way{
	// JSON-RPC.
	{"RPC01", `jsonrpc is not "2.0"`, begun + `>{"jsonrpc":"1.0","id":9,"method":"session/list","params":{}}`},
	{"RPC02", "the method is a number", begun + `>"id":9,"method":7,"params":{}`},
	{"RPC02", "the method is an array", begun + `>"id":9,"method":["session/list"],"params":{}`},
	{"RPC02", "the method is an object", begun + `>"id":9,"method":{},"params":{}`},
	{"RPC02", "the method is null", begun + `>"id":9,"method":null,"params":{}`},
	{"RPC05", "the id of the request is null", begun2 + `>"id":null,"method":"session/list","params":{}`},
	{"RPC06", "the answer has no id", begun + `<"result":{}`},
	{"RPC08", "the message has no method, no result and no error", begun + `<"id":9`},
	{"RPC09", "the error is a string", begun + ask(9, "session/list", `{}`) + `<"id":9,"error":"no"`},
	{"RPC09", "the message of the error is not a string", begun + ask(9, "session/list", `{}`) + `<"id":9,"error":{"code":-32603,"message":7}`},
	{"RPC17", "the params are an array", begun + ask(9, "session/list", `[1,2]`)},
	{"RPC18", "the method is of a draft, and no version has it", begun + ask(9, "session/set_model", `{"sessionId":"s1","modelId":"m"}`) + answer(9, `{}`)},
	{"RPC18", "no version has this method", begun + ask(9, "session/invented", `{}`)},
	{"RPC20", "session/list is a request and needs an id", begun + `>"method":"session/list","params":{}`},
	{"RPC23", "the message of the error has several lines", begun + ask(9, "session/list", `{}`) + `<"id":9,"error":{"code":-32603,"message":"no\nno"}`},
	{"RPC23", "the message of the error has 5000 bytes", begun + ask(9, "session/list", `{}`) + `<"id":9,"error":{"code":-32603,"message":"` + strings.Repeat("x", 5000) + `"}`},
	{"TR11", `"ID" is not "id"`, begun + `>"ID":9,"method":"_vendor/note","params":{}`},
	{"RPC15", "the connection was closed after an unknown notification", begun + `>"method":"_vendor/note","params":{}` + "\nagent ends"},

	// The beginning.
	{"INI01", "is sent before initialize", "new s1\nhello 1"},
	{"PRM01", "initialize is not answered yet", "prompt 1\nhello 1"},
	{"INI02", "protocolVersion is missing", `>"id":0,"method":"initialize","params":{"clientInfo":{"name":"editor","version":"1"}}`},
	{"INI06", "the data lacks requested and supported", `>"id":0,"method":"initialize","params":{"protocolVersion":2,"capabilities":{},"info":{"name":"editor","version":"1"}}
		<"id":0,"error":{"code":-32022,"message":"no"}`},

	// Sessions, modes and options.
	{"SES05", "the id is empty", edges + ask(1, "session/new", `{"cwd":"/repo","mcpServers":[]}`) + answer(1, `{"sessionId":""}`)},
	{"PRM01", "session/load is not answered yet", edges + ask(1, "session/load", `{"sessionId":"s1","cwd":"/repo","mcpServers":[]}`) + "prompt 1"},
	{"LST08", "updatedAt is not a string", begun + ask(9, "session/list", `{}`) + answer(9, `{"sessions":[{"sessionId":"s1","cwd":"/repo","updatedAt":7}]}`)},
	{"CAN01", "sessionId is missing", work + `>"method":"session/cancel","params":{}`},
	{"CAN03", "a cancelled turn ends with another stop reason", work + cancel + "+2000\n" + "done 1"},
	{"CAN03", "a cancelled turn ends with an error", work + cancel + "+2000\n" + `<"id":2,"error":{"code":-32603,"message":"the model is away"}`},
	{"CAN03", "a cancelled turn ends with an error", work + cancel + "+20\n" + `<"id":2,"error":{"code":-32603,"message":"The operation was aborted"}`},
	{"CAN02", "was cancelled 1m0s before the end", work + question + cancel + "+60000\n" + "commands"},
	{"CXR06", "requestId is neither a string nor an integer", work + `>"method":"$/cancel_request","params":{"requestId":{}}`},
	{"CMD01", "another command has this name", begun2 + say(`"sessionUpdate":"available_commands_update","availableCommands":[{"name":"x","description":"d"},{"name":"x","description":"d"}]`)},
	{"CFG04", "configOptions is missing", edges + ask(1, "session/new", `{"cwd":"/repo","mcpServers":[]}`) + answer(1, `{"sessionId":"s1","configOptions":[`+small+`]}`) +
		ask(2, "session/set_config_option", `{"sessionId":"s1","configId":"model","value":"large"}`) + answer(2, `{}`)},
	{"CFG04", "the option that was set is missing", edges + ask(1, "session/new", `{"cwd":"/repo","mcpServers":[]}`) + answer(1, `{"sessionId":"s1","configOptions":[`+small+`,`+deep+`]}`) +
		ask(2, "session/set_config_option", `{"sessionId":"s1","configId":"model","value":"large"}`) + answer(2, `{"configOptions":[`+deep+`]}`)},
	{"CFG05", "configOptions is missing", begun + say(`"sessionUpdate":"config_option_update"`)},
	{"CFG06", "there is a config option of the category mode, and no modes", edges + ask(1, "session/new", `{"cwd":"/repo","mcpServers":[]}`) + answer(1, `{"sessionId":"s1","configOptions":[`+mode+`]}`)},
	{"CFG12", "the select has no values", begun2 + configured(`{"id":"model","name":"Model","type":"select","currentValue":"small","options":[]}`)},
	{"CFG01", "currentValue is missing", begun + configured(`{"id":"model","name":"Model","type":"select","options":[{"value":"small","name":"Small"}]}`)},
	{"MOD02", "the session has no modes", begun + ask(5, "session/set_mode", `{"sessionId":"s1","modeId":"code"}`)},
	{"MOD03", "the mode is not available", edges + ask(1, "session/new", `{"cwd":"/repo","mcpServers":[]}`) + answer(1, `{"sessionId":"s1","modes":`+modes+`}`) + say(`"sessionUpdate":"current_mode_update","currentModeId":"zzz"`)},

	// Content.
	{"CNT01", "the block has no type", prompted(`{"text":"x"}`)},
	{"CNT01", "version 1 does not have this type", prompted(`{"type":"video","data":"eA=="}`)},
	{"CNT01", "the block has no resource", prompted(`{"type":"resource"}`)},
	{"CNT01", "the resource has no URI", prompted(`{"type":"resource","resource":{"text":"x"}}`)},
	{"CNT03", "not a MIME type of image", prompted(`{"type":"image","data":"eA==","mimeType":"text/plain"}`)},
	{"CNT04", "the link has no name", prompted(`{"type":"resource_link","uri":"file:///a"}`)},
	{"CNT04", "the link has no URI", prompted(`{"type":"resource_link","name":"a"}`)},
	{"CNT05", "the resource has neither text nor a blob", prompted(`{"type":"resource","resource":{"uri":"file:///a"}}`)},
	{"PLN01", "the entry has no content", work + say(`"sessionUpdate":"plan","entries":[{"priority":"high","status":"pending"}]`)},
	{"PLN01", "the entry has no defined priority", work + say(`"sessionUpdate":"plan","entries":[{"content":"x","priority":"urgent","status":"pending"}]`)},
	{"PRM09", "used is not a number of tokens", work + say(`"sessionUpdate":"usage_update","used":"many","size":2`)},
	{"PRM09", "the cost has no amount", work + say(`"sessionUpdate":"usage_update","used":1,"size":2,"cost":{"currency":"USD"}`)},
	{"TOO05", "not a status of version 1", work + say(`"sessionUpdate":"tool_call","toolCallId":"t","title":"T","status":"cancelled"`)},
	{"TOO05", "not a type of content of version 1", work + say(`"sessionUpdate":"tool_call","toolCallId":"t","title":"T","content":[{"type":"table"}]`)},
	{"PER10", "the label reads like a consent, but the kind is reject_once", work + `<"id":0,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t","title":"Remove"},"options":[{"optionId":"y","name":"Allow","kind":"reject_once"}]}`},

	// Requests of the agent.
	{"FS11", "and answers with empty content", strings.Replace(work, `"readTextFile":true`, `"readTextFile":false`, 1) + want(0, "fs/read_text_file", `{"sessionId":"s1","path":"/repo/a"}`) + give(0, `{"content":""}`)},
	{"FS13", "the result is a string", work + want(0, "fs/write_text_file", `{"sessionId":"s1","path":"/repo/a","content":"x"}`) + give(0, `"ok"`)},
	{"TER04", "terminal/create has not returned this id", work + want(0, "terminal/output", `{"sessionId":"s1","terminalId":"nope"}`)},
	{"TER05", "the terminal was never released", work + shell + exited + over + "+12000\nagent ends"},
	{"TER13", "args is a string", work + want(0, "terminal/create", `{"sessionId":"s1","command":"ls","args":"-l"}`)},
	{"TER13", "env is an object", work + want(0, "terminal/create", `{"sessionId":"s1","command":"ls","env":{"A":"b"}}`)},
	{"TER13", "the variable has no name or no value that is a string", work + want(0, "terminal/create", `{"sessionId":"s1","command":"ls","env":[{"name":"A","value":7}]}`)},
	{"TER14", "the variable is set twice", work + want(0, "terminal/create", `{"sessionId":"s1","command":"ls","env":[{"name":"A","value":"b"},{"name":"A","value":"c"}]}`)},
	{"ELI03", "the elicitation has a sessionId and a requestId", work + want(0, "elicitation/create", `{"sessionId":"s1","requestId":2,"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{}}}`)},
	{"ELI05", "the field is a list of objects", work + want(0, "elicitation/create", `{"sessionId":"s1","mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}}}}`)},
	{"ELI08", "there is no absolute URL", work + want(0, "elicitation/create", `{"sessionId":"s1","mode":"url","message":"m","elicitationId":"e","url":"login"}`)},
	{"ELI15", "the field is a boolean, and this is a string", work + want(0, "elicitation/create", `{"sessionId":"s1","mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"boolean"}}}}`) + give(0, `{"action":"accept","content":{"a":"yes"}}`)},

	{"ELI29", "the pattern has 5000 bytes", work + want(0, "elicitation/create", `{"sessionId":"s1","mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string","pattern":"`+strings.Repeat("x", 5000)+`"}}}}`)},
	{"PER06", "the user has not allowed this", work + `<"id":0,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t","title":"Write","kind":"edit","rawInput":{"path":"/repo/a"},"locations":[{"path":"/repo/a"}],"content":[{"type":"diff","path":"/repo/a","newText":"x"}]},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}` + "\n+2000\n" + give(0, `{"outcome":{"outcome":"selected","optionId":"n"}}`) +
		want(1, "fs/write_text_file", `{"sessionId":"s1","path":"/repo/a","content":"x"}`)},
	{"SEC10", "the user has allowed to change another file", work + `<"id":0,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t","title":"Write","kind":"edit","locations":[{"path":"/repo/a"}],"content":[{"type":"diff","path":"/repo/a","newText":"x"}]},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}` + "\n+2000\n" + give(0, `{"outcome":{"outcome":"selected","optionId":"y"}}`) +
		want(1, "fs/write_text_file", `{"sessionId":"s1","path":"/repo/b","content":"x"}`)},
	{"TER08", "output was dropped before, and it does not come back", work + shell + outputs(`{"output":"b","truncated":true}`, `{"output":"b","truncated":false}`)},
	{"TER08", "the output is as before, when it was whole", work + shell + outputs(`{"output":"b","truncated":false,"exitStatus":{"exitCode":0}}`, `{"output":"b","truncated":true,"exitStatus":{"exitCode":0}}`)},
	{"TER09", "the exit status has changed", work + shell + outputs(`{"output":"b","truncated":false,"exitStatus":{"exitCode":0}}`, `{"output":"b","truncated":false,"exitStatus":{"exitCode":1}}`)},
	{"TER09", "the exit status is gone", work + shell + outputs(`{"output":"b","truncated":false,"exitStatus":{"exitCode":0}}`, `{"output":"b","truncated":false}`)},
	{"PRM10", "nothing was heard of the turn for", work + "said 1\n+7200000\n" + ask(9, "session/list", `{}`)},
	{"TR18", "the agent still ran", begun + "client ends\n+60000\n" + say(`"sessionUpdate":"available_commands_update","availableCommands":[]`)},

	// Version 2.
	{"BAT03", "the request was in a batch, and is answered alone", begun2 + `>[{"jsonrpc":"2.0","id":9,"method":"session/list","params":{}}]` + "\n+400\n" + answer(9, `{"sessions":[]}`)},
	{"BAT05", "an entry of an array is answered", begun2 + `>[{"jsonrpc":"2.0","id":9,"method":"session/list","params":{}}]` + "\n+400\n" + answer(9, `{"sessions":[]}`)},
	{"BAT05", "an array is refused with another code than -32600", begun2 + `>[{"jsonrpc":"2.0","id":9,"method":"session/list","params":{}}]` + "\n+400\n" + `<"id":null,"error":{"code":-32602,"message":"no"}`},
	{"STA01", "the answer to a prompt has a stop reason, as in version 1", begun2 + "prompt 1\necho\nrunning\n+400\n" + `<"id":2,"result":{"stopReason":"end_turn"}`},
	{"ELI18", "mode url is not advertised, and the request succeeds", work2 + want(0, "elicitation/create", `{"sessionId":"s1","mode":"url","message":"m","elicitationId":"e","url":"https://example.com"}`) + give(0, `{"action":"accept"}`)},
	{"TOO15", "the agent has told nothing about it", work2 + ask(9, "tool_call/cancel", `{"sessionId":"s1","toolCallId":"t"}`)},
	{"SES19", "the session is closed, and its work was not reported as cancelled", work2 + "closed"},
	{"SES20", "the session is closed", work2 + "idle\n+400\nclosed\n+2000\n" + say(`"sessionUpdate":"session_info_update","title":"Old"`)},
	{"CAN09", "cancelled work ends with an error", begun2 + "prompt 1\nrunning\n+400\n" + cancel + "+2000\n" + `<"id":2,"error":{"code":-32603,"message":"the model is away"}`},
	{"CAN08", "the state idle has no stop reason", work2 + cancel + "+2000\nidle only"},
	{"CAN08", "the cancel is not confirmed: the capture ends", work2 + cancel + "+60000\ncommands"},
	{"CMD02", "not a type of input", begun2 + say(`"sessionUpdate":"available_commands_update","availableCommands":[{"name":"x","description":"d","input":{"type":"number"}}]`)},
	{"MOD04", "version 2 does not have this update", begun2 + say(`"sessionUpdate":"current_mode_update","currentModeId":"code"`)},
	{"MOD04", "version 2 does not have this method", begun2 + ask(5, "session/set_mode", `{"sessionId":"s1","modeId":"code"}`)},
	{"PER08", "the request has no title", work2 + want(0, "session/request_permission", `{"sessionId":"s1","options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}`)},
	{"PER08", "the subject has no command", work2 + want(0, "session/request_permission", `{"sessionId":"s1","title":"Run","subject":{"type":"command","cwd":"/repo"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}`)},
	{"PLN05", "not a type of plan", work2 + say(`"sessionUpdate":"plan_update","plan":{"planId":"p","type":"table"}`)},
	{"TOO12", "the content is missing", work2 + say(`"sessionUpdate":"tool_call_update","toolCallId":"t","title":"T","status":"in_progress"`) + say(`"sessionUpdate":"tool_call_content_chunk","toolCallId":"t"`)},
	{"TOO16", "the specification does not have this status", work2 + say(`"sessionUpdate":"tool_call_update","toolCallId":"t","title":"T","status":"stuck"`)},
	{"PRM08", "the id belongs to a message of the other role", work + say(`"sessionUpdate":"user_message_chunk","messageId":"m1","content":{"type":"text","text":"Hi"}`) + say(`"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"Hi"}`)},
	{"DIF01", "the specification does not have this operation", work2 + say(`"sessionUpdate":"tool_call_update","toolCallId":"t","title":"T","status":"in_progress","content":[{"type":"diff","changes":[{"operation":"rename","path":"/repo/a"}]}]`)},
	{"DIF01", "path is not absolute", work2 + say(`"sessionUpdate":"tool_call_update","toolCallId":"t","title":"T","status":"in_progress","content":[{"type":"diff","changes":[{"operation":"add","path":"a"}]}]`)},
	{"DIF02", "which is not among the changes", work2 + say(`"sessionUpdate":"tool_call_update","toolCallId":"t","title":"T","status":"in_progress","content":[{"type":"diff","changes":[{"operation":"modify","path":"/repo/a"}],"patch":{"format":"git_patch","text":"diff --git /repo/b /repo/b\n--- /repo/b\n+++ /repo/b\n@@ -1 +1 @@\n-a\n+b\n"}}]`)},
	{"DIF02", "the patch begins with the header of a commit", work2 + say(`"sessionUpdate":"tool_call_update","toolCallId":"t","title":"T","status":"in_progress","content":[{"type":"diff","changes":[{"operation":"modify","path":"/repo/a"}],"patch":{"format":"git_patch","text":"From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\ndiff --git /repo/a /repo/a\n--- /repo/a\n+++ /repo/a\n@@ -1 +1 @@\n-a\n+b\n"}}]`)},
	{"SES16", "a replayed message has no messageId", begun2 + ask(9, "session/resume", `{"sessionId":"s9","cwd":"/repo","mcpServers":[],"replayFrom":{"type":"start"}}`) +
		update("s9", `"sessionUpdate":"user_message","content":[{"type":"text","text":"Hello"}]`) + update("s9", `"sessionUpdate":"state_update","state":"idle"`) + answer(9, `{}`)},
	{"SES17", "the state_update precedes the replay", begun2 + ask(9, "session/resume", `{"sessionId":"s9","cwd":"/repo","mcpServers":[],"replayFrom":{"type":"start"}}`) +
		update("s9", `"sessionUpdate":"state_update","state":"idle"`) + update("s9", `"sessionUpdate":"user_message","messageId":"m9","content":[{"type":"text","text":"Hello"}]`) + answer(9, `{}`)},
	{"STA10", "the list has this twice", work2 + say(`"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn","background":[{"type":"terminal","terminalId":"x"},{"type":"terminal","terminalId":"x"}]`)},
	{"SES35", "data does not name the session", begun2 + ask(9, "session/close", `{"sessionId":"s9"}`) + `<"id":9,"error":{"code":-32002,"message":"no"}`},
}

// weaker are the findings that are less severe than their rule.
var weaker = map[string]lint.Severity{
	"RPC18 the method is of a draft, and no version has it": lint.Warn, // agents announce it before they use it
	"TER05 the terminal was never released":                 lint.Warn, // the agent may have crashed earlier
}

func TestEachWayToBreakARuleIsFound(t *testing.T) {
	t.Parallel()
	for _, c := range ways {
		t.Run(c.rule+" "+c.finding, func(t *testing.T) {
			t.Parallel()
			o := options(c.rule)
			o.Whole = true
			var found []string
			for _, v := range judgeScript(t, true, c.text, o).Verdicts {
				for _, f := range v.Findings {
					if v.Rule.ID == c.rule && strings.Contains(f.Text, c.finding) && f.By != lint.Nobody {
						want := v.Rule.Severity
						if s, ok := weaker[c.rule+" "+c.finding]; ok {
							want = s
						}
						if f.Severity != want {
							t.Errorf("it is of severity %s, want %s", f.Severity, want)
						}
						return
					}
					found = append(found, v.Rule.ID+" "+f.Text)
				}
			}
			t.Errorf("it found only\n\t%s", strings.Join(found, "\n\t"))
		})
	}
}
