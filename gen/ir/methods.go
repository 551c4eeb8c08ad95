package ir

import (
	"sort"
	"strings"

	"github.com/hermes-nvim/hermes/schema"
)

// handlerOf is the side that handles what a sender sends. A response belongs to
// a method that its sender handles.
var handlerOf = map[string]string{"agent": "client", "client": "agent", "proxy": "proxy", "protocol": "protocol", "protocollevel": "protocol"}

// methods derives the table from x-side and x-method, and checks it against the
// JSON-RPC envelopes. Only they distinguish requests, responses and
// notifications without trusting the end of a name.
func (l *lowering) methods(d *schema.Document, s *Spec) []*Method {
	roles := envelopeRoles(d, s)
	rows := map[string]*Method{}
	var out []*Method
	for _, t := range s.Types {
		if t.Method == "" {
			continue
		}
		if len(roles[t.Name]) == 0 {
			l.fail(t.node.Ptr, "has x-method %q but is in no envelope", t.Method)
		}
		for _, r := range roles[t.Name] {
			handler := handlerOf[r.sender]
			if r.kind == "Response" {
				handler = r.sender
			}
			if t.Side != handler && t.Side != "both" {
				l.fail(t.node.Ptr, "x-side is %q, the envelope says that the %s handles it", t.Side, handler)
			}
			m := rows[handler+" "+t.Method]
			if m == nil {
				m = &Method{Wire: t.Method, Handler: handler}
				m.Doc, m.Page = l.overlay.Words.Method(t.Method)
				rows[handler+" "+t.Method] = m
				out = append(out, m)
			}
			slot := map[string]*string{"Request": &m.Request, "Response": &m.Response, "Notification": &m.Notification}[r.kind]
			if *slot != "" && *slot != t.Name {
				l.fail(t.node.Ptr, "%s has two definitions as %s, %s and %s", m.Wire, strings.ToLower(r.kind), *slot, t.Name)
			}
			*slot = t.Name
		}
	}
	for n := range roles {
		if t := s.ByName[n]; t != nil && t.Method == "" && t.Kind != Any {
			l.fail(t.node.Ptr, "is in an envelope but has no x-method")
		}
	}
	for _, m := range out {
		if (m.Request == "") != (m.Response == "") {
			l.fail(m.Handler+" "+m.Wire, "request %q and response %q do not make a pair", m.Request, m.Response)
		}
		m.Session = s.hasMember(m.Request, "sessionId") || s.hasMember(m.Notification, "sessionId")
	}
	sort.Strings(l.errs)
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].Handler != out[j].Handler {
			return out[i].Handler < out[j].Handler
		}
		return out[i].Wire < out[j].Wire
	})
	return out
}

type role struct{ sender, kind string }

// envelopeRoles lists for each definition the frames that it travels in.
func envelopeRoles(d *schema.Document, s *Spec) map[string][]role {
	roles := map[string][]role{}
	var refs func(n *schema.Node, r role)
	refs = func(n *schema.Node, r role) {
		if n == nil {
			return
		}
		if ref := n.Ref(); ref != "" {
			roles[ref] = append(roles[ref], r)
			return
		}
		for _, k := range n.Keys {
			refs(n.Obj[k], r)
		}
		for _, e := range n.Arr {
			refs(e, r)
		}
	}
	for _, t := range s.Types {
		if t.Kind != Envelope {
			continue
		}
		kind := frameKind(t.Name)
		r := role{strings.ToLower(strings.TrimSuffix(t.Name, kind)), kind}
		if kind != "Response" {
			refs(t.node.Get("properties").Get("params"), r)
			continue
		}
		for _, b := range list(t.node.Get("anyOf")) {
			refs(b.Get("properties").Get("result"), r)
		}
	}
	for _, b := range list(d.Raw.Get("anyOf")) {
		if b.Get("title").Text() == "ProtocolLevel" {
			refs(b.Get("properties").Get("params"), role{"protocol", "Notification"})
		}
	}
	return roles
}

// hasMember reports whether a definition, or a variant of it, has a member.
func (s *Spec) hasMember(def, member string) bool {
	t := s.Resolve(def)
	if t == nil {
		return false
	}
	for _, f := range t.Fields {
		if f.Wire == member {
			return true
		}
	}
	if t.Union == nil {
		return false
	}
	for _, v := range t.Union.Variants {
		for _, f := range v.Fields {
			if f.Wire == member {
				return true
			}
		}
		if v.Ref != "" && s.hasMember(v.Ref, member) {
			return true
		}
	}
	return false
}
