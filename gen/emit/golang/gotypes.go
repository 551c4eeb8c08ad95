package golang

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// typeOf is the Go type of a value.
func (g *gen) typeOf(r ir.TypeRef) *jen.Statement {
	switch {
	case r.Ref != "":
		t := g.Spec.Resolve(r.Ref)
		if t.Hand != "" {
			return g.hand(t.Hand)
		}
		return jen.Id(g.goType(r.Ref))
	case r.Map:
		return jen.Map(jen.String()).Add(g.typeOf(*r.Elem))
	case r.Elem != nil:
		return jen.Index().Add(g.typeOf(*r.Elem))
	}
	switch r.Prim {
	case "string":
		return jen.String()
	case "boolean":
		return jen.Bool()
	case "integer":
		return jen.Id(goInt(r.Format))
	case "number":
		return jen.Float64()
	}
	return rawMessage()
}

// A shape is how a member shows whether it is present.
type shape uint8

const (
	plain   shape = iota // always present, or the zero value means absent
	nilable              // nil means absent
	pointer              // pointer to a struct, nil means absent
	opt                  // Opt
	patch                // Patch
)

func (g *gen) shapeOf(f *ir.Field) shape {
	switch {
	case f.Presence == ir.Required:
		return plain
	case f.Presence == ir.Patch:
		return patch
	case g.isNilable(f.Type):
		return nilable
	case g.isStruct(f.Type):
		return pointer
	case f.HasDefault && f.Type.Prim == "boolean" && f.Default == "false":
		return plain
	}
	return opt
}

// fieldType is the Go type of a member.
func (g *gen) fieldType(f *ir.Field) *jen.Statement {
	t := g.typeOf(f.Type)
	switch g.shapeOf(f) {
	case pointer:
		return jen.Op("*").Add(t)
	case opt:
		return g.hand("Opt").Types(t)
	case patch:
		return g.hand("Patch").Types(t)
	}
	return t
}

// FieldType is the Go type that a member of s gets, as source text.
func FieldType(s *ir.Spec, f *ir.Field) string {
	g := &gen{Package: Package{Shared: "acp", Names: &Names{}, Spec: s}}
	return g.fieldType(f).GoString()
}

// isNilable reports whether nil is a value of the Go type that can mean absent.
func (g *gen) isNilable(r ir.TypeRef) bool {
	if r.Ref != "" {
		return g.isInterface(r.Ref)
	}
	return r.Elem != nil || r.Prim == "any" || r.Prim == "meta" || r.Prim == "null"
}

// isStruct reports whether the Go type is a struct.
func (g *gen) isStruct(r ir.TypeRef) bool {
	if r.Ref == "" {
		return false
	}
	switch t := g.Spec.Resolve(r.Ref); t.Kind {
	case ir.Object, ir.Any:
		return true
	case ir.Tagged, ir.ByKeys, ir.ByType:
		return t.Hand != "" || len(t.Fields) > 0
	case ir.EnumInt, ir.EnumStr:
		return false
	}
	return false
}

// structs calls f for everything that is a struct in Go with a codec of its
// own: objects, unions with shared members, and the variants made for unions.
func (g *gen) structs(f func(s structType)) {
	for _, t := range g.Spec.Types {
		if t.Hand != "" {
			continue
		}
		switch {
		case t.Kind == ir.Object, t.Kind == ir.Any, t.Union != nil && len(t.Fields) > 0:
			s := structType{name: g.goType(t.Name), def: t, doc: t.Doc, fields: t.Fields, any: t.Kind == ir.Any}
			if t.Union != nil {
				s.union, s.variants = t.Union, g.unionName(t)
			}
			s.session = g.sessionOf(t)
			f(s)
		}
		if t.Union == nil {
			continue
		}
		g.variantStructs(t, g.unionName(t), t.Union, f)
	}
}

func (g *gen) variantStructs(t *ir.Type, union string, u *ir.Union, f func(structType)) {
	for _, a := range g.arms[union] {
		if a.own && a.alias == "" && !a.value {
			f(structType{name: a.name, doc: a.v.Doc, fields: a.v.Fields, of: t, arm: &a})
		}
	}
	if !g.hasOther(u) {
		return
	}
	s := structType{name: g.otherName(union), of: t, other: u.Tag, unionName: union, unknown: u.Other == nil}
	if u.Other != nil {
		s.fields = u.Other.Fields
		if u.Other.Nested != nil {
			s.union, s.variants = u.Other.Nested, g.nestedName(union)
		}
	}
	f(s)
	if s.union != nil {
		g.variantStructs(t, s.variants, s.union, f)
	}
}

// structType is one generated struct.
type structType struct {
	name      string
	def       *ir.Type // nil for a struct that is made for a union
	of        *ir.Type // the union it is made for
	arm       *arm
	doc       string
	fields    []*ir.Field
	union     *ir.Union // a union flattened into the struct
	variants  string    // its interface
	other     string    // the tag, when this keeps unknown variants
	unionName string    // the interface it keeps them for
	unknown   bool      // no schema declares such variants, so they break a rule
	any       bool      // any JSON value
	session   *ir.Field // of params: the member that names the session; nil when there is none
}

// sessionOf returns the member of t that names a session, if t is the params of
// a method.
func (g *gen) sessionOf(t *ir.Type) *ir.Field {
	isParams := slices.ContainsFunc(g.Spec.Methods, func(m *ir.Method) bool {
		return m.Session && (m.Request == t.Name || m.Notification == t.Name)
	})
	if i := slices.IndexFunc(t.Fields, func(f *ir.Field) bool { return f.Wire == "sessionId" }); isParams && i >= 0 {
		return t.Fields[i]
	}
	return nil
}

// extra is the field that keeps undeclared members, empty when a flattened
// union keeps them instead.
func (s structType) extra() string {
	switch {
	case s.union != nil || s.any:
		return ""
	case s.other != "":
		return "Raw"
	}
	return "Extra"
}

func goInt(format string) string {
	switch format {
	case "int32", "int64", "uint16", "uint32", "uint64":
		return format
	}
	return "int64"
}

// intRange is the range of an integer type for Dec.Int.
func intRange(format string) string {
	switch format {
	case "uint16":
		return "0, 65535"
	case "uint32":
		return "0, 4294967295"
	case "int32":
		return "-2147483648, 2147483647"
	}
	return "-9223372036854775808, 9223372036854775807"
}
