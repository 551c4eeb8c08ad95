package golang

import (
	"github.com/hermes-nvim/hermes/gen/ir"
)

// An arm is one variant of a union, in Go.
type arm struct {
	v     *ir.Variant
	name  string   // the Go type, or the sealed interface when the payload is one
	own   bool     // the type is made for this arm
	alias string   // the type is defined as this one, and shares its codec
	iface bool     // name is a sealed interface
	types []string // concrete types that this arm can hold
	value bool     // a named string, number, boolean, list or raw value, not a pointer
	tag   string   // value of the tag, empty when there is none
}

// plan names everything that is generated, so that files can refer to each other.
func (g *gen) plan() {
	for _, t := range g.Spec.Types {
		if t.Kind != ir.Envelope && t.Hand == "" {
			g.claims.claim(g.goType(t.Name), t.Name)
		}
	}
	for _, t := range g.Spec.Types {
		if t.Union == nil || t.Hand != "" {
			continue
		}
		n := g.unionName(t)
		if n != g.goType(t.Name) {
			g.claims.claim(n, t.Name+"/")
		}
		g.planUnion(t.Name, n, t.Union)
	}
	for _, t := range g.Spec.Types {
		if t.Union != nil && t.Hand == "" && t.Kind != ir.ByType {
			g.resolveArms(g.unionName(t))
		}
	}
	for _, t := range g.Spec.Types {
		if t.Union == nil || t.Hand != "" {
			continue
		}
		for _, n := range g.unionNames(t) {
			g.mark(n)
		}
	}
}

// goType is the Go name of a definition.
func (g *gen) goType(def string) string { return g.Names.name(def, goName(def)) }

// refType is the Go name of a definition with aliases resolved.
func (g *gen) refType(def string) string { return g.goType(g.Spec.Resolve(def).Name) }

// unionName is the sealed interface of a union: the type itself or, where
// members are declared next to the variants, the type of the field Variant.
func (g *gen) unionName(t *ir.Type) string {
	if len(t.Fields) > 0 {
		return g.Names.name(t.Name+"/", g.goType(t.Name)+"Variant")
	}
	return g.goType(t.Name)
}

// unionNames lists the interfaces made for a union: its own and the one of a
// union inside its open branch.
func (g *gen) unionNames(t *ir.Type) []string {
	n := g.unionName(t)
	if t.Union.Other != nil && t.Union.Other.Nested != nil {
		return []string{n, g.nestedName(n)}
	}
	return []string{n}
}

func (g *gen) otherName(union string) string { return trimVariant(union) + "Other" }

func (g *gen) nestedName(union string) string { return g.otherName(union) + "Variant" }

func (g *gen) planUnion(def, union string, u *ir.Union) {
	uses := map[string]int{}
	for _, v := range variants(u) {
		uses[v.Ref]++
	}
	var arms []arm
	for _, v := range variants(u) {
		a := arm{v: v, tag: v.Wire}
		if v.Ref != "" && uses[v.Ref] == 1 && (v.Type == nil || g.isStruct(*v.Type)) {
			a.name = g.refType(v.Ref)
			a.iface = g.isInterface(v.Ref)
			arms = append(arms, a)
			continue
		}
		wire := v.Wire
		if wire == "" {
			wire = v.Title
		}
		a.own = true
		key := def + "/" + wire
		a.name = g.Names.name(key, trimVariant(union)+goName(wire))
		g.claims.claim(a.name, key)
		a.value = v.Type != nil
		if v.Ref != "" {
			a.alias = g.refType(v.Ref)
		}
		arms = append(arms, a)
	}
	g.arms[union] = arms
	if g.hasOther(u) {
		g.claims.claim(g.otherName(union), union+"/other")
	}
	if u.Other != nil && u.Other.Nested != nil {
		n := g.nestedName(union)
		g.claims.claim(n, def+"/other/")
		g.planUnion(def+"/other", n, u.Other.Nested)
	}
}

func trimVariant(s string) string {
	if n := len(s) - len("Variant"); n > 0 && s[n:] == "Variant" {
		return s[:n]
	}
	return s
}

// variants lists the alternatives that have a Go type, without the open branch.
func variants(u *ir.Union) []*ir.Variant {
	all := append([]*ir.Variant(nil), u.Variants...)
	if u.Default != nil {
		all = append(all, u.Default)
	}
	if u.Absent != nil {
		all = append(all, u.Absent)
	}
	return all
}

// hasOther reports whether values of unknown variants are kept. A closed union
// keeps them too, unless every unknown tag belongs to the variant without one.
func (g *gen) hasOther(u *ir.Union) bool {
	return u.Tag != "" && (u.Default == nil || u.Other != nil)
}

// isInterface reports whether a definition is a sealed interface in Go.
func (g *gen) isInterface(def string) bool {
	t := g.Spec.Resolve(def)
	return t.Hand == "" && t.Union != nil && len(t.Fields) == 0
}

// resolveArms fills in the concrete types of the arms of a union.
func (g *gen) resolveArms(union string) []string {
	var all []string
	arms := g.arms[union]
	for i := range arms {
		a := &arms[i]
		if a.types == nil {
			a.types = []string{a.name}
			if a.iface {
				a.types = g.resolveArms(a.name)
				t := g.Spec.Resolve(a.v.Ref)
				if g.hasOther(t.Union) {
					a.types = append(a.types, g.otherName(a.name))
				}
			}
		}
		all = append(all, a.types...)
	}
	return append([]string(nil), all...)
}

// mark notes which interfaces each concrete type implements.
func (g *gen) mark(union string) {
	seen := map[string]bool{}
	arms := g.arms[union]
	for i := range arms {
		a := &arms[i]
		if a.types == nil {
			a.types = []string{a.name}
		}
		for _, t := range a.types {
			if seen[t] {
				g.claims.errs = append(g.claims.errs, union+": "+t+" stands for two variants, which encoding could not distinguish")
			}
			seen[t] = true
			g.marks[t] = append(g.marks[t], union)
		}
	}
}
