package neovim

import (
	"fmt"
	"strings"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// members lists the members of a definition: its own, then its variants'.
func members(s *ir.Spec, def string) []*ir.Field {
	t := s.ByName[def]
	if t == nil {
		return nil
	}
	if t.Kind == ir.Alias {
		return members(s, t.Target)
	}
	return append(append([]*ir.Field(nil), t.Fields...), unionMembers(s, t.Union)...)
}

func unionMembers(s *ir.Spec, u *ir.Union) []*ir.Field {
	var list []*ir.Field
	for _, v := range variants(u) {
		list = append(list, v.Fields...)
		list = append(list, members(s, v.Ref)...)
		list = append(list, unionMembers(s, v.Nested)...)
	}
	return list
}

// variants lists every alternative of a union, the fallbacks last.
func variants(u *ir.Union) []*ir.Variant {
	if u == nil {
		return nil
	}
	list := append([]*ir.Variant(nil), u.Variants...)
	for _, v := range []*ir.Variant{u.Default, u.Absent, u.Other} {
		if v != nil {
			list = append(list, v)
		}
	}
	return list
}

// member finds a member of a definition by its wire name.
func member(s *ir.Spec, def, wire string) *ir.Field {
	for _, f := range members(s, def) {
		if f.Wire == wire {
			return f
		}
	}
	return nil
}

// unionOf is the union of a definition, nil if it is not a union.
func unionOf(s *ir.Spec, def string) *ir.Union {
	if t := s.ByName[def]; t != nil {
		return t.Union
	}
	return nil
}

// taggedBy lists the values that the member at path, seen from def, selects
// variants by: "mode" of def itself, "content.type" of its member content.
func taggedBy(s *ir.Spec, def, path string) ([]string, error) {
	from := def
	names := strings.Split(path, ".")
	for _, n := range names[:len(names)-1] {
		f := member(s, def, n)
		if f == nil || f.Type.Ref == "" {
			return nil, fmt.Errorf("\"by\" is %q: %s has no member %q that is an object", path, def, n)
		}
		def = f.Type.Ref
	}
	u := unionOf(s, def)
	if tag := names[len(names)-1]; u == nil || u.Tag != tag {
		return nil, fmt.Errorf("\"by\" is %q of %s: %s is not a union that %q selects", path, from, def, tag)
	}
	var tags []string
	for _, v := range u.Variants {
		tags = append(tags, v.Wire)
	}
	return tags, nil
}
