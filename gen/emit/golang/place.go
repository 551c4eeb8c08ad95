package golang

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// A trip is one way in which a definition travels.
type trip struct {
	m        *ir.Method
	from, to string
}

// travels finds for each definition the methods that it is a part of.
func (g *gen) travels() map[string][]trip {
	all := map[string][]trip{}
	for _, m := range g.Spec.Methods {
		from, to := direction(m)
		for _, root := range []struct {
			def string
			trip
		}{{m.Request, trip{m, from, to}}, {m.Notification, trip{m, from, to}}, {m.Response, trip{m, to, from}}} {
			met := map[string]bool{}
			var visit func(def string)
			visit = func(def string) {
				t := g.Spec.ByName[def]
				if t == nil || met[def] {
					return
				}
				met[def] = true
				all[def] = append(all[def], root.trip)
				eachRef(t, visit)
			}
			visit(root.def)
		}
	}
	return all
}

// eachRef calls f with every definition that t refers to.
func eachRef(t *ir.Type, f func(def string)) {
	ofType := func(r *ir.TypeRef) {
		for ; r != nil; r = r.Elem {
			f(r.Ref)
		}
	}
	fields := func(list []*ir.Field) {
		for _, m := range list {
			ofType(&m.Type)
		}
	}
	var union func(u *ir.Union)
	union = func(u *ir.Union) {
		if u == nil {
			return
		}
		all := variants(u)
		if u.Other != nil {
			all = append(all, u.Other)
		}
		for _, v := range all {
			f(v.Ref)
			ofType(v.Type)
			fields(v.Fields)
			union(v.Nested)
		}
	}
	f(t.Target)
	fields(t.Fields)
	union(t.Union)
}

// mostNamed is how many methods a comment names.
const mostNamed = 4

// placed adds to a comment the methods that a definition is part of, and the page
// of the specification.
func (g *gen) placed(doc string, t *ir.Type) string {
	if use := g.usage(t); use != "" {
		return doc + "\n\n" + use
	}
	if g.trips == nil {
		g.trips = g.travels()
	}
	var names, ways, pages []string
	for _, r := range g.trips[t.Name] {
		names = append(names, r.m.Wire)
		ways = append(ways, r.from+" to "+r.to)
		pages = append(pages, r.m.Page)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	use, way := "", "in both directions"
	if ways != nil && alike(ways) {
		way = ways[0]
	}
	switch n := len(names); {
	case n == 0:
	case n > mostNamed:
		use = fmt.Sprintf("Part of %d methods, %s.", n, way)
	default:
		use = "Part of " + list(names) + ", " + way + "."
	}
	page := t.Page
	if page == "" && pages != nil && alike(pages) {
		page = pages[0]
	}
	return doc + "\n\n" + strings.TrimPrefix(use+g.spec(page), "\n")
}

func alike(list []string) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return s != list[0] })
}

// spec is the line that says where readers find a page of the specification.
func (g *gen) spec(page string) string {
	if g.OnePage {
		return ""
	}
	return "\nSpec: " + site + cmp.Or(page, g.schemaPage())
}

// schemaPage is the page that lists all definitions.
func (g *gen) schemaPage() string {
	draft := ""
	if g.Channel != "stable" {
		draft = "draft/"
	}
	return fmt.Sprintf("protocol/v%d/%sschema", g.Version, draft)
}

func list(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return names[0]
}

// a is a name with its article.
func a(name string) string {
	if name == "" {
		return name
	}
	said := name[:1] // its first letter, as it is spoken
	if len(name) > 1 && name[1] >= 'A' && name[1] <= 'Z' && strings.Contains("FHLMNRSX", said) {
		said = "E" // an abbreviation
	}
	if strings.Contains("AEIO", said) {
		return "an " + name
	}
	return "a " + name
}
