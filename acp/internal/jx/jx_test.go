package jx

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestTextThatIsNotJSONIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " ", "{", "}", "[", "]", `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `[1,]`, `[,1]`, `{1:2}`, `{a:1}`, "01", "1.", ".5", "+1", "1e", "-", "tru", "nul", "True",
		`"`, `"\`, `"\x"`, `"\u12"`, `"\u12g4"`, "\"a\nb\"", "\"\x00\"", "\"\xff\"", "{\"\xff\":1}", "[\"\xc0\x80\"]", "1 2", "{} {}", "NaN", "'a'", "/**/1", "[1 2]", `{"a":1 "b":2}`,
		strings.Repeat("[", 513) + strings.Repeat("]", 513),
		strings.Repeat(`{"a":`, 513) + "1" + strings.Repeat("}", 513),
	} {
		var d Dec
		d.Reset([]byte(text))
		d.Raw()
		d.End()
		if d.Err() == nil {
			t.Errorf("%.40q is accepted", text)
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

// object decodes an object whose members nobody declares.
func object(text string, outer *Outer) ([]byte, error) {
	var d Dec
	d.Reset([]byte(text))
	var x Unknown
	if d.Obj() {
		for d.More('}') {
			x.Add(&d, d.Key(), outer)
		}
	}
	d.End()
	return x.Text(), d.Err()
}

func TestUnknownMembersAreKeptButForThoseOfOuterObjects(t *testing.T) {
	t.Parallel()
	outer := &Outer{Names: []string{"type", "id"}, Up: &Outer{Names: []string{"kind"}}}
	got, err := object(`{"type":"x","b":1, "id" : 2,"é\n":"\ud800","kind":[],"z":{"kind":1}}`, outer)
	if want := `{"b":1,"é\n":"\ufffd","z":{"kind":1}}`; err != nil || string(got) != want {
		t.Errorf("kept %s, %v, want %s", got, err, want)
	}
	if got, err := object(`{"type":1}`, outer); err != nil || got != nil {
		t.Errorf("kept %s, %v, want nothing", got, err)
	}
}

func TestDuplicateMembersAreRefused(t *testing.T) {
	t.Parallel()
	outer := &Outer{Names: []string{"type"}}
	many := ""
	for i := range 2 * manyUnknown {
		many += `"k` + strings.Repeat("x", i) + `":0,`
	}
	for text, want := range map[string]string{
		`{"a":1,"a":2}`:                   "/a: duplicate member",
		`{"a":1,"\u0061":2}`:              "/a: duplicate member",
		`{"type":1,"type":1}`:             "/type: duplicate member",
		`{` + many + `"kx":1}`:            "/kx: duplicate member",
		`{` + many + `"b":1,"b":1}`:       "/b: duplicate member",
		`{"a":1,"A":2}`:                   "",
		`{` + many + `"b":1,"c":{"b":1}}`: "",
	} {
		_, err := object(text, outer)
		if got := errText(err); got != want {
			t.Errorf("%.60s: error %q, want %q", text, got, want)
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestErrorsNameThePlace(t *testing.T) {
	t.Parallel()
	var d Dec
	d.Reset([]byte(`{"a/b":[1,{"~":"x"}]}`))
	d.Obj()
	d.More('}')
	d.Key()
	d.Array()
	d.More(']')
	d.Skip()
	d.More(']')
	d.Obj()
	d.More('}')
	d.Key()
	d.Int(0, 1)
	if got, want := errText(d.Err()), "/a~1b/1/~0: want number, got string"; got != want {
		t.Errorf("error %q, want %q", got, want)
	}
}

func TestPrintHidesSecretsAndCutsWhatIsLong(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 1000)
	text := `{"env":[{"name":"A","value":"hunter2"}],"value":"shown","headers":{"x":"hunter2"},"deep":{"env":{"value":"hunter2"}},"text":"` + long + `","list":[` + strings.Repeat(`"0123456789",`, 10000) + `1]}`
	got := Print("T", []byte(text), []Secret{{"env", "value"}}, "headers")
	switch {
	case strings.Contains(got, "hunter2"):
		t.Errorf("a secret is printed: %.300s", got)
	case !strings.Contains(got, `"value":"shown"`):
		t.Errorf("a member that is no secret is hidden: %.300s", got)
	case !strings.Contains(got, "... (2000 bytes)"):
		t.Errorf("a long string is not cut: %.300s", got)
	case len(got) > 2*maxPrint:
		t.Errorf("%d bytes are printed", len(got))
	case !strings.HasSuffix(got, " more]}"):
		t.Errorf("ends with %q", got[len(got)-40:])
	}
	many := `{` + strings.Repeat(`"k":1,`, 10000) + `"z":1}`
	if got := Print("T", []byte(many), nil); len(got) > 2*maxPrint {
		t.Errorf("%d bytes are printed of an object with many members", len(got))
	}
	if got := Print("T", []byte(`{"env":`), nil); !strings.Contains(got, "not valid JSON") {
		t.Errorf("broken text prints as %q", got)
	}
}

func TestRawTextIsOneLine(t *testing.T) {
	t.Parallel()
	got := AppendRaw(nil, []byte("{\n\t\"a\": \"b\\n\",\r\n\"c\":1}\n"))
	if bytes.ContainsAny(got, "\r\n") || !json.Valid(got) {
		t.Errorf("%q", got)
	}
}

// The cursor and the standard library agree on what JSON is, but for the depth
// and for invalid UTF-8, which the library repairs.
func FuzzRaw(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e3,"\u00e9\ud83d\ude00\ud800"],"b":{"c":null}}`, `[true,false]`, `"\\\""`, "-0", "1E+2", " [ ] ", `{"":{}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var d Dec
		d.Reset(text)
		raw := d.Raw()
		d.End()
		err := d.Err()
		if err != nil {
			if json.Valid(text) && d.code != tooDeep && d.code != badUTF8 {
				t.Fatalf("%q is JSON, but: %v", text, err)
			}
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%q is not JSON, but is accepted", text)
		}
		var a, b any
		if json.Unmarshal(text, &a) == nil {
			if err := json.Unmarshal(raw, &b); err != nil {
				t.Fatalf("%q is kept as %q: %v", text, raw, err)
			}
			x, _ := json.Marshal(a)
			y, _ := json.Marshal(b)
			if !bytes.Equal(x, y) {
				t.Fatalf("%q is kept as %q", text, raw)
			}
		}
		if p := Print("x", raw, nil); len(p) > 4*maxPrint && len(raw) < maxPrint {
			t.Fatalf("%d bytes print as %d", len(raw), len(p))
		}
	})
}

func FuzzStringRoundTrip(f *testing.F) {
	for _, s := range []string{"", "a\"b", "\x00\x1f", "é\u2028", "\xff", "😀"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := AppendString(nil, s)
		var d Dec
		d.Reset(text)
		got := d.Str()
		d.End()
		if err := d.Err(); err != nil {
			t.Fatalf("%q is written as %q: %v", s, text, err)
		}
		if want := strings.ToValidUTF8(s, "\ufffd"); got != want && strings.Count(got, "\ufffd") < strings.Count(want, "\ufffd") {
			t.Fatalf("%q comes back as %q", s, got)
		}
	})
}
