package jx

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strconv"
	"testing"
	"unicode/utf8"
)

var seeds = []string{
	`{"a":[1,2.5e-3,"x\u00e9\ud83d\ude00",null,true,{}]}`, `{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[]}}`,
	`"\ud800"`, `"\udc00\ud800"`, `-0`, `01`, `[1,]`, `{"a":1,}`, `{"a" : 1 , "b":[ ] }`, "\"\x7f\"", "\"\xff\"", `1e5`, `nul`, ``, ` 1 `,
	`"\/"`, `"01234567\n89"`, `"0123456`, `[[[[[[]]]]]]`, `18446744073709551616`, `-9223372036854775808`, `1e400`, `{"\u0061":1,"a":2}`,
	`"\\"`, `"\`, "\"é日本\\n\xe2\x82\xac\"", "{\"\xed\xa0\x80\":0}",
}

func seeded(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
}

// FuzzSkip accepts what encoding/json accepts, except for text that is not
// UTF-8 or too deep.
func FuzzSkip(f *testing.F) {
	seeded(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		d := New(text)
		raw := d.Raw()
		d.End()
		if d.code == duplicate { // of which encoding/json takes the last
			d = New(text)
			d.Skip()
			d.End()
			raw = bytes.Trim(text, " \t\r\n")
		}
		valid := json.Valid(text)
		switch {
		case d.code == tooDeep:
		case d.code == badUTF8 && utf8.Valid(text):
			t.Fatalf("%q is UTF-8", text)
		case d.code != badUTF8 && d.Failed() == valid:
			t.Fatalf("%q: valid is %v, got %v", text, valid, d.Err())
		case d.code == ok:
			if !utf8.Valid(text) {
				t.Fatalf("%q is not UTF-8", text)
			}
			if !d.lone && !bytes.Equal(raw, bytes.Trim(text, " \t\r\n")) || !json.Valid(raw) {
				t.Fatalf("%q: copied as %q", text, raw)
			}
			var a, b any
			if json.Unmarshal(text, &a) == nil && (json.Unmarshal(raw, &b) != nil || !reflect.DeepEqual(a, b)) {
				t.Fatalf("%q is kept as %q", text, raw)
			}
			if p := Print("x", raw, nil); len(p) > 4*maxPrint && len(raw) < maxPrint {
				t.Fatalf("%d bytes print as %d", len(raw), len(p))
			}
		}
	})
}

// FuzzString decodes strings as encoding/json does, and writes them so that it
// reads them back.
func FuzzString(f *testing.F) {
	seeded(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		quoted := append(append([]byte{'"'}, text...), '"')
		for _, text := range [][]byte{text, quoted} {
			d := New(text)
			got := d.Str()
			d.End()
			var want string
			if err := json.Unmarshal(text, &want); err != nil || len(text) == 0 || bytes.TrimSpace(text)[0] != '"' {
				if !d.Failed() {
					t.Fatalf("%q was accepted", text)
				}
				continue
			}
			if d.code == badUTF8 && !utf8.Valid(text) {
				continue
			}
			if got != want || d.Failed() {
				t.Fatalf("%q: got %q, want %q (%v)", text, got, want, d.Err())
			}
			if b := New(text).StrBytes(); string(b) != want {
				t.Fatalf("%q: StrBytes %q", text, b)
			}
		}
		var back string
		if err := json.Unmarshal(AppendReplaced(nil, string(text)), &back); err != nil || back != string(bytes.ToValidUTF8(text, nil)) && utf8.Valid(text) {
			t.Fatalf("%q is written as %s: %v", text, AppendReplaced(nil, string(text)), err)
		}
	})
}

// FuzzNumber reads numbers as strconv does.
func FuzzNumber(f *testing.F) {
	seeded(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		number := json.Valid(text) && bytes.Equal(text, bytes.TrimSpace(text)) && (text[0] == '-' || text[0]-'0' <= 9)
		i, iErr := strconv.ParseInt(string(text), 10, 64)
		u, uErr := strconv.ParseUint(string(bytes.TrimPrefix(text, []byte("-"))), 10, 64)
		if u != 0 && text[0] == '-' {
			uErr = errors.New("negative")
		}
		x, xErr := strconv.ParseFloat(string(text), 64)
		check := func(kind string, want bool, read func(*Dec) bool) {
			d := New(text)
			same := read(d)
			d.End()
			if bytes.TrimSpace(text) != nil && !bytes.Equal(text, bytes.TrimSpace(text)) {
				return
			}
			if d.Failed() == want || want && !same {
				t.Fatalf("%q as %s: %v", text, kind, d.Err())
			}
		}
		check("Int", number && iErr == nil, func(d *Dec) bool { return d.Int(math.MinInt64, math.MaxInt64) == i })
		check("Uint64", number && uErr == nil, func(d *Dec) bool { return d.Uint64() == u })
		check("Float", number && xErr == nil, func(d *Dec) bool { return d.Float() == x })
	})
}

// FuzzRecover reads anything as a list of objects, forgives all that can be
// forgiven, and must end where encoding/json does.
func FuzzRecover(f *testing.F) {
	seeded(f)
	for _, s := range []string{`[{"a":1},{"a":"x","a":"y"},{"b":[1,{"a":2}]},3]`, `[{"a":{"a":{"a":[]}}},{}]`, `[[{"a":[{"a":1}]}]]`} {
		f.Add([]byte(s))
	}
	var decode func(d *Dec, level int)
	decode = func(d *Dec, level int) {
		m := d.Mark()
		defer func() {
			if level%2 == 0 && d.Failed() {
				d.Recover(m)
			}
		}()
		if level%3 == 0 {
			if d.Array() {
				for d.More(']') {
					decode(d, level+1)
				}
			}
			return
		}
		if !d.ObjIn(nil) {
			return
		}
		var seen uint64
		var x Unknown
		for k, more := d.Next(); more; k, more = d.Next() {
			if string(k) == "a" {
				seen = d.Once(seen, 1)
				decode(d, level+1)
			} else {
				x.Add(d, k, nil)
			}
		}
		if seen == 0 {
			d.missing(m, 0, "a")
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d := New(text)
		decode(d, 0)
		d.End()
		valid := json.Valid(text)
		switch d.code {
		case tooDeep, badUTF8, duplicate:
		case ok, syntax:
			if valid != (d.code == ok) {
				t.Fatalf("%q: valid is %v, got %v", text, valid, d.Err())
			}
		default:
			t.Fatalf("%q: %v was not forgiven", text, d.Err())
		}
	})
}
