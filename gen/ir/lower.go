package ir

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/schema"
)

// Lower classifies every definition and builds the method table. The error
// lists everything that it cannot represent, one problem a line with its JSON
// pointer.
func Lower(d *schema.Document, o Overlay) (*Spec, error) {
	if o.Words == nil {
		o.Words = noWords{}
	}
	if o.Strict == nil {
		o.Strict = noMarks{}
	}
	if o.Secrets == nil {
		o.Secrets = noMarks{}
	}
	l := &lowering{overlay: o}
	s := &Spec{ByName: map[string]*Type{}}
	for _, n := range d.Defs {
		t := l.definition(n, d.Def(n))
		s.Types = append(s.Types, t)
		s.ByName[n] = t
	}
	l.cycles(s)
	if len(l.errs) == 0 {
		for _, t := range s.Types {
			l.keys(s, t)
			l.distinct(s, t)
		}
	}
	if len(l.errs) == 0 {
		s.Methods = l.methods(d, s)
		s.keep()
	}
	if len(l.errs) > 0 {
		return nil, fmt.Errorf("%s: cannot be generated; teach gen/ir the shape or correct the schema:\n  %s", d.Name, strings.Join(l.errs, "\n  "))
	}
	return s, nil
}

// cycles fails if a definition is, merges in, or always contains itself. It also
// fails if what is merged in is not an object, or cannot be distinguished from
// another variant.
func (l *lowering) cycles(s *Spec) {
	for _, t := range s.Types {
		if t.Kind == Alias {
			for seen, at := map[string]bool{}, t; at.Kind == Alias; at = s.ByName[at.Target] {
				if seen[at.Name] {
					l.fail(t.node.Ptr, "stands for itself")
					return // Resolve would not end
				}
				seen[at.Name] = true
			}
		}
	}
	acyclic := func(problem string, next func(*Type, func(string))) {
		const open, done = 1, 2
		state := map[string]int{}
		var visit func(name string)
		visit = func(name string) {
			t := s.Resolve(name)
			if state[t.Name] == open {
				l.fail(t.node.Ptr, "%s", problem)
			}
			if state[t.Name] != 0 {
				return
			}
			state[t.Name] = open
			next(t, visit)
			state[t.Name] = done
		}
		for _, t := range s.Types {
			visit(t.Name)
		}
	}
	acyclic("is merged into itself", func(t *Type, visit func(string)) {
		unions := map[string]bool{}
		for _, v := range t.merged() {
			to := s.Resolve(v.Ref)
			if to.Union != nil && len(to.Fields) == 0 {
				if unions[to.Name] {
					l.fail(v.node.Ptr, "merges in the union %s, which another variant merges in too; nothing would distinguish the two", to.Name)
				}
				unions[to.Name] = true
			}
			switch {
			case to.Kind == Tagged, to.Kind == ByKeys, to.Kind == Object:
				visit(v.Ref)
			default:
				l.fail(v.node.Ptr, "merges in %s, which is a %s and not an object", v.Ref, to.Kind)
			}
		}
	})
	acyclic("contains itself as a required or three-state member: make the member optional", func(t *Type, visit func(string)) {
		for _, f := range t.Fields {
			if (f.Presence == Required || f.Presence == Patch) && f.Type.Ref != "" {
				if to := s.Resolve(f.Type.Ref); to.Kind == Object || len(to.Fields) > 0 {
					visit(f.Type.Ref)
				}
			}
		}
	})
}

// merged lists the variants that merge a definition into the object.
func (t *Type) merged() []*Variant {
	if t.Union == nil || t.Kind == ByType {
		return nil
	}
	all := append([]*Variant{t.Union.Other, t.Union.Default, t.Union.Absent}, t.Union.Variants...)
	if o := t.Union.Other; o != nil && o.Nested != nil {
		all = append(all, o.Nested.Variants...)
	}
	return slices.DeleteFunc(all, func(v *Variant) bool { return v == nil || v.Ref == "" })
}

type lowering struct {
	overlay Overlay
	errs    []string
}

func (l *lowering) fail(at, format string, a ...any) {
	l.errs = append(l.errs, at+": "+fmt.Sprintf(format, a...))
}

func (l *lowering) definition(name string, n *schema.Node) *Type {
	t := &Type{Name: name, node: n, Doc: l.overlay.Words.Definition(name), Page: l.overlay.Pages[name], Side: n.Get("x-side").Text(), Method: n.Get("x-method").Text()}
	if hand, ok := l.overlay.Hand[name]; ok {
		t.Hand = hand
		if l.overlay.UseHand != nil {
			l.overlay.UseHand(name)
		}
	}
	keyword, branches := alternatives(n)
	switch ty := n.Get("type").Text(); {
	case isEnvelope(name, n):
		t.Kind = Envelope
	case branches == nil && n.Ref() != "":
		t.Kind, t.Target = Alias, n.Ref()
	case branches == nil && ty == "object":
		t.Kind = Object
		if ap := n.Get("additionalProperties"); ap != nil && ap.Kind == '{' {
			l.fail(n.Ptr, "a definition that is a map; only members can be maps")
		}
		t.Fields = l.fields(name, n)
	case branches == nil && ty == "string":
		t.Kind = String
	case branches == nil && ty == "integer":
		t.Kind, t.Format = Integer, n.Get("format").Text()
	case branches == nil && !n.Has("type") && !n.Has("properties"):
		t.Kind = Any
	case branches == nil:
		l.fail(n.Ptr, "unknown shape %s", n.JSON())
	case l.enum(t, branches):
	default:
		l.union(t, n, keyword, branches)
	}
	return t
}

// isEnvelope reports whether a definition is a JSON-RPC frame.
func isEnvelope(name string, n *schema.Node) bool {
	return n.Get("x-docs-ignore").True() && !n.Has("x-method") && frameKind(name) != ""
}

func frameKind(name string) string {
	for _, k := range []string{"Request", "Response", "Notification"} {
		if strings.HasSuffix(name, k) {
			return k
		}
	}
	return ""
}

func alternatives(n *schema.Node) (keyword string, branches []*schema.Node) {
	for _, k := range []string{"oneOf", "anyOf"} {
		if a := n.Get(k); a != nil {
			return k, a.Arr
		}
	}
	return "", nil
}

// enum fills t if every branch is a value of one type, and reports whether it
// did. A branch without a value opens the enum.
func (l *lowering) enum(t *Type, branches []*schema.Node) bool {
	ty, open := "", false
	var values []Value
	for _, b := range branches {
		bt := b.Get("type").Text()
		if (bt != "string" && bt != "integer") || (ty != "" && bt != ty) {
			return false
		}
		ty = bt
		c := b.Get("const")
		if c == nil {
			if open {
				return false
			}
			open = true
			continue
		}
		wire := c.Str
		if c.Kind == '0' {
			wire = c.Num.String()
		}
		values = append(values, Value{Wire: wire, Title: b.Get("title").Text(), Doc: l.overlay.Words.Value(t.Name, wire)})
	}
	if len(values) == 0 {
		return false
	}
	t.Kind, t.Values, t.Open, t.Default = EnumStr, values, open, l.overlay.Defaults[t.Name]
	if ty == "integer" {
		t.Kind, t.Format = EnumInt, branches[0].Get("format").Text()
	}
	return true
}
