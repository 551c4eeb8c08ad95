package golang

import (
	"sort"

	"github.com/dave/jennifer/jen"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// printers emits String and LogValue. They print JSON without secrets and cut
// what is long; both have value receivers, so that a struct prints the same
// way inside another one, and in a list.
func (g *gen) printers(f *jen.File) {
	secrets := g.secretPositions()
	comment(f, "secrets are the positions that are never printed.")
	f.Var().Id("secrets").Op("=").Index().Add(g.in("Secret")).ValuesFunc(func(b *jen.Group) {
		for _, s := range secrets {
			b.Values(jen.Lit(s[0]), jen.Lit(s[1]))
		}
	})
	g.structs(func(s structType) {
		args := []jen.Code{jen.Lit(s.name), jen.Id("v").Dot("AppendJSON").Call(jen.Nil()), jen.Id("secrets")}
		for _, m := range g.secretMembers(s) {
			args = append(args, jen.Lit(m))
		}
		g.printer(f, jen.Id("v").Id(s.name), args)
	})
	g.eachUnion(func(t *ir.Type, n string, u *ir.Union) {
		for _, a := range g.arms[n] {
			if a.alias != "" && !a.value {
				g.printer(f, jen.Id("v").Id(a.name), []jen.Code{jen.Lit(a.name), line("(*%s)(&v).AppendJSON(nil)", a.alias), jen.Id("secrets")})
			}
		}
	})
}

func (g *gen) printer(f *jen.File, recv *jen.Statement, args []jen.Code) {
	comment(f, "String returns v as text for people: no secrets, and long values cut.")
	f.Func().Params(recv.Clone()).Id("String").Params().String().Block(jen.Return(g.in("Print").Call(args...)))
	comment(f, "LogValue implements slog.LogValuer with String.")
	f.Func().Params(recv).Id("LogValue").Params().Qual("log/slog", "Value").Block(
		jen.Return(jen.Qual("log/slog", "StringValue").Call(jen.Id("v").Dot("String").Call())))
}

// secretMembers lists the secret members that can stand in the object that s is.
func (g *gen) secretMembers(s structType) []string {
	var out []string
	add := func(fields []*ir.Field) {
		for _, m := range fields {
			if m.Secret {
				out = append(out, m.Wire)
			}
		}
	}
	add(s.fields)
	if s.union != nil {
		for _, v := range variants(s.union) {
			add(v.Fields)
			if v.Ref != "" {
				add(g.objectFields(v.Ref))
			}
		}
	}
	sort.Strings(out)
	return out
}

// objectFields lists the members that an object of a definition can have: its
// own and those of all its variants.
func (g *gen) objectFields(def string) []*ir.Field {
	t := g.Spec.Resolve(def)
	if t.Hand != "" {
		return nil
	}
	out := append([]*ir.Field(nil), t.Fields...)
	if t.Union == nil {
		return out
	}
	vs := variants(t.Union)
	if t.Union.Other != nil {
		vs = append(vs, t.Union.Other)
	}
	for _, v := range vs {
		out = append(out, v.Fields...)
		if v.Ref != "" {
			out = append(out, g.objectFields(v.Ref)...)
		}
	}
	return out
}

// secretPositions lists pairs of a member that holds objects, and the secret
// member of those.
func (g *gen) secretPositions() [][2]string {
	found := map[[2]string]bool{}
	look := func(fields []*ir.Field) {
		for _, m := range fields {
			r := m.Type
			for r.Elem != nil {
				if r.Map && r.Elem.Ref != "" && g.hasSecret(r.Elem.Ref) {
					g.claims.errs = append(g.claims.errs, m.Wire+": secrets in the objects of a map cannot be hidden; mark the whole member in schema/overlay/quirks.json, secrets")
				}
				r = *r.Elem
			}
			if r.Ref == "" {
				continue
			}
			for _, inner := range g.objectFields(r.Ref) {
				if inner.Secret {
					found[[2]string{m.Wire, inner.Wire}] = true
				}
			}
		}
	}
	for _, t := range g.Spec.Types {
		if t.Kind != ir.Envelope && t.Hand == "" && t.Kind != ir.Alias {
			look(g.objectFields(t.Name))
		}
	}
	var out [][2]string
	for p := range found {
		out = append(out, p)
	}
	sort.Slice(out, func(i, j int) bool {
		return out[i][0] < out[j][0] || out[i][0] == out[j][0] && out[i][1] < out[j][1]
	})
	return out
}

func (g *gen) hasSecret(def string) bool {
	for _, m := range g.objectFields(def) {
		if m.Secret {
			return true
		}
	}
	return false
}
