package ir

import (
	"iter"

	"github.com/hermes-nvim/hermes/schema"
)

// union fills t from the branches of n.
func (l *lowering) union(t *Type, n *schema.Node, keyword string, branches []*schema.Node) {
	shared := l.fields(t.Name, n)
	t.Union, t.Kind = l.branches(t.Name, n.Ptr, keyword, branches)
	u := t.Union
	u.Declared = n.Has("discriminator")
	if d := n.Get("discriminator"); d != nil && d.Get("propertyName").Text() != u.Tag {
		l.fail(n.Ptr, "discriminator is %q but the constants are in %q", d.Get("propertyName").Text(), u.Tag)
	}
	for _, f := range shared {
		if f.Wire == u.Tag && u.Tag != "" {
			u.TagOnError = f.OnError
			continue
		}
		t.Fields = append(t.Fields, f)
	}
	if t.Kind == ByType && len(shared) > 0 {
		l.fail(n.Ptr, "members next to branches that need not be objects")
	}
	if u.Absent != nil && (!u.TagOnError || u.Default != nil) {
		l.fail(n.Ptr, "a branch for an absent tag is only known where a bad tag counts as absent, and without another branch that has no tag")
	}
	t.Open = u.Other != nil
}

func (l *lowering) branches(owner, ptr, keyword string, branches []*schema.Node) (*Union, Kind) {
	u := &Union{Keyword: keyword}
	objects := true
	for _, b := range branches {
		objects = objects && (b.Has("properties") || payload(b) != "")
		ps := b.Get("properties")
		if ps == nil {
			continue
		}
		for _, k := range ps.Keys {
			if !ps.Obj[k].Has("const") {
				continue
			}
			if u.Tag != "" && u.Tag != k {
				l.fail(ptr, "two tags, %q and %q", u.Tag, k)
			}
			u.Tag = k
		}
	}
	switch {
	case u.Tag != "":
		for _, b := range branches {
			l.tagged(u, owner, b)
		}
		return u, Tagged
	case objects:
		for _, b := range branches {
			v := l.variant(owner, b)
			v.Fields = l.fields(owner, b)
			for _, r := range list(b.Get("required")) {
				v.Keys = append(v.Keys, r.Str)
			}
			u.Variants = append(u.Variants, v)
		}
		return u, ByKeys
	}
	for _, b := range branches {
		v := l.variant(owner, b)
		ref, nullable := l.typeRef(b)
		if nullable && ref.Prim != "null" {
			l.fail(b.Ptr, "a branch that may be null beside its type")
		}
		v.Type, v.Ref = &ref, ref.Ref
		if x := b.Get("minItems"); x != nil {
			v.MinItems = x.Num.String()
		}
		if v.Title == "" {
			l.fail(b.Ptr, "a branch without a title; nothing names it")
		}
		u.Variants = append(u.Variants, v)
	}
	return u, ByType
}

func (l *lowering) variant(owner string, b *schema.Node) *Variant {
	v := &Variant{Title: b.Get("title").Text(), Ref: payload(b), node: b}
	v.Doc = l.overlay.Words.Variant(owner, v.Title)
	return v
}

// payload is the definition merged into a branch.
func payload(b *schema.Node) string {
	if r := b.Ref(); r != "" {
		return r
	}
	if all := list(b.Get("allOf")); len(all) == 1 {
		return all[0].Ref()
	}
	return ""
}

func (l *lowering) tagged(u *Union, owner string, b *schema.Node) {
	if all := list(b.Get("allOf")); len(all) > 1 {
		l.fail(b.Ptr, "a branch that merges %d definitions", len(all))
	}
	v := l.variant(owner, b)
	tag := b.Get("properties").Get(u.Tag)
	for _, f := range l.fields(owner, b) {
		if f.Wire != u.Tag {
			v.Fields = append(v.Fields, f)
		}
	}
	if v.Ref != "" && len(v.Fields) > 0 {
		l.fail(b.Ptr, "a branch with members and a merged definition")
	}
	if keyword, nested := alternatives(b); nested != nil {
		v.Nested, _ = l.branches(owner+"."+v.Title, b.Ptr, keyword, nested)
	}
	slot := &u.Default
	switch {
	case tag.Has("const"):
		v.Wire = tag.Get("const").Text()
		if v.Wire == "" {
			l.fail(tag.Ptr, "a tag that is not a string")
		}
		for _, x := range u.Variants {
			if x.Wire == v.Wire {
				l.fail(tag.Ptr, "the tag %q is used twice", v.Wire)
			}
		}
		if d := l.overlay.Words.Variant(owner, v.Wire); d != "" {
			v.Doc = d
		}
		u.Variants = append(u.Variants, v)
		return
	case b.Has("not"):
		slot = &u.Other
	case tag.Get("type").Text() == "null":
		slot = &u.Absent
	case tag != nil:
		l.fail(b.Ptr, "an open branch that does not exclude the known tags")
	}
	if *slot != nil {
		l.fail(b.Ptr, "a second branch of this kind in one union")
	}
	if v.Title == "" {
		l.fail(b.Ptr, "a branch without a tag and without a title; nothing names it")
	}
	*slot = v
}

// distinct fails when two parts of one object declare the same member: a tag,
// a member shared by the variants, and the members of the variant itself.
func (l *lowering) distinct(s *Spec, t *Type) {
	if t.Union == nil {
		return
	}
	outer := map[string]bool{}
	if t.Union.Tag != "" {
		outer[t.Union.Tag] = true
	}
	for _, f := range t.Fields {
		outer[f.Wire] = true
	}
	for _, v := range append([]*Variant{t.Union.Default, t.Union.Absent, t.Union.Other}, t.Union.Variants...) {
		if v == nil {
			continue
		}
		for name := range s.members(v) {
			if outer[name] {
				l.fail(v.node.Ptr, "the member %q is declared by the union and by the variant", name)
			}
		}
	}
}

// members ranges over the names that a variant declares, at any depth.
func (s *Spec) members(v *Variant) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, f := range v.Fields {
			if !yield(f.Wire) {
				return
			}
		}
		t := s.Resolve(v.Ref)
		if t == nil {
			return
		}
		for _, f := range t.Fields {
			if !yield(f.Wire) {
				return
			}
		}
		if t.Union == nil {
			return
		}
		for _, inner := range t.Union.Variants {
			for name := range s.members(inner) {
				if !yield(name) {
					return
				}
			}
		}
	}
}

// keys finds the members that distinguish the variants of a key-selected union.
func (l *lowering) keys(s *Spec, t *Type) {
	u := t.Union
	if u == nil {
		return
	}
	if u.Other != nil && u.Other.Nested != nil {
		l.unionKeys(s, t, u.Other.Nested)
	}
	if t.Kind == ByKeys {
		l.unionKeys(s, t, u)
	}
}

func (l *lowering) unionKeys(s *Spec, t *Type, u *Union) {
	for _, v := range u.Variants {
		if v.Ref != "" {
			v.Keys = nil
			for _, f := range s.Resolve(v.Ref).Fields {
				if f.Presence == Required {
					v.Keys = append(v.Keys, f.Wire)
				}
			}
		}
		if len(v.Keys) == 0 {
			l.fail(t.node.Ptr, "variant %q requires no member that could select it", v.Title)
		}
	}
}
