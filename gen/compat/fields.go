package compat

import (
	"github.com/hermes-nvim/hermes/gen/ir"
)

func (c *comparison) fields(owner string, a, b []*ir.Field) {
	for _, f := range a {
		where := owner + "." + f.Wire
		g := member(b, f.Wire)
		if g == nil {
			c.note(Break, where, "removed")
			continue
		}
		if x, y := typeName(f.Type), typeName(g.Type); x != y {
			c.note(Break, where, "was %s, is %s", x, y)
		}
		if f.Presence != g.Presence {
			c.note(Break, where, "was %s, is %s", f.Presence, g.Presence)
		}
		c.rules(where, f, g)
	}
	for _, f := range b {
		if member(a, f.Wire) != nil {
			continue
		}
		if f.Presence == ir.Required {
			c.note(Wire, owner+"."+f.Wire, "new and required, %s: peers that do not send it are refused", typeName(f.Type))
		} else {
			c.note(Add, owner+"."+f.Wire, "%s, %s", typeName(f.Type), f.Presence)
		}
	}
}

// rules compares what does not show in the Go type.
func (c *comparison) rules(where string, f, g *ir.Field) {
	flag := func(a, b bool, on, off string) {
		if a != b {
			c.note(Wire, where, "%s", pick(b, on, off))
		}
	}
	flag(f.OnError, g.OnError, "a bad value counts as absent now", "a bad value is refused now")
	flag(f.OnNull, g.OnNull, "null counts as empty now", "null is refused now")
	flag(f.SkipInvalid, g.SkipInvalid, "bad elements are dropped now", "bad elements are refused now")
	for _, r := range []struct{ name, a, b string }{
		{"the default", f.Default, g.Default},
		{"the smallest value", f.Min, g.Min},
		{"the largest value", f.Max, g.Max},
		{"the shortest text", f.MinLen, g.MinLen},
		{"the shortest list", f.MinItems, g.MinItems},
		{"the encoding", f.Encoding, g.Encoding},
		{"the constant", f.Const, g.Const},
	} {
		if r.a != r.b {
			c.note(Wire, where, "%s was %s, is %s", r.name, orNothing(r.a), orNothing(r.b))
		}
	}
}

func member(list []*ir.Field, wire string) *ir.Field {
	for _, f := range list {
		if f.Wire == wire {
			return f
		}
	}
	return nil
}

// typeName is a type as a reader says it.
func typeName(t ir.TypeRef) string {
	switch {
	case t.Ref != "":
		return t.Ref
	case t.Map && t.Elem != nil:
		return "map of " + typeName(*t.Elem)
	case t.Elem != nil:
		return "list of " + typeName(*t.Elem)
	case t.Prim == "meta":
		return "object"
	case t.Format != "":
		return t.Prim + " (" + t.Format + ")"
	}
	return t.Prim
}
