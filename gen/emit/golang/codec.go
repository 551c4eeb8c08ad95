package golang

import (
	"github.com/dave/jennifer/jen"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// codec emits the codecs of structs and enums.
func (g *gen) codec(f *jen.File) {
	g.structs(func(s structType) {
		g.decodeStruct(f, s)
		g.encodeStruct(f, s)
		g.jsonMethods(f, s)
	})
	for _, t := range g.Spec.Types {
		if t.Kind == ir.EnumStr && t.Hand == "" {
			g.decodeEnum(f, t)
		}
	}
}

// jsonMethods emits the methods by which other packages reach the codec.
func (g *gen) jsonMethods(f *jen.File, s structType) {
	n := s.name
	start := []jen.Code{line("var d %s", g.in("Dec")), line("d.Reset(b)"), line("*v = %s{}", n)}
	decode := []jen.Code{line("v.decode(&d, nil)")}
	if g.emptyResult(s) {
		decode = []jen.Code{block(line("if !d.Null()"), decode...)}
	}
	comment(f, "UnmarshalJSON implements json.Unmarshaler. Use Pointer to find the place of an error.")
	if s.other != "" { // the tag is read by the union
		start = append(start,
			line("o := %s{Tag: %q}", g.in("Outer"), s.other),
			line("tag, _ := d.TagIn(&o)"),
			line("v.Tag = string(tag)"))
		decode = []jen.Code{line("v.decode(&d, &o)")}
	}
	f.Add(method(n, "UnmarshalJSON").Params(bytesParam()).Error().Block(
		append(append(start, decode...), line("return d.Close()"))...))
	comment(f, "AppendJSON appends v as JSON text.")
	var body []jen.Code
	switch {
	case s.any:
		body = []jen.Code{block(line("if v == nil"), line(`return append(b, "null"...)`)), line("return %s(b, v.Raw)", g.in("AppendRaw"))}
	case s.other != "":
		body = append([]jen.Code{block(line("if v == nil"), g.appendFault("nil *"+s.name)), line("b = append(b, '{')")}, g.appendTag(s.other, "v.Tag")...)
		body = append(body, line("return append(v.appendMembers(b), '}')"))
	default:
		if g.emptyResult(s) { // handlers may return nil
			body = append(body, block(line("if v == nil"), line(`return append(b, "null"...)`)))
		}
		body = append(body, line("return append(v.appendMembers(append(b, '{')), '}')"))
	}
	if len(body) == 1 {
		f.Add(line("func (v *%s) AppendJSON(b []byte) []byte { %s }", n, body[0]))
	} else {
		f.Add(method(n, "AppendJSON").Params(bytesParam()).Index().Byte().Block(body...))
	}
	comment(f, "MarshalJSON implements json.Marshaler.")
	f.Add(line("func (v %s) MarshalJSON() ([]byte, error) { return %s(v.AppendJSON(nil)) }", n, g.in("Marshaled")))
}

// appendFault emits the encoding of what cannot be encoded.
func (g *gen) appendFault(reason string) jen.Code {
	return line("return %s(b, %q)", g.in("AppendFault"), reason)
}

// emptyResult reports whether a struct is the result of a request and may be
// empty, in which case peers also answer null.
func (g *gen) emptyResult(s structType) bool {
	if s.def == nil || s.union != nil || s.any {
		return false
	}
	for _, m := range s.fields {
		if m.Presence == ir.Required {
			return false
		}
	}
	for _, m := range g.Spec.Methods {
		if m.Response != "" && g.Spec.Resolve(m.Response) == s.def {
			return true
		}
	}
	return false
}

// decodeEnum emits the decoder of a string enum. Known values do not allocate.
func (g *gen) decodeEnum(f *jen.File, t *ir.Type) {
	n := g.goType(t.Name)
	var cases []jen.Code
	for _, v := range t.Values {
		cases = append(cases, jen.Case(jen.Lit(v.Wire)).Block(line("*v = %s", g.valueName(n, t, v))))
	}
	body := []jen.Code{}
	if t.Open || t.Kept {
		cases = append(cases, jen.Default().Block(line("*v = %s(s)", n)))
	} else {
		known := t.Name
		for _, v := range t.Values {
			known += " " + v.Wire
		}
		body = append(body, line("m := d.Mark()"))
		cases = append(cases, jen.Default().Block(line("d.BadValue(m, %q, s)", known)))
	}
	body = append(body, jen.Switch(line("s := d.StrBytes(); string(s)")).Block(cases...))
	f.Add(method(n, "decode").Params(g.dec()).Block(body...))
}
