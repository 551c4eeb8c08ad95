package jx

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
)

func TestStringsAreEscaped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"", `""`},
		{"plain text of some length", `"plain text of some length"`},
		{"\"\\\n\r\t", `"\"\\\n\r\t"`},
		{"\x00\x1f\b\f", `"\u0000\u001f\u0008\u000c"`},
		{"\x7f</&>\u2028é日😀", "\"\x7f</&>\u2028é日😀\""},
		{"1234567\n", `"1234567\n"`},
		{"12345678\n1234567\"", `"12345678\n1234567\""`},
	} {
		if got := string(AppendString(nil, c.in)); got != c.want {
			t.Errorf("%q: got %s, want %s", c.in, got, c.want)
		}
		if got := string(AppendReplaced(nil, c.in)); got != c.want {
			t.Errorf("%q: replaced: got %s, want %s", c.in, got, c.want)
		}
	}
}

func TestTextThatIsNotUTF8IsAFaultUnlessItMayBeReplaced(t *testing.T) {
	t.Parallel()
	const text, replaced = "a\xffb\xed\xa0\x80", `"a` + "\ufffd" + `b` + "\ufffd\ufffd\ufffd" + `"`
	var fault *Error
	if err := Fault(AppendString([]byte(`{"a":["x",`), text)); !errors.As(err, &fault) || fault.Pointer != "/a/1" || fault.Msg != "string is not UTF-8: byte 1 is 0xff" {
		t.Errorf("got %v", err)
	}
	if got := string(AppendReplaced([]byte(`[`), text)); got != "["+replaced {
		t.Errorf("replaced: got %s", got)
	}
}

func TestNumbersAreWrittenAsJavaScriptDoes(t *testing.T) {
	t.Parallel()
	for f, want := range map[float64]string{
		0: "0", 1: "1", -1.5: "-1.5", 1e6: "1000000", 1e20: "100000000000000000000", 1e21: "1e+21",
		1e-6: "0.000001", 1e-7: "1e-07", 0.1: "0.1", math.Copysign(0, -1): "-0",
	} {
		got := string(AppendFloat(nil, f))
		if f == 0 && math.Signbit(f) != strings.HasPrefix(got, "-") || f != 0 && got != want {
			t.Errorf("%v: got %s, want %s", f, got, want)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("%v: %s is not JSON", f, got)
		}
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got := AppendFloat(nil, f); Fault(got) == nil {
			t.Errorf("%v: %s", f, got)
		}
	}
}

func TestRawTextStaysOnOneLine(t *testing.T) {
	t.Parallel()
	if got := string(AppendRaw([]byte("x\n"), []byte("{\r\n\"a\\n\":1}"))); got != "x\n{  \"a\\n\":1}" {
		t.Errorf("%q", got)
	}
	if got := string(AppendRaw(nil, nil)); got != "null" {
		t.Errorf("%q", got)
	}
}

func TestMembersJoinObjects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ dst, obj, want string }{
		{`{`, `{"a":1}`, `{"a":1`},
		{`{"b":2`, ` { "a":1 } `, `{"b":2, "a":1 `},
		{`{"b":2`, `{ }`, `{"b":2`},
		{`{"b":2`, ``, `{"b":2`},
	} {
		got := AppendMembers([]byte(c.dst), []byte(c.obj), "b c")
		if string(got) != c.want || Fault(got) != nil {
			t.Errorf("%s + %s: got %s", c.dst, c.obj, got)
		}
	}
}

func TestOnlySingleValuesCanBeSent(t *testing.T) {
	t.Parallel()
	raw := func(text string) []byte { return append(AppendRaw([]byte(`{"a":[1,{"b/c":`), []byte(text)), "}]}"...) }
	object := func(text string) []byte {
		return append(AppendRawObject([]byte(`{"a":[1,{"b/c":`), []byte(text)), "}]}"...)
	}
	members := func(text string) []byte {
		return append(AppendMembers([]byte(`{"a":[1,{"x":0`), []byte(text), "x y"), "}]}"...)
	}
	for _, c := range []struct {
		append        func(string) []byte
		text, pointer string
		want          string // part of the reason
	}{
		{raw, `{broken`, "/a/1/b~1c", "invalid JSON"},
		{raw, `{"a":1} {"b":2}`, "/a/1/b~1c", "invalid JSON at byte 8"},
		{raw, `1,"title":"injected"`, "/a/1/b~1c", "invalid JSON"},
		{raw, `{"command":"rm"}},"toolCall":{"title":"ls"`, "/a/1/b~1c", "invalid JSON"},
		{raw, `{"k":{"n":1,"n":2}}`, "/a/1/b~1c", "/k/n: duplicate member"},
		{raw, "\"line\nend\"", "/a/1/b~1c", "invalid JSON"},
		{raw, "\"\xff\"", "/a/1/b~1c", "invalid JSON"},
		{raw, ` `, "/a/1/b~1c", "unexpected end"},
		{object, `[1]`, "/a/1/b~1c", "want an object, got array"},
		{object, `{"a":1`, "/a/1/b~1c", "unexpected end"},
		{members, `{"y":1}`, "/a/1", `"y" is a declared one`},
		{members, `{"\u0079":1}`, "/a/1", `"y" is a declared one`},
		{members, `[1]`, "/a/1", "want an object, got array"},
		{members, `{"z":1}}`, "/a/1", "invalid JSON"},
		{members, `{"z":1,"z":2}`, "/a/1", "duplicate member"},
	} {
		var e *Error
		if err := Fault(c.append(c.text)); !errors.As(err, &e) || e.Pointer != c.pointer || !strings.Contains(e.Msg, c.want) {
			t.Errorf("%s: got %v, want a fault at %s with %s", c.text, err, c.pointer, c.want)
		}
	}
	if text, err := Marshaled(raw(`{broken`)); err == nil || text != nil {
		t.Errorf("marshaled as %q, %v", text, err)
	}
}
