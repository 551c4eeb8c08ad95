package jx

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestStringsAreUnescaped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{`""`, ""},
		{`"plain"`, "plain"},
		{`"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t"},
		{`"\u0041\u00e9\u20AC\u0000"`, "Aé€\x00"},
		{`"\ud83d\ude00"`, "😀"},
		{`"a\ud83d"`, "a\ufffd"},
		{`"\ude00\ud83d"`, "\ufffd\ufffd"},
		{`"\ud83d\u0041"`, "\ufffdA"},
		{`"\ud83d\n"`, "\ufffd\n"},
		{`"\ud83d\ud83d\ude00"`, "\ufffd😀"},
		{`"` + strings.Repeat("x", 300) + `\n` + strings.Repeat("é", 300) + `"`, strings.Repeat("x", 300) + "\n" + strings.Repeat("é", 300)},
		{`"` + strings.Repeat(`\u20ac\t`, 500) + `"`, strings.Repeat("€\t", 500)},
	} {
		d := New([]byte(c.text))
		if got := d.Str(); got != c.want || d.Err() != nil {
			t.Errorf("%.60s: got %.60q, want %.60q (%v)", c.text, got, c.want, d.Err())
		}
		d = New([]byte(c.text))
		if got := d.StrBytes(); string(got) != c.want || d.Err() != nil {
			t.Errorf("StrBytes %.60s: got %.60q", c.text, got)
		}
		d = New([]byte("{" + c.text + " :1}"))
		d.Obj()
		if got, more := d.Next(); string(got) != c.want || !more {
			t.Errorf("Next %.60s: got %.60q", c.text, got)
		}
	}
}

// TestStringsDoNotAliasTheText reads strings of all lengths from one text and then
// destroys that text.
func TestStringsDoNotAliasTheText(t *testing.T) {
	t.Parallel()
	var want []string
	text := []byte{'['}
	for n := range 700 {
		s := strings.Repeat(string(rune('a'+n%26)), n)
		if n%3 == 0 {
			s += "\n\"é"
		}
		want = append(want, s)
		text = append(AppendString(Comma(text), s), ' ')
	}
	text = append(text, ']')
	d := New(text)
	var got []string
	for d.Array(); d.More(']'); {
		got = append(got, d.Str())
	}
	d.End()
	if d.Err() != nil || len(got) != len(want) {
		t.Fatalf("%d strings, want %d (%v)", len(got), len(want), d.Err())
	}
	clear(text)
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("string %d: got %q, want %q", i, got[i], want[i])
		}
	}
}

func TestShortStringsShareBlocks(t *testing.T) {
	text := []byte(`["` + strings.Repeat(`0123456789","`, 79) + `0123456789"]`)
	allocs := testing.AllocsPerRun(100, func() {
		var d Dec
		d.Reset(text)
		for d.Array(); d.More(']'); {
			d.Str()
		}
	})
	if allocs != 1 {
		t.Errorf("%v allocations for 80 strings of a kilobyte, want 1", allocs)
	}
}

func TestWrongTypesAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		read func(*Dec)
		want string
	}{
		{`1`, func(d *Dec) { d.Str() }, "want string, got number"},
		{`null`, func(d *Dec) { d.StrBytes() }, "want string, got null"},
		{`"x"`, func(d *Dec) { d.Int(0, 1) }, "want integer, got string"},
		{`[]`, func(d *Dec) { d.Float() }, "want number, got array"},
		{`{}`, func(d *Dec) { d.Bool() }, "want boolean, got object"},
		{`true`, func(d *Dec) { d.Obj() }, "want object, got boolean"},
		{`{}`, func(d *Dec) { d.Array() }, "want array, got object"},
		{`[]`, func(d *Dec) { d.RawObject() }, "want object, got array"},
		{``, func(d *Dec) { d.Str() }, "invalid JSON at byte 0: unexpected end"},
		{`x`, func(d *Dec) { d.Str() }, "invalid JSON at byte 0: expected a value"},
		{`]`, func(d *Dec) { d.Obj() }, "invalid JSON at byte 0: expected a value"},
		{`tru`, func(d *Dec) { d.Bool() }, "invalid JSON at byte 0: expected a value"},
	} {
		d := New([]byte(c.text))
		c.read(d)
		if err := d.Err(); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", c.text, err, c.want)
		}
	}
}

func TestUnpairedSurrogatesBecomeTheReplacementCharacter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"\ud800"`:               "\ufffd",
		`"\udc00x"`:              "\ufffdx",
		`"a\ud800\ud800b"`:       "a\ufffd\ufffdb",
		`"\ud83d\ude00"`:         "😀",
		`"\ud800\ud83d\ude00"`:   "\ufffd😀",
		`"\\ud800"`:              `\ud800`,
		`"\ud800\u0041"`:         "\ufffdA",
		`"\ud83d\\ude00"`:        "\ufffd\\ude00",
		`"\uD83D\uDE00 \uDBFF!"`: "😀 \ufffd!",
	} {
		var d Dec
		d.Reset([]byte(text))
		if got := d.Str(); got != want {
			t.Errorf("%s reads as %q, want %q", text, got, want)
		}
		d.Reset([]byte(`{"k":[` + text + `]}`))
		raw := d.Raw()
		var v struct{ K []string }
		if err := json.Unmarshal(raw, &v); err != nil || d.Err() != nil {
			t.Fatalf("%s: %v %v", raw, err, d.Err())
		}
		if v.K[0] != want {
			t.Errorf("%s is kept as %s, want %q", text, raw, want)
		}
		d.Reset(raw)
		if d.Skip(); d.lone {
			t.Errorf("%s is passed on as %s", text, raw)
		}
	}
}
