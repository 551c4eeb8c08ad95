package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// echo answers every request with its params.
var echo = handler{
	request: func(_ context.Context, _ string, p json.RawMessage) (acp.Appender, error) {
		return raw(append([]byte(nil), p...)), nil
	},
	notify: func(context.Context, string, json.RawMessage) error { return nil },
}

const (
	none = ""
	null = "null"
)

// TestLinesThatAreNoMessages says, by number of the conformance list, what each
// side answers: the id and the code, or nothing.
func TestLinesThatAreNoMessages(t *testing.T) {
	t.Parallel()
	deep := func(n int) string {
		return `{"jsonrpc":"2.0","id":1,"method":"m","params":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}`
	}
	for _, test := range []struct {
		name           string
		line           string
		server, client string // "id code"
		fault          rpc.FaultKind
	}{
		{"C006 banner", `Welcome to the agent!`, "null -32700", none, rpc.FaultNoise},
		{"C006 cut object", `{"jsonrpc":"2.0","id":1`, "null -32700", none, rpc.FaultParse},
		{"C006 two messages on a line", `{"jsonrpc":"2.0","method":"m"}{}`, "null -32700", none, rpc.FaultParse},
		{"C007 number", `42`, "null -32600", none, rpc.FaultNoise},
		{"C007 null", `null`, "null -32600", none, rpc.FaultNoise},
		{"C007 string", `"x"`, "null -32600", none, rpc.FaultNoise},
		{"C009 pretty", `{`, "null -32700", none, rpc.FaultParse},
		{"C019 no method", `{"jsonrpc":"2.0","params":{}}`, "null -32600", none, rpc.FaultInvalid},
		{"C019 empty object", `{}`, "null -32600", none, rpc.FaultInvalid},
		{"C019 id object", `{"jsonrpc":"2.0","id":{},"method":"m"}`, "null -32600", "null -32600", rpc.FaultInvalid},
		{"C019 id true", `{"jsonrpc":"2.0","id":true,"method":"m"}`, "null -32600", "null -32600", rpc.FaultInvalid},
		{"C019 id NaN", `{"jsonrpc":"2.0","id":NaN,"method":"m"}`, "null -32700", none, rpc.FaultParse},
		{"C019 id fraction", `{"jsonrpc":"2.0","id":1.5,"method":"m"}`, "null -32600", "null -32600", rpc.FaultInvalid},
		{"C019 method number", `{"jsonrpc":"2.0","id":3,"method":7}`, "3 -32600", "3 -32600", rpc.FaultInvalid},
		{"C019 method and result", `{"jsonrpc":"2.0","id":3,"method":"m","result":{}}`, "3 -32600", "3 -32600", rpc.FaultInvalid},
		{"C020 no version", `{"id":3,"method":"m"}`, "3 -32600", "3 ok", rpc.FaultInvalid},
		{"C020 other version", `{"jsonrpc":"1.0","id":3,"method":"m"}`, "3 -32600", "3 ok", rpc.FaultInvalid},
		{"C021 params number", `{"jsonrpc":"2.0","id":3,"method":"m","params":1}`, "3 -32600", "3 -32600", rpc.FaultInvalid},
		{"C021 params string", `{"jsonrpc":"2.0","id":3,"method":"m","params":"x"}`, "3 -32600", "3 -32600", rpc.FaultInvalid},
		{"C024 both result and error, unknown id", `{"jsonrpc":"2.0","id":3,"result":{},"error":{"code":1,"message":""}}`, none, none, rpc.FaultInvalid},
		{"C024 answer without id", `{"jsonrpc":"2.0","result":{}}`, none, none, rpc.FaultInvalid},
		{"C024 neither result nor error", `{"jsonrpc":"2.0","id":3}`, none, none, rpc.FaultInvalid},
		{"C024 error with null id", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`, none, none, rpc.FaultUnknownResponse},
		{"C025 unknown id", `{"jsonrpc":"2.0","id":3,"result":{}}`, none, none, rpc.FaultUnknownResponse},
		{"C025 string id", `{"jsonrpc":"2.0","id":"1","result":{}}`, none, none, rpc.FaultUnknownResponse},
		{"C027 huge exponent", `{"jsonrpc":"2.0","id":1e999999999,"method":"m"}`, "null -32600", "null -32600", rpc.FaultInvalid},
		{"C027 beyond 64 bits", `{"jsonrpc":"2.0","id":18446744073709551616,"method":"m"}`, "null -32600", "null -32600", rpc.FaultInvalid},
		{"C028 duplicate method", `{"jsonrpc":"2.0","id":3,"method":"a","method":"b"}`, "3 -32600", "3 -32600", rpc.FaultInvalid},
		{"C028 duplicate id", `{"jsonrpc":"2.0","id":3,"id":4,"method":"a"}`, "3 -32600", "3 -32600", rpc.FaultInvalid},
		{"C028 duplicate by escape", `{"jsonrpc":"2.0","id":3,"method":"a","\u006dethod":"b"}`, "3 -32600", "3 -32600", rpc.FaultInvalid},
		{"C029 other case", `{"jsonrpc":"2.0","id":3,"METHOD":"m"}`, none, none, rpc.FaultInvalid},
		{"C030 bad UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"m\",\"params\":{\"x\":\"\xff\"}}", "3 -32700", "3 -32700", rpc.FaultParse},
		{"C030 NUL", "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"m\",\"params\":{\"x\":\"\x00\"}}", "3 -32700", "3 -32700", rpc.FaultParse},
		{"C030 before the id", "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"x\":\"\xff\"},\"id\":3}", "null -32700", none, rpc.FaultParse},
		{"C031 depth 512", deep(512), "1 ok", "1 ok", 0},
		{"C031 depth 513", deep(513), "1 -32700", "1 -32700", rpc.FaultParse},
		{"C031 depth 200,000", deep(200_000), "1 -32700", "1 -32700", rpc.FaultParse},
		{"C174 batch", `[{"jsonrpc":"2.0","id":1,"method":"m"}]`, "null -32600", "null -32600", rpc.FaultInvalid},
		{"C174 batch of all kinds", `[{"jsonrpc":"2.0","id":1,"method":"m"},{"jsonrpc":"2.0","method":"m"},{"jsonrpc":"2.0","id":1,"result":{}},7]`, "null -32600", "null -32600", rpc.FaultInvalid},
		{"C174 batch of answers", `[{"jsonrpc":"2.0","id":1,"result":{}}]`, "null -32600", "null -32600", rpc.FaultInvalid},
		{"C174 empty batch", `[]`, "null -32600", "null -32600", rpc.FaultInvalid},
		{"C006 log line", `[INFO] ready`, "null -32700", none, rpc.FaultNoise},
		{"id of 1,024 bytes", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 1024) + `","method":"m"}`, `"` + strings.Repeat("x", 1024) + `" ok`, `"` + strings.Repeat("x", 1024) + `" ok`, 0},
		{"id of 1,025 bytes", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 1025) + `","method":"m"}`, "null -32600", "null -32600", rpc.FaultInvalid},
		{"number with leading zero", `{"jsonrpc":"2.0","id":01,"method":"m"}`, "null -32700", none, rpc.FaultParse},
	} {
		for _, side := range []string{"server", "client"} {
			t.Run(test.name+"/"+side, func(t *testing.T) {
				c, w := dial(t, echo, rpc.Options{Server: side == "server", Limits: rpc.Limits{SendDepth: 512}})
				want := test.client
				if side == "server" {
					want = test.server
				}
				w.say("%s", test.line)
				if want != none {
					if got := verdict(w.hear()); got != want {
						t.Fatalf("answered %.80s, want %.80s", got, want)
					}
				}
				w.quiet() // and the stream goes on
				if !strings.HasSuffix(want, " ok") && c.Stats().Count(test.fault) != 1 {
					t.Errorf("no %v counted: %v", test.fault, c.Stats())
				}
			})
		}
	}
}

