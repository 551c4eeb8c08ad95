package golang

import (
	"github.com/dave/jennifer/jen"
)

var articled = map[string]string{"agent": "an agent", "client": "a client"}

// handlers emits what a program implements: one interface for each side, and a
// struct to embed that answers everything.
func (g *gen) handlers(f *jen.File) {
	for _, side := range []string{"agent", "client"} {
		name := goName(side) + "Handler"
		un := "Unimplemented" + name
		g.claims.claim(name, name)
		g.claims.claim(un, un)
		calls := g.calls(side)
		comment(f, name+" handles the messages to "+articled[side]+". Embed "+un+" to implement only some of the methods; a method that a later version adds then does not break the build. Methods are called concurrently. The context ends when the caller withdraws the request or the connection ends. Params belong to the handler."+"\n"+
			"An *Error that a method returns, wrapped or not, reaches the peer as it is. Any other error reaches it as an internal error with its message.")
		f.Type().Id(name).InterfaceFunc(func(b *jen.Group) {
			for _, c := range calls {
				params, results := c.signature(true)
				comment(b, c.doc("handles"))
				b.Id(c.fn).Add(params, results)
			}
		})
		comment(f, un+" answers every method with the error MethodNotFound.")
		f.Type().Id(un).Struct()
		f.Var().Id("_").Id(name).Op("=").Id(un).Values()
		for _, c := range calls {
			params, results := c.signature(false)
			ret := jen.Return(g.hand("MethodNotFound").Call(jen.Id(methodConst(c.m.Wire))))
			if !c.notification {
				ret = jen.Return(jen.Nil(), g.hand("MethodNotFound").Call(jen.Id(methodConst(c.m.Wire))))
			}
			comment(f, c.fn+" returns MethodNotFound.")
			f.Func().Params(jen.Id(un)).Id(c.fn).Add(params, results).Block(ret)
		}
	}
}
