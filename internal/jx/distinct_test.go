package jx

import (
	"fmt"
	"strings"
	"testing"
)

func TestNoObjectInRawTextHasADuplicateMember(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, `"m%d":{"m%d":[]},`, i, i)
	}
	for text, want := range map[string]string{
		`{"a":1,"a":1}`:                                   "/a",
		`{"a":{"b":[0,{"c":1,"d":{},"c":2}]}}`:            "/a/b/1/c",
		`[{"a":1},{"a":1,"\u0061":2}]`:                    "/1/a",
		`{"\ud800":1,"\udc00":2}`:                         "/\ufffd",
		`{"":{"":{"":1,"":2}}}`:                           "///",
		`{"x":{` + many.String() + `"m0":1}}`:             "/x/m0",
		`{"x":{` + many.String() + `"m99":1}}`:            "/x/m99",
		`{"x":{` + many.String() + `"z":1,"z":2}}`:        "/x/z",
		`{"a":1,"A":2,"b":{"a":3,"b":[{"a":4},{"a":5}]}}`: "",
		`{"x":{` + many.String() + `"z":1}}`:              "",
		`[{"a":1},{"a":1}]`:                               "",
	} {
		for name, read := range map[string]func() error{
			"Raw":      func() error { d := New([]byte(text)); d.Raw(); d.End(); return d.Err() },
			"Distinct": func() error { return Distinct([]byte(text)) },
		} {
			err := read()
			if want == "" && err != nil || want != "" && (err == nil || err.Error() != want+": duplicate member") {
				t.Errorf("%s of %.60s: %v, want %q", name, text, err, want)
			}
		}
	}
	if err := Distinct([]byte(`{} {}`)); err == nil {
		t.Error("two values are one")
	}
}

func TestReadingRawTextOfSmallObjectsAllocatesNothingElse(t *testing.T) {
	text := []byte(`{"command":"ls","args":["-l",{"a":1,"b":2}],"cwd":"/w","env":{"A":"1","B":"2"}}`)
	if n := testing.AllocsPerRun(100, func() {
		if Distinct(text) != nil {
			t.Fatal("refused")
		}
	}); n > 0 {
		t.Errorf("%.0f allocations", n)
	}
}