// verdict returns the id and the code of an answer, "ok" for a result.
func verdict(line string) string {
	var m struct {
		ID    json.RawMessage
		Error *struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		return line
	}
	if m.Error == nil {
		return string(m.ID) + " ok"
	}
	return fmt.Sprintf("%s %d", m.ID, m.Error.Code)
}

func TestIDsAreEchoedWithTypeAndValue(t *testing.T) {
	t.Parallel()
	_, w := dial(t, echo, rpc.Options{Server: true})
	for _, id := range []string{`"a"`, `""`, `0`, `-1`, `-0`, `"\"\\\u00e9☃/"`, `9007199254740993`, `-9223372036854775808`, `1.0`, `1e0`, `null`} {
		w.say(`{"jsonrpc":"2.0","id":%s,"method":"m","params":{"x":1}}`, id)
		w.expect(`{"jsonrpc":"2.0","id":` + id + `,"result":{"x":1}}`)
	}
}

func TestAnswersAreMatchedByTheValueOfTheirID(t *testing.T) {
	t.Parallel()
	c, w := dial(t, nil, rpc.Options{})
	for i, format := range []string{`%d`, `%d.0`, `%de0`, `%d0e-1`} {
		done := call(t.Context(), c, "m", `{}`)
		w.hear()
		w.say(`{"jsonrpc":"2.0","id":`+format+`,"result":null}`, i+1)
		if err := receive(t, "answer", done); err != nil {
			t.Errorf("id "+format+": %v", i+1, err)
		}
	}
}

