package golang

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// unionCodec emits the codecs of sealed interfaces.
func (g *gen) unionCodec(f *jen.File) {
	g.eachUnion(func(t *ir.Type, n string, u *ir.Union) {
		top := n == g.goType(t.Name)
		switch {
		case t.Kind == ir.ByType:
			g.decodeByType(f, t, n)
			g.encodeByType(f, n)
		case u.Tag != "":
			g.decodeTagged(f, n, u)
			g.encodeUnion(f, n, u, top)
		default:
			g.decodeByKeys(f, n, u)
			g.encodeUnion(f, n, u, top)
		}
		if !top {
			return
		}
		g.claims.claim("Decode"+n, n+"/decode")
		comment(f, "Decode"+n+" decodes "+a(n)+" from JSON text. Use Pointer to find the place of an error.")
		f.Func().Id("Decode"+n).Params(bytesParam()).Params(jen.Id(n), jen.Error()).Block(
			line("var d %s", g.in("Dec")), line("d.Reset(b)"), line("v := decode%s(&d, nil)", n), line("d.End()"),
			block(line("if err := d.Err(); err != nil"), line("return nil, err")),
			line("return v, nil"))
	})
}

// decodeTagged emits the decoder of a tagged union: it finds the tag, then the
// variant reads the whole object.
func (g *gen) decodeTagged(f *jen.File, n string, u *ir.Union) {
	needed := u.Default == nil && u.Absent == nil
	var body, cases []jen.Code
	if needed {
		body = append(body, line("m := d.Mark()"))
	}
	body = append(body,
		line("o := %s{Up: outer, Tag: %q}", g.in("Outer"), u.Tag),
		line("tag, found := d.TagIn(&o)"),
		block(line("if d.Failed()"), line("return nil")))
	for _, a := range g.arms[n] {
		switch a.v {
		case u.Default:
			body = append(body, block(line("if !found"), g.decodeArm(n, a, "outer")...))
		case u.Absent:
			body = append(body, block(line("if !found"), g.decodeArm(n, a, "&o")...))
		}
	}
	if needed {
		body = append(body, block(line("if !found"), line("d.NoTag(m, %q)", u.Tag), line("return nil")))
	}
	for _, a := range g.arms[n] {
		if a.v.Wire != "" {
			cases = append(cases, jen.Case(jen.Lit(a.v.Wire)).Block(g.decodeArm(n, a, "&o")...))
		}
	}
	body = append(body, jen.Switch(line("string(tag)")).Block(cases...))
	if g.hasOther(u) {
		body = append(body,
			line("x := &%s{Tag: string(tag)}", g.otherName(n)),
			line("x.decode(d, &o)"),
			line("return x"))
	} else {
		for _, a := range g.arms[n] {
			if a.v == u.Default { // closed: an unknown tag is a member of the variant without one
				body = append(body, g.decodeArm(n, a, "outer")...)
			}
		}
	}
	f.Func().Id("decode"+n).Params(g.dec(), g.outer()).Id(n).Block(body...)
}

// decodeArm emits the code that decodes one variant of a union and returns it.
func (g *gen) decodeArm(union string, a arm, outer string) []jen.Code {
	switch {
	case a.iface:
		return []jen.Code{
			line("x := decode%s(d, %s)", a.name, outer),
			block(line("if x == nil"), line("return nil")),
			line("return x.(%s)", union)}
	case a.alias != "":
		return []jen.Code{line("x := new(%s)", a.name), line("(*%s)(x).decode(d, %s)", a.alias, outer), line("return x")}
	}
	return []jen.Code{line("x := new(%s)", a.name), line("x.decode(d, %s)", outer), line("return x")}
}

// decodeByKeys emits the decoder of a union whose variants differ in their
// required members. It chooses the first variant whose members are all present.
// Where exactly one may fit, the members of another one are an error.
func (g *gen) decodeByKeys(f *jen.File, n string, u *ir.Union) {
	var body []jen.Code
	var want []string
	for i, a := range g.arms[n] {
		decode := g.decodeArm(n, a, "outer")
		for _, b := range g.arms[n][i+1:] {
			if u.Keyword == "oneOf" && !within(a.v.Keys, b.v.Keys) && !within(b.v.Keys, a.v.Keys) {
				both := fmt.Sprintf("either a member %s, or %s", strings.Join(a.v.Keys, " and "), strings.Join(b.v.Keys, " and "))
				decode = append([]jen.Code{block(line("if d.HasKeys(%s)", quoted(b.v.Keys)),
					line("d.NoVariant(d.Mark(), %q, %q)", n, both), line("return nil"))}, decode...)
			}
		}
		body = append(body, block(line("if d.HasKeys(%s)", quoted(a.v.Keys)), decode...))
		want = append(want, strings.Join(a.v.Keys, " and "))
	}
	if len(g.arms[n]) == 1 { // there is no choice: the variant reports what is wrong
		body = g.decodeArm(n, g.arms[n][0], "outer")
	} else {
		body = append(body, line("d.NoVariant(d.Mark(), %q, %q)", n, "a member "+strings.Join(want, ", or ")), line("return nil"))
	}
	f.Func().Id("decode"+n).Params(g.dec(), g.outer()).Id(n).Block(body...)
}

