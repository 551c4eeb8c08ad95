package compat

import (
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/gen/emit/golang"
	"github.com/hermes-nvim/hermes/gen/ir"
)

// said is the wording of a presence in a report.
var said = map[ir.Presence]string{
	ir.Required: "required",
	ir.Optional: "optional",
	ir.Nullable: "optional or null",
	ir.Patch:    "of three states: absent, null, value",
}

// fields compares the members of an object. A change breaks programs only if it
// changes the Go type of a member or the arguments of the constructor.
func (c *comparison) fields(owner string, a, b []*ir.Field) {
	first := len(c.changes)
	for _, f := range a {
		where := owner + "." + f.Wire
		g := member(b, f.Wire)
		if g == nil {
			if is := c.newName(f, a, b); is != "" {
				c.note(Break, where, "removed; %s is new at the same place with the same type, so this is probably its new name", is)
				continue
			}
			c.note(Break, where, "removed")
			continue
		}
		level := pick(golang.FieldType(c.prev, f) == golang.FieldType(c.next, g), Wire, Break)
		if x, y := typeName(f.Type), typeName(g.Type); x != y {
			c.note(level, where, "was %s, is %s", x, y)
		}
		if f.Presence != g.Presence {
			c.note(level, where, "was %s, is %s", said[f.Presence], said[g.Presence])
		}
		c.rules(where, f, g)
	}
	was, is := c.arguments(c.prev, a), c.arguments(c.next, b)
	breaks := was != "" && was != is // an object that had no constructor had none that could break
	for _, f := range b {
		if member(a, f.Wire) != nil {
			continue
		}
		where := owner + "." + f.Wire
		if f.Presence != ir.Required {
			c.note(Add, where, "%s, %s", typeName(f.Type), said[f.Presence])
			continue
		}
		c.note(pick(breaks, Break, Wire), where, "new and required, %s: peers that do not send it are refused", typeName(f.Type))
	}
	if breaks && !slices.ContainsFunc(c.changes[first:], func(x Change) bool { return x.Level == Break }) {
		c.note(Break, owner, "its constructor takes other arguments: (%s) were (%s)", is, was)
	}
}

// newName returns the member that probably is f under another name: it is new,
// everything else about it is the same, and it stands behind the same member or
// before the same one. It is empty if there is none.
func (c *comparison) newName(f *ir.Field, a, b []*ir.Field) string {
	for i, g := range b {
		if member(a, g.Wire) != nil || typeName(f.Type) != typeName(g.Type) || f.Presence != g.Presence {
			continue
		}
		at := slices.Index(a, f)
		if neighbour(a, at-1) == neighbour(b, i-1) || neighbour(a, at+1) == neighbour(b, i+1) {
			return g.Wire
		}
	}
	return ""
}

// neighbour names the member at i, or the end of the list.
func neighbour(list []*ir.Field, i int) string {
	if i < 0 || i >= len(list) {
		return ""
	}
	return list[i].Wire
}

// arguments lists the arguments of an object's constructor: its required members.
func (c *comparison) arguments(s *ir.Spec, fields []*ir.Field) string {
	var list []string
	for _, f := range fields {
		if f.Presence == ir.Required {
			list = append(list, f.Wire+" "+golang.FieldType(s, f))
		}
	}
	return strings.Join(list, ", ")
}

// rules compares the rules that the Go type does not show.
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
		{"the constant", f.Const, g.Const},
	} {
		if r.a != r.b {
			c.note(Wire, where, "%s was %s, is %s", r.name, orNothing(r.a), orNothing(r.b))
		}
	}
	if f.Encoding != g.Encoding { // the method Bytes comes and goes with it
		c.note(pick(f.Encoding == "", Wire, Break), where, "the encoding was %s, is %s", orNothing(f.Encoding), orNothing(g.Encoding))
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

// typeName words a type for a report.
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
