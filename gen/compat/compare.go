// Package compat reports what changes for users when the protocol changes: for
// Go programs on the generated bindings, and on the wire.
package compat

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/hermes-nvim/hermes/gen/emit/golang"
	"github.com/hermes-nvim/hermes/gen/ir"
)

// Level says who has to act.
type Level string

// The levels, the most urgent first.
const (
	Break Level = "BREAK" // Go programs that use it no longer compile
	Impl  Level = "IMPL"  // handler interfaces grow; the embeddable defaults answer
	Wire  Level = "wire"  // decoding, limits or what a peer may send; Go programs compile as before
	Add   Level = "add"   // new, nobody has to act
	Doc   Level = "doc"   // upstream explains it in other words
)

// Levels lists the levels in the order of a report.
var Levels = []Level{Break, Impl, Wire, Add, Doc}

// Change is one difference.
type Change struct {
	Level Level
	Where string // "type ToolCall", "ToolCall.title", "method agent session/new"
	What  string
}

// Compare lists what is different in next, by level and then by place.
func Compare(prev, next *ir.Spec) []Change {
	c := &comparison{prev: prev, next: next}
	c.types(prev, next)
	c.methods(prev, next)
	Sort(c.changes)
	return join(c.changes)
}

// join merges the changes at one place and level into one.
func join(sorted []Change) []Change {
	var out []Change
	for _, c := range sorted {
		if last := len(out) - 1; last >= 0 && out[last].Level == c.Level && out[last].Where == c.Where {
			out[last].What += "; " + c.What
			continue
		}
		out = append(out, c)
	}
	return out
}

// Sort puts changes in the order of a report.
func Sort(changes []Change) {
	sort.SliceStable(changes, func(i, j int) bool {
		a, b := changes[i], changes[j]
		if a.Level != b.Level {
			return slices.Index(Levels, a.Level) < slices.Index(Levels, b.Level)
		}
		if a.Where != b.Where {
			return a.Where < b.Where
		}
		return a.What < b.What
	})
}

type comparison struct {
	prev, next *ir.Spec
	changes    []Change
}

func (c *comparison) note(l Level, where, format string, a ...any) {
	c.changes = append(c.changes, Change{l, where, fmt.Sprintf(format, a...)})
}

func (c *comparison) types(prev, next *ir.Spec) {
	renamed := Renamed(prev, next)
	became := map[string]string{}
	for was, is := range renamed {
		became[is] = was
	}
	for _, t := range prev.Types {
		if t.Kind == ir.Envelope {
			continue
		}
		n := next.ByName[t.Name]
		switch {
		case n == nil && renamed[t.Name] != "":
			c.note(Break, "type "+t.Name, "removed; %s is new and has the same shape, so this is probably its new name", renamed[t.Name])
		case n == nil:
			c.note(Break, "type "+t.Name, "removed")
		case t.Hand != "" && n.Hand == t.Hand: // one Go type for all versions, which generating does not change
			inner := comparison{prev: prev, next: next}
			inner.typ(t, n)
			for _, change := range inner.changes {
				c.note(Wire, change.Where, "%s", change.What)
			}
		default:
			c.typ(t, n)
		}
	}
	for _, t := range next.Types {
		if t.Kind == ir.Envelope || prev.ByName[t.Name] != nil {
			continue
		}
		if was := became[t.Name]; was != "" {
			c.note(Add, "type "+t.Name, "new, %s; has the shape of %s, which is gone", t.Kind, was)
			continue
		}
		c.note(Add, "type "+t.Name, "new, %s", t.Kind)
	}
}

func (c *comparison) typ(a, b *ir.Type) {
	if a.Kind != b.Kind {
		c.note(pick(valuesOnly(a, b), Wire, Break), "type "+a.Name, "was %s, is %s", a.Kind, b.Kind)
		if !valuesOnly(a, b) {
			return
		}
	}
	if a.Format != b.Format {
		level := pick(integer(a.Format) == integer(b.Format), Wire, Break)
		c.note(level, "type "+a.Name, "format was %q, is %q", a.Format, b.Format)
	}
	if a.Target != b.Target {
		c.note(Break, "type "+a.Name, "stood for %s, stands for %s", a.Target, b.Target)
	}
	if a.Open != b.Open {
		c.note(Wire, "type "+a.Name, "%s", pick(b.Open, "takes unknown values now", "refuses unknown values now"))
	}
	if was, is := a.Default, b.Default; was != is {
		c.note(pick(was == "", Add, Break), "type "+a.Name, "the value that replaces an absent one was %s, is %s", orNothing(was), orNothing(is))
	}
	c.values(a, b)
	c.fields(a.Name, a.Fields, b.Fields)
	if a.Union != nil && b.Union != nil {
		c.union(a.Name, a.Union, b.Union)
	}
}

