package golang

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// decodeStruct emits the decoder of an object. Every member sets a bit, which
// finds duplicates and what is missing.
func (g *gen) decodeStruct(f *jen.File, s structType) {
	body := []jen.Code{}
	if s.any {
		body = append(body, line("v.Raw = d.Raw()"))
		f.Add(method(s.name, "decode").Params(g.dec(), g.outer()).Block(body...))
		return
	}
	required, bits := memberBits(s.fields)
	if len(bits) > 64 {
		g.claims.errs = append(g.claims.errs, s.name+": more than 64 members")
		return
	}
	if len(required) > 0 || s.union != nil {
		body = append(body, line("m := d.Mark()"))
	}
	open := line("if !d.Obj()")
	if s.extra() != "" {
		open = line("if !d.ObjIn(outer)")
	}
	body = append(body, block(open, line("return")))
	if len(bits) > 0 {
		body = append(body, line("var seen uint64"))
	}
	unknown := line("d.Skip()")
	if s.extra() != "" {
		body = append(body, line("var x %s", g.in("Unknown")))
		unknown = line("x.Add(d, k, outer)")
	}
	var cases []jen.Code
	for _, m := range s.fields {
		do := append([]jen.Code{line("seen = d.Once(seen, %#x)", bits[m.Wire])}, g.decodeMember(m)...)
		cases = append(cases, jen.Case(jen.Lit(m.Wire)).Block(do...))
	}
	cases = append(cases, jen.Default().Block(unknown))
	body = append(body, block(line("for k, more := d.Next(); more; k, more = d.Next()"), jen.Switch(line("string(k)")).Block(cases...)))
	if len(required) > 0 {
		mask := uint64(1)<<len(required) - 1
		body = append(body, line("d.Need(m, seen, %#x, %q)", mask, strings.Join(required, " ")))
	}
	if len(s.fields) == 0 && s.extra() != "" {
		body = []jen.Code{line("v.%s = d.Rest(outer)", s.extra())}
	} else if s.extra() != "" {
		body = append(body, line("v.%s = x.Text()", s.extra()))
	}
	if s.extra() != "" {
		if s.other != "" && s.extra() == "Raw" {
			body = append(body, block(line("if v.Raw == nil"), line("v.Raw = []byte(\"{}\")")))
		}
	} else {
		body = append(body, block(line("if d.Failed()"), line("return")), line("d.Rewind(m)"))
		if len(s.fields) > 0 {
			body = append(body,
				line("o := %s{Up: outer, Names: membersOf%s}", g.in("Outer"), s.name),
				line("v.Variant = decode%s(d, &o)", s.variants))
		} else {
			body = append(body, line("v.Variant = decode%s(d, outer)", s.variants))
		}
	}
	f.Add(method(s.name, "decode").Params(g.dec(), g.outer()).Block(body...))
	if s.union != nil && len(s.fields) > 0 {
		var names []string
		for _, m := range s.fields {
			names = append(names, m.Wire)
		}
		f.Var().Id("membersOf" + s.name).Op("=").Index().String().Values(line("%s", quoted(names)))
	}
}

// memberBits gives required members the lowest bits.
func memberBits(fields []*ir.Field) (required []string, bits map[string]uint64) {
	bits = map[string]uint64{}
	for _, m := range fields {
		if m.Presence == ir.Required {
			bits[m.Wire] = 1 << len(bits)
			required = append(required, m.Wire)
		}
	}
	for _, m := range fields {
		if m.Presence != ir.Required {
			bits[m.Wire] = 1 << len(bits)
		}
	}
	return required, bits
}

func quoted(names []string) string {
	var q []string
	for _, n := range names {
		q = append(q, fmt.Sprintf("%q", n))
	}
	return strings.Join(q, ", ")
}

