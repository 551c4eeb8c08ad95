package acptest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// definitionsOf lists the definitions of a method's messages.
func (k *kit) definitionsOf(method string) []string {
	var out []string
	for _, def := range k.doc.Defs {
		if k.doc.Def(def).Get("x-method").Text() == method {
			out = append(out, def)
		}
	}
	return out
}

// testProtocol sends random messages of every method through the Protocol.
func (k *kit) testProtocol(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range k.Protocol.Methods {
		seen[m.Name] = true
		for _, def := range k.definitionsOf(m.Name) {
			kind := kindOf(def)
			if kind == Notification && !m.Notification || kind != Notification && !m.Request {
				continue
			}
			g := k.values(seedOf(def))
			for range 20 {
				v := g.definition(def, 0)
				enc, err := k.Protocol.Decode(m, kind, print(v.in))
				if err != nil {
					t.Errorf("%s %s: %v", m.Name, def, err)
					break
				}
				k.testSession(t, m, def, enc)
				if at, differ := difference(parse(string(enc.AppendJSON(nil))), parse(string(print(v.want)))); differ {
					t.Errorf("%s %s: differs at /%s", m.Name, def, strings.Join(at, "/"))
				}
			}
		}
		if _, err := k.Protocol.Decode(Method{Name: "no/such", Side: m.Side}, Request, nil); err == nil {
			t.Errorf("a method that does not exist decodes")
		}
	}
	for _, def := range k.doc.Defs {
		if m := k.doc.Def(def).Get("x-method").Text(); m != "" && !seen[m] {
			t.Errorf("%s of %s is missing in the method table", m, def)
		}
	}
}

// testSession checks that exactly the params with a sessionId name a session.
func (k *kit) testSession(t *testing.T, m Method, def string, params interface{ AppendJSON([]byte) []byte }) {
	has := kindOf(def) != Result && k.doc.Def(def).Get("properties").Get("sessionId") != nil
	named, names := params.(interface{ Session() string })
	if has && !m.Session || names != has {
		t.Fatalf("%s %s: sessionId %v, in the method table %v, names its session %v", m.Name, def, has, m.Session, names)
	}
	if !has {
		return
	}
	var want struct {
		SessionID string `json:"sessionId"`
	}
	if err := json.Unmarshal(params.AppendJSON(nil), &want); err != nil || named.Session() != want.SessionID {
		t.Fatalf("%s %s: session %q, want %q (%v)", m.Name, def, named.Session(), want.SessionID, err)
	}
}

// Fuzz feeds messages of every method through the Protocol. Nothing may panic, and
// decoded messages are stable: encoding and decoding them gives the same again.
func Fuzz(f *testing.F, p Package) {
	k := newKit(f, p)
	for i, m := range p.Protocol.Methods {
		for _, def := range k.definitionsOf(m.Name) {
			g := k.values(seedOf(def))
			g.extra, g.nulls, g.bad = true, true, 4
			f.Add(uint8(i), uint8(kindOf(def)), print(g.definition(def, 0).in))
		}
	}
	f.Fuzz(func(t *testing.T, method, kind uint8, text []byte) {
		m := p.Protocol.Methods[int(method)%len(p.Protocol.Methods)]
		kd := Kind(kind % uint8(kinds))
		enc, err := p.Protocol.Decode(m, kd, text)
		if err != nil {
			_ = err.Error()
			return
		}
		out := enc.AppendJSON(nil)
		if !json.Valid(out) {
			t.Fatalf("%s: %q decodes, but encodes as %q, which is not JSON", m.Name, text, out)
		}
		again, err := p.Protocol.Decode(m, kd, out)
		if err != nil {
			t.Fatalf("%s: %q decodes, but not what it encodes as, %q: %v", m.Name, text, out, err)
		}
		if b := again.AppendJSON(nil); !bytes.Equal(b, out) {
			t.Fatalf("%s: %q becomes %q, then %q", m.Name, text, out, b)
		}
	})
}

func kindOf(def string) Kind {
	switch {
	case strings.HasSuffix(def, "Response"):
		return Result
	case strings.HasSuffix(def, "Notification"):
		return Notification
	}
	return Request
}
