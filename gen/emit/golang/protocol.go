package golang

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/hermes-nvim/hermes/gen/ir"
)

var sideConst = map[string]string{"agent": "SideAgent", "client": "SideClient", "proxy": "SideProxy", "protocol": "SideBoth"}

// protocol emits the Protocol value: the method table and the decoders. They are
// switches, so that nothing is built when a program starts.
func (g *gen) protocol(f *jen.File) {
	g.claims.claim(g.Const, "the protocol value")
	comment(f, g.Const+" describes this package as data: its methods, and the decoders for the params and results of each.")
	f.Var().Id(g.Const).Add(g.hand("Protocol")).Op("=").Id("protocol").Values()
	if g.Spec.ByName["ProtocolVersion"] != nil {
		g.claims.claim("ProtocolVersionNumber", "the number of the version")
		comment(f, "ProtocolVersionNumber is the version of the protocol that this package speaks, for `initialize`.")
		f.Const().Id("ProtocolVersionNumber").Id(g.goType("ProtocolVersion")).Op("=").Lit(g.Version)
	}
	f.Type().Id("protocol").Struct()
	recv := jen.Id("protocol")
	f.Add(line("func (protocol) Version() int { return %d }", g.Version))
	f.Add(line("func (protocol) Channel() string { return %q }", g.Channel))
	f.Add(line("func (protocol) String() string { return %q }", fmt.Sprintf("version %d (%s)", g.Version, g.Channel)))
	f.Var().Id("methods").Op("=").Index().Add(g.hand("Method")).ValuesFunc(func(b *jen.Group) {
		for _, m := range g.Spec.Methods {
			b.Line().Values(g.row(m)...)
		}
		b.Line()
	})
	f.Func().Params(recv).Id("Methods").Params().Index().Add(g.hand("Method")).Block(
		jen.Return(jen.Qual("slices", "Clone").Call(jen.Id("methods"))))
	side := jen.Id("side").Add(g.hand("Side"))
	f.Func().Params(recv).Id("Method").Params(side, jen.Id("name").String()).Params(g.hand("Method"), jen.Bool()).Block(
		block(line("if i := methodIndex(side, name); i >= 0"), line("return methods[i], true")),
		line("return %s{}, false", g.hand("Method")))
	f.Func().Id("methodIndex").Params(side, jen.Id("name").String()).Int().Block(
		g.bySide(func(i int, m *ir.Method) jen.Code { return jen.Return(jen.Lit(i)) }),
		jen.Return(jen.Lit(-1)))
	decoders := []struct {
		fn  string
		def func(*ir.Method) string
	}{
		{"DecodeRequest", func(m *ir.Method) string { return m.Request }},
		{"DecodeNotification", func(m *ir.Method) string { return m.Notification }},
		{"DecodeResult", func(m *ir.Method) string { return m.Response }},
	}
	for _, d := range decoders {
		text, decode := "params", "decodeParams"
		if d.fn == "DecodeResult" {
			text, decode = "result", "decodeResult"
		}
		f.Func().Params(recv).Id(d.fn).Params(side, jen.Id("method").String(), jen.Id(text).Add(rawMessage())).Params(g.hand("Appender"), jen.Error()).Block(
			jen.Switch(jen.Id("methodIndex").Call(jen.Id("side"), jen.Id("method"))).BlockFunc(func(b *jen.Group) {
				for i, m := range g.Spec.Methods {
					def := d.def(m)
					if def == "" {
						continue
					}
					typ := g.goType(def)
					if g.isInterface(def) {
						typ = resultOf(typ)
					}
					b.Case(jen.Lit(i)).Block(line("return %s(method, %s, new(%s))", decode, text, typ))
				}
			}),
			jen.Return(jen.Nil(), g.hand("MethodNotFound").Call(jen.Id("method"))))
	}
	f.Type().Id("message").Interface(g.hand("Appender"), jen.Qual("encoding/json", "Unmarshaler"))
	decoder := func(name string, fail *jen.Statement) {
		f.Func().Id(name).Params(jen.Id("method").String(), jen.Id("text").Add(rawMessage()), jen.Id("v").Id("message")).Params(g.hand("Appender"), jen.Error()).Block(
			block(line("if err := v.UnmarshalJSON(%s(text)); err != nil", g.in("Params")), line("return nil, %s", fail)),
			line("return v, nil"))
	}
	decoder("decodeParams", g.hand("InvalidParams").Call(jen.Id("method"), jen.Err()))
	decoder("decodeResult", jen.Qual("fmt", "Errorf").Call(jen.Lit("%s: result: %w"), jen.Id("method"), jen.Err()))
}

func (g *gen) row(m *ir.Method) []jen.Code {
	row := []jen.Code{
		jen.Id("Name").Op(":").Id(methodConst(m.Wire)),
		jen.Id("Handler").Op(":").Add(g.hand(sideConst[m.Handler])),
	}
	for _, b := range []struct {
		name string
		on   bool
	}{{"Request", m.Request != ""}, {"Notification", m.Notification != ""}, {"Session", m.Session}} {
		if b.on {
			row = append(row, jen.Id(b.name).Op(":").True())
		}
	}
	return row
}

// bySide emits a switch over sides with one over names inside each.
func (g *gen) bySide(do func(i int, m *ir.Method) jen.Code) jen.Code {
	cases := func(side string) []jen.Code {
		var out []jen.Code
		for i, m := range g.Spec.Methods {
			if m.Handler == side {
				out = append(out, jen.Case(jen.Id(methodConst(m.Wire))).Block(do(i, m)))
			}
		}
		return out
	}
	var sides []jen.Code
	for _, s := range []string{"agent", "client", "proxy"} {
		if c := cases(s); c != nil {
			sides = append(sides, jen.Case(g.hand(sideConst[s])).Block(jen.Switch(jen.Id("name")).Block(c...)))
		}
	}
	both := &jen.Statement{}
	if c := cases("protocol"); c != nil {
		both.Switch(jen.Id("name")).Block(c...)
	}
	return jen.Add(jen.Switch(jen.Id("side")).Block(sides...)).Line().Add(both)
}
