package dialect

import (
	"fmt"
	"slices"
	"strings"
)

// All returns all habits.
func All() []Habit {
	return slices.Concat(streams(), calls(), reasoning(), texts(), refusals(), faults(), windows())
}

// The pieces of answers.
const (
	done  = "data: [DONE]\n\n"
	usage = `"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}`
)

// chunk is an event with a delta.
func chunk(delta string) string {
	return `data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}` + "\n\n"
}

func chunks(deltas ...string) string {
	var b strings.Builder
	for _, d := range deltas {
		b.WriteString(chunk(d))
	}
	return b.String()
}

// finish is the event at the end.
func finish(reason string) string {
	return `data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}],` + usage + "}\n\n"
}

// answer is a stream of deltas with a proper end.
func answer(deltas ...string) Answer {
	return Answer{Body: chunks(deltas...) + finish("stop") + done}
}

// called is a stream of deltas that ends with calls.
func called(deltas ...string) Answer {
	return Answer{Body: chunks(deltas...) + finish("tool_calls") + done}
}

// reading is a delta with a whole call of read.
func reading(members string) string {
	return `{"tool_calls":[{` + members + `"type":"function","function":{"name":"read","arguments":"{\"path\":\"a.txt\"}"}}]}`
}

// whole is an answer in one piece.
func whole(message, reason string) Answer {
	return Answer{Type: "application/json", Body: `{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":` + message + `,"finish_reason":"` + reason + `"}],` + usage + `}`}
}

// refusal is an answer with a status and a body.
func refusal(status int, body string) Answer {
	return Answer{Status: status, Type: "application/json", Body: body}
}

// well is the last answer of a turn.
var well = answer(`{"role":"assistant","content":"all is "}`, `{"content":"well"}`)

// What the user sees.
const (
	isWell   = "agent: all is well"
	readWell = "call Read a.txt completed | agent: all is well"
	twoWell  = "call Read a.txt completed | call Read a.txt completed | agent: all is well"
)

func said(text string) string { return fmt.Sprintf(`{"content":%q}`, text) }

