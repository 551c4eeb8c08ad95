package schema

import "strings"

// HasMember reports whether a definition has a member of that name, its own or
// one of its branches.
func (d *Document) HasMember(def, member string) bool {
	return anyBranch(d.Def(def), func(n *Node) bool { return n.Get("properties").Has(member) })
}

// HasValue reports whether a definition is an enum with that value.
func (d *Document) HasValue(def, value string) bool {
	for _, b := range d.Def(def).Branches() {
		if c := b.Get("const"); c != nil && (c.Text() == value || c.Kind == '0' && c.Num.String() == value) {
			return true
		}
	}
	return false
}

// HasVariant reports whether a definition is a union with a branch that has
// this tag or, where branches have none, this title.
func (d *Document) HasVariant(def, tag string) bool {
	for _, b := range d.Def(def).Branches() {
		if b.Has("const") {
			continue
		}
		if b.Get("title").Text() == tag {
			return true
		}
		ps := b.Get("properties")
		if ps == nil {
			continue
		}
		for _, k := range ps.Keys {
			if c := ps.Obj[k].Get("const"); c != nil && c.Text() == tag {
				return true
			}
		}
	}
	return false
}

// HasMethod reports whether a method of that name exists.
func (d *Document) HasMethod(method string) bool {
	for _, name := range d.Defs {
		if d.Def(name).Get("x-method").Text() == method {
			return true
		}
	}
	return false
}

// anyBranch reports whether f holds for n or for a branch below it.
func anyBranch(n *Node, f func(*Node) bool) bool {
	if n == nil {
		return false
	}
	if f(n) {
		return true
	}
	for _, b := range n.Branches() {
		if anyBranch(b, f) {
			return true
		}
	}
	return false
}

// splitMember splits "Definition.member".
func splitMember(s string) (def, member string) {
	def, member, _ = strings.Cut(s, ".")
	return def, member
}
