// Package ir is the intermediate representation between loading and emitting.
package ir

import (
	"fmt"
	"sort"
	"strings"

	"github.com/hermes-nvim/hermes/schema"
)

type Kind string

const (
	Object   Kind = "object"              // plain struct
	String   Kind = "string newtype"      // type X string
	Integer  Kind = "integer newtype"     // type X uint16
	EnumStr  Kind = "string enum"         // closed or open
	EnumInt  Kind = "integer enum"        // ErrorCode
	Tagged   Kind = "tagged union"        // one JSON member selects the variant
	ByKeys   Kind = "key-selected union"  // required members select the variant (no tag)
	ByType   Kind = "type-selected union" // JSON type (or element shape) selects the variant
	Any      Kind = "any"                 // {}
	Alias    Kind = "alias"               // same payload as another definition
	Envelope Kind = "envelope"            // JSON-RPC frame, not emitted as a type
)

// Type is one $defs entry.
type Type struct {
	Name         string
	Kind         Kind
	Doc          string
	Format       string // integer newtypes
	Open         bool   // enum/union accepts unknown values
	Values       []Value
	Fields       []*Field // own fields (shared fields of a flattened union)
	Union        *Union
	Side, Method string
	Target       string // alias
	Node         *schema.Node
}

type Value struct{ Wire, Doc, Title string }

// Union describes alternatives. Base fields live in Type.Fields.
type Union struct {
	Keyword  string // oneOf | anyOf
	Tag      string
	Declared bool // has a `discriminator` object
	Variants []*Variant
	Other    *Variant // open fallback (title other + not), nil when closed
	Default  *Variant // variant without the tag
	Absent   *Variant // variant chosen when the tag is null/missing (IdleStateUpdate "none")
}

type Variant struct {
	Wire   string // tag value
	Title  string
	Doc    string
	Ref    string   // merged payload
	Fields []*Field // inline payload
	Nested *Union   // union inside the variant (CreateElicitationRequest.other)
	Keys   []string // required members, for ByKeys
	Node   *schema.Node
}

// TypeRef is the type of a field or element.
type TypeRef struct {
	Ref    string // named type
	Prim   string // string int number bool any null meta
	Format string
	Elem   *TypeRef // array or map element
	Map    bool
	Inline *Type
}

type Presence string

const (
	Required Presence = "required"
	Optional Presence = "optional"          // absent == zero, never null
	Nullable Presence = "optional nullable" // absent == null
	Patch    Presence = "patch (absent/null/value)"
)

type Field struct {
	Wire, Doc                                   string
	Type                                        TypeRef
	Presence                                    Presence
	HasDefault                                  bool
	Default                                     string
	OnError, OnNull, SkipInvalid                bool
	Min, Max, MinLen, MinItems, Encoding, Const string
}

type Spec struct {
	Types   []*Type
	ByName  map[string]*Type
	Methods []*Method
}

// Patches lists members with three states. JSON Schema cannot express it (an
// optional `["string","null"]` looks the same either way), so it is data kept
// beside the schema and checked by PatchLint.
type Patches map[string]bool // "Type.member"

func Lower(d *schema.Document, patches Patches) (*Spec, error) {
	s := &Spec{ByName: map[string]*Type{}}
	var errs []string
	for _, n := range d.Defs {
		t, err := lowerDef(n, d.Def(n), patches)
		if err != nil {
			errs = append(errs, err.Error())
			continue
		}
		s.Types = append(s.Types, t)
		s.ByName[n] = t
	}
	if len(errs) == 0 {
		var err error
		if s.Methods, err = methods(d, s); err != nil {
			errs = append(errs, err.Error())
		}
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("%s:\n  %s", d.Name, strings.Join(errs, "\n  "))
	}
	return s, nil
}

func alts(n *schema.Node) (string, []*schema.Node) {
	if a := n.Get("oneOf"); a != nil {
		return "oneOf", a.Arr
	}
	if a := n.Get("anyOf"); a != nil {
		return "anyOf", a.Arr
	}
	return "", nil
}

func typeName(n *schema.Node) string { return n.Get("type").Text() }