// decodeMember emits the code that reads one member into v, with its rules for
// null and for values that do not fit.
func (g *gen) decodeMember(m *ir.Field) []jen.Code {
	x := "v." + fieldName(m.Wire)
	if do := g.decodeByHelper(x, m); do != nil {
		return []jen.Code{do}
	}
	var do []jen.Code
	value := x
	switch g.shapeOf(m) {
	case patch:
		do = append(g.decodeTo(x+".V", m.Type, m.SkipInvalid), line("%s.State = %s", x, g.hand("PatchValue")))
		value += ".V"
	case opt:
		if v := g.scalar(m.Type); v != nil {
			do = []jen.Code{line("%s.V, %s.OK = %s, true", x, x, v)}
		} else {
			do = append(g.decodeTo(x+".V", m.Type, m.SkipInvalid), line("%s.OK = true", x))
		}
		value += ".V"
	case pointer:
		do = append([]jen.Code{line("%s = new(%s)", x, g.typeOf(m.Type))}, g.decodeTo("(*"+x+")", m.Type, m.SkipInvalid)...)
	default:
		do = g.decodeTo(x, m.Type, m.SkipInvalid)
	}
	if m.OnError {
		mark := line("mk := d.Mark()")
		for _, l := range g.decodeLimits(m, value) {
			do = append(do, block(line("if %s", l.broken), line("d.Reject(mk, %q)", l.message)))
		}
		do = append([]jen.Code{mark}, do...)
		do = append(do, block(line("if d.Failed() && d.Recover(mk)"), line("%s = %s", x, g.zero(m))))
	}
	null := m.Presence == ir.Nullable || m.OnNull
	switch {
	case m.Presence == ir.Patch:
		return []jen.Code{block(line("if d.Cleared()"), line("%s.State = %s", x, g.hand("PatchNull"))).Else().Block(do...)}
	case null && m.Type.Prim != "any":
		return []jen.Code{block(line("if !d.Null()"), do...)}
	case m.OnError:
		return []jen.Code{jen.Block(do...)}
	}
	return do
}

// decodeByHelper emits the one line that reads a member of a shape so common
// that package jx has a function for it; nil for all others.
func (g *gen) decodeByHelper(x string, m *ir.Field) jen.Code {
	null := m.Presence == ir.Nullable || m.OnNull
	if m.Presence == ir.Patch || len(g.decodeLimits(m, x)) > 0 {
		return nil
	}
	shape := g.shapeOf(m)
	var policy []jen.Code
	for _, p := range []struct {
		on   bool
		name string
	}{{null, "Null"}, {m.OnError, "Forgive"}, {m.SkipInvalid, "Skip"}} {
		if p.on {
			policy = append(policy, g.in(p.name))
		}
	}
	if len(policy) == 0 {
		policy = append(policy, line("0"))
	}
	bits := jen.Add(policy[0])
	for _, p := range policy[1:] {
		bits.Op("|").Add(p)
	}
	switch {
	case m.Type.Prim == "meta" && m.Wire == "_meta" && null && m.OnError:
		return line("%s = d.Meta()", x)
	case shape == opt && m.Type.Elem == nil && g.isText(m.Type):
		return line("%s.V, %s.OK = %s(d, %s)", x, x, g.in("OptStr").Types(g.typeOf(m.Type)), bits)
	case shape != opt && shape != pointer && m.Type.Elem != nil && !m.Type.Map && g.isText(*m.Type.Elem):
		return line("%s = %s(d, %s)", x, g.in("Strs").Types(g.typeOf(*m.Type.Elem)), bits)
	}
	return nil
}

// isText reports whether values of a type are any strings.
func (g *gen) isText(r ir.TypeRef) bool {
	if r.Ref == "" {
		return r.Elem == nil && r.Prim == "string"
	}
	t := g.Spec.Resolve(r.Ref)
	return t.Hand == "" && t.Kind == ir.String
}

// zero is the value of an absent member.
func (g *gen) zero(m *ir.Field) jen.Code {
	t := g.typeOf(m.Type)
	switch g.shapeOf(m) {
	case patch:
		return g.hand("Patch").Types(t).Values()
	case opt:
		return g.hand("Opt").Types(t).Values()
	case nilable, pointer:
		return jen.Nil()
	}
	if g.isNilable(m.Type) {
		return jen.Nil()
	}
	if g.isStruct(m.Type) {
		return t.Clone().Values()
	}
	switch g.basic(m.Type) {
	case "string":
		return line(`""`)
	case "boolean":
		return line("false")
	}
	return line("0")
}

