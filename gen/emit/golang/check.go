package golang

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// A limit is one rule for the value of a member: a Go condition that holds when
// the rule is broken.
type limit struct {
	broken        jen.Code
	rule, message string
}

// limits lists the rules for a present member whose value is x.
func (g *gen) limits(m *ir.Field, x string) []limit {
	var out []limit
	add := func(rule, message string, broken *jen.Statement) { out = append(out, limit{broken, rule, message}) }
	text := rawText(x)
	if m.Type.Ref != "" {
		text = rawText("string(" + x + ")")
	}
	unsigned := strings.HasPrefix(m.Type.Format, "u")
	if m.Min != "" && !(unsigned && m.Min == "0") {
		add("minimum", "want at least "+m.Min, line("%s < %s", x, number(m.Min)))
	}
	if m.Max != "" && !(m.Type.Format == "uint16" && m.Max == "65535") {
		add("maximum", "want at most "+m.Max, line("%s > %s", x, number(m.Max)))
	}
	if m.MinLen != "" && m.MinLen != "0" {
		add("minLength", "want at least "+m.MinLen+" "+plural("character", m.MinLen), line("%s(%s) < %s", g.in("Len"), text, number(m.MinLen)))
	}
	if m.MinItems != "" && m.MinItems != "0" {
		add("minItems", "want at least "+m.MinItems+" "+plural("item", m.MinItems), line("len(%s) < %s", x, number(m.MinItems)))
	}
	switch m.Type.Format {
	case "uri":
		add("format", "want a URI", line("!%s(%s)", g.in("IsURI"), text))
	case "date-time":
		add("format", "want an RFC 3339 date and time", line("!%s(%s)", g.in("IsDateTime"), text))
	}
	if m.Encoding == "base64" {
		add("contentEncoding", "want base64", line("!%s(%s)", g.in("IsBase64"), text))
	}
	return out
}

// decodeLimits are the rules that act on decoding, for members where a bad
// value becomes the default. Text stays as it is until somebody decodes it, and
// a list that is too short after bad elements were dropped is still a list.
func (g *gen) decodeLimits(m *ir.Field, x string) []limit {
	var out []limit
	for _, l := range g.limits(m, x) {
		if m.OnError && l.rule != "contentEncoding" && l.rule != "minItems" {
			out = append(out, l)
		}
	}
	return out
}

// number makes sure that a limit from a schema is nothing but a number.
func number(s string) string {
	if _, err := strconv.ParseFloat(s, 64); err != nil {
		return strconv.Quote(s)
	}
	return s
}

// checks emits check for every type, and Check for those that travel.
func (g *gen) checks(f *jen.File) {
	c := func() *jen.Statement { return jen.Id("c").Op("*").Add(g.in("Check")) }
	g.structs(func(s structType) {
		var body []jen.Code
		for _, m := range s.fields {
			body = append(body, g.checkMember(m)...)
		}
		if s.union != nil {
			body = append(body, line("check%s(c, v.Variant)", s.variants))
		}
		f.Add(method(s.name, "check").Params(c()).Block(body...))
		if s.def == nil && s.other == "" && s.arm == nil {
			return
		}
		comment(f, "Check lists what breaks a rule that decoding does not enforce.")
		f.Add(method(s.name, "Check").Params().Index().Add(g.hand("Violation")).Block(
			line("var c %s", g.in("Check")), line("v.check(&c)"),
			line("return %s(&c)", g.in("Violations").Types(g.hand("Violation")))))
	})
	g.eachUnion(func(t *ir.Type, n string, u *ir.Union) {
		body := []jen.Code{block(line("if v == nil"), line(`c.Add("required", %q)`, "want "+a(n)), line("return"))}
		if g.hasOther(u) && u.Other == nil {
			body = append(body, block(line("if o, ok := v.(*%s); ok", g.otherName(n)),
				line("c.In(%q)", u.Tag),
				line(`c.Add("enum", %q + %s(o.Tag))`, "unknown "+u.Tag+" ", jen.Qual("strconv", "Quote")),
				line("c.Up()")))
		}
		body = append(body, line("v.check(c)"))
		f.Func().Id("check"+n).Params(c(), jen.Id("v").Id(n)).Block(body...)
		if t.Kind == ir.ByType {
			for _, a := range g.arms[n] {
				if a.value {
					var do []jen.Code
					if g.jsonType(*a.v.Type) != "" {
						do = g.checkValue("v", *a.v.Type)
					}
					for _, l := range g.limits(&ir.Field{Type: *a.v.Type, MinItems: a.v.MinItems}, "v") {
						do = append(do, block(line("if %s", l.broken), line("c.Add(%q, %q)", l.rule, l.message)))
					}
					f.Func().Params(jen.Id("v").Id(a.name)).Id("check").Params(c()).Block(do...)
				}
			}
		}
		if n != g.goType(t.Name) {
			return
		}
		g.claims.claim("Check"+n, n+"/check")
		comment(f, "Check"+n+" lists what breaks a rule that decoding does not enforce.")
		f.Func().Id("Check"+n).Params(jen.Id("v").Id(n)).Index().Add(g.hand("Violation")).Block(
			line("var c %s", g.in("Check")), line("check%s(&c, v)", n),
			line("return %s(&c)", g.in("Violations").Types(g.hand("Violation"))))
	})
}

