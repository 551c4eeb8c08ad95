package golang

import (
	"github.com/dave/jennifer/jen"
)

// dispatch emits AgentSide and ClientSide: raw messages in, typed handler
// methods, raw results out. The handlers tell a connection which side they are.
func (g *gen) dispatch(f *jen.File) {
	g.unionResults(f)
	for _, side := range []string{"agent", "client"} {
		g.side(f, side)
	}
	g.requested(f)
}

func (g *gen) side(f *jen.File, side string) {
	up := goName(side)
	handler, typ := up+"Handler", side+"Side"
	g.claims.claim(up+"Side", up+"Side")
	comment(f, up+"Side returns the Handler that decodes what the peer sends to "+articled[side]+", calls h and encodes its results. A method that is not in the protocol goes to h if h is an ExtHandler, otherwise the answer is MethodNotFound. Params that do not decode are answered with InvalidParams.")
	f.Func().Id(up + "Side").Params(jen.Id("h").Id(handler)).Add(g.hand("Handler")).Block(jen.Return(jen.Id(typ).Values(jen.Id("h"))))
	f.Type().Id(typ).Struct(jen.Id("h").Id(handler))
	f.Add(line("func (%s) Side() %s { return %s }", typ, g.hand("Side"), g.hand("Side"+up)))
	var requests, notes []jen.Code
	for _, c := range g.calls(side) {
		name := jen.Id(methodConst(c.m.Wire))
		switch {
		case c.notification:
			notes = append(notes, jen.Case(name).Block(append(g.decodeParams("new("+c.params+")", "return %s"), line("return s.h.%s(ctx, v)", c.fn))...))
		case c.union:
			requests = append(requests, jen.Case(name).Block(
				line("return requested(ctx, method, params, func(ctx %s, p *%s) (*%s, error)", jen.Qual("context", "Context"), c.params, resultOf(c.result)).Block(
					line("r, err := s.h.%s(ctx, p)", c.fn),
					block(line("if r == nil"), line("return nil, err")),
					line("return &%s{r}, err", resultOf(c.result))).Op(", false)")))
		default:
			requests = append(requests, jen.Case(name).Block(line("return requested(ctx, method, params, s.h.%s, %v)", c.fn, c.emptyResult)))
		}
	}
	params := []jen.Code{jen.Id("ctx").Qual("context", "Context"), jen.Id("method").String(), jen.Id("params").Add(rawMessage())}
	f.Func().Params(jen.Id("s").Id(typ)).Id("HandleRequest").Params(params...).Params(g.hand("Appender"), jen.Error()).Block(
		jen.Switch(jen.Id("method")).Block(requests...),
		jen.Return(g.hand("HandleExtRequest").Call(jen.Id("ctx"), jen.Id("s").Dot("h"), jen.Id("method"), jen.Id("params"))))
	f.Func().Params(jen.Id("s").Id(typ)).Id("HandleNotification").Params(params...).Error().Block(
		jen.Switch(jen.Id("method")).Block(notes...),
		jen.Return(g.hand("HandleExtNotification").Call(jen.Id("ctx"), jen.Id("s").Dot("h"), jen.Id("method"), jen.Id("params"))))
}

// decodeParams emits the code that decodes params into v. Absent params count as
// an empty object, so that an error names the missing members.
func (g *gen) decodeParams(v, ret string) []jen.Code {
	return []jen.Code{
		line("v := %s", v),
		block(line("if err := v.UnmarshalJSON(%s(params)); err != nil", g.in("Params")),
			line(ret, line("%s(method, err)", g.hand("InvalidParams")))),
	}
}

// requested emits what all requests have in common. Notifications do not use a
// function like it, because there are many of them and its calls are indirect.
func (g *gen) requested(f *jen.File) {
	ctx := jen.Qual("context", "Context")
	pointer := func(name, to string, is *jen.Statement) jen.Code {
		return jen.Id(name).Interface(jen.Op("*").Id(to), is)
	}
	comment(f, "requested decodes the params of a request and calls its handler. A handler may return no result where results may be empty.")
	f.Func().Id("requested").Types(
		jen.Id("P").Any(), pointer("PP", "P", jen.Qual("encoding/json", "Unmarshaler")),
		jen.Id("R").Any(), pointer("RP", "R", g.hand("Appender")),
	).Params(
		jen.Id("ctx").Add(ctx), jen.Id("method").String(), jen.Id("params").Add(rawMessage()),
		jen.Id("handle").Func().Params(ctx, jen.Id("PP")).Params(jen.Id("RP"), jen.Error()), jen.Id("empty").Bool(),
	).Params(g.hand("Appender"), jen.Error()).Block(append(g.decodeParams("PP(new(P))", "return nil, %s"),
		line("r, err := handle(ctx, v)"),
		jen.Switch().Block(
			jen.Case(line("err != nil")).Block(line("return nil, err")),
			jen.Case(line("r != nil")).Block(line("return r, nil")),
			jen.Case(line("empty")).Block(line("return RP(new(R)), nil"))),
		line("return nil, %s(method)", g.hand("NoResult")))...)
}

// resultOf is the type that carries a union as the result of a request.
func resultOf(union string) string { return "resultOf" + union }

// unionResults emits wrappers for results that are sealed interfaces, which
// have no methods to decode or encode with.
func (g *gen) unionResults(f *jen.File) {
	done := map[string]bool{}
	for _, side := range []string{"agent", "client", "proxy"} {
		for _, c := range g.calls(side) {
			if !c.union || done[c.result] {
				continue
			}
			done[c.result] = true
			n := resultOf(c.result)
			f.Type().Id(n).Struct(jen.Id("v").Id(c.result))
			f.Func().Params(jen.Id("r").Op("*").Id(n)).Id("AppendJSON").Params(bytesParam()).Index().Byte().Block(
				line("return Append%s(b, r.v)", c.result))
			f.Func().Params(jen.Id("r").Op("*").Id(n)).Id("UnmarshalJSON").Params(bytesParam()).Params(jen.Err().Error()).Block(
				line("r.v, err = Decode%s(b)", c.result), line("return err"))
		}
	}
}
