package jx

import (
	"testing"
)

func TestPointersNameTheValue(t *testing.T) {
	t.Parallel()
	// every ! marks a value, and the text before it its pointer
	for _, c := range []struct{ text, value, want string }{
		{`{"a":{"b":[1,{"c":"x"},3]},"d":true}`, `{"a"`, ``},
		{`{"a":{"b":[1,{"c":"x"},3]},"d":true}`, `{"b"`, `/a`},
		{`{"a":{"b":[1,{"c":"x"},3]},"d":true}`, `[1`, `/a/b`},
		{`{"a":{"b":[1,{"c":"x"},3]},"d":true}`, `1`, `/a/b/0`},
		{`{"a":{"b":[1,{"c":"x"},3]},"d":true}`, `"x"`, `/a/b/1/c`},
		{`{"a":{"b":[1,{"c":"x"},3]},"d":true}`, `3`, `/a/b/2`},
		{`{"a":{"b":[1,{"c":"x"},3]},"d":true}`, `true`, `/d`},
		{`{ "a/b" : { "~" : [ [ ] , 7 ] } }`, `7`, `/a~1b/~0/1`},
		{`{"":{"\u00e9":[[],[],[{}, 7]]}}`, `7`, `//é/2/1`},
		{`[[],{},7]`, `7`, `/2`},
		{`7`, `7`, ``},
	} {
		at := indexOf(c.text, c.value)
		if got := pointer([]byte(c.text), at); got != c.want {
			t.Errorf("%s at %d: got %q, want %q", c.text, at, got, c.want)
		}
	}
}

func indexOf(text, value string) int {
	for i := range text {
		if len(text)-i >= len(value) && text[i:i+len(value)] == value {
			return i
		}
	}
	return -1
}

func TestErrorsNameWhatAndWhere(t *testing.T) {
	t.Parallel()
	in := func(name string, read func(*Dec)) func(*Dec) {
		return func(d *Dec) {
			d.Obj()
			for k, more := d.Next(); more; k, more = d.Next() {
				if string(k) == name {
					read(d)
				} else {
					d.Skip()
				}
			}
		}
	}
	for _, c := range []struct {
		text string
		read func(*Dec)
		want string
	}{
		{`{"a":{"b":1}}`, in("a", in("b", func(d *Dec) { d.Str() })), `/a/b: want string, got number`},
		{`{"a":{"b":1}}`, in("a", func(d *Dec) { m := d.Mark(); d.Skip(); d.missing(m, 1, "b c") }), `/a: missing required member "c"`},
		{`{"a":{"b":1}}`, in("a", func(d *Dec) { d.BadValue(d.Mark(), "type", []byte("zap\n")) }), `/a: unknown type "zap\n"`},
		{`{"a":{"b":1}}`, in("a", func(d *Dec) { d.NoTag(d.Mark(), "type") }), `/a: missing required member "type"`},
		{`{"a":{"b":1}}`, in("a", func(d *Dec) { d.NoTag(d.Mark(), "b") }), `/a/b: want string, got number`},
		{`{"a":[]}`, in("a", func(d *Dec) { d.NoTag(d.Mark(), "b") }), `/a: want object, got array`},
		{`{"a":{}}`, in("a", func(d *Dec) { d.NoVariant(d.Mark(), "Scope", "a member x, or y") }), `/a: no variant of Scope fits: want a member x, or y`},
		{`{"a":{"x":1}}`, in("a", func(d *Dec) { d.Unmarshal(refuse{}) }), `/a: want string, got number`},
		{`{"a":1,"b":2,"a":3}`, func(d *Dec) {
			var seen uint64
			in("a", func(d *Dec) { seen = d.Once(seen, 1); d.Skip() })(d)
		}, `/a: duplicate member`},
		{`{"a":1} x`, func(d *Dec) { d.Skip(); d.End() }, `invalid JSON at byte 8: text after the value`},
	} {
		d := New([]byte(c.text))
		c.read(d)
		if err := d.Err(); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v\nwant %s", c.text, err, c.want)
		}
	}
}

// TestTheFirstFailureSticks calls everything on a Dec that has failed.
func TestTheFirstFailureSticks(t *testing.T) {
	calls := func(d *Dec) {
		m := d.Mark()
		d.Peek()
		d.Obj()
		d.Array()
		d.More('}')
		d.Key()
		d.Next()
		d.Str()
		d.StrBytes()
		d.Bool()
		d.Null()
		d.Int(0, 1)
		d.Uint64()
		d.Float()
		d.Skip()
		d.Raw()
		d.RawObject()
		d.Tag("x")
		d.HasKeys("x")
		d.ElemHasKeys("x")
		d.EmptyArray()
		d.IsInt()
		d.missing(m, 0, "x")
		d.Reject(m, "x")
		d.BadValue(m, "x", nil)
		d.NoVariant(m, "x", "x")
		d.NoTag(m, "x")
		d.Unmarshal(refuse{})
		d.Rewind(Mark{})
		d.End()
	}
	d := New([]byte(`{"a": "x"}`))
	d.Obj()
	d.Next()
	d.Int(0, 1)
	at := d.p
	if n := testing.AllocsPerRun(10, func() { calls(d) }); n != 0 {
		t.Errorf("%v allocations after a failure", n)
	}
	if d.p != at || d.Err().Error() != "/a: want integer, got string" {
		t.Errorf("moved from %d to %d, now %v", at, d.p, d.Err())
	}
}