func lowerDef(name string, n *schema.Node, p Patches) (*Type, error) {
	t := &Type{Name: name, Doc: n.Get("description").Text(), Node: n, Side: n.Get("x-side").Text(), Method: n.Get("x-method").Text()}
	kw, as := alts(n)
	switch {
	case n.Get("x-docs-ignore").True() && t.Method == "" && (strings.HasSuffix(name, "Request") || strings.HasSuffix(name, "Response") || strings.HasSuffix(name, "Notification")):
		t.Kind = Envelope
		return t, nil
	case as == nil && n.Ref() != "":
		t.Kind, t.Target = Alias, n.Ref()
		return t, nil
	case as == nil && typeName(n) == "object":
		t.Kind = Object
		var err error
		t.Fields, err = fields(name, n, p)
		return t, err
	case as == nil && typeName(n) == "string":
		t.Kind = String
		return t, nil
	case as == nil && typeName(n) == "integer":
		t.Kind, t.Format = Integer, n.Get("format").Text()
		return t, nil
	case as == nil && !n.Has("type") && !n.Has("$ref") && !n.Has("allOf"):
		t.Kind = Any
		return t, nil
	case as == nil:
		return nil, fmt.Errorf("%s: unsupported shape %s", name, n.JSON())
	}
	// enum?
	if ty, open, ok := enum(as, t); ok {
		t.Open = open
		t.Kind = EnumStr
		if ty == "integer" {
			t.Kind, t.Format = EnumInt, as[0].Get("format").Text()
		}
		return t, nil
	}
	var err error
	if n.Has("properties") {
		if t.Fields, err = fields(name, n, p); err != nil {
			return nil, err
		}
	}
	t.Union, t.Kind, err = union(name, kw, as, p)
	if err != nil {
		return nil, err
	}
	t.Union.Declared = n.Has("discriminator")
	if dn := n.Get("discriminator"); dn != nil && dn.Get("propertyName").Text() != t.Union.Tag {
		return nil, fmt.Errorf("%s: discriminator %q but the constants are in %q", name, dn.Get("propertyName").Text(), t.Union.Tag)
	}
	t.Open = t.Union.Other != nil
	return t, nil
}

func enum(as []*schema.Node, t *Type) (ty string, open, ok bool) {
	var vals []Value
	for _, a := range as {
		aty := typeName(a)
		if (aty != "string" && aty != "integer") || (ty != "" && aty != ty) {
			return "", false, false
		}
		ty = aty
		c := a.Get("const")
		if c == nil {
			if open {
				return "", false, false
			}
			open = true
			continue
		}
		w := c.Str
		if c.Kind == '0' {
			w = c.Num.String()
		}
		vals = append(vals, Value{w, a.Get("description").Text(), a.Get("title").Text()})
	}
	if len(vals) == 0 {
		return "", false, false
	}
	t.Values = vals
	return ty, open, true
}

func union(name, kw string, as []*schema.Node, p Patches) (*Union, Kind, error) {
	u := &Union{Keyword: kw}
	// the tag is the member that carries a const in every variant that has one
	for _, a := range as {
		if ps := a.Get("properties"); ps != nil {
			for _, k := range ps.Keys {
				if ps.Obj[k].Has("const") {
					if u.Tag != "" && u.Tag != k {
						return nil, "", fmt.Errorf("%s: two tags %q and %q", name, u.Tag, k)
					}
					u.Tag = k
				}
			}
		}
	}
	allObj := true
	for _, a := range as {
		v := &Variant{Title: a.Get("title").Text(), Doc: a.Get("description").Text(), Ref: a.Ref(), Node: a}
		if al := a.Get("allOf"); al != nil && v.Ref == "" {
			if len(al.Arr) != 1 {
				return nil, "", fmt.Errorf("%s: allOf with %d members", a.Ptr, len(al.Arr))
			}
			v.Ref = al.Arr[0].Ref()
		}
		if r := a.Get("required"); r != nil {
			for _, e := range r.Arr {
				v.Keys = append(v.Keys, e.Str)
			}
		}
		if ps := a.Get("properties"); ps != nil {
			fs, err := fields(name, a, p)
			if err != nil {
				return nil, "", err
			}
			for _, f := range fs {
				if f.Wire == u.Tag {
					v.Wire = f.Const
					continue
				}
				v.Fields = append(v.Fields, f)
			}
			if nk, na := alts(a); na != nil {
				var err error
				if v.Nested, _, err = union(name+"."+v.Title, nk, na, p); err != nil {
					return nil, "", err
				}
			}
			switch {
			case u.Tag == "": // ByKeys inline
				u.Variants = append(u.Variants, v)
			case v.Wire != "":
				u.Variants = append(u.Variants, v)
			case a.Has("not"):
				u.Other = v
			case ps.Get(u.Tag) != nil && typeName(ps.Get(u.Tag)) == "null":
				u.Absent = v
			default:
				u.Default = v
			}
			continue
		}
		if v.Ref != "" && u.Tag != "" {
			u.Default = v
			continue
		}
		if v.Ref == "" {
			allObj = false
		}
		u.Variants = append(u.Variants, v)
	}
	switch {
	case u.Tag != "":
		return u, Tagged, nil
	case allObj:
		return u, ByKeys, nil
	default:
		return u, ByType, nil
	}
}

