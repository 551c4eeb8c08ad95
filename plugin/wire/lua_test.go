package wire

import (
	"encoding/json"
	"testing"
)

func TestJSONForLuaLosesNothingThatLuaCanHold(t *testing.T) {
	cases := []struct{ in, want string }{
		{`{}`, `{}`},
		{`[]`, `[]`},
		{` { "a" : [ 1 , 2.5e3 , -7 ] , "b" : { } } `, ` { "a" : [1,2.5e3,-7] , "b" : { } }`},
		{`[true,false,"x\"y\\"]`, `[true,false,"x\"y\\"]`},
		{`9007199254740992`, `9007199254740992`},
		{`9007199254740993`, `"9007199254740993"`},
		{`-9007199254740993`, `"-9007199254740993"`},
		{`18446744073709551615`, `"18446744073709551615"`},
		{`1.00000000000000000001`, `1.00000000000000000001`},
		{`[null,1,null]`, `[1]`},
		{`[null]`, `[]`},
		{`{"a":null}`, `{"a":null}`},
		{`"\ud83d\ude00"`, `"\ud83d\ude00"`},
		{`"\ud83d"`, `"\ufffd"`},
		{`"\ude00x"`, `"\ufffdx"`},
		{`"\ud83d\ud83d\ude00"`, `"\ufffd\ud83d\ude00"`},
		{`"\\ud83d"`, `"\\ud83d"`},
		{`"\u0000"`, `"\u0000"`},
	}
	for _, c := range cases {
		got, values := appendLua(nil, []byte(c.in))
		if string(got) != c.want {
			t.Errorf("%s: %s, want %s", c.in, got, c.want)
		}
		if cost := costOf(got); cost > len(got)+values*ValueCost {
			t.Errorf("%s: %d values are counted", c.in, values)
		}
	}
}

func TestOurMembersWinOverTheAgents(t *testing.T) {
	got := string(From([]byte(`{"agent":"fake","x":1}`)).Str("agent", "real").JSON())
	if want := `{"agent":"fake","x":1,"agent":"real"}`; got != want { // Lua keeps the last
		t.Errorf("%s, want %s", got, want)
	}
	if got := string(From([]byte(`{}`)).Flag("a", true).JSON()); got != `{"a":true}` {
		t.Error(got)
	}
	if got := string(From([]byte(`{}`)).JSON()); got != `{}` {
		t.Error(got)
	}
}

func FuzzJSONForLua(f *testing.F) {
	for _, s := range []string{`{"a":[null,"\ud800",12345678901234567890]}`, `[[[]]]`, `"\\"`, `{"":{"":[]}}`, `-0`, `0\u`, `0\`, `"\u00`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, _ := appendLua(nil, in) // must not hang or panic whatever comes
		if json.Valid(in) && !json.Valid(got) {
			t.Errorf("%q became %q", in, got)
		}
	})
}
