package golang

import (
	"github.com/dave/jennifer/jen"
)

// callers emits Agent and Client: the peer, as a value with typed methods.
func (g *gen) callers(f *jen.File) {
	for _, side := range []string{"agent", "client"} {
		up := goName(side)
		g.claims.claim(up, up)
		comment(f, up+" calls the methods of the "+side+" at the other end of Conn. It is safe for concurrent use if Conn is. An error answer of the peer is returned as an *Error, other failures are not.")
		f.Type().Id(up).Struct(jen.Id("Conn").Add(g.hand("Caller")))
		for _, c := range g.calls(side) {
			params, results := c.signature(true)
			var body []jen.Code
			name := methodConst(c.m.Wire)
			switch {
			case c.notification:
				body = []jen.Code{line("return %s(a.Conn).Notify(ctx, %s, p)", g.hand("Connected"), name)}
			case c.union:
				body = []jen.Code{line("var r %s", resultOf(c.result)), block(line("if err := %s(a.Conn).Call(ctx, %s, p, &r); err != nil", g.hand("Connected"), name), line("return nil, err")), line("return r.v, nil")}
			default:
				body = []jen.Code{line("return request(ctx, a.Conn, %s, p, new(%s))", name, c.result)}
			}
			verb := "sends the request"
			if c.notification {
				verb = "sends the notification"
			}
			comment(f, c.doc(verb))
			f.Func().Params(jen.Id("a").Id(up)).Id(c.fn).Add(params, results).Block(body...)
		}
	}
	comment(f, "request sends a request and returns its result, which r becomes.")
	f.Func().Id("request").Types(jen.Id("R").Qual("encoding/json", "Unmarshaler")).Params(
		jen.Id("ctx").Qual("context", "Context"), jen.Id("conn").Add(g.hand("Caller")), jen.Id("method").String(), jen.Id("p").Add(g.hand("Appender")), jen.Id("r").Id("R"),
	).Params(jen.Id("none").Id("R"), jen.Id("err").Error()).Block(
		block(line("if err := %s(conn).Call(ctx, method, p, r); err != nil", g.hand("Connected")), line("return none, err")),
		line("return r, nil"))
}
