package emit

import (
	"fmt"
	"strings"

	. "github.com/dave/jennifer/jen"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// methodName is the Go name of a handler or caller method.
func methodName(wire, def string) string {
	if wire == "session/update" {
		return "SessionUpdate"
	}
	return GoName(strings.TrimSuffix(strings.TrimSuffix(def, "Request"), "Notification"))
}

// methods emits constants, handler interfaces, dispatch and callers.
func (g *gen) methods() {
	seen := map[string]bool{}
	g.f.Comment("Method names.")
	g.f.Const().DefsFunc(func(c *Group) {
		for _, m := range g.s.Methods {
			if !seen[m.Wire] {
				seen[m.Wire] = true
				c.Id("Method" + GoName(strings.ReplaceAll(strings.TrimPrefix(m.Wire, "$/"), "/", "_"))).Op("=").Lit(m.Wire)
			}
		}
	})
	for _, side := range []string{"agent", "client"} {
		g.side(side)
	}
}

func (g *gen) side(side string) {
	up := GoName(side)
	name := up + "Handler"
	var ms, un []Code
	var reqs, notes []string
	type caller struct{ fn, req, resp, wire string }
	var callers []caller
	for _, m := range g.s.Methods {
		if m.Handler != side {
			continue
		}
		if m.Request != "" {
			r, p, fn := GoName(m.Request), GoName(m.Response), methodName(m.Wire, m.Request)
			ms = append(ms, Id(fn).Params(Qual("context", "Context"), Op("*").Id(r)).Params(Op("*").Id(p), Error()))
			un = append(un, Func().Params(Id("Unimplemented"+name)).Id(fn).Params(Qual("context", "Context"), Op("*").Id(r)).Params(Op("*").Id(p), Error()).Block(raw("return nil, MethodNotFound(%q)", m.Wire)))
			reqs = append(reqs, fmt.Sprintf("case %q:\nv := new(%s)\nif err := v.UnmarshalJSON(p); err != nil { return nil, InvalidParams(method, err) }\nr, err := s.h.%s(ctx, v)\nif err != nil { return nil, err }\nif r == nil { r = new(%s) }\nreturn r, nil", m.Wire, r, fn, p))
			callers = append(callers, caller{fn, r, p, m.Wire})
		}
		if m.Notification != "" {
			r, fn := GoName(m.Notification), methodName(m.Wire, m.Notification)
			ms = append(ms, Id(fn).Params(Qual("context", "Context"), Op("*").Id(r)).Params(Error()))
			un = append(un, Func().Params(Id("Unimplemented"+name)).Id(fn).Params(Qual("context", "Context"), Op("*").Id(r)).Params(Error()).Block(raw("return MethodNotFound(%q)", m.Wire)))
			notes = append(notes, fmt.Sprintf("case %q:\nv := new(%s)\nif err := v.UnmarshalJSON(p); err != nil { return InvalidParams(method, err) }\nreturn s.h.%s(ctx, v)", m.Wire, r, fn))
			callers = append(callers, caller{fn, r, "", m.Wire})
		}
	}
	g.f.Commentf("%s is what the %s side implements.", name, side)
	g.f.Type().Id(name).Interface(ms...)
	g.f.Commentf("Unimplemented%s answers every method with method not found. Embed it, so that a method added later does not break your type.", name)
	g.f.Type().Id("Unimplemented" + name).Struct()
	for _, u := range un {
		g.f.Add(u)
	}
	g.f.Commentf("%sSide makes a Handler that decodes, dispatches to h and encodes.", up)
	g.f.Func().Id(up + "Side").Params(Id("h").Id(name)).Id("Handler").Block(raw("return %sSide{h}", side))
	g.f.Type().Id(side + "Side").Struct(Id("h").Id(name))
	g.f.Func().Params(Id("s").Id(side+"Side")).Id("HandleRequest").Params(Id("ctx").Qual("context", "Context"), Id("method").String(), Id("p").Qual("encoding/json", "RawMessage")).Params(Id("Appender"), Error()).Block(
		raw("switch method {\n%s\n}", strings.Join(reqs, "\n")),
		raw("if x, ok := s.h.(ExtHandler); ok { r, err := x.ExtRequest(ctx, method, p); if err != nil { return nil, err }; return appendFunc(func(b []byte) []byte { return jx.AppendRaw(b, r) }), nil }"),
		raw("return nil, MethodNotFound(method)"))
	g.f.Func().Params(Id("s").Id(side+"Side")).Id("HandleNotification").Params(Id("ctx").Qual("context", "Context"), Id("method").String(), Id("p").Qual("encoding/json", "RawMessage")).Error().Block(
		raw("switch method {\n%s\n}", strings.Join(notes, "\n")),
		raw("if x, ok := s.h.(ExtHandler); ok { return x.ExtNotification(ctx, method, p) }"),
		raw("return MethodNotFound(method)"))
	g.f.Commentf("%s calls the methods of the %s at the other end of Conn.", up, side)
	g.f.Type().Id(up).Struct(Id("Conn").Id("Caller"))
	for _, c := range callers {
		if c.resp == "" {
			g.f.Func().Params(Id("a").Id(up)).Id(c.fn).Params(Id("ctx").Qual("context", "Context"), Id("p").Op("*").Id(c.req)).Error().Block(raw("return a.Conn.Notify(ctx, %q, p)", c.wire))
			continue
		}
		g.f.Func().Params(Id("a").Id(up)).Id(c.fn).Params(Id("ctx").Qual("context", "Context"), Id("p").Op("*").Id(c.req)).Params(Op("*").Id(c.resp), Error()).Block(
			raw("r := new(%s)", c.resp), raw("if err := a.Conn.Call(ctx, %q, p, r); err != nil { return nil, err }", c.wire), raw("return r, nil"))
	}
}

var _ = ir.Required