func TestAMalformedAnswerFailsItsCallAndIsNotAnswered(t *testing.T) {
	t.Parallel()
	c, w := dial(t, nil, rpc.Options{})
	for i, rest := range []string{
		`"error":null`, `"result":1,"error":null`, `"result":{},"error":{"code":1,"message":"x"}`, ``,
		`"error":{"code":"x","message":"y"}`, `"error":{"code":1}`, `"error":"x"`, `"error":{}`,
	} {
		done := call(t.Context(), c, "m", `{}`)
		w.hear()
		if rest != "" {
			rest = "," + rest
		}
		w.say(`{"jsonrpc":"2.0","id":%d%s}`, i+1, rest)
		err := receive(t, "error", done)
		if !isA[*rpc.MalformedError](err) || isA[*acp.Error](err) {
			t.Errorf("%s: Call returned %v, want a *MalformedError", rest, err)
		}
	}
	w.quiet()
}

func TestAnAnswerThatCannotBeReadFailsItsCallAndIsNotAnswered(t *testing.T) {
	t.Parallel()
	for _, server := range []bool{false, true} {
		c, w := dial(t, nil, rpc.Options{Server: server})
		for i, rest := range []string{
			"\"result\":{\"x\":\"\xff\"}", "\"result\":{\"x\":\"\t\"}", `"result":{"x":NaN}`, `"result":{"x":1,}`, `"result":{"x":1}`[:14], `"result":{},`,
			`"result":` + strings.Repeat("[", 600) + strings.Repeat("]", 600), "\"error\":{\"code\":1,\"message\":\"\xff\"}",
		} {
			done := call(t.Context(), c, "m", `{}`)
			w.hear()
			w.say(`{"jsonrpc":"2.0","id":%d,%s}`, i+1, rest)
			if err := receive(t, "error", done); !isA[*rpc.SyntaxError](err) || !strings.Contains(err.Error(), "m: answer: invalid JSON at byte ") {
				t.Errorf("%.40q: Call returned %v, want a *SyntaxError", rest, err)
			}
			w.quiet()
		}
	}
}

