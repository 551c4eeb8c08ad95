package jx

import (
	"encoding/json"
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
		{"a\xffb\xed\xa0\x80", `"a` + "\ufffd" + `b` + "\ufffd\ufffd\ufffd" + `"`},
		{"1234567\n", `"1234567\n"`},
		{"12345678\n1234567\"", `"12345678\n1234567\""`},
	} {
		if got := string(AppendString(nil, c.in)); got != c.want {
			t.Errorf("%q: got %s, want %s", c.in, got, c.want)
		}
	}
}

func TestNumbersAreWrittenAsJavaScriptDoes(t *testing.T) {
	t.Parallel()
	for f, want := range map[float64]string{
		0: "0", 1: "1", -1.5: "-1.5", 1e6: "1000000", 1e20: "100000000000000000000", 1e21: "1e+21",
		1e-6: "0.000001", 1e-7: "1e-07", 0.1: "0.1", math.Copysign(0, -1): "-0",
		math.Inf(1): "null", math.Inf(-1): "null",
	} {
		got := string(AppendFloat(nil, f))
		if f == 0 && math.Signbit(f) != strings.HasPrefix(got, "-") || f != 0 && got != want {
			t.Errorf("%v: got %s, want %s", f, got, want)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("%v: %s is not JSON", f, got)
		}
	}
	if got := string(AppendFloat(nil, math.NaN())); got != "null" {
		t.Errorf("NaN: %s", got)
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
		{`{"b":2`, ` { "a":1 } `, `{"b":2,"a":1`},
		{`{"b":2`, `{ }`, `{"b":2`},
		{`{"b":2`, ``, `{"b":2`},
	} {
		if got := string(AppendMembers([]byte(c.dst), []byte(c.obj))); got != c.want {
			t.Errorf("%s + %s: got %s", c.dst, c.obj, got)
		}
	}
}
