package jx

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestGrammar holds the edges of RFC 8259 that scanners get wrong.
func TestGrammar(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		ok   bool
	}{
		{``, false}, {` `, false}, {`nul`, false}, {`nulL`, false}, {`null`, true}, {` true `, true}, {`falsey`, false},
		{`{}`, true}, {`{ }`, true}, {`[]`, true}, {"[\n]", true}, {`{`, false}, {`[`, false}, {`}`, false}, {`]`, false},
		{`[1,]`, false}, {`[,1]`, false}, {`[1 2]`, false}, {`[1,2]`, true}, {`[1}`, false}, {`{"a":1]`, false},
		{`{"a":1,}`, false}, {`{,"a":1}`, false}, {`{"a"}`, false}, {`{"a":}`, false}, {`{"a" 1}`, false}, {`{a:1}`, false}, {`{1:1}`, false},
		{`{"a":1 "b":2}`, false}, {"{\t\"a\" :\r1 ,\n\"b\": [ ] }", true}, {`{"a":1}{}`, false}, {`1 2`, false}, {"\v1", false}, {"\u00a01", false},
		{`0`, true}, {`-0`, true}, {`-`, false}, {`+1`, false}, {`01`, false}, {`-01`, false}, {`1.`, false}, {`.5`, false}, {`1.5e`, false},
		{`1e5`, true}, {`1E+5`, true}, {`1e-05`, true}, {`1e+`, false}, {`0e0`, true}, {`0x1`, false}, {`NaN`, false}, {`Infinity`, false},
		{`"`, false}, {`"\`, false}, {`"\"`, false}, {`"\q"`, false}, {`"\u12"`, false}, {`"\u12G4"`, false}, {`"\u`, false}, {`"\uD834\uDD1E"`, true},
		{`"\/\b\f\n\r\t\\\""`, true}, {"\"\x1f\"", false}, {"\"\n\"", false}, {"\"\x7f\"", true}, {"\"\x00\"", false}, {`'a'`, false},
		{`"01234567`, false}, {`"0123456\"`, false}, {`"0123456"`, true}, {`"01234567"`, true}, {"\"0123456\x01\"", false}, {`"01234567\n\t\\x"`, true},
	} {
		d := New([]byte(c.text))
		d.Skip()
		d.End()
		if got := !d.Failed(); got != c.ok {
			t.Errorf("%q: accepted %v, want %v (%v)", c.text, got, c.ok, d.Err())
		}
		if json.Valid([]byte(c.text)) != c.ok {
			t.Errorf("%q: encoding/json disagrees with this table", c.text)
		}
	}
}

func TestStringsMustBeUTF8(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"\xff", "abc\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "ok \xe2\x82 not", "\xe2\\n\x82\xac"} {
		for _, text := range []string{`"` + s + `"`, `{"` + s + `":1}`, `["` + s + `"]`} {
			d := New([]byte(text))
			d.Skip()
			e, _ := d.Err().(*Error)
			if e == nil || !e.Syntax || e.Msg != "string is not UTF-8" {
				t.Errorf("%q: %v", text, d.Err())
			}
		}
	}
	for _, s := range []string{"é", "日本語のテキスト", "😀😀😀", "\ufffd", "a\u2028b"} {
		if d := New([]byte(`"` + s + `"`)); d.Str() != s {
			t.Errorf("%q: %v", s, d.Err())
		}
	}
}

func TestNestingEndsAtLevel512(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ open, shut string }{{"[", "]"}, {`{"a":`, "}"}, {`[{"a":`, "}]"}} {
		per := strings.Count(c.open, "[") + strings.Count(c.open, "{")
		n := MaxDepth / per
		text := strings.Repeat(c.open, n) + "1" + strings.Repeat(c.shut, n)
		d := New([]byte(text))
		d.Skip()
		d.End()
		if err := d.Err(); err != nil {
			t.Errorf("%s 512 levels: %v", c.open, err)
		}
		d = New([]byte("[" + text + "]"))
		d.Skip()
		if e, _ := d.Err().(*Error); e == nil || !e.Syntax || !strings.Contains(e.Msg, "512") {
			t.Errorf("%s 513 levels: %v", c.open, d.Err())
		}
		if d.Recover(Mark{}) {
			t.Errorf("%s 513 levels were forgiven", c.open)
		}
	}
}

func TestRawIsTheTextItself(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{` { "a" : [1.50, -0, 1E2, "\u00e9\/"] } `, `{ "a" : [1.50, -0, 1E2, "\u00e9\/"] }`},
		{`"\ud800"`, `"\ufffd"`},
		{`"\udc00\ud800\udc00"`, `"\ufffd\ud800\udc00"`},
		{`"\ud800\ud800\udc00\n"`, `"\ufffd\ud800\udc00\n"`},
		{`{"\ud800":"\\ud800"}`, `{"\ufffd":"\\ud800"}`},
		{`"\ufffd\ud83d\ude00"`, `"\ufffd\ud83d\ude00"`},
		{`12345678901234567890123`, `12345678901234567890123`},
	} {
		d := New([]byte(c.text))
		got := d.Raw()
		d.End()
		if d.Err() != nil || string(got) != c.want {
			t.Errorf("%s: got %s, want %s (%v)", c.text, got, c.want, d.Err())
		}
	}
	text := []byte(`"abc"`)
	r := New(text).Raw()
	text[1] = 'X'
	if string(r) != `"abc"` {
		t.Error("Raw aliases the text")
	}
}