func (g *gen) checkMember(m *ir.Field) []jen.Code {
	x := "v." + fieldName(m.Wire)
	var present *jen.Statement
	switch g.shapeOf(m) {
	case patch:
		present = line("if %s.State == %s", x, g.hand("PatchValue"))
		x += ".V"
	case opt:
		present = line("if %s.OK", x)
		x += ".V"
	case nilable, pointer:
		present = line("if %s != nil", x)
	}
	var do []jen.Code
	for _, l := range g.limits(m, x) {
		do = append(do, block(line("if %s", l.broken), line("c.Add(%q, %q)", l.rule, l.message)))
	}
	do = append(do, g.checkValue(x, m.Type)...)
	if len(do) == 0 {
		return nil
	}
	do = append([]jen.Code{line("c.In(%q)", m.Wire)}, do...)
	do = append(do, line("c.Up()"))
	if present != nil {
		return []jen.Code{block(present, do...)}
	}
	return do
}

// checkValue emits the checks of what a value is made of.
func (g *gen) checkValue(x string, r ir.TypeRef) []jen.Code {
	switch {
	case r.Ref != "":
		t := g.Spec.Resolve(r.Ref)
		switch {
		case t.Hand != "":
			return checkHand(x, t)
		case t.Kind == ir.EnumStr && !t.Open:
			return []jen.Code{block(line("if !%s.Known()", x), line(`c.Add("enum", %q)`, "want a value of "+g.goType(r.Ref)))}
		case g.isInterface(r.Ref):
			return []jen.Code{line("check%s(c, %s)", g.refType(r.Ref), x)}
		case g.isStruct(r):
			return []jen.Code{line("%s.check(c)", x)}
		}
	case r.Elem != nil:
		i := index(x)
		do := g.checkValue(x+"["+i+"]", *r.Elem)
		if r.Map {
			do = g.checkValue("e", *r.Elem)
		}
		if len(do) == 0 {
			return nil
		}
		if r.Map {
			do = append([]jen.Code{line("e := %s[k]", x), line("c.In(k)")}, append(do, line("c.Up()"))...)
			return []jen.Code{block(line("for _, k := range %s(%s)", g.in("Keys"), rawText(x)), do...)}
		}
		do = append([]jen.Code{line("c.At(%s)", i)}, append(do, line("c.Up()"))...)
		return []jen.Code{block(line("for %s := range %s", i, x), do...)}
	}
	return nil
}

// checkHand emits the check of a hand-written type, which serves all versions:
// the id of a request may be null in some of them only.
func checkHand(x string, t *ir.Type) []jen.Code {
	if t.Kind != ir.ByType || slices.ContainsFunc(t.Union.Variants, func(v *ir.Variant) bool { return v.Type.Prim == "null" }) {
		return nil
	}
	return []jen.Code{block(line("if %s.IsNull()", x), line(`c.Add("type", "must not be null")`))}
}
