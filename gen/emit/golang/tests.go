package golang

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// tests emits the test file of the package. It passes each definition, by name,
// to tests that all packages share.
func (g *gen) tests(f *jen.File) {
	kit := func(name string) *jen.Statement { return jen.Qual(g.shared()+"/internal/acptest", name) }
	f.Func().Id("TestPackage").Params(jen.Id("t").Op("*").Qual("testing", "T")).Block(
		kit("Run").Call(jen.Id("t"), jen.Id("underTest")))
	f.Func().Id("FuzzDecode").Params(jen.Id("f").Op("*").Qual("testing", "F")).Block(
		kit("Fuzz").Call(jen.Id("f"), jen.Id("underTest")))
	f.Func().Id("FuzzBuilt").Params(jen.Id("f").Op("*").Qual("testing", "F")).Block(
		kit("FuzzBuilt").Call(jen.Id("f"), jen.Id("underTest")))
	g.testProtocol(f, kit)
	f.Var().Id("underTest").Op("=").Add(kit("Package")).Values(jen.Dict{
		jen.Id("Edition"):  jen.Lit(g.Edition),
		jen.Id("Protocol"): jen.Id("protocolUnderTest").Call(),
		jen.Id("Check"):    kit("Checker").Call(g.hand("Check")),
		jen.Id("Definitions"): jen.Map(jen.String()).Add(kit("Codec")).Values(jen.DictFunc(func(d jen.Dict) {
			for _, t := range g.Spec.Types {
				if c := g.testCodec(t, kit); c != nil {
					d[jen.Lit(t.Name)] = c
				}
			}
		})),
	})
}

// testProtocol emits the Protocol value in the terms of package acptest, which
// cannot import the packages it tests.
func (g *gen) testProtocol(f *jen.File, kit func(string) *jen.Statement) {
	f.Func().Id("protocolUnderTest").Params().Add(kit("Protocol")).Block(
		line("var p %s", kit("Protocol")),
		block(line("for _, m := range %s.Methods()", g.Const),
			line("p.Methods = append(p.Methods, %s{Name: m.Name, Side: uint8(m.Handler), Request: m.Request, Notification: m.Notification, Session: m.Session})", kit("Method"))),
		line("p.Decode = func(m %s, kind %s, text %s) (%s, error) {", kit("Method"), kit("Kind"), rawMessage(), kit("Message")).Line().
			Add(line("decode := %s.DecodeRequest", g.Const)).Line().
			Add(jen.Switch(jen.Id("kind")).Block(
				jen.Case(kit("Notification")).Block(line("decode = %s.DecodeNotification", g.Const)),
				jen.Case(kit("Result")).Block(line("decode = %s.DecodeResult", g.Const)))).Line().
			Add(line("return decode(%s(m.Side), m.Name, text) }", g.hand("Side"))),
		line("return p"))
}

// testCodec is a function that decodes, encodes and checks a definition.
func (g *gen) testCodec(t *ir.Type, kit func(string) *jen.Statement) jen.Code {
	n := g.goType(t.Name)
	body := []jen.Code{}
	switch {
	case t.Kind == ir.Envelope, t.Hand != "" && (t.Kind == ir.EnumInt || t.Kind == ir.EnumStr):
		return nil
	case t.Hand != "":
		return kit("Of").Types(g.hand(t.Hand)).Call()
	case t.Union != nil && len(t.Fields) == 0:
		return kit("OfUnion").Call(jen.Id("Decode"+n), jen.Id("Append"+n), g.asMember(n, t))
	case t.Kind == ir.String, t.Kind == ir.Integer, t.Kind == ir.EnumInt, t.Kind == ir.EnumStr:
		body = append(body, line("var v %s", n), line("d := %s(b)", g.in("New")))
		body = append(body, g.decodeTo("v", ir.TypeRef{Ref: t.Name}, false)...)
		body = append(body, line("d.End()"), line("b = nil"))
		body = append(body, g.appendValue(line("b"), "v", ir.TypeRef{Ref: t.Name})...)
		body = append(body, line("return b, %s(v), d.Err()", g.asMember(n, t)))
		return jen.Func().Params(bytesParam()).Params(jen.Index().Byte(), jen.Any(), jen.Error()).Block(body...)
	}
	return kit("Of").Types(jen.Id(n)).Call()
}

// asMember is a function that makes a value the member of a struct, because the
// rules for it are in the struct tag.
func (g *gen) asMember(n string, t *ir.Type) jen.Code {
	tag := ""
	if check := g.checkTag(&ir.Field{Type: ir.TypeRef{Ref: t.Name}}); check != "" {
		tag = fmt.Sprintf("`check:%q`", check)
	}
	return line("func(v %s) any { return struct { V %s %s }{v} }", n, n, rawText(tag))
}
