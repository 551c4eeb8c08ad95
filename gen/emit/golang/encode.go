package golang

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// encodeStruct emits appendMembers: the members without the braces, so that
// tags and shared members can be added to them.
func (g *gen) encodeStruct(f *jen.File, s structType) {
	if s.any {
		return
	}
	fields := s.fields
	meta := s.union == nil && len(fields) > 0 && g.isMeta(fields[len(fields)-1])
	if meta {
		fields = fields[:len(fields)-1]
	}
	var body []jen.Code
	if s.other == "" && (len(g.marks[s.name]) > 0 || !g.emptyResult(s)) { // the others look before
		body = append(body, block(line("if v == nil"), g.appendFault("nil *"+s.name)))
	}
	if s.other != "" && s.extra() == "Raw" { // a decoded variant has members, even if there are none
		body = append(body, block(line("if v.Tag == \"\" && v.Raw == nil"), g.appendFault(s.name+" has no "+s.other)))
	}
	for i, m := range fields {
		body = append(body, g.appendMember(m, i > 0 && g.always(fields[i-1]))...)
	}
	switch {
	case meta:
		body = append(body, line("return %s(b, v.Meta, v.%s, %q)", g.in("AppendRest"), s.extra(), g.declared(s)))
	case s.union != nil:
		body = append(body, line("return %s(append%sMembers(b, v.Variant), len(b), %q)", g.in("Apart"), s.variants, g.declared(s)))
	default:
		body = append(body, line("return %s(b, v.%s, %q)", g.in("AppendMembers"), s.extra(), g.declared(s)))
	}
	f.Add(method(s.name, "appendMembers").Params(bytesParam()).Index().Byte().Block(body...))
}

// isMeta reports whether a member is the _meta that most objects have.
func (g *gen) isMeta(m *ir.Field) bool {
	return m.Wire == "_meta" && m.Type.Prim == "meta" && g.shapeOf(m) == nilable
}

// declared lists the names of the members that a struct writes itself, separated
// by spaces.
func (g *gen) declared(s structType) string {
	var names []string
	if s.other != "" {
		names = append(names, s.other)
	}
	for _, m := range s.fields {
		if strings.Contains(m.Wire, " ") {
			g.claims.errs = append(g.claims.errs, fmt.Sprintf("%s: the member %q has a space in its name, which separates names in AppendMembers, gen/emit/golang/encode.go", s.name, m.Wire))
		}
		names = append(names, m.Wire)
	}
	return strings.Join(names, " ")
}

// nameLit is the Go literal of the JSON text of a member name and its colon.
func nameLit(wire string) string { return goLit(jsonText(wire) + ":") }

func jsonText(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings always marshal
	}
	return string(b)
}

func goLit(s string) string {
	if strconv.CanBackquote(s) && !strings.Contains(s, "\ufeff") {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}

// always reports whether a member is written whatever its value is.
func (g *gen) always(m *ir.Field) bool {
	shape := g.shapeOf(m)
	return m.Presence == ir.Required && shape != patch && shape != nilable && shape != pointer && shape != opt
}

// appendMember emits the code that appends a member. If follows is set, the member
// before it has been written for sure.
func (g *gen) appendMember(m *ir.Field, follows bool) []jen.Code {
	x := "v." + fieldName(m.Wire)
	name := line("append(%s(b), %s...)", g.in("Comma"), rawText(nameLit(m.Wire)))
	if follows {
		name = line("append(b, %s...)", rawText(goLit(","+jsonText(m.Wire)+":")))
	}
	switch shape := g.shapeOf(m); {
	case shape == opt && g.basic(m.Type) == "string" && m.Type.Elem == nil:
		v := x + ".V"
		if m.Type.Ref != "" {
			v = "string(" + v + ")"
		}
		return []jen.Code{line("b = %s(b, %s, %s, %s.OK)", g.in("AppendOptStr"), rawText(nameLit(m.Wire)), rawText(v), rawText(x))}
	}
	put := func(value string) []jen.Code { return g.appendValue(name, value, m.Type) }
	switch g.shapeOf(m) {
	case patch:
		return []jen.Code{jen.Switch(line("%s.State", x)).Block(
			jen.Case(g.hand("PatchNull")).Block(line(`b = append(%s, "null"...)`, name)),
			jen.Case(g.hand("PatchValue")).Block(put(x+".V")...))}
	case nilable, pointer:
		return []jen.Code{block(line("if %s != nil", x), put(x)...)}
	case opt:
		return []jen.Code{block(line("if %s.OK", x), put(x+".V")...)}
	}
	if m.Presence != ir.Required { // a boolean that is false when absent
		return []jen.Code{block(line("if %s", x), put(x)...)}
	}
	return put(x)
}

// rawText passes text through line unformatted.
func rawText(s string) jen.Code { return jen.Op(s) }

// index is the loop variable for the elements of x. Each level of nested lists
// has its own.
func index(x string) string { return string(rune('i' + strings.Count(x, "["))) }

// appended emits the expression that appends the value x to b; nil if one expression
// is not enough.
func (g *gen) appended(b jen.Code, x string, r ir.TypeRef) jen.Code {
	put := func(fn, arg string) jen.Code { return line("%s(%s, %s)", g.in(fn), b, rawText(arg)) }
	if r.Ref != "" {
		t := g.Spec.Resolve(r.Ref)
		switch {
		case t.Kind == ir.String || t.Kind == ir.EnumStr:
			return put("AppendString", "string("+x+")")
		case t.Kind == ir.Integer || t.Kind == ir.EnumInt:
			if t.Format == "uint64" {
				return put("AppendUint", "uint64("+x+")")
			}
			return put("AppendInt", "int64("+x+")")
		case g.isInterface(r.Ref):
			return line("Append%s(%s, %s)", g.refType(r.Ref), b, x)
		}
		return line("%s.AppendJSON(%s)", x, b)
	}
	if r.Elem != nil {
		return nil
	}
	switch r.Prim {
	case "string":
		return put("AppendString", x)
	case "boolean":
		return put("AppendBool", x)
	case "number":
		return put("AppendFloat", x)
	case "integer":
		if strings.HasPrefix(r.Format, "u") {
			return put("AppendUint", "uint64("+x+")")
		}
		return put("AppendInt", "int64("+x+")")
	}
	if r.Prim == "meta" {
		return put("AppendRawObject", x)
	}
	return put("AppendRaw", x)
}

// appendValue emits the code that appends the value x to the expression to.
func (g *gen) appendValue(to jen.Code, x string, r ir.TypeRef) []jen.Code {
	if all := g.appended(to, x, r); all != nil {
		return []jen.Code{line("b = %s", all)}
	}
	if r.Map {
		do := append([]jen.Code{line("b = append(%s(%s(b), k), ':')", g.in("AppendString"), g.in("Comma")), line("e := %s[k]", x)}, g.appendValue(line("b"), "e", *r.Elem)...)
		return []jen.Code{line("b = append(%s, '{')", to), block(line("for _, k := range %s(%s)", g.in("Keys"), rawText(x)), do...), line("b = append(b, '}')")}
	}
	i := index(x)
	do := append([]jen.Code{block(line("if %s > 0", i), line("b = append(b, ',')"))}, g.appendValue(line("b"), x+"["+i+"]", *r.Elem)...)
	return []jen.Code{line("b = append(%s, '[')", to), block(line("for %s := range %s", i, x), do...), line("b = append(b, ']')")}
}
