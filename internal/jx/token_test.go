package jx

import "testing"

func TestTokensAreTheTextAsWritten(t *testing.T) {
	t.Parallel()
	const text = ` { "a\u0062" : [ 1 , "x" ] , "c":{"d":null} } `
	d := New([]byte(text))
	d.Obj()
	for _, want := range []struct{ name, plain, value string }{{`"a\u0062"`, "ab", `[ 1 , "x" ]`}, {`"c"`, "c", `{"d":null}`}} {
		if !d.More('}') {
			t.Fatal(d.Err())
		}
		name := d.Name()
		start := d.Pos()
		value := d.Token()
		if string(name) != want.name || string(Unquote(name)) != want.plain || string(value) != want.value || string(d.Since(start)) != want.value {
			t.Errorf("%s (%s): %s, want %v", name, Unquote(name), value, want)
		}
	}
	if d.More('}') || d.Close() != nil {
		t.Error(d.Err())
	}

	for _, bad := range []string{`{"a":}`, `{"a"}`, `{a:1}`, `{1:1}`, `{`} {
		d := New([]byte(bad))
		d.Obj()
		d.More('}')
		d.Name()
		if v := d.Token(); v != nil || d.Since(0) != nil || !d.Failed() {
			t.Errorf("%s: %s", bad, v)
		}
	}
}

func TestNestingCanBeLimitedFurther(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]string{1: "invalid JSON at byte 1: more than 1 levels of nesting", 2: "", 513: ""} {
		d := New([]byte(`[{}]`))
		d.Limit(limit)
		d.Skip()
		if got := d.Err(); (got == nil) != (want == "") || got != nil && got.Error() != want {
			t.Errorf("%d: %v, want %q", limit, got, want)
		}
	}
}

func TestUnpairedSurrogatesAreMendedInPlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"\ud800":"a\udc00\ud83d\ude00","b":"\\ud800\ufffd"}`: `{"\ufffd":"a\ufffd\ud83d\ude00","b":"\\ud800\ufffd"}`,
		`["\ud800\ud800\udc00"]`:                               `["\ufffd\ud800\udc00"]`,
		`["\ud800",1,"\ud8`:                                    `["\ufffd",1,"\ud8`, // what was read
		`["\ud83d\ude00","\\ud800"]`:                           `["\ud83d\ude00","\\ud800"]`,
	} {
		b := []byte(text)
		d := New(b)
		d.Skip()
		mended := d.Mend()
		if string(b) != want || mended != (text != want) {
			t.Errorf("%s became %s, mended: %v", text, b, mended)
		}
	}
}

func TestAnEditKeepsWhatIsNotReplaced(t *testing.T) {
	t.Parallel()
	e := Edit{Source: []byte("0123456789")}
	if e.Changed() || &e.Result()[0] != &e.Source[0] {
		t.Error("an edit without replacements is a copy")
	}
	e.Replace(0, 1, []byte("zero"))
	e.Replace(3, 5, nil)
	e.Replace(9, 10, []byte("nine"))
	if got := string(e.Result()); !e.Changed() || got != "zero125678nine" {
		t.Error(got)
	}
}
