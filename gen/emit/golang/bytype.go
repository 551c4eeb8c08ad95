package golang

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// jsonType is the JSON type a branch of a type-selected union stands for, empty
// if it takes every value.
func (g *gen) jsonType(r ir.TypeRef) string {
	switch {
	case r.Ref != "":
		switch t := g.Spec.Resolve(r.Ref); t.Kind {
		case ir.String, ir.EnumStr:
			return "string"
		case ir.Integer, ir.EnumInt:
			return "integer"
		case ir.Any, ir.ByType:
			return ""
		}
		return "object"
	case r.Map, r.Prim == "meta":
		return "object"
	case r.Elem != nil:
		return "array"
	case r.Prim == "any":
		return ""
	}
	return r.Prim
}

var firstBytes = map[string]string{"object": "{", "array": "[", "string": `"`, "boolean": "tf", "null": "n"}

// decodeByType emits a switch on the first byte of the value. Where several
// objects, or lists of objects, are possible, their required members decide.
func (g *gen) decodeByType(f *jen.File, t *ir.Type, n string) {
	byType := map[string][]arm{}
	var rest *arm
	var want []string
	for _, a := range g.arms[n] {
		ty := g.jsonType(*a.v.Type)
		if ty == "" {
			rest = &a
			continue
		}
		want = append(want, g.describe(a))
		byType[ty] = append(byType[ty], a)
	}
	var cases []jen.Code
	for _, ty := range []string{"object", "array", "string", "boolean", "null"} {
		arms := byType[ty]
		if len(arms) == 0 {
			continue
		}
		var do []jen.Code
		for i, a := range arms {
			cond := g.choose(arms, i, rest != nil)
			decode := g.decodeValueArm(a, rest != nil)
			if cond == "" {
				do = append(do, decode...)
				break
			}
			do = append(do, block(line("if %s", rawText(cond)), decode...))
		}
		var bytes []jen.Code
		for _, c := range firstBytes[ty] {
			bytes = append(bytes, line("%q", c))
		}
		cases = append(cases, jen.Case(bytes...).Block(do...))
	}
	if ints, floats := byType["integer"], byType["number"]; len(ints)+len(floats) > 0 {
		var do []jen.Code
		if len(ints) > 0 && (len(floats) > 0 || rest != nil) {
			do = append(do, block(line("if d.IsInt()"), g.decodeValueArm(ints[0], rest != nil)...))
		} else if len(ints) > 0 {
			do = append(do, g.decodeValueArm(ints[0], false)...)
		}
		if len(floats) > 0 {
			do = append(do, g.decodeValueArm(floats[0], rest != nil)...)
		}
		digits := []jen.Code{line("'-'")}
		for c := '0'; c <= '9'; c++ {
			digits = append(digits, line("%q", c))
		}
		cases = append(cases, jen.Case(digits...).Block(do...))
	}
	for ty, arms := range byType {
		if len(arms) > 1 && (ty != "object" && ty != "array") {
			g.claims.errs = append(g.claims.errs, n+": two variants are written as "+ty)
		}
	}
	body := []jen.Code{line("m := d.Mark()"), jen.Switch(line("d.Peek()")).Block(cases...)}
	if rest != nil && len(cases) == 0 {
		body = nil
	}
	if rest != nil {
		body = append(body, line("return %s{Raw: d.Raw()}", rest.name))
	} else {
		body = append(body, line("d.NoVariant(m, %q, %q)", t.Name, strings.Join(want, " or ")), line("return nil"))
	}
	f.Func().Id("decode"+n).Params(g.dec(), jen.Id("_").Op("*").Add(g.in("Outer"))).Id(n).Block(body...)
}

// describe names the values of a branch in an error message.
func (g *gen) describe(a arm) string {
	ty, r := g.jsonType(*a.v.Type), *a.v.Type
	if r.Elem != nil && !r.Map {
		r = *r.Elem
		ty += " of " + g.jsonType(r)
	}
	if keys := g.requiredKeys(r.Ref); keys != nil {
		ty += " with " + strings.Join(keys, " and ")
	}
	return ty
}

func (g *gen) requiredKeys(def string) []string {
	var keys []string
	if def == "" {
		return nil
	}
	for _, m := range g.Spec.Resolve(def).Fields {
		if m.Presence == ir.Required {
			keys = append(keys, m.Wire)
		}
	}
	return keys
}

// choose is the condition that selects one of several branches of the same JSON
// type, empty for the last one left.
func (g *gen) choose(arms []arm, i int, open bool) string {
	has := "d.HasKeys"
	def := arms[i].v.Type.Ref
	if e := arms[i].v.Type.Elem; e != nil && !arms[i].v.Type.Map {
		has, def = "d.ElemHasKeys", e.Ref
	}
	if len(arms) == 1 && (!open || def == "") {
		return ""
	}
	keys := g.requiredKeys(def)
	if keys == nil {
		return ""
	}
	cond := fmt.Sprintf("%s(%s)", has, quoted(keys))
	if has == "d.ElemHasKeys" && i == 0 {
		cond += " || d.EmptyArray()"
	}
	return cond
}

// decodeValueArm emits the decoder of one variant. If the union allows any other
// value as well, a value that does not fit is not an error.
func (g *gen) decodeValueArm(a arm, open bool) []jen.Code {
	var do []jen.Code
	ret := line("return x")
	if a.value {
		do = append(do, line("var x %s", g.typeOf(*a.v.Type)))
		do = append(do, g.decodeTo("x", *a.v.Type, false)...)
		ret = line("return %s(x)", a.name)
	} else {
		do = append(do, line("x := new(%s)", a.name), line("x.decode(d, nil)"))
	}
	if open {
		return append(do, block(line("if !d.Failed() || !d.Retry(m)"), ret))
	}
	return append(do, ret)
}

// encodeByType emits appendX and the methods of the variants.
func (g *gen) encodeByType(f *jen.File, n string) {
	for _, a := range g.arms[n] {
		sig := func(recv *jen.Statement) *jen.Statement {
			return jen.Func().Params(recv).Id("appendValue").Params(bytesParam()).Index().Byte()
		}
		if !a.value {
			f.Add(sig(jen.Id("v").Op("*").Id(a.name)).Block(line("return v.AppendJSON(b)")))
			continue
		}
		recv := jen.Id("v").Id(a.name)
		if g.jsonType(*a.v.Type) == "" {
			f.Add(sig(recv).Block(line("return %s(b, v.Raw)", g.in("AppendRaw"))))
			continue
		}
		x := "v"
		switch a.v.Type.Prim {
		case "string", "boolean", "number":
			x = map[string]string{"string": "string(v)", "boolean": "bool(v)", "number": "float64(v)"}[a.v.Type.Prim]
		}
		f.Add(sig(recv).Block(append(g.appendValue(line("b"), x, *a.v.Type), line("return b"))...))
	}
	g.appendFunc(f, n, block(line("if v == nil"), g.appendNoVariant(n)), line("return v.appendValue(b)"))
}
