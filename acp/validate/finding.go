package validate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/hermes-nvim/hermes/internal/jx"
)

// Finding is one mistake in a value.
type Finding struct {
	Pointer  string // JSON pointer to the value, empty for the whole
	Rule     string // keyword that is broken: type, required, enum, minimum, format, duplicate …
	Expected string
	Got      string // what stands there; long values are cut
}

// String returns the finding on one line: "/update/title: type: want string, got number".
func (f Finding) String() string {
	at := f.Pointer
	if at == "" {
		at = "(root)"
	}
	return fmt.Sprintf("%s: %s: want %s, got %s", at, f.Rule, f.Expected, f.Got)
}

// findings checks a value; at is the pointer of the value itself.
func (p *program) findings(value any, at string) []Finding {
	f := p.run(value)
	if f == nil {
		return nil
	}
	found := p.explain(value, *f)
	return below(at, distinct(found))
}

// distinct drops findings that repeat a mistake: a rule that is reached in two ways,
// and everything else about a value whose type is already wrong.
func distinct(found []Finding) []Finding {
	sort.SliceStable(found, func(i, j int) bool {
		if a, b := found[i], found[j]; a.Pointer != b.Pointer {
			return a.Pointer < b.Pointer
		}
		return found[i].Rule == "type" && found[j].Rule != "type"
	})
	return slices.CompactFunc(found, func(a, b Finding) bool {
		return a == b || a.Pointer == b.Pointer && a.Rule == "type"
	})
}

// explain turns a tree of failures into findings.
func (p *program) explain(value any, f failure) []Finding {
	keyword := f.schema[strings.LastIndexByte(f.schema, '/')+1:]
	if len(f.causes) == 0 {
		return p.leaf(value, keyword, f)
	}
	if keyword == "anyOf" || keyword == "oneOf" {
		return p.union(value, f)
	}
	var found []Finding
	for _, c := range f.causes {
		found = append(found, p.explain(value, c)...)
	}
	return found
}

// union explains a union without a tag by the branch that fits best.
func (p *program) union(value any, f failure) []Finding {
	s, _ := resolve(p.doc, parent(f.schema)).(map[string]any)
	if s[preferred] == "first" {
		return p.explain(value, f.causes[0])
	}
	var fitting [][]Finding
	var types []string
	for _, c := range f.causes {
		found := distinct(p.explain(value, c))
		if i := slices.IndexFunc(found, func(x Finding) bool { return x.Rule == "type" && x.Pointer == f.value }); i >= 0 {
			types = append(types, found[i].Expected)
			continue
		}
		fitting = append(fitting, found)
	}
	if len(fitting) == 0 {
		sort.Strings(types)
		return []Finding{{f.value, "type", strings.Join(slices.Compact(types), " or "), typeOf(resolve(value, f.value))}}
	}
	// The members that are present, in the object or in the objects of the list,
	// show best what was meant.
	_, list := resolve(value, f.value).([]any)
	absent := func(found []Finding) (n int) {
		for _, x := range found {
			if x.Rule == "required" && (x.Pointer == f.value || list && parent(x.Pointer) == f.value) {
				n++
			}
		}
		return n
	}
	slices.SortStableFunc(fitting, func(a, b []Finding) int {
		return cmp.Or(absent(a)-absent(b), len(a)-len(b))
	})
	best := fitting[0]
	lacks := func(found []Finding) bool {
		return len(found) == 1 && found[0].Rule == "required" && found[0].Pointer == f.value
	}
	if !lacks(best) {
		return best
	}
	// Only the member that distinguishes the branches is missing.
	var members []string
	for _, found := range fitting {
		if lacks(found) {
			members = append(members, found[0].Expected)
		}
	}
	return []Finding{{f.value, "required", strings.Join(slices.Compact(members), " or "), best[0].Got}}
}