func TestASecondAnswerIsCountedAndIgnored(t *testing.T) {
	t.Parallel()
	c, w := dial(t, nil, rpc.Options{})
	done := call(t.Context(), c, "m", `{}`)
	w.hear()
	w.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	w.say(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`)
	if err := receive(t, "answer", done); err != nil {
		t.Fatal(err)
	}
	w.quiet()
	if n := c.Stats().Count(rpc.FaultDuplicate); n != 1 {
		t.Errorf("%d duplicates counted", n)
	}
}

func TestASecondRequestWithAPendingIDIsRefusedAndTheFirstAnswered(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	_, w := dial(t, handler{request: func(_ context.Context, method string, _ json.RawMessage) (acp.Appender, error) {
		<-release
		return raw(`"` + method + `"`), nil
	}}, rpc.Options{})
	w.say(`{"jsonrpc":"2.0","id":1,"method":"first"}`)
	w.say(`{"jsonrpc":"2.0","id":1.0,"method":"second"}`)
	if got := verdict(w.hear()); got != "null -32600" {
		t.Fatal(got)
	}
	close(release)
	w.expect(`{"jsonrpc":"2.0","id":1,"result":"first"}`)
	w.say(`{"jsonrpc":"2.0","id":1,"method":"third"}`)
	w.expect(`{"jsonrpc":"2.0","id":1,"result":"third"}`)
}

func TestLoneSurrogatesNeverReachAHandlerOrACaller(t *testing.T) {
	t.Parallel()
	c, w := dial(t, echo, rpc.Options{})
	for in, want := range map[string]string{
		`\ud800`:             `\ufffd`,
		`\uDC00x`:            `\ufffdx`,
		`a\ud83d\ude00b`:     `a\ud83d\ude00b`,
		`\ude00\ud83d`:       `\ufffd\ufffd`,
		`\ud83d\ud83d\ude00`: `\ufffd\ud83d\ude00`,
		`\\ud800`:            `\\ud800`,
		`\ud800\n`:           `\ufffd\n`,
	} {
		w.say(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":"%s"}}`, in)
		w.expect(`{"jsonrpc":"2.0","id":1,"result":{"x":"` + want + `"}}`)
	}
	var got json.RawMessage
	done := make(chan error, 1)
	go func() { done <- c.Call(t.Context(), "m", nil, &got) }()
	w.expect(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	w.say(`{"jsonrpc":"2.0","id":1,"result":"\ud912"}`)
	if err := receive(t, "answer", done); err != nil || string(got) != `"\ufffd"` {
		t.Fatal(err, string(got))
	}
}

// The file or the command would hold U+FFFD, and its author would not know.
func TestHalfASurrogatePairIsNeitherWrittenNorRun(t *testing.T) {
	t.Parallel()
	_, w := dial(t, echo, rpc.Options{})
	why := func(method string) string {
		return method + `: half a surrogate pair (such as \\ud83d without \\ude00) is not a character; send both halves, or \\ufffd`
	}
	for method, params := range map[string][]string{
		"fs/write_text_file": {
			`{"sessionId":"s","path":"/a","content":"x%sy"}`, `{"sessionId":"s","path":"/%s","content":"x"}`,
			`{"content":"","sessionId":"s","path":"/a","_meta":{"%s":[]}}`,
		},
		"terminal/create": {
			`{"sessionId":"s","command":"%s"}`, `{"sessionId":"s","command":"c","args":["a","%s"]}`, `{"sessionId":"s","command":"c","cwd":"/%s"}`,
			`{"sessionId":"s","command":"c","env":[{"name":"A","value":"%s"}]}`, `{"sessionId":"s","command":"c","env":[{"name":"%s","value":"A"}]}`,
		},
		"fs/read_text_file":          {`{"sessionId":"s","path":"/%s"}`},
		"session/request_permission": {`{"sessionId":"s","toolCall":{"toolCallId":"c","title":"%s"},"options":[]}`},
		"_extension":                 {`{"content":"%s"}`},
	} {
		lasts := method == "fs/write_text_file" || method == "terminal/create"
		for _, p := range params {
			for _, half := range []string{`\ud83d`, `\uDE00`, `\ude00\ud83d`, `\ud83d\ud83d\ude00`, `\ud83dude00`, `\ud83d\\ude00`} {
				text := strings.ReplaceAll(p, "%s", half)
				w.say(`{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}`, method, text)
				got := w.hear()
				if refused := strings.Contains(got, `"error":{"code":-32602,"message":"`+why(method)+`"`); refused != lasts {
					t.Errorf("%s %s: %s", method, text, got)
				}
			}
			for _, whole := range []string{`\ud83d\ude00`, `\uD83D\uDE00\ud83d\ude00`, `\\ud83d`, `\ufffd`, "\U0001f600"} {
				text := strings.ReplaceAll(p, "%s", whole)
				w.say(`{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}`, method, text)
				w.expect(`{"jsonrpc":"2.0","id":1,"result":` + text + `}`)
			}
		}
	}
}