// basic is the JSON type of a scalar.
func (g *gen) basic(r ir.TypeRef) string {
	if r.Ref == "" {
		return r.Prim
	}
	switch g.Spec.Resolve(r.Ref).Kind {
	case ir.String, ir.EnumStr:
		return "string"
	case ir.Integer, ir.EnumInt:
		return "integer"
	}
	return ""
}

// scalar emits the expression that reads a value without members or elements; nil
// for all others.
func (g *gen) scalar(r ir.TypeRef) jen.Code {
	if r.Ref != "" {
		t := g.Spec.Resolve(r.Ref)
		n := jen.Id(g.goType(r.Ref))
		switch {
		case t.Hand != "" && (t.Kind == ir.EnumInt || t.Kind == ir.Integer):
			n = g.hand(t.Hand)
		case t.Hand != "" || g.isInterface(r.Ref):
			return nil
		}
		switch t.Kind {
		case ir.String:
			return line("%s(d.Str())", n)
		case ir.Integer, ir.EnumInt:
			if t.Format == "uint64" && t.Hand == "" {
				return line("%s(d.Uint64())", n)
			}
			return line("%s(d.Int(%s))", n, intRange(t.Format))
		}
		return nil
	}
	if r.Elem != nil {
		return nil
	}
	switch r.Prim {
	case "string":
		return line("d.Str()")
	case "boolean":
		return line("d.Bool()")
	case "number":
		return line("d.Float()")
	case "integer":
		if r.Format == "uint64" {
			return line("d.Uint64()")
		}
		return line("%s(d.Int(%s))", goInt(r.Format), intRange(r.Format))
	case "meta":
		return line("d.RawObject()")
	}
	return line("d.Raw()")
}

// decodeTo emits the code that reads a value into the addressable x.
func (g *gen) decodeTo(x string, r ir.TypeRef, skipInvalid bool) []jen.Code {
	if v := g.scalar(r); v != nil {
		return []jen.Code{line("%s = %s", x, v)}
	}
	e := "e" // an element, which must not hide the list it goes to
	if strings.HasPrefix(x, "e") {
		e += x
	}
	switch {
	case r.Ref != "":
		return []jen.Code{g.decodeRef(x, r.Ref)}
	case r.Map:
		do := []jen.Code{
			line("k := string(name)"),
			block(line("if _, dup := %s[k]; dup", x), line("d.Duplicate()")),
			line("var %s %s", e, g.typeOf(*r.Elem)),
		}
		do = append(append(do, g.decodeTo(e, *r.Elem, false)...), line("%s[k] = %s", x, e))
		return []jen.Code{block(line("if d.Obj()"), line("%s = %s{}", x, g.typeOf(r)),
			block(line("for name, more := d.Next(); more; name, more = d.Next()"), do...))}
	}
	var do []jen.Code
	if skipInvalid {
		do = append(do, line("mk := d.Mark()"))
	}
	do = append(do, line("var %s %s", e, g.typeOf(*r.Elem)))
	do = append(do, g.decodeTo(e, *r.Elem, false)...)
	if skipInvalid {
		do = append(do, block(line("if d.Failed() && d.Recover(mk)"), line("continue")))
	}
	do = append(do, line("%s = append(%s(d, %s, list), %s)", x, g.in("Grow"), x, e))
	return []jen.Code{block(line("if d.Array()"), line("list := d.Mark()"), line("%s = %s{}", x, g.typeOf(r)), block(line("for d.More(']')"), do...))}
}

func (g *gen) decodeRef(x, ref string) jen.Code {
	t := g.Spec.Resolve(ref)
	switch {
	case t.Hand != "":
		return line("d.Unmarshal(%s)", strings.TrimSuffix(strings.TrimPrefix("&"+x, "&(*"), ")"))
	case g.isInterface(ref):
		return line("%s = decode%s(d, nil)", x, g.refType(ref))
	case t.Kind == ir.EnumStr:
		return line("%s.decode(d)", x)
	}
	return line("%s.decode(d, nil)", strings.TrimSuffix(strings.TrimPrefix(x, "(*"), ")"))
}
