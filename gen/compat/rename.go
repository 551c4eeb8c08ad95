package compat

import (
	"encoding/json"
	"strings"

	"github.com/hermes-nvim/hermes/gen/ir"
)

// Renamed finds definitions of prev that have another name in next: they are
// gone, and exactly one new definition has the shape that only they had. All
// named strings have the same shape, and so do all named integers; of these, only
// enums with values are compared.
func Renamed(prev, next *ir.Spec) map[string]string {
	gone, came := shapes(prev, next), shapes(next, prev)
	renamed := map[string]string{}
	for shape, was := range gone {
		if is := came[shape]; len(was) == 1 && len(is) == 1 {
			renamed[was[0]] = is[0]
		}
	}
	return renamed
}

// shapes lists the definitions of s that other lacks by their shape.
func shapes(s, other *ir.Spec) map[string][]string {
	list := map[string][]string{}
	for _, t := range s.Types {
		if other.ByName[t.Name] != nil || len(t.Fields)+len(t.Values) == 0 && t.Union == nil {
			continue
		}
		x := *t
		x.Name = ""
		b, err := json.Marshal(x)
		if err != nil {
			continue // cannot happen: the type is plain data
		}
		shape := strings.ReplaceAll(string(b), `"Ref":"`+t.Name+`"`, `"Ref":"itself"`)
		list[shape] = append(list[shape], t.Name)
	}
	return list
}
