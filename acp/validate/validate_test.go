package validate

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// shared keeps validators, because making one takes longer than using it.
var shared sync.Map

func validator(e Edition, m Mode) *Validator {
	v, _ := shared.LoadOrStore(fmt.Sprint(e, m), New(e, m))
	return v.(*Validator)
}

func lines(findings []Finding) string {
	var list []string
	for _, f := range findings {
		list = append(list, f.String())
	}
	return strings.Join(list, "\n")
}

func check(t *testing.T, e Edition, m Mode, definition, text string) string {
	t.Helper()
	found, err := validator(e, m).Value(definition, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return lines(found)
}

func TestEachMistakeIsOneFinding(t *testing.T) {
	t.Parallel()
	const diff = `{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[
		{"type":"content","content":{"type":"text","text":"x"}},{"type":"diff","path":5,"newText":"x"}]}}`
	for _, c := range []struct {
		edition          Edition
		definition, text string
		want             string
	}{
		{V1, "SessionNotification", diff, "/update/content/1/path: type: want string, got integer"},
		{V1, "SessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"nope"}}`,
			`/update/sessionUpdate: enum: want …, got "nope"`},
		{V1, "SessionNotification", `{"sessionId":"s","update":{}}`, `/update: required: want member "sessionUpdate", got nothing`},
		{V1, "SessionNotification", `{"sessionId":"s","update":7}`, `/update: type: want object, got integer`},
		{V1, "SessionNotification", `{}`, "(root): required: want member \"sessionId\", got nothing\n(root): required: want member \"update\", got nothing"},
		{V2, "UpdateSessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"nope"}}`, ""},
		{V2, "UpdateSessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"tool_call_update"}}`, `/update: required: want member "toolCallId", got nothing`},
		{V1, "ContentBlock", `{"type":"image","data":"x"}`, `(root): required: want member "mimeType", got nothing`},
		{V1, "ContentBlock", `{"type":"image","data":5,"mimeType":"a"}`, `/data: type: want string, got integer`},
		{V2, "ContentBlock", `{"type":"image","data":"%%","mimeType":"a"}`, `/data: contentEncoding: want base64, got "%%"`},
		{V1, "PromptRequest", `{"sessionId":"s","prompt":[{"type":"text","text":"a"},{"type":"text"},{"type":"video"}]}`,
			"/prompt/1: required: want member \"text\", got nothing\n/prompt/2/type: enum: want …, got \"video\""},
		{V1, "McpServer", `{"type":"http","name":"x","url":"u","headers":[{"name":"a"}]}`, `/headers/0: required: want member "value", got nothing`},
		{V1, "McpServer", `{"name":"x","command":"c","args":[1],"env":[]}`, `/args/0: type: want string, got integer`},
		{V1, "McpServer", `{"type":"http","name":"x","command":"c","args":[],"env":[]}`, ""}, // fits the variant without a tag
		{V1, "EmbeddedResourceResource", `{"uri":"u"}`, `(root): required: want member "text" or member "blob", got nothing`},
		{V1, "EmbeddedResourceResource", `{"uri":"u","text":3}`, `/text: type: want string, got integer`},
		{V1, "EmbeddedResourceResource", `{"uri":3,"blob":3}`, "/blob: type: want string, got integer\n/uri: type: want string, got integer"},
		{V1, "EmbeddedResourceResource", `[]`, `(root): type: want object, got array`},
		{V1, "RequestId", `{}`, `(root): type: want integer or null or string, got object`},
		{V1, "RequestId", `1.5`, `(root): type: want integer or null or string, got number 1.5`},
		{V2, "RequestId", `null`, `(root): type: want integer or string, got null`},
		{V1, "ToolKind", `"nope"`, `(root): enum: want …, got "nope"`},
		{V1, "SessionNotification", `{"sessionID":"s","update":{"sessionUpdate":"plan","entries":[]}}`, `(root): required: want member "sessionId", got "sessionID"`},
		{V1, "SessionNotification", `{"sessionId":"s","update":{"session_update":"plan","entries":[]}}`, `/update: required: want member "sessionUpdate", got "session_update"`},
		{V1, "SessionNotification", `{"sessionId":"s","update":{"sessionUpdate":"toolCall","toolCallId":"c"}}`, `/update/sessionUpdate: enum: want "tool_call" (or one of …others), got "toolCall"`},
		{V1, "PromptResponse", `{"stop_reason":"end_turn"}`, `(root): required: want member "stopReason", got "stop_reason"`},
		{V1, "PromptResponse", `{"stopReason":"endTurn"}`, `/stopReason: enum: want "end_turn" (or one of …others), got "endTurn"`},
		{V1, "Diff", `{"path":"/a","oldText":"x","new_text":"y"}`, `(root): required: want member "newText", got "new_text"`},
		{V1, "Diff", `{"path":"/a","oldText":"x"}`, `(root): required: want member "newText", got nothing`},
		{V1, "ToolKind", `5`, `(root): type: want string, got integer`},
		{V2, "ToolKind", `"nope"`, ""},
		{V2, "ToolKind", `5`, `(root): type: want string, got integer`},
		{V1, "ProtocolVersion", `70000`, `(root): maximum: want at most 65535 (uint16), got 70000`},
		{V1, "ReadTextFileRequest", `{"sessionId":"s","path":"/a","line":-1}`, `/line: minimum: want at least 0 (uint32), got -1`},
		{V1, "Notice", `{"noticeId":"n","severity":"info","title":""}`, `/title: minLength: want at least 1 character, got ""`},
		{V2, "PromptRequest", `{"sessionId":"s","prompt":[]}`, `/prompt: minItems: want at least 1 element, got 0 elements`},
		{V2, "SessionInfo", `{"sessionId":"s","cwd":"/","updatedAt":"yesterday"}`, `/updatedAt: format: want date-time, got "yesterday"`},
		{V2, "SessionInfo", `{"sessionId":"s","cwd":"/","updatedAt":"2026-01-02T+3:04:05Z"}`, `/updatedAt: format: want date-time, got "2026-01-02T+3:04:05Z"`},
		{V2, "SessionInfo", `{"sessionId":"s","cwd":"/","updatedAt":"2016-12-31t23:59:60z"}`, ""},
		{V1, "SessionConfigSelectOptions", `[{"value":"a","name":3}]`, `/0/name: type: want string, got integer`},
		{V1, "SessionConfigSelectOptions", `[{"group":"g","name":"n","options":[{"value":1,"name":"x"}]}]`, `/0/options/0/value: type: want string, got integer`},
		{V1, "RequestPermissionResponse", `{"outcome":{"outcome":"selected"}}`, `/outcome: required: want member "optionId", got nothing`},
		{V1, "SetSessionConfigOptionRequest", `{"sessionId":"s","configId":"c","type":"boolean","value":3}`, `/value: type: want boolean, got integer`},
		{V2, "ElicitationFormMode", `{"requestedSchema":{"type":"object","properties":{}},"sessionId":"s","requestId":1}`, `(root): oneOf: want exactly one of the alternatives, got several`},
		{Unstable, "MessageMcpResponse", `{"error":{"code":1}}`, `/error: required: want member "message", got nothing`},
		{V1, "SessionInfo", `{"sessionId":"s","cwd":"/","_meta":{"a":[{"b":1,"b":2}]},"cwd":"/"}`,
			"/_meta/a/0/b: duplicate: want member \"b\" once, got it again\n/cwd: duplicate: want member \"cwd\" once, got it again"},
		{V1, "SessionId", "\"\xff\"", `(root): json: want one JSON value, got invalid JSON at byte 0: string is not UTF-8`},
		{V1, "SessionId", `nope`, `(root): json: want one JSON value, got invalid character 'o' in literal null (expecting 'u')`},
		{V1, "SessionId", `"a" "b"`, `(root): json: want one JSON value, got more text after the value`},
		{V1, "SessionId", ``, `(root): json: want one JSON value, got unexpected EOF`},
	} {
		t.Run(fmt.Sprintf("%s/%s/%s", c.edition, c.definition, c.text), func(t *testing.T) {
			t.Parallel()
			// Which words there are is for the schema to say.
			got := check(t, c.edition, Strict, c.definition, c.text)
			before, after, words := strings.Cut(c.want, "…")
			if got != c.want && !(words && strings.HasPrefix(got, before) && strings.HasSuffix(got, after)) {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestTolerantAcceptsWhatAReaderRepairs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		edition          Edition
		definition, text string
		strict, tolerant string
	}{
		{V1, "ToolCall", `{"toolCallId":"c","title":"t","kind":5}`, "/kind: type: want string, got integer", ""},
		{V1, "ToolCall", `{"toolCallId":"c","title":5}`, "/title: type: want string, got integer", "/title: type: want string, got integer"},
		{V1, "ToolCall", `{"toolCallId":"c","title":"t","_meta":5}`, "/_meta: type: want object or null, got integer", ""},
		{V1, "Plan", `{"entries":[{"content":5}]}`, "/entries/0: required: want member \"priority\", got nothing\n/entries/0: required: want member \"status\", got nothing\n/entries/0/content: type: want string, got integer", ""},
		{V1, "Plan", `{}`, `(root): required: want member "entries", got nothing`, `(root): required: want member "entries", got nothing`},
		{V1, "NewSessionRequest", `{"cwd":"/","mcpServers":null}`, "/mcpServers: type: want array, got null", ""},
		{V1, "NewSessionRequest", `{"cwd":"/","mcpServers":5}`, "/mcpServers: type: want array, got integer", "/mcpServers: type: want array, got integer"},
		{V2, "PlanItems", `{"planId":"p","entries":[5]}`, "/entries/0: type: want object, got integer", ""},
		{V2, "PlanItems", `{"planId":"p","entries":5}`, "/entries: type: want array, got integer", "/entries: type: want array, got integer"},
		{V2, "IdleStateUpdate", `{"stopReason":5}`, "/stopReason: type: want string or null, got integer", ""},
	} {
		t.Run(c.definition+c.text, func(t *testing.T) {
			t.Parallel()
			if got := check(t, c.edition, Strict, c.definition, c.text); got != c.strict {
				t.Errorf("strict: got\n%s\nwant\n%s", got, c.strict)
			}
			if got := check(t, c.edition, Tolerant, c.definition, c.text); got != c.tolerant {
				t.Errorf("tolerant: got\n%s\nwant\n%s", got, c.tolerant)
			}
		})
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		to            Side
		answers, text string
		want          string
	}{
		{Agent, "", `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`, ""},
		{Agent, "", `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":5}}`, "/params: required: want member \"mcpServers\", got nothing\n/params/cwd: type: want string, got integer"},
		{Agent, "", `{"jsonrpc":"2.0","id":1,"method":"session/new"}`, "/params: required: want object (NewSessionRequest), got nothing"},
		{Agent, "", `{"jsonrpc":"2.0","id":1,"method":"session/new","params":null}`, "/params: required: want object (NewSessionRequest), got null"},
		{Agent, "", `{"jsonrpc":"2.0","id":1,"method":"logout"}`, ""},
		{Agent, "", `{"jsonrpc":"2.0","method":"session/new","params":{}}`, `(root): method: want request with an id, got "session/new"`},
		{Agent, "", `{"jsonrpc":"2.0","id":1,"method":"session/cancel","params":{"sessionId":"s"}}`, `(root): method: want notification without an id, got "session/cancel"`},
		{Client, "", `{"jsonrpc":"2.0","method":"session/update","params":42}`, "/params: type: want object, got integer"},
		{Agent, "", `{"jsonrpc":"2.0","method":"session/update","params":{}}`, `/method: method: want method of the agent, got "session/update"`},
		{Agent, "", `{"jsonrpc":"2.0","method":"_vendor/x","params":42}`, ""},
		{Agent, "", `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`, ""},
		{Client, "", `{"jsonrpc":"2.0","method":"$/cancel_request","params":{}}`, `/params: required: want member "requestId", got nothing`},
		{Agent, "", `{"jsonrpc":"1.0","id":{},"method":5}`, "/jsonrpc: const: want \"2.0\", got \"1.0\"\n/id: type: want integer or null or string, got object\n/method: type: want string, got integer"},
		{Client, "session/new", `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`, ""},
		{Client, "session/new", `{"jsonrpc":"2.0","id":1,"result":{}}`, `/result: required: want member "sessionId", got nothing`},
		{Client, "session/new", `{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"m"}}`, `/error/code: type: want integer, got string`},
		{Client, "session/new", `{"jsonrpc":"2.0","id":1}`, `(root): response: want one of "method", "result" and "error", got "id", "jsonrpc"`},
		{Client, "session/new", `{"id":1,"result":{},"error":{}}`, "(root): required: want member \"jsonrpc\", got nothing\n(root): response: want one of \"method\", \"result\" and \"error\", got \"error\", \"id\", \"result\""},
		{Client, "_x", `{"jsonrpc":"2.0","result":1}`, `(root): required: want member "id", got nothing`},
		{Agent, "fs/write_text_file", `{"jsonrpc":"2.0","id":1,"result":null}`, "/result: type: want object, got null"},
		{Agent, "", `{"jsonrpc":"2.0","id":1,"method":"session/new","id":2,"params":{"cwd":"/","mcpServers":[],"cwd":"/"}}`,
			"/id: duplicate: want member \"id\" once, got it again\n/params/cwd: duplicate: want member \"cwd\" once, got it again"},
		{Agent, "", `[]`, `(root): type: want object, got array`},
		{Agent, "", `{`, `(root): json: want one JSON value, got unexpected EOF`},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			found, err := validator(V1, Strict).Message(c.to, []byte(c.text), c.answers)
			if err != nil {
				t.Fatal(err)
			}
			if got := lines(found); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	found, err := validator(V1, Tolerant).Message(Agent, []byte(`{"jsonrpc":"2.0","id":1,"result":null}`), "fs/write_text_file")
	if err != nil || len(found) > 0 {
		t.Errorf("a result of null, tolerant: %v, %v", found, err)
	}
}

func TestParamsAndResults(t *testing.T) {
	t.Parallel()
	v := validator(V2Unstable, Strict)
	found, err := v.Result(Client, "mcp/message", []byte(`{}`))
	if want := `(root): required: want member "result" or member "error", got nothing`; err != nil || lines(found) != want {
		t.Errorf("got %v, %v", lines(found), err)
	}
	if found, err := v.Params(Agent, "mcp/message", nil); err != nil || len(found) != 1 || found[0].Rule != "required" {
		t.Errorf("got %v, %v", found, err)
	}
	if found, err := v.Params(Proxy, "proxy/successor", []byte(`{"method":5}`)); err != nil || lines(found) != "/method: type: want string, got integer" {
		t.Errorf("got %v, %v", lines(found), err)
	}
	if found, err := v.Params(Agent, "_mine", []byte("5")); err != nil || found != nil {
		t.Errorf("got %v, %v", found, err)
	}
}

func TestWrongCallsAreErrors(t *testing.T) {
	t.Parallel()
	v := validator(V1, Strict)
	call := func(_ []Finding, err error) error { return err }
	for want, err := range map[string]error{
		`no definition "Nope"`:              call(v.Value("Nope", nil)),
		`no definition "../x y"`:            call(v.Value("../x y", nil)),
		`the agent has no method "nope"`:    call(v.Params(Agent, "nope", nil)),
		`session/cancel is a notification`:  call(v.Result(Agent, "session/cancel", nil)),
		`nobody answers nope to the client`: call(v.Message(Client, []byte(`{"jsonrpc":"2.0","id":1,"result":1}`), "nope")),
		`unknown edition "v3": want one of`: call(New("v3", Strict).Value("SessionId", nil)),
		`unknown edition "v4": want one of`: call(New("v4", Strict).Params(Agent, "initialize", nil)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func TestOneValidatorServesManyGoroutines(t *testing.T) {
	t.Parallel()
	v := New(V1, Tolerant)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for _, d := range []string{"ContentBlock", "SessionNotification", "ToolCall", "McpServer"} {
				if found, err := v.Value(d, []byte(`[]`)); err != nil || len(found) != 1 {
					t.Errorf("%d: %s: %v, %v", i, d, found, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestEveryDefinitionCompiles(t *testing.T) {
	t.Parallel()
	for _, e := range Editions {
		for _, m := range []Mode{Strict, Tolerant} {
			v := validator(e, m)
			var doc struct {
				Defs map[string]any `json:"$defs"`
			}
			if err := json.Unmarshal(e.source(), &doc); err != nil || len(doc.Defs) < 100 {
				t.Fatal(err, len(doc.Defs))
			}
			for name := range doc.Defs {
				if _, err := v.Value(name, []byte("null")); err != nil {
					t.Errorf("%s: %s: %v", e, name, err)
				}
			}
		}
	}
}

func TestFindingsDoNotRepeatMegabytes(t *testing.T) {
	t.Parallel()
	found := check(t, V1, Strict, "ToolKind", `"`+strings.Repeat("é", 1<<20)+`"`)
	if len(found) > 300 || !strings.HasSuffix(found, "…") {
		t.Errorf("%d bytes", len(found))
	}
}

func BenchmarkMessage(b *testing.B) {
	v := New(V1, Tolerant)
	text := []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello, this is a chunk of a message of usual length."}}}}`)
	if found, err := v.Message(Client, text, ""); err != nil || found != nil {
		b.Fatal(found, err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.Message(Client, text, ""); err != nil {
			b.Fatal(err)
		}
	}
}
