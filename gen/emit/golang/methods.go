package golang

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// methods emits the names of the methods.
func (g *gen) methods(f *jen.File) {
	seen := map[string]bool{}
	comment(f, "The methods of the protocol.")
	f.Const().DefsFunc(func(c *jen.Group) {
		for _, m := range g.Spec.Methods {
			if seen[m.Wire] {
				continue
			}
			seen[m.Wire] = true
			id := methodConst(m.Wire)
			g.claims.claim(id, "method "+m.Wire)
			from, to := direction(m)
			doc := id + " " + lower(m.Doc)
			if m.Doc == "" {
				doc = id + " is a " + m.Kind() + ", " + from + " to " + to + "."
			}
			if m.Doc != "" {
				doc += "\n" + sentence(m.Kind()) + ", " + from + " to " + to + "."
			}
			doc += g.spec(m.Page)
			comment(c, doc)
			c.Id(id).Op("=").Lit(m.Wire)
		}
	})
}

// methodConst is the name of the constant of a method.
func methodConst(wire string) string {
	return "Method" + goName(strings.TrimPrefix(wire, "$/"))
}

// call is one method as a typed side sees it.
type call struct {
	m            *ir.Method
	fn           string // Go name
	params       string // Go type
	result       string // Go type, empty for a notification
	union        bool   // the result is a sealed interface
	emptyResult  bool   // the result may be empty
	notification bool
}

// calls lists what a side handles.
func (g *gen) calls(side string) []call {
	var out []call
	for _, m := range g.Spec.Methods {
		if m.Handler != side {
			continue
		}
		if m.Request != "" {
			c := call{m: m, fn: g.callName(m.Wire, m.Request), params: g.goType(m.Request), result: g.goType(m.Response), union: g.isInterface(m.Response)}
			c.emptyResult = !c.union && g.canBeEmpty(m.Response)
			out = append(out, c)
		}
		if m.Notification != "" {
			out = append(out, call{m: m, fn: g.callName(m.Wire, m.Notification), params: g.goType(m.Notification), notification: true})
		}
	}
	return out
}

func (g *gen) canBeEmpty(def string) bool {
	t := g.Spec.Resolve(def)
	if t.Kind != ir.Object {
		return false
	}
	for _, m := range t.Fields {
		if m.Presence == ir.Required {
			return false
		}
	}
	return true
}

// callName is the Go name of a handler or caller method: the name of its params,
// unless another name was chosen.
func (g *gen) callName(wire, def string) string {
	if n, ok := g.Calls[wire]; ok {
		return n
	}
	return goName(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(def, "Request"), "Notification"), "Params"))
}

// doc is the comment of a method of a handler or caller.
func (c call) doc(verb string) string {
	doc := c.fn + " " + verb + " " + c.m.Wire
	if c.m.Doc != "" {
		doc += ", which " + lower(c.m.Doc)
	} else {
		doc += "."
	}
	if c.m.Page != "" {
		doc += "\nSpec: " + site + c.m.Page
	}
	return doc
}

// signature returns the params and results of a handler or caller method.
func (c call) signature(withName bool) (params, results *jen.Statement) {
	ctx, p := jen.Qual("context", "Context"), jen.Op("*").Id(c.params)
	if withName {
		ctx, p = jen.Id("ctx").Add(ctx), jen.Id("p").Add(p)
	}
	params = jen.Params(ctx, p)
	switch {
	case c.notification:
		return params, jen.Error()
	case c.union:
		return params, jen.Params(jen.Id(c.result), jen.Error())
	}
	return params, jen.Params(jen.Op("*").Id(c.result), jen.Error())
}
