package jx

import (
	"fmt"
	"strings"
	"testing"
)

// collect reads an object whose members are all unknown.
func collect(text string, outer *Outer) (string, error) {
	d := New([]byte(text))
	if outer != nil && outer.Tag != "" {
		d.TagIn(outer)
	}
	var x Unknown
	d.ObjIn(outer)
	for k, more := d.Next(); more; k, more = d.Next() {
		x.Add(d, k, outer)
	}
	d.End()
	return string(x.Text()), d.Err()
}

func TestUnknownMembersAreKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{`{}`, ``},
		{`{"a":1}`, `{"a":1}`},
		{` { "b" : [ 1 , "\u0041" ] , "a" : null } `, `{"b":[ 1 , "\u0041" ],"a":null}`},
		{`{"":{},"\n":"\ud800"}`, `{"":{},"\n":"\ufffd"}`},
		{`{"a{":"}"}`, `{"a{":"}"}`},
		{`{"a":1,"A":2,"c":{"a":3}}`, `{"a":1,"A":2,"c":{"a":3}}`},
	} {
		if got, err := collect(c.text, nil); got != c.want || err != nil {
			t.Errorf("%s: got %s, want %s (%v)", c.text, got, c.want, err)
		}
	}
}

func TestDuplicateUnknownMembersAreRefused(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, `"m%d":%d,`, i, i)
	}
	for _, text := range []string{
		`{"a":1,"a":1}`, `{"a":1,"b":2,"\u0061":3}`, `{"\ud800":1,"\udc00":2}`, `{"":1,"":2}`,
		`{` + many.String() + `"m0":1}`, `{` + many.String() + `"m99":1}`, `{` + many.String() + `"x":1,"x":2}`,
	} {
		if _, err := collect(text, nil); err == nil || !strings.HasSuffix(err.Error(), "duplicate member") {
			t.Errorf("%.60s: %v", text, err)
		}
	}
	if got, err := collect(`{`+many.String()+`"x":1}`, nil); err != nil || strings.Count(got, ":") != 101 {
		t.Errorf("100 members: %d, %v", strings.Count(got, ":"), err)
	}
}

func TestOuterMembersAreNotUnknown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want, err string }{
		{`{"type":"x","a":1}`, `{"a":1}`, ``},
		{`{"a":1,"type":"x"}`, `{"a":1}`, ``},
		{`{"a":1,"type":"x","b":2}`, `{"a":1,"b":2}`, ``},
		{`{"type":"x"}`, ``, ``},
		{`{"type":7,"a":1}`, `{"a":1}`, ``},
		{`{"a":1}`, `{"a":1}`, ``},
		{`{"type":"x","a":1,"type":"x"}`, ``, `/type: duplicate member`},
		{`{"a":1,"type":"x","type":"y"}`, ``, `/type: duplicate member`},
		{`{"type":7,"type":"x"}`, ``, `/type: duplicate member`},
	} {
		got, err := collect(c.text, &Outer{Tag: "type"})
		if c.err == "" && (err != nil || got != c.want) || c.err != "" && (err == nil || err.Error() != c.err) {
			t.Errorf("%s: got %s, %v; want %s %s", c.text, got, err, c.want, c.err)
		}
	}
}

// TestTagsNest reads an object that has two tags and shared members.
func TestTagsNest(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"kind":"k","state":"s","at":1,"new":2}`,
		`{"state":"s","kind":"k","at":1,"new":2}`,
		`{"at":1,"new":2,"state":"s","kind":"k"}`,
		`{"kind":"k","at":1,"new":2,"state":"s"}`,
		` { "kind" : "k" , "new":2 , "state" : "s" , "at" : 1 } `,
	} {
		d := New([]byte(text))
		kind := Outer{Tag: "kind"}
		k, _ := d.TagIn(&kind)
		state := Outer{Up: &kind, Tag: "state"}
		s, _ := d.TagIn(&state)
		shared := Outer{Up: &state, Names: []string{"at"}}
		var x Unknown
		d.ObjIn(&shared)
		for name, more := d.Next(); more; name, more = d.Next() {
			x.Add(d, name, &shared)
		}
		d.End()
		if string(k) != "k" || string(s) != "s" || string(x.Text()) != `{"new":2}` || d.Err() != nil {
			t.Errorf("%s: %s %s %s %v", text, k, s, x.Text(), d.Err())
		}
	}
}

func TestMembersRangesOverObjects(t *testing.T) {
	t.Parallel()
	var got []string
	for k, v := range Members([]byte(`{"a":1, "b\n":[2] }`)) {
		got = append(got, k+"="+string(v))
	}
	if fmt.Sprintf("%q", got) != `["a=1" "b\n=[2]"]` {
		t.Errorf("%q", got)
	}
	for range Members([]byte(`[1]`)) {
		t.Error("an array has no members")
	}
}

func TestLooksAheadWithoutMoving(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		look func(*Dec) bool
		want bool
	}{
		{`{"a":1,"b":2}`, func(d *Dec) bool { return d.HasKeys("b", "a") }, true},
		{`{"a":1,"a":2}`, func(d *Dec) bool { return d.HasKeys("a", "b") }, false},
		{`{}`, func(d *Dec) bool { return d.HasKeys() }, true},
		{`[]`, func(d *Dec) bool { return d.HasKeys("a") }, false},
		{`[{"a":1}]`, func(d *Dec) bool { return d.ElemHasKeys("a") }, true},
		{`[1]`, func(d *Dec) bool { return d.ElemHasKeys("a") }, false},
		{`[]`, func(d *Dec) bool { return d.ElemHasKeys("a") }, false},
		{`[ ]`, (*Dec).EmptyArray, true},
		{`[0]`, (*Dec).EmptyArray, false},
		{`{}`, (*Dec).EmptyArray, false},
		{`-12`, (*Dec).IsInt, true},
		{`1.0`, (*Dec).IsInt, false},
		{`9223372036854775808`, (*Dec).IsInt, false},
		{`{"x":[{}],"type":"t"}`, func(d *Dec) bool { v, ok := d.Tag("type"); return ok && string(v) == "t" }, true},
		{`{"type":null}`, func(d *Dec) bool { _, ok := d.Tag("type"); return ok }, false},
	} {
		d := New([]byte(` ` + c.text + ` `))
		if got := c.look(d); got != c.want {
			t.Errorf("%s: got %v", c.text, got)
		}
		m := d.Mark()
		if d.Skip(); string(d.b[m.p:d.p]) != c.text || d.Err() != nil {
			t.Errorf("%s: the cursor moved, left is %q (%v)", c.text, d.b[m.p:d.p], d.Err())
		}
	}
}