// leaf explains one broken keyword.
func (p *program) leaf(value any, keyword string, f failure) []Finding {
	s, _ := resolve(p.doc, parent(f.schema)).(map[string]any)
	v := resolve(value, f.value)
	one := func(expected, got string) []Finding { return []Finding{{f.value, keyword, expected, got}} }
	switch rule := s[keyword]; keyword {
	case "type":
		return one(typeNames(rule), typeOf(v))
	case "required":
		var found []Finding
		members, _ := v.(map[string]any)
		list, _ := rule.([]any)
		for _, name := range list {
			if n, _ := name.(string); members[n] == nil {
				if _, there := members[n]; !there {
					x := missing(f.value, n)
					if near := jx.Near(n, undeclared(members, s)); near != "" {
						x.Got = quote(near)
					}
					found = append(found, x)
				}
			}
		}
		return found
	case "enum", "const":
		if near := jx.Near(plain(v), words(rule)); near != "" {
			return one(fmt.Sprintf("%s (or one of %d others)", show(near), len(words(rule))-1), show(v))
		}
		return one(oneOf(rule), show(v))
	case "minimum":
		return one("at least "+show(rule)+ofFormat(s), show(v))
	case "maximum":
		return one("at most "+show(rule)+ofFormat(s), show(v))
	case "minItems":
		return one("at least "+count(rule, "element"), count(size(v), "element"))
	case "minLength":
		return one("at least "+count(rule, "character"), show(v))
	case "format":
		return one(plain(rule), show(v))
	case "contentEncoding":
		return one(plain(rule), show(v))
	case "pattern":
		if format := plain(s["format"]); format != "" { // see dateTime
			return []Finding{{f.value, "format", format, show(v)}}
		}
		return one("text that matches "+plain(rule), show(v))
	case "oneOf":
		return one("exactly one of the alternatives", "several")
	}
	return one(f.message, show(v))
}

// undeclared lists the members of an object that a schema does not name.
func undeclared(members, s map[string]any) []string {
	properties, _ := s["properties"].(map[string]any)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if properties[name] == nil {
			list = append(list, name)
		}
	}
	return list
}

// words are the texts of an enum.
func words(rule any) []string {
	list, _ := rule.([]any)
	var words []string
	for _, v := range list {
		words = append(words, plain(v))
	}
	return words
}

// missing is the finding about an absent member of the object at a pointer.
func missing(pointer, member string) Finding {
	return Finding{pointer, "required", "member " + quote(member), "nothing"}
}

// resolve walks a JSON pointer.
func resolve(v any, pointer string) any {
	if pointer == "" {
		return v
	}
	for _, step := range strings.Split(pointer[1:], "/") {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		switch x := v.(type) {
		case map[string]any:
			v = x[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

func parent(pointer string) string {
	return pointer[:max(strings.LastIndexByte(pointer, '/'), 0)]
}

// typeOf is the JSON type of a value.
func typeOf(v any) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		if strings.ContainsAny(x.String(), ".eE") {
			return "number " + shorten(x.String())
		}
		return "integer"
	case []any:
		return "array"
	}
	return "object"
}

func typeNames(rule any) string {
	list, ok := rule.([]any)
	if !ok {
		return plain(rule)
	}
	var names []string
	for _, n := range list {
		names = append(names, plain(n))
	}
	return strings.Join(names, " or ")
}

func oneOf(rule any) string {
	list, ok := rule.([]any)
	if !ok {
		return show(rule)
	}
	var values []string
	for _, v := range list {
		values = append(values, show(v))
	}
	return strings.Join(values, ", ")
}

func ofFormat(s map[string]any) string {
	if format := plain(s["format"]); format != "" {
		return " (" + format + ")"
	}
	return ""
}

func size(v any) int {
	list, _ := v.([]any)
	return len(list)
}

func count(n any, what string) string {
	s := fmt.Sprint(n)
	if s == "1" {
		return s + " " + what
	}
	return s + " " + what + "s"
}

func plain(v any) string {
	s, _ := v.(string)
	return s
}

// show is a value as JSON, cut if it is long.
func show(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return typeOf(v)
	}
	return shorten(string(b))
}

func quote(s string) string { return shorten(strconv.Quote(s)) }

// shownBytes is how much of a value a finding shows.
const shownBytes = 60

func shorten(s string) string {
	if len(s) <= shownBytes {
		return s
	}
	return strings.ToValidUTF8(s[:shownBytes], "") + "…"
}

// names lists the members of a frame.
func names(frame map[string]json.RawMessage) string {
	var list []string
	for k := range frame {
		list = append(list, quote(k))
	}
	if len(list) == 0 {
		return "no members"
	}
	sort.Strings(list)
	return shorten(strings.Join(list, ", "))
}
