package schema

import (
	"slices"

	"github.com/atombender/go-jsonschema/pkg/schemas"
)

// checkParity reports every keyword that both passes know and disagree about.
// A definition that one of them misses is reported too.
func checkParity(d *Document, p *problems) {
	root := schemas.Type{}
	if d.Typed.ObjectAsType != nil {
		root = schemas.Type(*d.Typed.ObjectAsType)
	}
	parity(d.Raw, &root, p)
	if len(d.Defs) != len(d.Typed.Definitions) {
		p.add(d.Raw, "$defs: raw pass has %d, typed pass %d", len(d.Defs), len(d.Typed.Definitions))
	}
	for _, name := range d.Defs {
		if t := d.Typed.Definitions[name]; t != nil {
			parity(d.Def(name), t, p)
		} else {
			p.add(d.Def(name), "the typed pass lost this definition")
		}
	}
}

func parity(n *Node, t *schemas.Type, p *problems) {
	if n.Kind != '{' { // a boolean schema: the typed pass writes it as an object
		return
	}
	if t == nil {
		p.add(n, "the typed pass lost this schema")
		return
	}
	differ := func(keyword string, raw, typed any) {
		p.add(n, "passes disagree about %s: raw %v, typed %v", keyword, raw, typed)
	}
	text := func(keyword, typed string) {
		if raw := n.Get(keyword).Text(); raw != typed {
			differ(keyword, raw, typed)
		}
	}
	text("$ref", t.Ref)
	text("title", t.Title)
	text("format", t.Format)
	text("pattern", t.Pattern)

	// The typed pass adds "object" where members are listed without a type.
	if types := n.Types(); types != nil && !slices.Equal(types, []string(t.Type)) {
		differ("type", types, t.Type)
	}
	var required []string
	if r := n.Get("required"); r != nil {
		for _, e := range r.Arr {
			required = append(required, e.Text())
		}
	}
	if !slices.Equal(required, t.Required) {
		differ("required", required, t.Required)
	}
	if c := n.Get("const"); c != nil {
		if s, ok := t.Const.(string); c.Kind == '"' && (!ok || s != c.Str) {
			differ("const", c.JSON(), t.Const)
		}
	} else if t.Const != nil {
		differ("const", nil, t.Const)
	}
	if raw := elements(n, "enum"); len(raw) != len(t.Enum) {
		differ("enum", len(raw), len(t.Enum))
	}
	number(n, "minimum", t.Minimum, differ)
	number(n, "maximum", t.Maximum, differ)
	count(n, "minItems", t.MinItems, differ)
	count(n, "minLength", t.MinLength, differ)
	nested(n, t, p, differ)
}

// nested compares the schemas below n.
func nested(n *Node, t *schemas.Type, p *problems, differ func(string, any, any)) {
	props := n.Get("properties")
	var names []string
	if props != nil {
		names = props.Keys
	}
	if len(names) != len(t.Properties) {
		differ("properties", len(names), len(t.Properties))
	}
	for _, k := range names {
		parity(props.Obj[k], t.Properties[k], p)
	}
	for _, list := range []struct {
		keyword string
		typed   []*schemas.Type
	}{{"allOf", t.AllOf}, {"anyOf", t.AnyOf}, {"oneOf", t.OneOf}} {
		raw := elements(n, list.keyword)
		if len(raw) != len(list.typed) {
			differ(list.keyword, len(raw), len(list.typed))
			continue
		}
		for i := range raw {
			parity(raw[i], list.typed[i], p)
		}
	}
	for _, one := range []struct {
		keyword string
		typed   *schemas.Type
	}{{"items", t.Items}, {"not", t.Not}, {"additionalProperties", t.AdditionalProperties}} {
		raw := n.Get(one.keyword)
		if (raw == nil) != (one.typed == nil) {
			differ(one.keyword, raw != nil, one.typed != nil)
			continue
		}
		if raw != nil {
			parity(raw, one.typed, p)
		}
	}
}

func elements(n *Node, keyword string) []*Node {
	if a := n.Get(keyword); a != nil {
		return a.Arr
	}
	return nil
}

func number(n *Node, keyword string, typed *float64, differ func(string, any, any)) {
	raw := n.Get(keyword)
	switch {
	case raw == nil && typed == nil:
	case raw == nil || typed == nil:
		differ(keyword, raw != nil, typed != nil)
	default:
		if f, err := raw.Num.Float64(); err != nil || f != *typed {
			differ(keyword, raw.Num, *typed)
		}
	}
}

// count compares a limit for which the typed pass cannot distinguish 0 from
// absent.
func count(n *Node, keyword string, typed int, differ func(string, any, any)) {
	var raw int64
	if c := n.Get(keyword); c != nil {
		raw, _ = c.Num.Int64()
	}
	if raw != int64(typed) {
		differ(keyword, raw, typed)
	}
}