func streams() []Habit {
	proper := chunks(`{"content":"all is "}`, `{"content":"well"}`) + finish("stop") + done
	return []Habit{
		{Name: "nothing is unusual", Seen: "OpenAI", Answers: []Answer{well}, Shows: isWell, Asked: 1},
		{Name: "comments between events", Seen: "OpenRouter", Answers: []Answer{{Body: ": OPENROUTER PROCESSING\n\n" + strings.ReplaceAll(proper, "\n\n", "\n\n: OPENROUTER PROCESSING\n\n")}}, Shows: isWell, Asked: 1},
		{Name: "lines end as on Windows", Seen: "gateways on IIS", Answers: []Answer{{Body: strings.ReplaceAll(proper, "\n", "\r\n")}}, Shows: isWell, Asked: 1},
		{Name: "no space behind data:", Seen: "gateways", Answers: []Answer{{Body: strings.ReplaceAll(proper, "data: ", "data:")}}, Shows: isWell, Asked: 1},
		{Name: "events without an empty line between them", Seen: "gateways", Answers: []Answer{{Body: strings.ReplaceAll(proper, "\n\n", "\n")}}, Shows: isWell, Asked: 1},
		{Name: "data: without anything", Seen: "gateways, as a sign of life", Answers: []Answer{{Body: "data:\n\ndata: \n\n" + proper}}, Shows: isWell, Asked: 1},
		{Name: "a byte order mark", Seen: "gateways on .NET", Answers: []Answer{{Body: "\ufeff" + proper}}, Shows: isWell, Asked: 1},
		{Name: "names and ids of events", Seen: "LM Studio, gateways", Answers: []Answer{{Body: strings.ReplaceAll(proper, "data: ", "event: message\nid: 7\nretry: 1000\ndata: ")}}, Shows: isWell, Asked: 1},
		{Name: "an event of several lines", Seen: "gateways that indent", Answers: []Answer{{Body: strings.ReplaceAll(proper, `"choices":`, "\ndata: \"choices\":\ndata: ")}}, Shows: isWell, Asked: 1},
		{Name: "lines of JSON instead of events", Seen: "gateways in front of ollama", Answers: []Answer{{Type: "application/x-ndjson", Body: strings.ReplaceAll(strings.ReplaceAll(strings.TrimSuffix(proper, done), "data: ", ""), "\n\n", "\n")}}, Shows: isWell, Asked: 1},
		{Name: "no [DONE]", Seen: "Gemini, TGI", Answers: []Answer{{Body: strings.TrimSuffix(proper, done)}}, Shows: isWell, Asked: 1},
		{Name: "[DONE] and no finish_reason", Seen: "LiteLLM, older llama.cpp", Answers: []Answer{{Body: chunks(`{"content":"all is well"}`) + done}}, Shows: isWell, Asked: 1},
		{Name: "an empty finish_reason in every event", Seen: "one-api", Answers: []Answer{{Body: strings.ReplaceAll(chunks(`{"content":"all is "}`, `{"content":"well"}`), `"finish_reason":null`, `"finish_reason":""`) + done}}, Shows: isWell, Asked: 1},
		{Name: "usage as the only end", Seen: "Azure behind some proxies", Answers: []Answer{{Body: chunks(`{"content":"all is well"}`) + `data: {"choices":[],` + usage + "}\n\n"}}, Shows: isWell, Asked: 1},
		{Name: "a first event without choices", Seen: "Azure", Answers: []Answer{{Body: `data: {"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"hate":{"filtered":false,"severity":"safe"}}}]}` + "\n\n" + proper}}, Shows: isWell, Asked: 1},
		{Name: "choices that are null", Seen: "DeepInfra", Answers: []Answer{{Body: `data: {"id":"1","choices":null}` + "\n\n" + proper}}, Shows: isWell, Asked: 1},
		{Name: "usage behind the end", Seen: "OpenAI, vLLM", Answers: []Answer{{Body: strings.Replace(strings.TrimSuffix(proper, done), ","+usage, "", 1) + `data: {"id":"1","choices":[],` + usage + "}\n\n" + done}}, Shows: isWell, Asked: 1},
		{Name: "usage in a member of its own", Seen: "Groq", Answers: []Answer{{Body: chunks(`{"content":"all is well"}`) + strings.Replace(finish("stop"), usage, `"x_groq":{"id":"req_1",`+usage+`}`, 1) + done}}, Shows: isWell, Asked: 1},
		{Name: "an answer in one piece", Seen: "gateways that do not stream", Answers: []Answer{whole(`{"role":"assistant","content":"all is well"}`, "stop")}, Shows: isWell, Asked: 1},
		{Name: "a call in one piece", Seen: "gateways that do not stream", Answers: []Answer{whole(`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.txt\"}"}}]}`, "tool_calls"), well}, Shows: readWell, Asked: 2},
		{Name: "a whole message in an event", Seen: "simple servers", Answers: []Answer{{Body: `data: {"choices":[{"index":0,"message":{"role":"assistant","content":"all is well"},"finish_reason":"stop"}]}` + "\n\n" + done}}, Shows: isWell, Asked: 1},
		{Name: "the model is done with other words", Seen: "TGI, Anthropic behind proxies", Answers: []Answer{{Body: chunks(`{"content":"all is well"}`) + finish("end_turn") + done}}, Shows: isWell, Asked: 1},
		{Name: "stop behind calls", Seen: "ollama, Gemini", Answers: []Answer{answer(reading(`"index":0,"id":"c1",`)), well}, Shows: readWell, Asked: 2},
		{Name: "an answer that ends with an error", Seen: "OpenRouter", Answers: []Answer{{Body: chunks(`{"content":"all is"}`) + finish("error") + done}, well}, Shows: "agent: all is | agent:  well", Told: `ended the answer with the reason "error"`, Asked: 2},
		{Name: "an answer that always ends with an error", Seen: "OpenRouter", Answers: []Answer{{Body: chunks(`{"content":"all is"}`) + finish("error") + done}}, Shows: "agent: all is", Fails: `ended the answer with the reason "error"`},
		{Name: "a cut behind a thought", Seen: "proxies with a time limit", Answers: []Answer{{Body: chunks(`{"reasoning_content":"hm"}`)}, well}, Shows: "thought: hm | " + isWell, Told: "cut off", Asked: 2},
		{Name: "a cut behind a word", Seen: "proxies with a time limit", Answers: []Answer{{Body: chunks(`{"content":"all "}`)}, well}, Shows: "agent: all  | agent: is well", Told: "cut off", Asked: 2},
		{Name: "a cut, and then other words", Seen: "proxies with a time limit", Answers: []Answer{{Body: chunks(`{"content":"it is"}`)}, well}, Shows: "agent: it is | agent: \n\nall is well", Told: "cut off", Asked: 2},
		{Name: "half a call, cut", Seen: "proxies with a time limit", Answers: []Answer{{Body: chunks(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"read","arguments":"{\"pa"}}]}`)}, called(reading(`"index":0,"id":"c1",`)), well}, Shows: readWell, Asked: 3},
	}
}

func calls() []Habit {
	piece := func(members string) string { return `{"tool_calls":[{` + members + `}]}` }
	return []Habit{
		{Name: "a call in pieces", Seen: "OpenAI", Answers: []Answer{called(piece(`"index":0,"id":"c1","type":"function","function":{"name":"read","arguments":""}`), piece(`"index":0,"function":{"arguments":"{\"path\""}`), piece(`"index":0,"function":{"arguments":":\"a.txt\"}"}`)), well}, Shows: readWell, Asked: 2},
		{Name: "two calls without indexes", Seen: "Gemini", Answers: []Answer{called(reading(`"id":"c1",`), reading(`"id":"c2",`)), well}, Shows: twoWell, Asked: 2},
		{Name: "two calls with one index", Seen: "Gemini, gateways", Answers: []Answer{called(reading(`"index":0,"id":"c1",`), reading(`"index":0,"id":"c2",`)), well}, Shows: twoWell, Asked: 2},
		{Name: "two calls with one index and no ids", Seen: "Gemini, gateways", Answers: []Answer{called(reading(`"index":0,"id":"",`), reading(`"index":0,"id":"",`)), well}, Shows: twoWell, Asked: 2, Learns: `"ids":"missing"`},
		{Name: "two calls in one event without indexes", Seen: "Gemini", Answers: []Answer{called(`{"tool_calls":[{"type":"function","function":{"name":"read","arguments":"{\"path\":\"a.txt\"}"}},{"type":"function","function":{"name":"read","arguments":"{\"path\":\"a.txt\"}"}}]}`), well}, Shows: twoWell, Asked: 2},
		{Name: "two calls with one id", Seen: "older llama.cpp", Answers: []Answer{called(reading(`"index":0,"id":"c",`), reading(`"index":1,"id":"c",`)), well}, Shows: twoWell, Asked: 2, Learns: `"ids":"repeated"`, Sends: []string{`"tool_call_id":"call00001"`, `"tool_call_id":"call00002"`}},
		{Name: "an id of its own for each piece", Seen: "LM Studio", Answers: []Answer{called(piece(`"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\""}`), piece(`"index":0,"id":"b","function":{"arguments":":\"a.txt\"}"}`)), well}, Shows: readWell, Asked: 2},
		{Name: "the name in each piece", Seen: "SGLang, gateways", Answers: []Answer{called(piece(`"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\""}`), piece(`"index":0,"id":"a","function":{"name":"read","arguments":":\"a.txt\"}"}`), piece(`"index":0,"id":"a","function":{"name":"read","arguments":""}`)), well}, Shows: readWell, Asked: 2},
		{Name: "the name in two pieces", Seen: "gateways that cut by length", Answers: []Answer{called(piece(`"index":0,"id":"a","function":{"name":"re"}`), piece(`"index":0,"function":{"name":"ad"}`), piece(`"index":0,"function":{"arguments":"{\"path\":\"a.txt\"}"}`)), well}, Shows: readWell, Asked: 2},
		{Name: "indexes from one", Seen: "gateways", Answers: []Answer{called(reading(`"index":1,"id":"c1",`), reading(`"index":2,"id":"c2",`)), well}, Shows: twoWell, Asked: 2},
		{Name: "arguments that are an object", Seen: "ollama behind gateways", Answers: []Answer{called(piece(`"index":0,"id":"a","function":{"name":"read","arguments":{"path":"a.txt"}}`)), well}, Shows: readWell, Asked: 2},
		{Name: "arguments in a string in a string", Seen: "GLM, Qwen", Answers: []Answer{called(piece(`"index":0,"id":"a","function":{"name":"read","arguments":"\"{\\\"path\\\":\\\"a.txt\\\"}\""}`)), well}, Shows: readWell, Asked: 2},
		{Name: "arguments in a fence", Seen: "small models", Answers: []Answer{called(piece("\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"read\",\"arguments\":\"```json\\n{\\\"path\\\":\\\"a.txt\\\"}\\n```\"}")), well}, Shows: readWell, Asked: 2},
		{Name: "more brackets than arguments", Seen: "small models", Answers: []Answer{called(piece(`"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":\"a.txt\"}}"}`)), well}, Shows: readWell, Asked: 2},
		{Name: "null as arguments", Seen: "Mistral", Answers: []Answer{called(piece(`"index":0,"id":"a","function":{"name":"read","arguments":null}`), piece(`"index":0,"function":{"arguments":"{\"path\":\"a.txt\"}"}`)), well}, Shows: readWell, Asked: 2},
		{Name: "the name of a tool behind functions.", Seen: "Kimi, gpt-oss", Answers: []Answer{called(strings.Replace(reading(`"index":0,"id":"functions.read:0",`), `"read"`, `"functions.read"`, 1)), well}, Shows: readWell, Asked: 2, Sends: []string{`"name":"read"`}},
		{Name: "a channel behind the name of a tool", Seen: "gpt-oss", Answers: []Answer{called(strings.Replace(reading(`"index":0,"id":"c1",`), `"read"`, `"read<|channel|>commentary"`, 1)), well}, Shows: readWell, Asked: 2},
		{Name: "a capital letter in the name of a tool", Seen: "models trained with another agent", Answers: []Answer{called(strings.Replace(reading(`"index":0,"id":"c1",`), `"read"`, `"Read"`, 1)), well}, Shows: readWell, Asked: 2},
		{Name: "a function_call", Seen: "servers from before tool calls", Answers: []Answer{{Body: chunks(`{"function_call":{"name":"read","arguments":"{\"path\""}}`, `{"function_call":{"arguments":":\"a.txt\"}"}}`) + finish("function_call") + done}, well}, Shows: readWell, Asked: 2},
		{Name: "half a call at the limit, for ever", Seen: "servers with a small max_tokens", Answers: []Answer{{Body: chunks(piece(`"index":0,"id":"a","function":{"name":"read","arguments":"{\"pa"}`)) + finish("length") + done}}, Shows: strings.TrimSuffix(strings.Repeat("call read failed | ", 5), " | "), Fails: "max_tokens", Asked: 5},
		{Name: "the same call that fails, for ever", Seen: "small models", Answers: []Answer{called(piece(`"index":0,"id":"a","function":{"name":"fly","arguments":"{}"}`))}, Shows: strings.TrimSuffix(strings.Repeat("call fly failed | ", 5), " | "), Fails: "fails again and again", Asked: 5},
	}
}

