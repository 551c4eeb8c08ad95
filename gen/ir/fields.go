package ir

import "github.com/hermes-nvim/hermes/schema"

// fields lowers the members of an object. owner names it in the overlay.
func (l *lowering) fields(owner string, n *schema.Node) []*Field {
	required := map[string]bool{}
	for _, r := range list(n.Get("required")) {
		required[r.Str] = true
	}
	ps := n.Get("properties")
	if ps == nil {
		return nil
	}
	var out []*Field
	for _, k := range ps.Keys {
		out = append(out, l.field(owner, k, ps.Obj[k], required[k]))
	}
	return out
}

func (l *lowering) field(owner, wire string, n *schema.Node, required bool) *Field {
	key := owner + "." + wire
	f := &Field{
		Wire: wire, Doc: l.overlay.Words.Member(owner, wire),
		OnError:     n.Get("x-deserialize-default-on-error").True(),
		OnNull:      n.Get("x-deserialize-default-on-null").True(),
		SkipInvalid: n.Get("x-deserialize-skip-invalid-items").True(),
		Encoding:    n.Get("contentEncoding").Text(),
		Const:       n.Get("const").Text(),
		Secret:      l.overlay.Secrets.Has(key),
	}
	ref, nullable := l.typeRef(n)
	f.Type = ref
	switch {
	case required && nullable:
		l.fail(n.Ptr, "a required member that may be null")
	case required:
		f.Presence = Required
	case l.overlay.Patches[key]:
		f.Presence = Patch
	case nullable:
		f.Presence = Nullable
	default:
		f.Presence = Optional
	}
	if l.overlay.Strict.Has(key) {
		f.Strict, f.OnError, f.SkipInvalid = true, false, false
	}
	if d := n.Get("default"); d != nil {
		f.HasDefault, f.Default = true, d.JSON()
	}
	for _, k := range []struct {
		keyword string
		to      *string
	}{{"minimum", &f.Min}, {"maximum", &f.Max}, {"minLength", &f.MinLen}, {"minItems", &f.MinItems}} {
		if x := n.Get(k.keyword); x != nil {
			*k.to = x.Num.String()
			if _, err := x.Num.Int64(); err != nil && ref.Prim != "number" {
				l.fail(x.Ptr, "%s is %s, which is not an integer", k.keyword, *k.to)
			}
		}
	}
	if f.Encoding != "" && (f.Encoding != "base64" || ref.Prim != "string") {
		l.fail(n.Ptr, "contentEncoding %q of a %s; only base64 strings are known", f.Encoding, ref.Prim)
	}
	return f
}

// typeRef lowers the type of a member or element, and says whether null is
// allowed beside it.
func (l *lowering) typeRef(n *schema.Node) (ref TypeRef, nullable bool) {
	if r := n.Ref(); r != "" {
		return TypeRef{Ref: r}, false
	}
	if _, branches := alternatives(n); branches != nil {
		var keep []*schema.Node
		for _, b := range branches {
			if b.Get("type").Text() == "null" {
				nullable = true
				continue
			}
			keep = append(keep, b)
		}
		if len(keep) != 1 {
			l.fail(n.Ptr, "a union without a name; give it a definition")
			return TypeRef{Prim: "any"}, nullable
		}
		ref, _ = l.typeRef(keep[0])
		return ref, nullable
	}
	ty := n.Get("type").Text()
	for _, t := range list(n.Get("type")) {
		switch {
		case t.Str == "null":
			nullable = true
		case ty != "":
			l.fail(n.Ptr, "several types %s", n.Get("type").JSON())
		default:
			ty = t.Str
		}
	}
	switch format := n.Get("format").Text(); ty {
	case "":
		if n.Has("properties") {
			l.fail(n.Ptr, "an object without a name; give it a definition")
		}
		return TypeRef{Prim: "any"}, nullable
	case "null":
		return TypeRef{Prim: "null"}, true
	case "string", "boolean", "integer", "number":
		return TypeRef{Prim: ty, Format: format}, nullable
	case "array":
		elem := TypeRef{Prim: "any"}
		if it := n.Get("items"); it != nil {
			elem = l.element(it)
		}
		return TypeRef{Elem: &elem}, nullable
	case "object":
		if n.Has("properties") {
			l.fail(n.Ptr, "an object without a name; give it a definition")
		}
		ap := n.Get("additionalProperties")
		if ap == nil || ap.Kind == 't' {
			return TypeRef{Prim: "meta"}, nullable
		}
		if ap.Kind != '{' {
			l.fail(n.Ptr, "an object that allows no members")
			return TypeRef{Prim: "meta"}, nullable
		}
		elem := l.element(ap)
		return TypeRef{Elem: &elem, Map: true}, nullable
	}
	l.fail(n.Ptr, "unknown type %q", ty)
	return TypeRef{Prim: "any"}, nullable
}

func (l *lowering) element(n *schema.Node) TypeRef {
	ref, nullable := l.typeRef(n)
	if nullable {
		l.fail(n.Ptr, "an element that may be null")
	}
	return ref
}

func list(n *schema.Node) []*schema.Node {
	if n == nil {
		return nil
	}
	return n.Arr
}
