package golang

import (
	"slices"
	"sort"

	"github.com/dave/jennifer/jen"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// printers emits String and LogValue for messages and for types that can hold a
// secret. They print JSON without secrets and cut long values. Both have value
// receivers, so that a struct prints the same way inside another one and in a
// list. A struct with a secret member of its own also gets Format, because fmt
// does not call String for %#v and %d.
func (g *gen) printers(f *jen.File) {
	secrets := g.secretPositions()
	comment(f, "secrets lists the positions that are never printed.")
	f.Var().Id("secrets").Op("=").Index().Add(g.in("Secret")).ValuesFunc(func(b *jen.Group) {
		for _, s := range secrets {
			b.Values(jen.Lit(s[0]), jen.Lit(s[1]))
		}
	})
	messages := map[*ir.Type]bool{}
	for _, m := range g.Spec.Methods {
		for _, def := range []string{m.Request, m.Response, m.Notification} {
			if def != "" {
				messages[g.Spec.Resolve(def)] = true
			}
		}
	}
	g.structs(func(s structType) {
		if !messages[s.def] && !g.holdsSecret(g.allFields(s), map[string]bool{}) {
			return
		}
		g.printer(f, s.name, jen.Id("v").Dot("AppendJSON").Call(jen.Nil()), g.secretMembers(s))
	})
	g.eachUnion(func(t *ir.Type, n string, u *ir.Union) {
		for _, a := range g.arms[n] {
			if a.alias != "" && !a.value && g.holdsSecret(g.objectFields(a.v.Ref), map[string]bool{}) {
				g.printer(f, a.name, line("(*%s)(&v).AppendJSON(nil)", a.alias), secretsOf(g.objectFields(a.v.Ref)))
			}
		}
	})
}

// printer emits the methods of one type, given its JSON and the secret members
// in it.
func (g *gen) printer(f *jen.File, name string, text jen.Code, hidden []string) {
	args := []jen.Code{jen.Lit(name), text, jen.Id("secrets")}
	for _, m := range hidden {
		args = append(args, jen.Lit(m))
	}
	comment(f, "String returns v as text for people, without secrets and with long values cut.")
	f.Add(line("func (v %s) String() string { return %s }", name, g.in("Print").Call(args...)))
	comment(f, "LogValue implements slog.LogValuer with String.")
	f.Add(line("func (v %s) LogValue() %s { return %s(v.String()) }", name, jen.Qual("log/slog", "Value"), jen.Qual("log/slog", "StringValue")))
	if len(hidden) > 0 {
		comment(f, "Format implements fmt.Formatter with String, for every verb.")
		f.Add(line("func (v %s) Format(s %s, _ rune) { %s(s, v.String()) }", name, jen.Qual("fmt", "State"), jen.Qual("io", "WriteString")))
	}
}

// secretMembers lists the secret members that the object of s can have. A variant
// that this version does not know may have the members of all others.
func (g *gen) secretMembers(s structType) []string { return secretsOf(g.allFields(s)) }

// allFields lists the members that the object of s can have.
func (g *gen) allFields(s structType) []*ir.Field {
	fields := append([]*ir.Field(nil), s.fields...)
	if s.union != nil {
		for _, v := range variants(s.union) {
			fields = append(fields, v.Fields...)
			if v.Ref != "" {
				fields = append(fields, g.objectFields(v.Ref)...)
			}
		}
	}
	if s.other != "" {
		fields = append(fields, g.objectFields(s.of.Name)...)
	}
	return fields
}

// holdsSecret reports whether one of the members is secret or contains a secret,
// at any depth.
func (g *gen) holdsSecret(fields []*ir.Field, seen map[string]bool) bool {
	for _, m := range fields {
		if m.Secret {
			return true
		}
		r := m.Type
		for r.Elem != nil {
			r = *r.Elem
		}
		if r.Ref == "" || seen[r.Ref] {
			continue
		}
		seen[r.Ref] = true
		if g.holdsSecret(g.objectFields(r.Ref), seen) {
			return true
		}
	}
	return false
}

func secretsOf(fields []*ir.Field) []string {
	var out []string
	for _, m := range fields {
		if m.Secret {
			out = append(out, m.Wire)
		}
	}
	sort.Strings(out)
	return slices.Compact(out)
}

// objectFields lists the members that an object of a definition can have: its
// own and its variants'.
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

// secretPositions lists pairs of a member that holds objects and a secret member
// of those objects.
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
