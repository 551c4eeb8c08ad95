package acptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/jx"
)

// hostileRaw is raw JSON as a program may get it from a model: it ends the value and
// adds members, is cut, is more than one value, or has a duplicate member.
var hostileRaw = []string{
	`{}`, `{"a":1}`, `[1]`, `null`, `"text"`, `7`, ` {"a" : "b"} `, "{\n}", `{"_meta":{}}`, `{"x":"\ud800"}`,
	`{"command":"rm"}},"toolCall":{"title":"ls"`, `1,"injected":true`, `{"a":1},"injected":true`, `{"a":1}}`, `{"a":1} {"b":2}`,
	`{broken`, `{"a":`, `"open`, "\"line\nend\"", `nul`, `,`, `}`, ` `, "\xff", "\"\xff\"", "{\"\xc3\":1}", `{"a":1,"a":2}`, `{"b":{"a":1,"\u0061":2}}`,
	strings.Repeat("[", 600) + strings.Repeat("]", 600),
}

// testBuilt changes messages in ways that a program could: raw JSON and extra members
// get arbitrary text, unions lose their variant, unknown tags become known ones. Then
// either the message is refused as a whole, or the sent text is what the program
// meant: one JSON value without duplicate members.
func (k *kit) testBuilt(t *testing.T) {
	tried, refused := 0, 0
	for _, m := range k.Protocol.Methods {
		for _, def := range k.definitionsOf(m.Name) {
			kind := kindOf(def)
			if kind == Notification && !m.Notification || kind != Notification && !m.Request {
				continue
			}
			g := k.values(seedOf(def))
			g.extra = true
			for range 40 {
				v, err := k.Protocol.Decode(m, kind, print(g.definition(def, 0).in))
				if err != nil {
					t.Fatalf("%s: %v", m.Name, err)
				}
				b := builder{rand: g.r, raw: func() string { return hostileRaw[g.r.IntN(len(hostileRaw))] }}
				b.change(reflect.ValueOf(v))
				tried++
				if sent, err := judgeBuilt(v); err != nil {
					t.Fatalf("%s: %v", m.Name, err)
				} else if !sent {
					refused++
				}
			}
		}
	}
	if refused == 0 || refused == tried {
		t.Errorf("%d of %d messages were refused", refused, tried)
	}
}

// FuzzBuilt is testBuilt with raw JSON from the fuzzer.
func FuzzBuilt(f *testing.F, p Package) {
	k := newKit(f, p)
	for i, text := range hostileRaw {
		f.Add(uint8(i), uint64(i), []byte(text))
	}
	f.Fuzz(func(t *testing.T, method uint8, seed uint64, text []byte) {
		m := p.Protocol.Methods[int(method)%len(p.Protocol.Methods)]
		g := k.values(seed)
		g.extra = true
		for _, def := range k.definitionsOf(m.Name) {
			v, err := p.Protocol.Decode(m, kindOf(def), print(g.definition(def, 0).in))
			if err != nil {
				continue
			}
			b := builder{rand: g.r, raw: func() string { return string(text) }}
			b.change(reflect.ValueOf(v))
			if _, err := judgeBuilt(v); err != nil {
				t.Fatalf("%s with %q: %v", m.Name, text, err)
			}
		}
	})
}

// judgeBuilt encodes v. It says whether v could be sent, and what is wrong with the
// sent text.
func judgeBuilt(v Message) (sent bool, err error) {
	out := v.AppendJSON(nil)
	text, err := json.Marshal(v)
	if jx.Fault(out) != nil {
		if err == nil {
			return false, fmt.Errorf("MarshalJSON returns %q for what cannot be sent", text)
		}
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%q is sent, and MarshalJSON fails: %w", out, err)
	}
	if err := jx.Distinct(out); err != nil {
		return false, fmt.Errorf("%q is sent: %w", out, err)
	}
	if bytes.ContainsAny(out, "\r\n") {
		return false, fmt.Errorf("%q is sent: more than one line", out)
	}
	want := members(reflect.ValueOf(v).Elem())
	for name := range jx.Members(out) {
		if !slices.Contains(want, name) {
			return false, fmt.Errorf("%q is sent: nobody set the member %q", out, name)
		}
	}
	return true, nil
}

// members are the names that a struct may write at its top level.
func members(v reflect.Value) []string {
	var names []string
	if v.Kind() != reflect.Struct {
		return nil
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch {
		case f.Name == "Extra" || f.Name == "Raw":
			for name := range jx.Members(v.Field(i).Bytes()) {
				names = append(names, name)
			}
		case f.Name == "Tag" || f.Type.Kind() == reflect.Interface && f.Tag == "": // of a union: its tag is a member
			names = append(names, "mode", "type", "action", "outcome", "sessionUpdate", "state")
			if f.Type.Kind() == reflect.Interface && !v.Field(i).IsNil() {
				names = append(names, members(reflect.Indirect(v.Field(i).Elem()))...)
			}
		default:
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
}

// builder changes a value at random places.
type builder struct {
	rand *rand.Rand
	raw  func() string
}

func (b *builder) sometimes() bool { return b.rand.IntN(12) == 0 }

func (b *builder) change(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return
		}
		if v.Kind() == reflect.Interface && v.CanSet() && b.sometimes() {
			v.SetZero()
			return
		}
		b.change(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			switch {
			case !f.IsExported():
			case f.Name == "Tag" && b.sometimes():
				v.Field(i).SetString([]string{"text", "tool_call", "form", "diff", "new"}[b.rand.IntN(5)])
			default:
				b.change(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 { // raw JSON, extra members
			if v.CanSet() && b.sometimes() {
				v.SetBytes([]byte(b.raw()))
			}
			return
		}
		for i := range v.Len() {
			b.change(v.Index(i))
		}
	}
}