// An id is nothing but what its answer has to have. Two that differ by half a surrogate pair are
// two.
func TestAnIDGoesBackAsItCame(t *testing.T) {
	t.Parallel()
	_, w := dial(t, echo, rpc.Options{})
	for _, id := range []string{
		`"\ud83d"`, `"\uDE00"`, `"a\ud83d\ud83d\ude00b"`, `"\ud83dude00"`, `"\ude00\ud83d"`, `"\ud83d\ude00"`, `"\ufffd"`, `"\u0061"`, `"a\/b"`, `"\\ud83d"`, `1.0`, `-7`, `1e2`,
	} {
		w.say(`{"jsonrpc":"2.0","id":%s,"method":"_x","params":{"a":"\ud83d"}}`, id)
		w.expect(`{"jsonrpc":"2.0","id":` + id + `,"result":{"a":"\ufffd"}}`)
	}
}

// Any text that has a JSON encoding arrives, however much of it is escaped.
func TestEveryTextIsWrittenAsItWasMeant(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	_, w := dial(t, handler{request: func(_ context.Context, _ string, p json.RawMessage) (acp.Appender, error) {
		var r acp.WriteTextFileRequest
		err := r.UnmarshalJSON(p)
		got <- r.Content
		return nil, err
	}}, rpc.Options{})
	random := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("a\\\"/u\n\u00e9\u4e16\ufffd\U0001f600\U0010ffff\U00010000\ud7ff\ue000d83d")
	for range 500 {
		var text, literal []rune
		for range random.IntN(20) {
			c := alphabet[random.IntN(len(alphabet))]
			text = append(text, c)
			switch {
			case random.IntN(2) == 0 || c < 0x20 || c == '"' || c == '\\':
				for _, unit := range utf16.Encode([]rune{c}) {
					literal = append(literal, []rune(fmt.Sprintf(`\u%04x`, unit))...)
				}
			default:
				literal = append(literal, c)
			}
		}
		w.say(`{"jsonrpc":"2.0","id":1,"method":"fs/write_text_file","params":{"sessionId":"s","path":"/a","content":"%s"}}`, string(literal))
		w.expect(`{"jsonrpc":"2.0","id":1,"result":null}`)
		if c := receive(t, "content", got); c != string(text) {
			t.Fatalf("%s arrived as %q", string(literal), c)
		}
	}
}

func TestTheTapSeesTheWireAsItIs(t *testing.T) {
	t.Parallel()
	var log journal
	_, w := dial(t, echo, rpc.Options{Tap: func(d rpc.Direction, b []byte) { log.add("%v:%s", d, b) }})
	w.say(`noise`)
	w.say(`{"jsonrpc":"2.0", "id":1,"method":"m","params":["\ud800"]}`)
	w.hear()
	want := `in:noise in:{"jsonrpc":"2.0", "id":1,"method":"m","params":["\ud800"]} out:{"jsonrpc":"2.0","id":1,"result":["\ufffd"]}`
	if got := log.String(); got != want {
		t.Fatalf("tapped\n%s\nwant\n%s", got, want)
	}
}

func TestNoiseIsReportedWithItsText(t *testing.T) {
	t.Parallel()
	faults := make(chan string, 2)
	_, w := dial(t, echo, rpc.Options{OnFault: func(f rpc.Fault) { faults <- f.Kind.String() + ": " + string(f.Line) }})
	w.say(`Usage: agent [options]`)
	if got := receive(t, "fault", faults); got != "noise: Usage: agent [options]" {
		t.Fatal(got)
	}
}
