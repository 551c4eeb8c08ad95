package golang

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// types emits named strings, integers and structs.
func (g *gen) types(f *jen.File) {
	for _, t := range g.Spec.Types {
		if t.Hand != "" {
			continue
		}
		n := g.goType(t.Name)
		switch t.Kind {
		case ir.String:
			comment(f, g.placed(g.typeDoc(n, t, "a named string"), t))
			f.Type().Id(n).String()
		case ir.Integer:
			comment(f, g.placed(g.typeDoc(n, t, "a named integer"), t))
			f.Type().Id(n).Id(goInt(t.Format))
		case ir.Alias:
			comment(f, g.placed(g.typeDoc(n, t, "the same as "+g.goType(t.Target)), t))
			f.Type().Id(n).Op("=").Id(g.goType(t.Target))
		}
	}
	g.structs(func(s structType) { g.structDecl(f, s) })
}

func (g *gen) structDecl(f *jen.File, s structType) {
	seen := map[string]string{}
	comment(f, g.structDoc(s))
	f.Type().Id(s.name).StructFunc(func(b *jen.Group) {
		if s.any {
			comment(b, "Raw is any JSON value.")
			b.Id("Raw").Add(rawMessage())
			return
		}
		if s.other != "" {
			comment(b, "Tag is the "+s.other+" that this version does not know.")
			declared := b.Id("Tag").String()
			if s.unknown {
				declared.Tag(map[string]string{"check": "tag=" + s.other})
			}
			seen["Tag"] = s.other
		}
		for _, m := range s.fields {
			n := fieldName(m.Wire)
			w, dup := seen[n]
			other := "the member " + quoteDoc(w)
			if n == s.extra() || s.union != nil && n == "Variant" {
				dup, other = true, "the field that every such type has"
			} else if s.session != nil && n == "Session" {
				dup, other = true, "the method that returns the session"
			}
			if dup || n == "" {
				g.claims.errs = append(g.claims.errs, fmt.Sprintf("%s: %s and the member %q would both be called %s; tell them apart in fieldName, gen/emit/golang/names.go", s.name, other, m.Wire, n))
			}
			seen[n] = m.Wire
			comment(b, g.fieldDoc(m))
			tag := m.Wire
			if m.Presence != ir.Required {
				tag += ",omitzero"
			}
			tags := map[string]string{"json": tag}
			if check := g.checkTag(m); check != "" {
				tags["check"] = check
			}
			b.Id(n).Add(g.fieldType(m)).Tag(tags)
		}
		switch {
		case s.union != nil:
			comment(b, "Variant holds the rest of the object, as selected by "+selector(s.union)+". It must not be nil.")
			b.Id("Variant").Id(s.variants)
		case s.other != "":
			comment(b, "Raw holds the other members of the object, as received.")
			b.Id("Raw").Add(g.hand("Extra"))
		default:
			comment(b, "Extra holds members this version does not know.")
			b.Id("Extra").Add(g.hand("Extra")).Tag(map[string]string{"json": "-"})
		}
	})
	if s.session != nil {
		g.sessionMethod(f, s)
	}
	encoded := 0
	for _, m := range s.fields {
		if m.Encoding == "base64" {
			encoded++
			g.bytesMethod(f, s.name, m)
		}
	}
	if encoded > 1 {
		g.claims.errs = append(g.claims.errs, s.name+": the method Bytes has more than one member to decode")
	}
}

func selector(u *ir.Union) string {
	if u.Tag != "" {
		return "the tag " + quoteDoc(u.Tag)
	}
	var keys []string
	for _, v := range u.Variants {
		keys = append(keys, quoteDoc(strings.Join(v.Keys, ", ")))
	}
	return "the members that are present (" + strings.Join(keys, " or ") + ")"
}

// sessionMethod emits the accessor by which a connection learns the session of
// params. It is a method, so no field may have its name.
func (g *gen) sessionMethod(f *jen.File, s structType) {
	x := "v." + fieldName(s.session.Wire)
	switch g.shapeOf(s.session) {
	case opt, patch:
		x += ".V"
	}
	comment(f, "Session returns "+fieldName(s.session.Wire)+".")
	f.Add(method(s.name, "Session").Params().String().Block(jen.Return(rawText("string(" + x + ")"))))
}

// bytesMethod emits the accessor of a base64 member. The member itself stays a
// string, so that a bad value neither fails the message nor is lost.
func (g *gen) bytesMethod(f *jen.File, n string, m *ir.Field) {
	x := "v." + fieldName(m.Wire)
	switch g.shapeOf(m) {
	case opt, patch:
		x += ".V"
	}
	if m.Type.Ref != "" {
		x = "string(" + x + ")"
	}
	comment(f, "Bytes decodes the base64 text of "+fieldName(m.Wire)+".")
	f.Add(method(n, "Bytes").Params().Params(jen.Index().Byte(), jen.Error()).Block(
		jen.Return(jen.Qual("encoding/base64", "StdEncoding").Dot("DecodeString").Call(rawText(x)))))
}