func fields(owner string, n *schema.Node, p Patches) ([]*Field, error) {
	req := map[string]bool{}
	if r := n.Get("required"); r != nil {
		for _, e := range r.Arr {
			req[e.Str] = true
		}
	}
	ps := n.Get("properties")
	if ps == nil {
		return nil, nil
	}
	var out []*Field
	for _, k := range ps.Keys {
		c := ps.Obj[k]
		f := &Field{Wire: k, Doc: c.Get("description").Text(), OnError: c.Get("x-deserialize-default-on-error").True(), OnNull: c.Get("x-deserialize-default-on-null").True(), SkipInvalid: c.Get("x-deserialize-skip-invalid-items").True()}
		tr, nullable, err := typeRef(c)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", owner, k, err)
		}
		f.Type = tr
		switch {
		case req[k]:
			f.Presence = Required
		case p[owner+"."+k]:
			f.Presence = Patch
		case nullable:
			f.Presence = Nullable
		default:
			f.Presence = Optional
		}
		if d := c.Get("default"); d != nil {
			f.HasDefault, f.Default = true, d.JSON()
		}
		for kw, dst := range map[string]*string{"minimum": &f.Min, "maximum": &f.Max, "minLength": &f.MinLen, "minItems": &f.MinItems} {
			if x := c.Get(kw); x != nil {
				*dst = x.Num.String()
			}
		}
		f.Encoding = c.Get("contentEncoding").Text()
		f.Const = c.Get("const").Text()
		out = append(out, f)
	}
	return out, nil
}

func typeRef(c *schema.Node) (TypeRef, bool, error) {
	if r := c.Ref(); r != "" {
		return TypeRef{Ref: r}, false, nil
	}
	if _, as := alts(c); as != nil {
		var keep []*schema.Node
		null := false
		for _, a := range as {
			if typeName(a) == "null" {
				null = true
				continue
			}
			keep = append(keep, a)
		}
		if len(keep) == 1 {
			tr, _, err := typeRef(keep[0])
			return tr, null, err
		}
		u, k, err := union(c.Ptr, "anyOf", keep, nil)
		if err != nil {
			return TypeRef{}, false, err
		}
		return TypeRef{Inline: &Type{Kind: k, Union: u, Node: c}}, null, nil
	}
	ty, null := typeName(c), false
	if t := c.Get("type"); t != nil && t.Kind == '[' {
		for _, e := range t.Arr {
			if e.Str == "null" {
				null = true
			} else if ty != "" {
				return TypeRef{}, false, fmt.Errorf("several types %s", t.JSON())
			} else {
				ty = e.Str
			}
		}
	}
	switch ty {
	case "":
		return TypeRef{Prim: "any"}, null, nil
	case "null":
		return TypeRef{Prim: "null"}, true, nil
	case "string", "boolean":
		return TypeRef{Prim: ty, Format: c.Get("format").Text()}, null, nil
	case "integer", "number":
		return TypeRef{Prim: ty, Format: c.Get("format").Text()}, null, nil
	case "array":
		it := c.Get("items")
		if it == nil {
			return TypeRef{Elem: &TypeRef{Prim: "any"}}, null, nil
		}
		el, _, err := typeRef(it)
		return TypeRef{Elem: &el}, null, err
	case "object":
		ap := c.Get("additionalProperties")
		if ap == nil && c.Has("properties") {
			return TypeRef{}, false, fmt.Errorf("anonymous object %s", c.JSON())
		}
		if ap == nil || ap.Kind == 't' {
			return TypeRef{Prim: "meta"}, null, nil
		}
		el, _, err := typeRef(ap)
		return TypeRef{Elem: &el, Map: true}, null, err
	}
	return TypeRef{}, false, fmt.Errorf("unsupported type %q", ty)
}

