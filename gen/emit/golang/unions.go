package golang

import (
	"sort"

	"github.com/dave/jennifer/jen"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// eachUnion calls f for every sealed interface.
func (g *gen) eachUnion(f func(t *ir.Type, name string, u *ir.Union)) {
	for _, t := range g.Spec.Types {
		if t.Union == nil || t.Hand != "" {
			continue
		}
		n := g.unionName(t)
		f(t, n, t.Union)
		if t.Union.Other != nil && t.Union.Other.Nested != nil {
			f(t, g.nestedName(n), t.Union.Other.Nested)
		}
	}
}

// unions emits the sealed interfaces, the variants made for them, and the
// methods that say who implements what.
func (g *gen) unions(f *jen.File) {
	g.eachUnion(func(t *ir.Type, n string, u *ir.Union) {
		comment(f, g.unionDoc(t, n, u))
		f.Type().Id(n).InterfaceFunc(func(b *jen.Group) {
			b.Id("is" + n).Params()
			if t.Kind == ir.ByType {
				b.Id("appendValue").Params(bytesParam()).Index().Byte()
			} else {
				b.Id("appendMembers").Params(bytesParam()).Index().Byte()
			}
		})
		for _, a := range g.arms[n] {
			if !a.own || (a.alias == "" && !a.value) {
				continue
			}
			doc := a.name + " is " + armDoc(a, n) + "."
			if a.v.Doc != "" {
				doc = said(a.name, a.v.Doc) + "\nIt is " + armDoc(a, n) + "."
			}
			comment(f, g.placed(doc, t))
			if a.value {
				if g.jsonType(*a.v.Type) == "" { // a raw message cannot be a receiver
					f.Type().Id(a.name).Struct(jen.Id("Raw").Add(rawMessage()))
				} else {
					f.Type().Id(a.name).Add(g.typeOf(*a.v.Type))
				}
				continue
			}
			f.Type().Id(a.name).Id(a.alias)
			f.Add(method(a.name, "appendMembers").Params(bytesParam()).Index().Byte().Block(
				block(line("if v == nil"), g.appendFault("nil *"+a.name)),
				line("return (*%s)(v).appendMembers(b)", a.alias)))
		}
		if g.hasOther(u) {
			g.marks[g.otherName(n)] = append(g.marks[g.otherName(n)], n)
		}
	})
	values := map[string]bool{}
	for _, arms := range g.arms {
		for _, a := range arms {
			values[a.name] = values[a.name] || a.value
		}
	}
	var names []string
	for n := range g.marks {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		recv := jen.Op("*").Id(n)
		if values[n] {
			recv = jen.Id(n)
		}
		done := map[string]bool{}
		for _, u := range g.marks[n] {
			if !done[u] {
				done[u] = true
				f.Func().Params(recv).Id("is" + u).Params().Block()
			}
		}
	}
}

func (g *gen) unionDoc(t *ir.Type, n string, u *ir.Union) string {
	doc := ""
	if n == g.goType(t.Name) {
		doc = g.typeDoc(n, t, "a choice of variants")
	} else {
		doc = n + " is the part in which the variants of " + g.goType(t.Name) + " differ."
	}
	doc += "\n\nIt is one of:"
	for _, a := range g.arms[n] {
		doc += "\n" + listItem + star(a) + a.name
		if a.tag != "" {
			doc += ", " + u.Tag + " " + quoteDoc(a.tag)
		}
	}
	if g.hasOther(u) {
		doc += "\n" + listItem + "*" + g.otherName(n) + ", which keeps variants that this version does not know"
	}
	return g.placed(doc, t)
}

func star(a arm) string {
	if a.value || a.iface {
		return ""
	}
	return "*"
}

// constructors emits a New function for each type with required members, so that
// the compiler demands them.
func (g *gen) constructors(f *jen.File) {
	g.structs(func(s structType) {
		if s.other == "" && !s.any {
			g.constructor(f, s.name, s.fields, s.variants)
		}
	})
	done := map[string]bool{}
	g.eachUnion(func(_ *ir.Type, n string, _ *ir.Union) {
		for _, a := range g.arms[n] {
			if a.own && a.alias != "" && !a.value && !done[a.name] {
				done[a.name] = true
				if r := g.Spec.Resolve(a.v.Ref); r.Union == nil {
					g.constructor(f, a.name, r.Fields, "")
				}
			}
		}
	})
}

// constructor emits the function for a type; variants is the type of its field
// Variant, if it has one.
func (g *gen) constructor(f *jen.File, n string, fields []*ir.Field, variants string) {
	var params, values []jen.Code
	taken := map[string]bool{}
	add := func(param, field string, typ jen.Code) {
		for taken[param] {
			param += "_"
		}
		taken[param] = true
		params = append(params, jen.Id(param).Add(typ))
		values = append(values, jen.Id(field).Op(":").Id(param))
	}
	for _, m := range fields {
		if m.Presence == ir.Required {
			add(paramName(m.Wire), fieldName(m.Wire), g.fieldType(m))
		}
	}
	if variants != "" {
		add("variant", "Variant", jen.Id(variants))
	}
	if params == nil {
		return
	}
	fn := "New" + n
	g.claims.claim(fn, n+", as its constructor,")
	comment(f, fn+" returns "+a(n)+" with its required members.")
	f.Func().Id(fn).Params(params...).Op("*").Id(n).Block(jen.Return(jen.Op("&").Id(n).Values(values...)))
}
