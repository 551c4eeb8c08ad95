package envelope

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for msg, want := range map[string]Envelope{
		`{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":[1,"}"]}}`: {Method: "a", ID: raw(`1`), Params: raw(`{"x":[1,"}"]}`)},
		` { "id" : "q\"\\" , "result" : null } `:                       {ID: raw(`"q\"\\"`), Result: raw(`null`)},
		`{"id":-1.5e3,"error":{"code":1}}`:                             {ID: raw(`-1.5e3`), Error: raw(`{"code":1}`)},
		`{"m\u0065thod":"x\/y"}`:                                       {Method: "x/y"},
		`{"ID":1,"Method":"a"}`:                                        {},
		`{}`:                                                           {},
	} {
		got, err := Parse([]byte(msg))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", msg, got, err)
		}
	}
	for msg, want := range map[string]error{
		``: ErrSyntax, `{`: ErrSyntax, `{}x`: ErrSyntax, `[{}]`: ErrBatch, `1`: ErrObject, `null`: ErrObject, `"x"`: ErrObject,
		`{"id":1,"id":2}`: ErrMember, `{"method":1}`: ErrMember, `{"method":""}`: ErrMember,
	} {
		if _, err := Parse([]byte(msg)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", msg, err, want)
		}
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	e, err := Parse([]byte(`{"id":1,"method":"m","params":{"_meta":{"sessionId":"no"},"sessionId":"s"},"result":{"sessionId":"t"}}`))
	if err != nil || e.Session() != "s" || e.NewSession() != "t" || !e.IsRequest() {
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
		t.Fatal("null is no key")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"jsonrpc":"2.0","id":"a\"","method":"m","params":{"sessionId":"s","a":[{},[]]}}`)
	f.Add(`{"result":{"sessionId":"\u00e9"}}`)
	f.Fuzz(func(t *testing.T, s string) {
		e, err := Parse([]byte(s))
		if err != nil {
			return
		}
		var all map[string]json.RawMessage
		if json.Unmarshal([]byte(s), &all) != nil {
			t.Fatal("accepted what is no object")
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