// valuesOnly reports whether a type only got a list of its values, which leaves
// the Go type as it was.
func valuesOnly(a, b *ir.Type) bool {
	return a.Kind == ir.String && b.Kind == ir.EnumStr || a.Kind == ir.Integer && b.Kind == ir.EnumInt
}

// integer is the Go type of integers of a format.
func integer(format string) string {
	return golang.FieldType(&ir.Spec{}, &ir.Field{Presence: ir.Required, Type: ir.TypeRef{Prim: "integer", Format: format}})
}

func (c *comparison) values(a, b *ir.Type) {
	has := func(t *ir.Type, wire string) bool {
		return slices.ContainsFunc(t.Values, func(v ir.Value) bool { return v.Wire == wire })
	}
	for _, v := range a.Values {
		if !has(b, v.Wire) {
			c.note(Break, a.Name+" value "+v.Wire, "removed")
		}
	}
	for _, v := range b.Values {
		if !has(a, v.Wire) {
			c.note(Add, a.Name+" value "+v.Wire, "new")
		}
	}
}

func (c *comparison) union(name string, a, b *ir.Union) {
	if a.Tag != b.Tag {
		c.note(Break, "type "+name, "the tag was %q, is %q", a.Tag, b.Tag)
	}
	for _, v := range a.Variants {
		c.variant(name, "variant "+key(v), v, find(b.Variants, key(v)))
	}
	for _, v := range b.Variants {
		if find(a.Variants, key(v)) == nil {
			c.variant(name, "variant "+key(v), nil, v)
		}
	}
	c.variant(name, "variant without a tag", a.Default, b.Default)
	c.variant(name, "variant for a null tag", a.Absent, b.Absent)
	if a.Other != nil && b.Other != nil {
		c.variant(name, "open variant", a.Other, b.Other)
	}
}

// variant compares two variants, either of which may be missing.
func (c *comparison) variant(union, what string, a, b *ir.Variant) {
	where := union + " " + what
	switch {
	case a == nil && b == nil:
	case b == nil:
		c.note(Break, where, "removed")
	case a == nil:
		c.note(Add, where, "new%s", pick(b.Ref != "", ", "+b.Ref, ""))
	case a.Ref != b.Ref:
		c.note(Break, where, "payload was %s, is %s", orNothing(a.Ref), orNothing(b.Ref))
	default:
		c.fields(where, a.Fields, b.Fields)
		if a.Nested != nil && b.Nested != nil {
			c.union(where, a.Nested, b.Nested)
		}
	}
}

// key names a variant the way it is selected.
func key(v *ir.Variant) string {
	switch {
	case v.Wire != "":
		return v.Wire
	case v.Title != "":
		return v.Title
	}
	return v.Ref
}

func find(list []*ir.Variant, k string) *ir.Variant {
	for _, v := range list {
		if key(v) == k {
			return v
		}
	}
	return nil
}

func (c *comparison) methods(prev, next *ir.Spec) {
	find := func(s *ir.Spec, m *ir.Method) *ir.Method {
		for _, o := range s.Methods {
			if o.Handler == m.Handler && o.Wire == m.Wire {
				return o
			}
		}
		return nil
	}
	for _, m := range prev.Methods {
		where := "method " + m.Handler + " " + m.Wire
		n := find(next, m)
		if n == nil {
			c.note(Break, where, "removed")
			continue
		}
		if a, b := signature(m), signature(n); a != b {
			c.note(Break, where, "was %s, is %s", a, b)
		}
	}
	for _, m := range next.Methods {
		if find(prev, m) == nil {
			c.note(Impl, "method "+m.Handler+" "+m.Wire, "new %s", signature(m))
		}
	}
}

// signature is a method as its definitions: "request A -> B, notification C".
func signature(m *ir.Method) string {
	var parts []string
	if m.Request != "" {
		parts = append(parts, fmt.Sprintf("request %s -> %s", m.Request, m.Response))
	}
	if m.Notification != "" {
		parts = append(parts, "notification "+m.Notification)
	}
	return strings.Join(parts, ", ")
}

func orNothing(s string) string { return pick(s != "", s, "nothing") }

func pick[T any](cond bool, yes, no T) T {
	if cond {
		return yes
	}
	return no
}