// Method is one row of the method table.
type Method struct {
	Wire                            string
	Handler                         string // side that implements it: agent, client, proxy, protocol
	Request, Response, Notification string
}

func (m *Method) Kind() string {
	switch {
	case m.Request != "" && m.Notification != "":
		return "request+notification"
	case m.Request != "":
		return "request"
	}
	return "notification"
}

// methods derives the table from x-side/x-method and cross-checks it against
// the JSON-RPC envelopes, which are the only place that says what is a
// request, a response and a notification without trusting a name suffix.
func methods(d *schema.Document, s *Spec) ([]*Method, error) {
	role := map[string][]string{} // definition -> envelope roles "agent:request"
	var refs func(n *schema.Node, f func(string))
	refs = func(n *schema.Node, f func(string)) {
		if r := n.Ref(); r != "" {
			f(r)
			return
		}
		for _, k := range n.Keys {
			refs(n.Obj[k], f)
		}
		for _, e := range n.Arr {
			refs(e, f)
		}
	}
	add := func(n *schema.Node, r string) {
		if n != nil {
			refs(n, func(x string) { role[x] = append(role[x], r) })
		}
	}
	for _, t := range s.Types {
		if t.Kind != Envelope {
			continue
		}
		for _, kind := range []string{"Request", "Response", "Notification"} {
			if strings.HasSuffix(t.Name, kind) {
				sender := strings.ToLower(strings.TrimSuffix(t.Name, kind))
				if kind == "Response" {
					add(t.Node.Get("anyOf").Arr[0].Get("properties").Get("result"), sender+":response")
				} else {
					add(t.Node.Get("properties").Get("params"), sender+":"+strings.ToLower(kind))
				}
			}
		}
	}
	for _, a := range d.Raw.Get("anyOf").Arr { // inline ProtocolLevel frame
		if a.Get("title").Text() == "ProtocolLevel" {
			add(a.Get("properties").Get("params"), "protocollevel:notification")
			if r := a.Ref(); r != "" {
				_ = r
			}
		}
	}
	byKey := map[string]*Method{}
	var out []*Method
	var errs []string
	for _, t := range s.Types {
		if t.Method == "" {
			continue
		}
		if len(role[t.Name]) == 0 {
			errs = append(errs, t.Name+": has x-method but is in no envelope")
			continue
		}
		for _, r := range role[t.Name] {
			sender, kind, _ := strings.Cut(r, ":")
			handler := map[string]string{"agent": "client", "client": "agent", "proxy": "proxy", "protocollevel": "protocol"}[sender]
			if kind == "response" {
				handler = map[string]string{"agent": "agent", "client": "client", "proxy": "proxy"}[sender]
			}
			if t.Side != handler && t.Side != "both" {
				errs = append(errs, fmt.Sprintf("%s: x-side %q, envelope says handler %q", t.Name, t.Side, handler))
			}
			key := handler + " " + t.Method
			m := byKey[key]
			if m == nil {
				m = &Method{Wire: t.Method, Handler: handler}
				byKey[key] = m
				out = append(out, m)
			}
			slot := map[string]*string{"request": &m.Request, "response": &m.Response, "notification": &m.Notification}[kind]
			if *slot != "" && *slot != t.Name {
				errs = append(errs, fmt.Sprintf("%s: %s has two %ss: %s and %s", key, m.Wire, kind, *slot, t.Name))
			}
			*slot = t.Name
		}
	}
	for n := range role {
		if t := s.ByName[n]; t != nil && t.Method == "" && t.Kind != Any {
			errs = append(errs, n+": in an envelope but has no x-method")
		}
	}
	for _, m := range out {
		if (m.Request == "") != (m.Response == "") {
			errs = append(errs, fmt.Sprintf("%s %s: request %q without response %q", m.Handler, m.Wire, m.Request, m.Response))
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].Handler != out[j].Handler {
			return out[i].Handler < out[j].Handler
		}
		return out[i].Wire < out[j].Wire
	})
	if len(errs) > 0 {
		sort.Strings(errs)
		return nil, fmt.Errorf("method table:\n  %s", strings.Join(errs, "\n  "))
	}
	return out, nil
}
