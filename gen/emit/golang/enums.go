package golang

import (
	"github.com/dave/jennifer/jen"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// enums emits enums with their values and Known.
func (g *gen) enums(f *jen.File) {
	for _, t := range g.Spec.Types {
		if t.Hand != "" || (t.Kind != ir.EnumStr && t.Kind != ir.EnumInt) {
			continue
		}
		n := g.goType(t.Name)
		open := "Decoding refuses other values."
		switch {
		case t.Open:
			open = "Other values are kept; Known returns false for them."
		case t.Kept:
			open = "The protocol allows no other values. Decoding keeps them; Known returns false for them and Check reports them."
		}
		comment(f, g.placed(g.typeDoc(n, t, "one of a set of values")+"\n"+open, t))
		if t.Kind == ir.EnumStr {
			f.Type().Id(n).String()
		} else {
			f.Type().Id(n).Id(goInt(t.Format))
		}
		comment(f, "The values of "+n+".")
		f.Const().DefsFunc(func(c *jen.Group) {
			for _, v := range t.Values {
				id := g.valueName(n, t, v)
				g.claims.claim(id, t.Name+"="+v.Wire)
				if v.Doc != "" {
					comment(c, id+": "+lower(v.Doc))
				}
				if t.Kind == ir.EnumStr {
					c.Id(id).Id(n).Op("=").Lit(v.Wire)
				} else {
					c.Id(id).Id(n).Op("=").Op(v.Wire)
				}
			}
		})
		for _, v := range t.Values {
			if t.Default == v.Wire && t.Default != "" {
				comment(f, n+"Default is the value that replaces an absent or unusable one.")
				f.Const().Id(n + "Default").Op("=").Id(g.valueName(n, t, v))
			}
		}
		comment(f, "Known reports whether this version of the protocol defines the value.")
		f.Func().Params(jen.Id("v").Id(n)).Id("Known").Params().Bool().Block(
			jen.Switch(jen.Id("v")).Block(
				jen.CaseFunc(func(c *jen.Group) {
					for _, v := range t.Values {
						c.Id(g.valueName(n, t, v))
					}
				}).Block(jen.Return(jen.True()))),
			jen.Return(jen.False()))
	}
}

func (g *gen) valueName(enum string, t *ir.Type, v ir.Value) string {
	if t.Kind == ir.EnumInt {
		return enum + goName(v.Title)
	}
	return enum + goName(v.Wire)
}