func within(some, all []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

func (g *gen) appendTag(tag, value string) []jen.Code {
	return []jen.Code{
		line("b = append(%s(b), %s...)", g.in("Comma"), rawText(nameLit(tag))),
		line("b = %s(b, %s)", g.in("AppendString"), rawText(value)),
	}
}

// encodeUnion emits the function that names the variant, and the encoders that
// write the name.
func (g *gen) encodeUnion(f *jen.File, n string, u *ir.Union, top bool) {
	tagged := g.unionTag(f, n, u)
	write := func(tag string) jen.Code {
		return line("b = %s(append(%s(b), %s...), %s)", g.in("AppendString"), g.in("Comma"), rawText(nameLit(u.Tag)), rawText(tag))
	}
	sw, cases := line("v.(type)"), []jen.Code{jen.Case(jen.Nil()).Block(g.appendNoVariant(n))}
	if g.hasOther(u) {
		do := []jen.Code{block(line("if v == nil"), g.appendFault("nil *"+g.otherName(n)))}
		if tags := g.tags(n); len(tags) > 0 {
			why := strconv.Quote(g.otherName(n)+" has a known "+u.Tag+": ") + " + v.Tag"
			do = append(do, jen.Switch(line("v.Tag")).Block(
				jen.Case(rawText(quoted(tags))).Block(line("return %s(b, %s)", g.in("AppendFault"), rawText(why)))))
		}
		if tagged { // an empty tag differs from a missing one
			do = append(do, write("v.Tag"), line("return v.appendMembers(b)"))
		}
		sw, cases = line("v := v.(type)"), append(cases, jen.Case(jen.Op("*").Id(g.otherName(n))).Block(do...))
	}
	body := []jen.Code{jen.Switch(sw).Block(cases...)}
	known := func(tag string) jen.Code { // it needs no escapes
		return line("b = append(append(append(%s(b), %s...), %s...), '\"')", g.in("Comma"), rawText(goLit(jsonText(u.Tag)+`:"`)), rawText(tag))
	}
	switch {
	case tagged && g.allTagged(n):
		body = append(body, known(n+"Tag(v)"))
	case tagged:
		body = append(body, block(line("if tag := %sTag(v); tag != \"\"", n), known("tag")))
	}
	for _, a := range g.arms[n] {
		if a.iface && a.tag != "" {
			body = append(body, block(line("if v, ok := v.(%s); ok", a.name), line("return append%sMembers(b, v)", a.name)))
		}
	}
	f.Func().Id("append"+n+"Members").Params(bytesParam(), jen.Id("v").Id(n)).Index().Byte().Block(
		append(body, line("return v.appendMembers(b)"))...)
	if top {
		g.appendFunc(f, n, line("return append(append%sMembers(append(b, '{'), v), '}')", n))
	}
}

// unionTag emits XTag, which names the variant of a value. It reports whether the
// union has tags.
func (g *gen) unionTag(f *jen.File, n string, u *ir.Union) bool {
	var cases []jen.Code
	uses := ""
	if g.hasOther(u) {
		uses = "v := "
		cases = append(cases, jen.Case(jen.Op("*").Id(g.otherName(n))).Block(line("return v.Tag")))
	}
	for _, a := range g.arms[n] {
		if a.tag == "" {
			continue
		}
		typ := jen.Op("*").Id(a.name)
		if a.iface {
			typ = jen.Id(a.name)
		}
		cases = append(cases, jen.Case(typ).Block(line("return %q", a.tag)))
	}
	if len(cases) == 0 {
		return false
	}
	g.claims.claim(n+"Tag", n+"/tag")
	comment(f, n+"Tag returns the "+u.Tag+" of v, which names its variant, or \"\" if it has none.")
	f.Func().Id(n+"Tag").Params(jen.Id("v").Id(n)).String().Block(
		jen.Switch(line("%sv.(type)", uses)).Block(cases...), line(`return ""`))
	return true
}

// allTagged reports whether every variant of a union has a tag.
func (g *gen) allTagged(union string) bool {
	return !slices.ContainsFunc(g.arms[union], func(a arm) bool { return a.tag == "" })
}

// appendNoVariant emits the encoding of a nil union.
func (g *gen) appendNoVariant(union string) jen.Code {
	return line("return %s(b, %q)", g.in("AppendFault"), union+" is nil: no variant is set")
}

// tags lists the tags of the variants of a union.
func (g *gen) tags(union string) []string {
	var tags []string
	for _, a := range g.arms[union] {
		if a.tag != "" && !a.iface {
			tags = append(tags, a.tag)
		}
	}
	return tags
}

// appendFunc emits AppendX, the encoder of a whole union value.
func (g *gen) appendFunc(f *jen.File, n string, do ...jen.Code) {
	g.claims.claim("Append"+n, n+"/append")
	comment(f, "Append"+n+" appends v as JSON text, with its tag. The methods of a variant do not know the tag, so encode unions with this. A message with a nil v cannot be sent.")
	f.Func().Id("Append"+n).Params(bytesParam(), jen.Id("v").Id(n)).Index().Byte().Block(do...)
}
