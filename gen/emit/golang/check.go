package golang

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// A limit is one rule for the value of a member: a Go condition that is true if
// the value breaks the rule.
type limit struct {
	broken             jen.Code
	rule, message, tag string
}

// limits lists the rules for a present member whose value is x.
func (g *gen) limits(m *ir.Field, x string) []limit {
	var out []limit
	add := func(rule, message, tag string, broken *jen.Statement) {
		out = append(out, limit{broken, rule, message, tag})
	}
	text := rawText(x)
	if m.Type.Ref != "" {
		text = rawText("string(" + x + ")")
	}
	unsigned := strings.HasPrefix(m.Type.Format, "u")
	if m.Min != "" && !(unsigned && m.Min == "0") {
		add("minimum", "want at least "+m.Min, "minimum="+m.Min, line("%s < %s", x, number(m.Min)))
	}
	if m.Max != "" && !(m.Type.Format == "uint16" && m.Max == "65535") {
		add("maximum", "want at most "+m.Max, "maximum="+m.Max, line("%s > %s", x, number(m.Max)))
	}
	if m.MinLen != "" && m.MinLen != "0" {
		add("minLength", "want at least "+m.MinLen+" "+plural("character", m.MinLen), "minLength="+m.MinLen, line("%s(%s) < %s", g.in("Len"), text, number(m.MinLen)))
	}
	if m.MinItems != "" && m.MinItems != "0" {
		add("minItems", "want at least "+m.MinItems+" "+plural("item", m.MinItems), "minItems="+m.MinItems, line("len(%s) < %s", x, number(m.MinItems)))
	}
	switch m.Type.Format {
	case "uri":
		add("format", "want a URI", "uri", line("!%s(%s)", g.in("IsURI"), text))
	case "date-time":
		add("format", "want an RFC 3339 date and time", "date-time", line("!%s(%s)", g.in("IsDateTime"), text))
	}
	if m.Encoding == "base64" {
		add("contentEncoding", "want base64", "base64", line("!%s(%s)", g.in("IsBase64"), text))
	}
	return out
}

// decodeLimits lists the rules that decoding applies, for members where a bad
// value becomes the default. The text of a base64 member stays as it is until a
// program decodes it. A list that is too short because bad elements were dropped
// is kept.
func (g *gen) decodeLimits(m *ir.Field, x string) []limit {
	var out []limit
	for _, l := range g.limits(m, x) {
		if m.OnError && l.rule != "contentEncoding" && l.rule != "minItems" {
			out = append(out, l)
		}
	}
	return out
}

// number ensures that a limit from a schema is only a number.
func number(s string) string {
	if _, err := strconv.ParseFloat(s, 64); err != nil {
		return strconv.Quote(s)
	}
	return s
}

// checkTag is the struct tag with the rules of a member for acp.Check, empty
// when there is none.
func (g *gen) checkTag(m *ir.Field) string {
	var rules []string
	for _, l := range g.limits(m, "") {
		rules = append(rules, l.tag)
	}
	r := m.Type
	for r.Elem != nil {
		r = *r.Elem
	}
	if r.Ref == "" {
		return strings.Join(rules, " ")
	}
	switch t := g.Spec.Resolve(r.Ref); {
	case t.Hand != "":
		// One type is used for the ids of all versions; only some of them allow null.
		if t.Kind == ir.ByType && !slices.ContainsFunc(t.Union.Variants, func(v *ir.Variant) bool { return v.Type.Prim == "null" }) {
			rules = append(rules, "id")
		}
	case t.Kind == ir.EnumStr && !t.Open:
		rules = append(rules, "enum")
	case t.Kind == ir.ByType:
		// The lists among the variants have no field of their own to hold a tag.
		for _, v := range t.Union.Variants {
			if v.MinItems != "" && v.MinItems != "0" && !slices.Contains(rules, "minItems="+v.MinItems) {
				rules = append(rules, "minItems="+v.MinItems)
			}
		}
	}
	return strings.Join(rules, " ")
}
