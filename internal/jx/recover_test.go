package jx

import (
	"strings"
	"testing"
	"time"
)

// TestRecoverEndsAtTheEndOfTheValue fails in many places of the first element
// and then reads the second.
func TestRecoverEndsAtTheEndOfTheValue(t *testing.T) {
	t.Parallel()
	str := func(d *Dec) { d.Str() }
	integer := func(d *Dec) { d.Int(0, 9) }
	member := func(read func(*Dec)) func(*Dec) {
		return func(d *Dec) {
			m := d.Mark()
			if !d.Obj() {
				return
			}
			var seen uint64
			for k, more := d.Next(); more; k, more = d.Next() {
				switch string(k) {
				case "a":
					seen = d.Once(seen, 1)
					read(d)
				default:
					d.Skip()
				}
			}
			if seen&1 == 0 {
				d.missing(m, seen, "a")
			}
		}
	}
	list := func(read func(*Dec)) func(*Dec) {
		return func(d *Dec) {
			for d.Array(); d.More(']'); {
				read(d)
			}
		}
	}
	for _, c := range []struct {
		text string
		read func(*Dec)
	}{
		{`1`, str},
		{`{"x":[1,{"y":"]"}]}`, str},
		{`[[[]]]`, str},
		{`12`, integer},
		{`1.0`, integer},
		{`{}`, member(str)},
		{`{"b":{"a":1}}`, member(str)},
		{`{"a":1}`, member(str)},
		{`{"a":1,"b":[{}]}`, member(str)},
		{`{"a":{"a":[{"a":1}]},"b":2}`, member(member(list(member(str))))},
		{`{"a":{"a":[{"a":""},{}, {"a":1}]},"b":2}`, member(member(list(member(str))))},
		{`[1,"",[2]]`, list(str)},
		{`["",[2]]`, list(str)},
		{`["", 2 ]`, list(str)},
		{`{"t":"x"}`, func(d *Dec) { d.BadValue(d.Mark(), "t", []byte("x")) }},
		{`{"t":1}`, func(d *Dec) { d.NoTag(d.Mark(), "t") }},
		{`{"u":1}`, func(d *Dec) { d.NoTag(d.Mark(), "t") }},
		{`{"u":1}`, func(d *Dec) { d.NoVariant(d.Mark(), "U", "a or b") }},
		{`"far"`, func(d *Dec) { m := d.Mark(); d.Str(); d.Reject(m, "too far") }},
		{`{"a":[1]}`, func(d *Dec) { m := d.Mark(); d.Skip(); d.Reject(m, "no") }},
		{`"x"`, func(d *Dec) { d.Unmarshal(refuse{}) }},
		{`{"a":"x"}`, member(func(d *Dec) { d.Unmarshal(refuse{}) })},
	} {
		d := New([]byte(`[` + c.text + ` , "next"]`))
		d.Array()
		d.More(']')
		m := d.Mark()
		c.read(d)
		if !d.Failed() {
			t.Errorf("%s: did not fail", c.text)
			continue
		}
		why := d.Err()
		if !d.Recover(m) {
			t.Errorf("%s: %v was not forgiven", c.text, why)
			continue
		}
		if !d.More(']') || d.Str() != "next" || d.More(']') {
			t.Errorf("%s: the cursor is lost after %v", c.text, why)
		}
		if d.End(); d.Err() != nil {
			t.Errorf("%s: %v", c.text, d.Err())
		}
	}
}

type refuse struct{}

func (refuse) UnmarshalJSON([]byte) error { return New([]byte(`1`)).wantString() }

func (d *Dec) wantString() error { d.Str(); return d.Err() }

// Forgiving a duplicate member would hide which of the two a reader uses.
func TestADuplicateMemberIsNotForgiven(t *testing.T) {
	t.Parallel()
	members := func(d *Dec) {
		var seen uint64
		var x Unknown
		d.Obj()
		for k, more := d.Next(); more; k, more = d.Next() {
			if string(k) == "a" {
				seen = d.Once(seen, 1)
				d.Str()
				continue
			}
			x.Add(d, k, nil)
		}
	}
	for text, read := range map[string]func(*Dec){
		`{"a":"","a":{}}`:                 members,
		`{"a":"","a":"","c":1}`:           members,
		`{"b":1,"b":1}`:                   members,
		`{"b":[{"c":1,"c":1}]}`:           members,
		`{"x":[{"b":1,"b":[2,{}]},3]}`:    func(d *Dec) { d.Raw() },
		`[{"b":1,"\u0062":1}]`:            func(d *Dec) { d.Raw() },
		`{"m":{"b":1,"b":[2,{}]},"m2":3}`: func(d *Dec) { d.RawObject() },
	} {
		d := New([]byte(`[` + text + `]`))
		d.Array()
		d.More(']')
		m := d.Mark()
		if read(d); d.Recover(m) {
			t.Errorf("%s was forgiven", text)
		}
		if e, _ := d.Err().(*Error); e == nil || e.Syntax || e.Pointer == "" || e.Msg != "duplicate member" {
			t.Errorf("%s: %v", text, d.Err())
		}
	}
}

func TestBrokenTextIsNotForgiven(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`[1,{"a":}]`, `[1 2]`, `[1,"\q"]`, `[1,"` + "\xff" + `"]`, `[1,{"a":1]`, `[1`, `[1,01]`, `[1,tru]`} {
		d := New([]byte(text))
		m := d.Mark()
		d.Array()
		d.More(']')
		d.Str() // fails on 1
		if d.Recover(m) {
			t.Errorf("%s was forgiven", text)
		}
		if e, _ := d.Err().(*Error); e == nil || !e.Syntax {
			t.Errorf("%s: %v", text, d.Err())
		}
	}
}

// TestForgivingTakesLinearTime decodes 500 nested objects that all fail at their end,
// around and before a megabyte. Reading a value again for every level that
// forgives would take hundreds of times as long as passing over it.
func TestForgivingTakesLinearTime(t *testing.T) {
	const levels = 500
	pad := `"pad":"` + strings.Repeat("x", 1<<20) + `"`
	text := []byte(strings.Repeat(`{"in":`, levels) + `{` + pad + `}` + strings.Repeat(`}`, levels))
	forgiven := 0
	var decode func(d *Dec)
	decode = func(d *Dec) {
		m := d.Mark()
		if !d.Obj() {
			return
		}
		for k, more := d.Next(); more; k, more = d.Next() {
			if string(k) != "in" {
				d.Skip()
				continue
			}
			in := d.Mark()
			decode(d)
			if d.Failed() && d.Recover(in) {
				forgiven++
			}
		}
		d.missing(m, 0, "never")
	}
	once := fastest(func() { New(text).Skip() })
	all := fastest(func() {
		forgiven = 0
		d := New(text)
		decode(d)
		if !d.Recover(Mark{}) {
			t.Fatal(d.Err())
		}
		if d.End(); d.Failed() {
			t.Fatal(d.Err())
		}
	})
	if forgiven != levels {
		t.Errorf("%d levels were forgiven, want %d", forgiven, levels)
	}
	if all > 40*once {
		t.Errorf("forgiving takes %v, passing over the text %v", all, once)
	}
}

func fastest(fn func()) time.Duration {
	best := time.Hour
	for range 7 {
		start := time.Now()
		fn()
		best = min(best, time.Since(start))
	}
	return best
}
