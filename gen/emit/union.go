package emit

import (
	"strings"

	. "github.com/dave/jennifer/jen"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// concrete lists the Go types a payload reference stands for inside a union:
// itself, or every variant when the payload is a union too.
func (g *gen) concrete(ref string) []string {
	t := g.s.ByName[ref]
	if t == nil || !g.isIface(ref) {
		return []string{GoName(ref)}
	}
	var out []string
	for _, a := range g.arms(t, GoName(ref)) {
		out = append(out, a.types...)
	}
	return out
}

type arm struct {
	v     *ir.Variant
	types []string // concrete Go types of this arm
	own   string   // type emitted for this arm, when not the payload itself
	iface string   // payload is this sealed interface
}

func (g *gen) arms(t *ir.Type, iface string) []arm {
	u := t.Union
	uses := map[string]int{}
	all := append([]*ir.Variant{}, u.Variants...)
	if u.Default != nil {
		all = append(all, u.Default)
	}
	for _, v := range all {
		uses[v.Ref]++
	}
	stem := strings.TrimSuffix(iface, "Variant")
	var out []arm
	for _, v := range all {
		tag := v.Wire
		if tag == "" {
			tag = v.Title
		}
		a := arm{v: v}
		switch {
		case v.Ref != "" && uses[v.Ref] == 1 && len(v.Fields) == 0:
			a.types = g.concrete(v.Ref)
			if g.isIface(v.Ref) {
				a.iface = GoName(v.Ref)
			}
		case v.Ref != "" && len(v.Fields) == 0:
			a.own = GoName(tag)
			if g.s.ByName[tag] != nil || len(a.own) < 12 {
				a.own = stem + GoName(tag)
			}
			a.types = []string{a.own}
		default:
			a.own = stem + GoName(tag)
			a.types = []string{a.own}
		}
		out = append(out, a)
	}
	return out
}

func (g *gen) union(t *ir.Type, iface, doc string) {
	u := t.Union
	g.doc(doc)
	g.f.Type().Id(iface).Interface(Id("is"+iface).Params(), Id("appendMembers").Params(Index().Byte()).Index().Byte())
	arms := g.arms(t, iface)
	other := iface + "Other"
	if u.Default == nil || u.Other != nil {
		g.f.Commentf("%s is a variant this version does not know; it is kept as received.", other)
		g.f.Type().Id(other).Struct(Id("Tag").String(), Id("Raw").Id("RawMessage"))
		g.f.Func().Params(Id("v").Op("*").Id(other)).Id("appendMembers").Params(Id("b").Index().Byte()).Index().Byte().Block(raw("return jx.AppendMembers(b, v.Raw)"))
		g.impl[other] = append(g.impl[other], iface)
	}
	dec := []Code{raw("m := d.Mark(); _ = m")}
	var cases, app, keyCases []Code
	for _, a := range arms {
		for _, c := range a.types {
			g.impl[c] = append(g.impl[c], iface)
		}
		if a.iface != "" {
			g.impl[a.iface+"Other"] = append(g.impl[a.iface+"Other"], iface)
		}
		if a.own != "" {
			if a.v.Ref != "" {
				g.f.Type().Id(a.own).Id(GoName(a.v.Ref))
				g.f.Func().Params(Id("v").Op("*").Id(a.own)).Id("appendMembers").Params(Id("b").Index().Byte()).Index().Byte().Block(raw("return (*%s)(v).appendMembers(b)", GoName(a.v.Ref)))
			} else {
				g.object(a.own, a.v.Doc, a.v.Fields, nil, "")
			}
		}
		var body []Code
		switch {
		case a.iface != "":
			body = []Code{raw("x := decode%s(d)", a.iface), raw("if x == nil { return nil }"), raw("return x.(%s)", iface)}
		case a.own != "" && a.v.Ref != "":
			body = []Code{raw("x := new(%s)", a.own), raw("(*%s)(x).decodeJX(d)", GoName(a.v.Ref)), raw("return x")}
		default:
			body = []Code{raw("x := new(%s)", a.types[0]), raw("x.decodeJX(d)"), raw("return x")}
		}
		var ac []Code
		if a.v.Wire != "" {
			ac = []Code{raw("b = append(jx.Comma(b), %s...)", "`\""+u.Tag+"\":\""+a.v.Wire+"\"`")}
		}
		switch {
		case a.v.Wire != "":
			cases = append(cases, Case(Lit(a.v.Wire)).Block(body...))
		case a.v == u.Default:
			if u.Other == nil { // closed: whatever is not a known tag is this variant
				cases = append(cases, Default().Block(body...))
			} else {
				cases = append(cases, Case(Lit("")).Block(body...))
			}
		default:
			keyCases = append(keyCases, raw("if d.HasKeys(%s)", quoteList(g.requiredOf(a.v))).(*Statement).Block(body...))
		}
		if len(ac) > 0 {
			var ids []Code
			for _, c := range a.types {
				ids = append(ids, Op("*").Id(c))
			}
			if a.iface != "" {
				ids = []Code{Id(a.iface)}
				ac = append(ac, raw("return append%sMembers(b, v.(%s))", a.iface, a.iface))
			}
			app = append(app, Case(ids...).Block(ac...))
		}
	}
	if u.Default != nil && u.Other == nil {
		other = ""
	}
	keep := []Code{raw("r := d.Raw()"), raw("if d.Failed() { return nil }"), raw("return &%s{Tag: string(tag), Raw: r}", other)}
	if u.Tag != "" {
		dec = append(dec, raw("tag, found := d.Tag(%q)", u.Tag))
		if u.Default == nil {
			dec = append(dec, raw("if !found").(*Statement).Block(
				map[bool]Code{true: raw("if d.Peek() == '{' && !d.Failed() { return nil }"), false: raw("if !d.Failed() { if d.Peek() == '{' { d.Missing(m, 0, %q) } else { d.Obj() } }", u.Tag)}[u.Absent != nil],
				raw("return nil")))
		} else {
			dec = append(dec, raw("_ = found"))
		}
		dec = append(dec, Switch(raw("string(tag)")).Block(cases...))
	} else {
		dec = append(dec, raw("var tag []byte"), raw("_ = m"))
		dec = append(dec, keyCases...)
	}
	if other != "" {
		dec = append(dec, keep...)
	}
	g.f.Func().Id("decode" + iface).Params(Id("d").Op("*").Qual(jx, "Dec")).Id(iface).Block(dec...)
	nilCase := raw("if v == nil { return b }")
	sw := []Code{nilCase}
	if len(app) > 0 {
		sw = append(sw, Switch(raw("v.(type)")).Block(app...))
	}
	sw = append(sw, raw("return v.appendMembers(b)"))
	g.f.Func().Id("append"+iface+"Members").Params(Id("b").Index().Byte(), Id("v").Id(iface)).Index().Byte().Block(sw...)
	oc := Code(Null())
	if other != "" {
		oc = raw("if o, ok := v.(*%s); ok { return append(b, o.Raw...) }", other)
	}
	g.f.Func().Id("append"+iface).Params(Id("b").Index().Byte(), Id("v").Id(iface)).Index().Byte().Block(
		oc,
		raw("b = append(b, '{')"), raw("b = append%sMembers(b, v)", iface), raw("return append(b, '}')"))
	g.f.Commentf("Decode%s reads one value, for use outside a generated struct.", iface)
	g.f.Func().Id("Decode"+iface).Params(Id("b").Index().Byte()).Params(Id(iface), Error()).Block(raw("d := jx.New(b)"), raw("v := decode%s(d)", iface), raw("d.End()"), raw("return v, d.Err()"))
	g.f.Func().Id("Append"+iface).Params(Id("b").Index().Byte(), Id("v").Id(iface)).Index().Byte().Block(raw("return append%s(b, v)", iface))
}

func (g *gen) requiredOf(v *ir.Variant) []string {
	if v.Ref == "" {
		return v.Keys
	}
	var out []string
	for _, f := range g.s.ByName[v.Ref].Fields {
		if f.Presence == ir.Required {
			out = append(out, f.Wire)
		}
	}
	return out
}

func quoteList(l []string) string {
	var q []string
	for _, s := range l {
		q = append(q, `"`+s+`"`)
	}
	return strings.Join(q, ", ")
}
