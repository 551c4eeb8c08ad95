package rpc

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/acp"
)

func TestMembersOfTheEnvelopeAreFoundInAnyOrderAndSpelling(t *testing.T) {
	t.Parallel()
	lim := Limits{}.withDefaults()
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":5,"method":"m","params":{"sessionId":"s","x":[{"sessionId":"no"}]}}`,
		`{"params":{"x":{"sessionId":"no"},"sessionId":"s"},"method":"m","id":5,"jsonrpc":"2.0"}`,
		"\t{ \"id\" : 5 , \"method\" : \"\\u006d\" , \"params\" : { \"sessionId\" : \"s\" } , \"jsonrpc\" : \"2.0\" } ",
		`{"jsonrpc":"2.0","extra":{"id":1,"method":"x"},"id":5,"method":"m","params":{"sessionId":"\u0073"}}`,
		`{"jsonrpc":"\u0032.0","id":5,"me\u0074hod":"m","params":{"sessionId":"s"}}`,
	} {
		var f frame
		if err := f.parse([]byte(text), &lim); err != nil || f.Problem != "" {
			t.Errorf("%s: %v %s", text, err, f.Problem)
			continue
		}
		if string(f.Method) != "m" || f.key != acp.NumberID(5) || string(f.SessionID) != "s" || !f.Version || f.Result != nil || f.Error != nil {
			t.Errorf("%s: %+v", text, f)
		}
	}
}

func TestParsingAllocatesNothing(t *testing.T) {
	lim := Limits{}.withDefaults()
	msg := []byte(`{"jsonrpc":"2.0","id":5,"method":"session/update","params":{"sessionId":"s","update":{"a":[1,2.5e3,true,null,"x\n\u00e9"]}}}`)
	f := new(frame)
	if n := testing.AllocsPerRun(100, func() { f.parse(msg, &lim) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzFrame compares what the parser takes for JSON, and what it makes of the
// envelope, with encoding/json.
func FuzzFrame(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"sessionId":"s"}}`,
		`{"jsonrpc":"2.0","id":"x","result":{"a":[1,-0.5e+10,true,false,null]}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"\ud800\udc00\ud800"}}`,
		"{\"a\":\"\xff\"}", `[[[[]]]]`, `"\u12g4"`, `-`, `01`, `1.`, `1e`, `tru`, `{"a":1,}`, `{,}`, `[1,]`, "\"\x1f\"", ` {} {}`, `{"id":1e400}`,
		`{"method":"a","method":"b"}`, `{"\u0069d":1}`,
	} {
		f.Add([]byte(seed))
	}
	lim := Limits{}.withDefaults()
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(bytes.TrimSpace(data)) == 0 || bytes.Count(data, []byte("[")) >= lim.Depth || bytes.Count(data, []byte("{")) >= lim.Depth {
			return
		}
		var fr frame
		msg := bytes.Clone(data)
		err := fr.parse(msg, &lim)
		if want := json.Valid(data) && utf8.Valid(data); want != (err == nil) {
			t.Fatalf("%q: parse says %v, encoding/json says %v", data, err, want)
		}
		if err != nil {
			return
		}
		if !json.Valid(msg) || len(msg) != len(data) {
			t.Fatalf("%q became %q", data, msg)
		}
		var before, after any
		json.Unmarshal(data, &before)
		json.Unmarshal(msg, &after)
		a, _ := json.Marshal(before)
		b, _ := json.Marshal(after)
		if !bytes.Equal(a, b) {
			t.Fatalf("%q changed its value: %q", data, msg)
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(msg, &members) != nil || strings.HasPrefix(fr.Problem, "duplicate") {
			return
		}
		for name, got := range map[string][]byte{"params": fr.Params, "result": fr.Result, "error": fr.Error} {
			if want := members[name]; !bytes.Equal(bytes.TrimSpace(want), got) {
				t.Fatalf("%q: %s is %q, want %q", data, name, got, want)
			}
		}
		var method string
		if json.Unmarshal(members["method"], &method) == nil && members["method"][0] == '"' && method != string(fr.Method) {
			t.Fatalf("%q: method is %q, want %q", data, fr.Method, method)
		}
		if p := members["params"]; len(p) > 0 && p[0] == '{' && fr.SessionID != nil {
			var inner map[string]json.RawMessage
			json.Unmarshal(p, &inner)
			var want string
			json.Unmarshal(inner["sessionId"], &want)
			if bytes.Count(p, []byte("sessionId")) == 1 && want != string(fr.SessionID) {
				t.Fatalf("%q: session is %q, want %q", data, fr.SessionID, want)
			}
		}
	})
}

func BenchmarkFrame(b *testing.B) {
	lim := Limits{}.withDefaults()
	code, _ := json.Marshal(strings.Repeat("if err != nil {\n\treturn \"x\", err\n}\n", 200))
	for name, msg := range map[string]string{
		"chunk": `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess_0123456789abcdef","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Let me look at the configuration first."}}}}`,
		"code":  `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"text":` + string(code) + `}}}`,
		"prose": `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"text":"` + strings.Repeat("Let me look at the configuration first. ", 200) + `"}}}`,
	} {
		b.Run(name, func(b *testing.B) {
			f := new(frame)
			text := []byte(msg)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if err := f.parse(text, &lim); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