func reasoning() []Habit {
	thinks := func(name string) []Answer {
		return []Answer{called(`{"`+name+`":"hm"}`, reading(`"index":0,"id":"c1",`)), well}
	}
	const shown = "thought: hm | " + readWell
	unsupported := func(name, words string) []Refusal {
		return []Refusal{{If: `"` + name + `":`, Answer: refusal(400, words)}}
	}
	signed := reading(`"index":0,"id":"c1","extra_content":{"google":{"thought_signature":"EjQKMg"}},`)
	return []Habit{
		{Name: "reasoning_content", Seen: "llama.cpp, DeepSeek, vLLM", Answers: thinks("reasoning_content"), Shows: shown, Asked: 2, Sends: []string{`"reasoning_content":"hm"`}, Learns: `"reasoning":"reasoning_content"`},
		{Name: "reasoning goes back as it came", Seen: "Cerebras, newer vLLM, ollama", Answers: thinks("reasoning"), Refuses: unsupported("reasoning_content", `{"message":"messages.2.assistant.reasoning_content: property 'messages.2.assistant.reasoning_content' is unsupported","type":"invalid_request_error","param":"validation_error","code":"wrong_api_format"}`), Shows: shown, Asked: 2, Sends: []string{`"reasoning":"hm"`}, Learns: `"reasoning":"reasoning"`},
		{Name: "the same reasoning under two names", Seen: "OpenRouter, LM Studio", Answers: []Answer{called(`{"reasoning":"hm","reasoning_content":"hm"}`, reading(`"index":0,"id":"c1",`)), well}, Shows: shown, Asked: 2},
		{Name: "reasoning that must not come back", Seen: "Groq", Answers: thinks("reasoning"), Refuses: unsupported("reasoning", `{"error":{"message":"'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning' is unsupported)]","type":"invalid_request_error"}}`), Shows: shown, Asked: 3, Learns: `"refuses":["reasoning"]`},
		{Name: "reasoning_content that must not come back", Seen: "Mistral", Answers: thinks("reasoning_content"), Refuses: unsupported("reasoning_content", `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","messages",2,"assistant","reasoning_content"],"msg":"Extra inputs are not permitted","input":"hm"}]},"type":"invalid_request_error"}`), Shows: shown, Asked: 3, Learns: `"refuses":["reasoning_content"]`},
		{Name: "a refusal without a word", Seen: "Cerebras behind proxies", Answers: thinks("reasoning_content"), Refuses: unsupported("reasoning_content", ``), Shows: shown, Asked: 3, Learns: `"refuses":["extras"]`},
		{Name: "reasoning that must come back", Seen: "DeepSeek, Kimi", Answers: []Answer{called(reading(`"index":0,"id":"c1",`)), well}, Refuses: []Refusal{{If: `"role":"assistant"`, Unless: `"reasoning_content":`, Answer: refusal(400, `{"error":{"message":"The reasoning_content in the thinking mode must be passed back to the API."}}`)}}, Shows: readWell, Asked: 3, Learns: `"demands":["reasoning_content"]`},
		{Name: "signatures of thoughts", Seen: "Gemini 3", Answers: []Answer{called(signed), well}, Refuses: []Refusal{{If: `"tool_calls"`, Unless: `"thought_signature":"EjQKMg"`, Answer: refusal(400, `[{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts.","status":"INVALID_ARGUMENT"}}]`)}}, Shows: readWell, Asked: 2, Sends: []string{`"extra_content":\{"google":\{"thought_signature":"EjQKMg"\}\}`}, Learns: `"opaque":["extra_content"]`},
		{Name: "signatures for calls that have none", Seen: "Gemini 3 after a change of the model", Answers: []Answer{called(reading(`"index":0,"id":"c1",`)), well}, Refuses: []Refusal{{If: `"tool_calls"`, Unless: `"thought_signature"`, Answer: refusal(400, `[{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts.","status":"INVALID_ARGUMENT"}}]`)}}, Shows: readWell, Asked: 3, Learns: `"demands":["signature"]`},
		{Name: "reasoning_details", Seen: "OpenRouter", Answers: []Answer{called(`{"reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"h","index":0}]}`, `{"reasoning_details":[{"type":"reasoning.text","text":"m","index":0}]}`, `{"reasoning_details":[{"type":"reasoning.text","signature":"sig","index":0}]}`, `{"reasoning_details":[{"type":"reasoning.encrypted","data":"xyz","id":"c1","index":1}]}`, reading(`"index":0,"id":"c1",`)), well}, Shows: shown, Asked: 2, Sends: []string{`"reasoning_details":\[\{"index":0,"signature":"sig","text":"hm","type":"reasoning.text"\},\{"data":"xyz","id":"call00001","index":1,"type":"reasoning.encrypted"\}\]`}, Learns: `"opaque":["reasoning_details"]`},
		{Name: "thinking_blocks and members of the provider", Seen: "LiteLLM", Answers: []Answer{called(`{"reasoning_content":"hm","thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"sig"}],"provider_specific_fields":{"a":1}}`, reading(`"index":0,"id":"c1",`)), well}, Shows: shown, Asked: 2, Sends: []string{`"thinking_blocks":\[\{"type":"thinking","thinking":"hm","signature":"sig"\}\]`, `"provider_specific_fields":\{"a":1\}`}},
		{Name: "an opaque member that must not come back", Seen: "gateways", Answers: []Answer{called(`{"channel":"final"}`, reading(`"index":0,"id":"c1",`)), well}, Refuses: unsupported("channel", `{"detail":[{"loc":["body","messages",2,"channel"],"msg":"extra fields not permitted","type":"value_error.extra"}]}`), Shows: readWell, Asked: 3, Learns: `"refuses":["channel"]`},
		{Name: "parts of a content", Seen: "Mistral", Answers: []Answer{called(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`, reading(`"index":0,"id":"c1",`)), answer(`{"content":[{"type":"text","text":"all is well"}]}`)}, Shows: shown, Asked: 2, Sends: []string{`"content":\[\{"thinking":\[\{"text":"hm","type":"text"\}\],"type":"thinking"\}\]`}, Learns: `"reasoning":"content"`},
		{Name: "a refusal of the model in a member", Seen: "OpenAI", Answers: []Answer{answer(`{"refusal":"I cannot do that"}`)}, Shows: "agent: I cannot do that", Asked: 1},
		{Name: "a content filter", Seen: "Azure", Answers: []Answer{{Body: chunks(`{"content":"all "}`) + finish("content_filter") + done}}, Shows: "agent: all ", Fails: "a content filter of the endpoint stopped the answer", Asked: 1},
		{Name: "a filter with another name", Seen: "Gemini", Answers: []Answer{{Body: finish("SAFETY") + done}}, Fails: "a content filter of the endpoint stopped the answer", Asked: 1},
	}
}

func texts() []Habit {
	const call = `{"name": "read", "arguments": {"path": "a.txt"}}`
	writes := func(pieces ...string) []Answer {
		var deltas []string
		for _, p := range pieces {
			deltas = append(deltas, said(p))
		}
		return []Answer{answer(deltas...), well}
	}
	return []Habit{
		{Name: "<think> in the text", Seen: "older ollama, LM Studio, vLLM without a parser", Answers: writes("<th", "ink>\nh", "m\n</thi", "nk>\n\nall is well"), Shows: "thought: hm\n | " + isWell, Asked: 1, Learns: `"tags":["think"]`},
		{Name: "</think> without a beginning", Seen: "DeepSeek R1 and Qwen templates", Answers: []Answer{answer(said("hm\n"), said("</think>\n\nall is well"))}, Shows: "agent: hm\nall is well", Asked: 1, Learns: `"tags":["open"]`},
		{Name: "<think> around a call in the text", Seen: "Hermes, Qwen behind a server without a parser", Answers: writes("<think>hm</think>\n<tool_call>\n" + call + "\n</tool_call>"), Shows: "thought: hm | " + readWell, Asked: 2, Sends: []string{`"content":"\\u003cthink\\u003e\\nhm\\n\\u003c/think\\u003e"`}, Learns: `"tags":["think","tool_call"]`},
		{Name: "<tool_call> in the text", Seen: "Hermes behind llama.cpp without --jinja, TGI, MLX", Answers: writes("look:\n<tool", "_call>\n"+call, "\n</tool_call>"), Shows: "agent: look:\n | " + readWell, Asked: 2, Learns: `"tags":["tool_call"]`},
		{Name: "two <tool_call> in the text", Seen: "Hermes, Qwen", Answers: writes("<tool_call>\n" + call + "\n</tool_call>\n<tool_call>\n" + call + "\n</tool_call>"), Shows: twoWell, Asked: 2},
		{Name: "<tool_call> without an end", Seen: "servers that stop at </tool_call>", Answers: writes("<tool_call>\n" + call), Shows: readWell, Asked: 2},
		{Name: "XML in <tool_call>", Seen: "Qwen3 Coder", Answers: writes("<tool_call>\n<function=read>\n<parameter=path>\na.txt\n</parameter>\n<parameter=limit>\n1\n</parameter>\n</function>\n</tool_call>"), Shows: "call Read a.txt completed | agent: all is well", Asked: 2, Sends: []string{`"arguments":"\{\\"limit\\":1,\\"path\\":\\"a.txt\\"\}"`}},
		{Name: "XML without <tool_call>", Seen: "Qwen3 Coder", Answers: writes("look:\n<function=read>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>"), Shows: "agent: look:\n | " + readWell, Asked: 2},
		{Name: "<arg_key> in <tool_call>", Seen: "GLM", Answers: writes("<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>a.txt</arg_value>\n</tool_call>"), Shows: readWell, Asked: 2},
		{Name: "[TOOL_CALLS] in the text", Seen: "Mistral behind vLLM without a parser", Answers: writes("[TOOL_CALLS][" + call + "]"), Shows: readWell, Asked: 2},
		{Name: "[ARGS] in the text", Seen: "newer Mistral", Answers: writes(`[TOOL_CALLS]read[ARGS]{"path": "a.txt"}`), Shows: readWell, Asked: 2},
		{Name: "a call as the whole text", Seen: "Llama 3.1", Answers: writes(`{"name": "read", "parameters": {"path": "a.txt"}}`), Shows: readWell, Asked: 2},
		{Name: "<|python_tag|> in the text", Seen: "Llama 3.1", Answers: writes(`<|python_tag|>{"name": "read", "parameters": {"path": "a.txt"}}<|eom_id|>`), Shows: readWell, Asked: 2},
		{Name: "sections of calls in the text", Seen: "Kimi", Answers: writes(`<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{"path": "a.txt"}<|tool_call_end|><|tool_calls_section_end|>`), Shows: readWell, Asked: 2},
		{Name: "talk about tags", Seen: "any model that is asked about them", Answers: []Answer{answer(said("A call is <tool_call>:\n```\n<tool_call>\n" + call + "\n</tool_call>\n```\nand <think> begins\n<tool_call> for no tool </tool_call>"))}, Shows: "agent: A call is <tool_call>:\n```\n<tool_call>\n" + call + "\n</tool_call>\n```\nand <think> begins\n<tool_call> for no tool </tool_call>", Asked: 1},
		{Name: "JSON as an answer", Seen: "any model that is asked for it", Answers: []Answer{answer(said(`{"name": "x"`), said(`}`))}, Shows: `agent: {"name": "x"}`, Asked: 1},
		{Name: "no tools at all", Seen: "ollama", Answers: writes("<tool_call>\n" + call + "\n</tool_call>"), Refuses: []Refusal{{If: `"tools"`, Answer: refusal(400, `{"error":{"message":"registry.ollama.ai/library/hermes3:latest does not support tools","type":"api_error"}}`)}}, Shows: readWell, Told: "tools in the text", Asked: 3, Sends: []string{`<tools>|\\u003ctools\\u003e`, `\\u003ctool_response\\u003e\\none\\n\\n\\u003c/tool_response\\u003e|tool_response`}, Learns: `"refuses":["tools"]`},
		{Name: "no parser for tools", Seen: "vLLM", Answers: writes("<tool_call>\n" + call + "\n</tool_call>"), Refuses: []Refusal{{If: `"tools"`, Answer: refusal(400, `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}`)}}, Shows: readWell, Told: "tools in the text", Asked: 3},
		{Name: "tools need an option", Seen: "llama.cpp", Answers: writes("<tool_call>\n" + call + "\n</tool_call>"), Refuses: []Refusal{{If: `"tools"`, Answer: refusal(500, `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`)}}, Shows: readWell, Told: "tools in the text", Asked: 3},
		{Name: "no provider has tools", Seen: "OpenRouter", Answers: writes("<tool_call>\n" + call + "\n</tool_call>"), Refuses: []Refusal{{If: `"tools"`, Answer: refusal(404, `{"error":{"message":"No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs/provider-routing","code":404}}`)}}, Shows: readWell, Told: "tools in the text", Asked: 3},
	}
}

func refusals() []Habit {
	return []Habit{
		{Name: "no stream_options", Seen: "older Azure, Mistral", Answers: []Answer{well}, Refuses: []Refusal{{If: `"stream_options"`, Answer: refusal(400, `{"error":{"message":"Unrecognized request argument supplied: stream_options","type":"invalid_request_error","param":null,"code":null}}`)}}, Shows: isWell, Asked: 2, Learns: `"refuses":["stream_options"]`},
		{Name: "no streams", Seen: "Azure, gateways", Answers: []Answer{whole(`{"role":"assistant","content":"all is well"}`, "stop")}, Refuses: []Refusal{{If: `"stream":true`, Answer: refusal(403, `{"message":"Streaming requests are not yet allowed."}`)}}, Shows: isWell, Asked: 2, Learns: `"refuses":["stream"]`},
		{Name: "no system prompt", Seen: "Gemma behind SGLang, vLLM", Answers: []Answer{well}, Refuses: []Refusal{{If: `"role":"system"`, Answer: refusal(400, `{"object":"error","message":"System role not supported","type":"BadRequestError","code":400}`)}}, Shows: isWell, Asked: 2, Sends: []string{`"content":"You are a coding agent[^"]*go"`}, Learns: `"refuses":["system"]`},
		{Name: "no instructions of the developer", Seen: "Gemma at Google", Answers: []Answer{well}, Refuses: []Refusal{{If: `"role":"system"`, Answer: refusal(400, `[{"error":{"code":400,"message":"Developer instruction is not enabled for models/gemma-3-27b-it","status":"INVALID_ARGUMENT"}}]`)}}, Shows: isWell, Asked: 2},
		{Name: "a message of calls without a content", Seen: "older vLLM, gateways", Answers: []Answer{called(reading(`"index":0,"id":"c1",`)), well}, Refuses: []Refusal{{If: `"role":"assistant","tool_calls"`, Unless: `"content":"","role":"assistant"`, Answer: refusal(422, `{"detail":[{"type":"missing","loc":["body","messages",2,"content"],"msg":"Field required"}]}`)}}, Shows: readWell, Asked: 3, Learns: `"demands":["content"]`},
		{Name: "ids of nine letters and digits", Seen: "Mistral", Answers: []Answer{called(reading(`"index":0,"id":"functions.read:0",`)), well}, Refuses: []Refusal{{If: `"tool_call_id":"`, Unless: `"tool_call_id":"[a-zA-Z0-9]{9}"`, Answer: refusal(400, `{"message":"Tool call id has to be defined in messages with role tool."}`)}}, Shows: readWell, Asked: 2},
	}
}

func faults() []Habit {
	fails := func(name, seen string, status int, body, words string) Habit {
		return Habit{Name: name, Seen: seen, Refuses: []Refusal{{Answer: refusal(status, body)}}, Fails: words, Asked: 1}
	}
	later := func(name, seen string, a Answer, words string) Habit {
		return Habit{Name: name, Seen: seen, Answers: []Answer{a, well}, Shows: isWell, Told: words, Asked: 2}
	}
	page := "<!DOCTYPE html><html><head><title>Sign in to your\naccount</title></head><body><form></form></body></html>"
	return []Habit{
		fails("an error with a message", "OpenAI", 400, `{"error":{"message":"good shape","type":"x","code":null,"param":null}}`, "400 Bad Request: good shape"),
		fails("an error that is a text", "LM Studio, TGI, ollama", 400, `{"error":"Model is not loaded"}`, "400 Bad Request: Model is not loaded"),
		fails("a key that is refused with a text", "proxies", 401, `{"error":"Unauthorized"}`, "401 Unauthorized: Unauthorized; does OPENAI_API_KEY have the right key?"),
		fails("a model that there is not, as a text", "ollama, llama-swap", 404, `{"error":"model 'x' not found"}`, "404 Not Found: model 'x' not found"),
		fails("an error without the member error", "older vLLM", 400, `{"object":"error","message":"The model x does not exist","type":"BadRequestError","code":400}`, "400 Bad Request: The model x does not exist"),
		fails("details in a list", "FastAPI", 422, `{"detail":[{"loc":["body","messages"],"msg":"field required"}]}`, "422 Unprocessable Entity: body.messages: field required"),
		fails("a detail", "FastAPI", 401, `{"detail":"Invalid API key"}`, "401 Unauthorized: Invalid API key; does OPENAI_API_KEY"),
		fails("an error in a list", "Gemini", 400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, "400 Bad Request: API key not valid. Please pass a valid API key.; does OPENAI_API_KEY"),
		fails("a message alone", "AWS gateways", 403, `{"message":"User is not authorized"}`, "403 Forbidden: User is not authorized; does OPENAI_API_KEY"),
		fails("plain text", "llama.cpp behind nginx", 400, "bad things", "400 Bad Request: bad things"),
		fails("the reason inside of the error", "OpenRouter", 400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":\"the real reason\"}","provider_name":"X"}}}`, "400 Bad Request: Provider returned error: the real reason"),
		fails("a message that is an object", "Mistral", 400, `{"object":"error","message":{"detail":[{"msg":"Input should be a valid string"}]}}`, "400 Bad Request: Input should be a valid string"),
		fails("a message that is JSON again", "LiteLLM", 400, `{"error":{"message":"{\"error\":{\"message\":\"inner words\"}}"}}`, "400 Bad Request: inner words"),
		fails("errors in a list", "Cloudflare", 400, `{"success":false,"errors":[{"code":7000,"message":"No route for that URI"}],"messages":[]}`, "400 Bad Request: No route for that URI"),
		fails("money is spent", "OpenAI", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, "429 Too Many Requests: You exceeded your current quota"),
		fails("credits are spent", "OpenRouter", 402, `{"error":{"message":"Insufficient credits","code":402}}`, "402 Payment Required: Insufficient credits"),
		fails("an error in a 200", "gateways", 200, `{"error":{"message":"no such model","code":400}}`, "400 Bad Request: no such model"),
		later("an error in a 200 that passes", "OpenRouter", refusal(200, `{"error":{"message":"upstream is down","code":502}}`), "502 Bad Gateway: upstream is down; trying again"),
		fails("a page to sign in", "company proxies", 200, page, "a web page instead of an answer: Sign in to your account"),
		fails("a page for an address that there is not", "any server without /v1", 404, "<html><title>404 Not Found</title></html>", "many endpoints have an address that ends in /v1"),
		later("an error that is null", "gateways", refusal(500, `{"error":null}`), "500 Internal Server Error; trying again"),
		later("an error in the stream", "llama.cpp, OpenRouter", Answer{Body: `data: {"error":{"code":502,"message":"provider disconnected"}}` + "\n\n"}, "provider disconnected; trying again"),
		fails("an error in the stream that no repeat helps", "OpenAI, gateways", 200, "data: "+`{"error":{"message":"Invalid schema for function","type":"invalid_request_error","param":"tools[0]","code":null}}`+"\n\n", "Invalid schema for function"),
		fails("an error in the stream with a word for a code", "Gemini behind proxies", 200, "data: "+`{"error":{"message":"Request contains an invalid argument.","status":"INVALID_ARGUMENT"}}`+"\n\n", "Request contains an invalid argument."),
		later("an event called error", "older llama.cpp", Answer{Body: "event: error\n" + `data: {"code":500,"message":"slot unavailable"}` + "\n\n"}, "slot unavailable; trying again"),
		later("a pause in milliseconds", "Azure", Answer{Status: 429, Header: "Retry-After-Ms: 5", Body: `{"error":{"message":"slow down"}}`}, "slow down; trying again"),
		later("a pause in the words", "Groq", refusal(429, `{"error":{"message":"Rate limit reached. Please try again in 12ms."}}`), "trying again in 0s"),
		later("a pause in the details", "Gemini", refusal(429, `[{"error":{"code":429,"message":"Resource exhausted","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"0.01s"}]}}]`), "Resource exhausted; trying again"),
		later("busy with a model", "llama.cpp", refusal(503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`), "503 Service Unavailable: Loading model; trying again"),
		later("a page of a gateway", "Cloudflare", Answer{Status: 504, Type: "text/html", Body: "<html><title>Gateway time-out</title></html>"}, "504 Gateway Timeout: a web page instead of an answer: Gateway time-out; trying again"),
		later("overloaded", "Anthropic behind proxies", refusal(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), "529: Overloaded; trying again"),
	}
}

// windows are the ways to say that a conversation is too long. The server refuses one until
// it has the summary.
func windows() []Habit {
	full := func(name, seen string, status int, body, learns string) Habit {
		return Habit{
			Name: name, Seen: seen, Shows: "agent: long | " + isWell, Learns: learns,
			Answers: []Answer{answer(said("long")), well},
			Refuses: []Refusal{
				{If: `Summarize the work of a coding agent`, Answer: answer(said("it was long"))},
				{If: `"content":"long"`, Unless: `was replaced by a summary`, Answer: refusal(status, body)},
			},
		}
	}
	return []Habit{
		full("full, with the size in words", "OpenAI, vLLM, LiteLLM", 400, `{"error":{"message":"This model's maximum context length is 4096 tokens. However, your messages resulted in 9000 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, `"window":4096`),
		full("full, with the size in a member", "llama.cpp", 400, `{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}`, `"window":8192`),
		full("full, as a fault of the server", "older llama.cpp", 500, `{"error":{"code":500,"message":"the request exceeds the available context size. try increasing the context size","type":"server_error"}}`, ``),
		full("full, as a text", "LM Studio", 400, `{"error":"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."}`, `"window":4096`),
		full("full, with a comparison", "Anthropic behind proxies", 400, `{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum","type":"invalid_request_error"}}`, `"window":200000`),
		full("full, with brackets", "Gemini", 400, `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, `"window":1048576`),
		full("full, with commas", "gateways", 400, `{"message":"Input length exceeds the maximum context length of 131,072 tokens"}`, `"window":131072`),
		full("full, for one minute", "Groq", 413, `{"error":{"message":"Request too large for model x on tokens per minute (TPM): Limit 8000, Requested 9000, please reduce your message size and try again.","type":"tokens","code":"rate_limit_exceeded"}}`, `"window":8000`),
		full("full, for a gateway", "nginx", 413, "<html><title>413 Request Entity Too Large</title></html>", ``),
		full("full, in a stream", "llama.cpp behind gateways", 200, `data: {"error":{"message":"context window is full","n_ctx":4096}}`+"\n\n", `"window":4096`),
	}
}
