package compat

import (
	"slices"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// said is a presence as a reader says it.
var said = map[ir.Presence]string{
	ir.Required: "required",
	ir.Optional: "optional",
	ir.Nullable: "optional or null",
	ir.Patch:    "of three states: absent, null, value",
}

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
			c.note(Break, where, "was %s, is %s", said[f.Presence], said[g.Presence])
		}
		c.rules(where, f, g)
	}
	for _, f := range b {
		if member(a, f.Wire) != nil {
			continue
		}
		where := owner + "." + f.Wire
		if f.Presence != ir.Required {
			c.note(Add, where, "%s, %s", typeName(f.Type), said[f.Presence])
			continue
		}
		// Constructors take the required members as arguments. A type that had
		// none had no constructor that could break.
		level := Wire
		if slices.ContainsFunc(a, func(f *ir.Field) bool { return f.Presence == ir.Required }) {
			level = Break
		}
		c.note(level, where, "new and required, %s: peers that do not send it are refused", typeName(f.Type))
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
