package envelope

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for msg, want := range map[string]Envelope{
		`{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":[1,"}"]}}`: {Method: []byte("a"), ID: raw(`1`), Params: raw(`{"x":[1,"}"]}`)},
		` { "id" : "q\"\\" , "result" : null } `:                       {ID: raw(`"q\"\\"`), Result: raw(`null`), Answers: true},
		`{"id":-1.5e3,"error":{"code":1}}`:                             {ID: raw(`-1.5e3`), Error: raw(`{"code":1}`), Answers: true},
		`{"m\u0065thod":"x\/y"}`:                                       {Method: []byte("x/y")},
		`{"ID":1,"Method":"a"}`:                                        {},
		`{}`:                                                           {},
	} {
		got, err := Parse([]byte(msg))
		if want.Version = strings.Contains(msg, "2.0"); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", msg, got, err)
		}
	}
	for msg, want := range map[string]string{
		``: "unexpected end", `{`: "unexpected end", `{}x`: "text after the value", "{\"a\":\"\xff\"}": "not UTF-8",
		`1`: "not an object", `null`: "not an object", `"x"`: "not an object", `[{}]`: ErrBatch.Error(), `[`: "unexpected end",
		`{"id":1,"id":2}`: "duplicate member id", `{"result":1,"r\u0065sult":2}`: "duplicate member result",
		`{"method":1}`: "method is not a string", `{"method":""}`: "method is empty",
		strings.Repeat(`{"a":`, 600): "more than 512 levels of nesting",
	} {
		if e, err := Parse([]byte(msg)); err == nil || !strings.Contains(err.Error(), want) || !reflect.DeepEqual(e, Envelope{}) {
			t.Errorf("%s: %v, want %s", msg, err, want)
		}
	}
	if _, err := Parse([]byte(`[]`)); !errors.Is(err, ErrBatch) {
		t.Error(err)
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	e, err := Parse([]byte(`{"id":1,"method":"m","params":{"_meta":{"sessionId":"no"},"sessionId":"s"}}`))
	if err != nil || e.Session() != "s" || e.NewSession() != "" || !e.IsRequest() || e.IsAnswer() {
		t.Fatal(e, err)
	}
	e, err = Parse([]byte(`{"id":1,"result":{"x":[{"sessionId":"no"}],"session\u0049d":"\u0074"}}`))
	if err != nil || e.Session() != "" || e.NewSession() != "t" || e.IsRequest() || !e.IsAnswer() {
		t.Fatal(e, err)
	}
}

func TestKeysOfTheSameIDAreTheSame(t *testing.T) {
	t.Parallel()
	a, b := Envelope{ID: raw(`"\u0061"`)}, Envelope{ID: raw(`"a"`)}
	if a.Key() != b.Key() || a.Key() == (&Envelope{ID: raw(`1`)}).Key() {
		t.Fatal(a.Key(), b.Key())
	}
	if (&Envelope{ID: raw(`null`)}).Key() != "" {
		t.Fatal("null counts as a key")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"jsonrpc":"2.0","id":"a\"","method":"m","params":{"sessionId":"s","a":[{},[]]}}`)
	f.Add(`{"result":{"sessionId":"\u00e9"}}`)
	f.Add(`{"id":"\ud800","method":"\udc00","params":{"sessionId":"\ud800"}}`)
	f.Fuzz(func(t *testing.T, s string) {
		msg := []byte(s)
		e, err := Parse(msg)
		if string(msg) != s {
			t.Fatalf("parsing %q made it %q", s, msg)
		}
		if err != nil {
			return
		}
		var all map[string]json.RawMessage
		if json.Unmarshal([]byte(s), &all) != nil {
			t.Fatal("accepted what is not an object")
		}
		for name, got := range map[string]json.RawMessage{"id": e.ID, "params": e.Params, "result": e.Result, "error": e.Error} {
			if want, ok := all[name]; ok != (got != nil) || string(want) != string(got) {
				t.Fatalf("%s: %q, want %q", name, got, want)
			}
		}
		e.Session()
		e.Key()
	})
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }
