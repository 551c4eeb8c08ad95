package shape

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hermes-nvim/hermes/internal/jtree"
	"github.com/hermes-nvim/hermes/internal/jx"
)

// Mistake is one thing that is wrong with a value.
type Mistake struct {
	Pointer  string // JSON pointer to the value, empty for the whole text
	Rule     string // the keyword that is broken
	Expected string
	Got      string // what stands there; long values are cut
}

// Explain returns what is wrong with v, each mistake once, in the order of the pointers.
// For a union it explains the branch that was probably meant. Unlike Check it takes its
// time.
func (s *Shape) Explain(v jtree.Value) []Mistake {
	if s == nil || s.Fits(v) {
		return nil
	}
	return s.mistakes(v)
}

func (s *Shape) mistakes(v jtree.Value) []Mistake {
	var found []Mistake
	c := checker{explain: &found, report: func(Problem) bool { return true }}
	c.at(s, v)
	return distinct(found)
}

// distinct drops mistakes that are there twice, because a rule is reached in two ways,
// and everything else about a value whose type is already wrong.
func distinct(found []Mistake) []Mistake {
	slices.SortStableFunc(found, func(a, b Mistake) int {
		wrongType := func(m Mistake) int {
			if m.Rule == "type" {
				return 0
			}
			return 1
		}
		return cmp.Or(strings.Compare(a.Pointer, b.Pointer), wrongType(a)-wrongType(b))
	})
	return slices.CompactFunc(found, func(a, b Mistake) bool {
		return a == b || a.Pointer == b.Pointer && a.Rule == "type"
	})
}

// explainUnion returns the branch that explains what is wrong with a value that fits
// none, or notes what is wrong and returns nil.
func (c *checker) explainUnion(s *Shape, branches []*Shape, v jtree.Value) *Shape {
	if len(branches) == 2 {
		for i, b := range branches {
			if b.kinds == bit(jtree.Null) {
				return branches[1-i]
			}
		}
	}
	if s.tag != "" && v.IsObject() {
		// A word that no branch has is for the branch of all other words.
		if word := v.Get(s.tag).IsString(); word || len(branches) == 1 {
			if i := slices.IndexFunc(branches, func(b *Shape) bool { return b.others }); i >= 0 {
				return branches[i]
			}
		}
		return branches[slices.IndexFunc(branches, func(b *Shape) bool { return !b.others })]
	}
	if enumerates(branches) {
		if i := slices.IndexFunc(branches, func(b *Shape) bool { return b.values == nil && b.numbers == nil }); i >= 0 {
			return branches[i]
		}
		if branches[0].kinds&bit(v.Kind()) == 0 {
			return branches[0]
		}
		c.mismatch(s, v, "enum")
		return nil
	}
	at := v.Pointer()
	var fitting [][]Mistake
	var types []string
	for _, b := range branches {
		found := b.mistakes(v)
		if i := slices.IndexFunc(found, func(m Mistake) bool { return m.Rule == "type" && m.Pointer == at }); i >= 0 {
			types = append(types, found[i].Expected)
			continue
		}
		fitting = append(fitting, found)
	}
	c.failed = true
	*c.explain = append(*c.explain, likeliest(v, at, fitting, types)...)
	return nil
}

// likeliest returns the mistakes of the branch that was probably meant: the members that
// are present, in the object or in the objects of the list, show it best. types are what
// the branches want whose type is wrong.
func likeliest(v jtree.Value, at string, fitting [][]Mistake, types []string) []Mistake {
	if len(fitting) == 0 {
		slices.Sort(types)
		return []Mistake{{at, "type", strings.Join(slices.Compact(types), " or "), TypeOf(v)}}
	}
	absent := func(found []Mistake) (n int) {
		for _, m := range found {
			if m.Rule == "required" && (m.Pointer == at || v.IsArray() && m.Pointer[:strings.LastIndexByte(m.Pointer, '/')] == at) {
				n++
			}
		}
		return n
	}
	slices.SortStableFunc(fitting, func(a, b []Mistake) int { return cmp.Or(absent(a)-absent(b), len(a)-len(b)) })
	lacks := func(found []Mistake) bool {
		return len(found) == 1 && found[0].Rule == "required" && found[0].Pointer == at
	}
	best := fitting[0]
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
	return []Mistake{{at, "required", strings.Join(slices.Compact(members), " or "), best[0].Got}}
}

// broken is the keyword of a schema that a value breaks.
type broken struct {
	shape *Shape
	rule  string
}

func (p Problem) mistake() Mistake {
	at := p.At.Pointer()
	if p.Kind == Missing {
		m := Lacks(at, p.Name)
		if p.near != "" {
			m.Got = Quote(p.near)
		}
		return m
	}
	s, rule, got := p.broken.shape, p.broken.rule, Show(p.At)
	expected := ""
	switch rule {
	case "type":
		expected, got = strings.Join(s.types, " or "), TypeOf(p.At)
	case "enum":
		if list := s.listed(); s.constant {
			rule, expected = "const", Quote(list[0])
		} else if near := jx.Near(p.At.Str(), list); near != "" {
			expected = fmt.Sprintf("%s (or one of %d others)", Quote(near), len(list)-1)
		} else {
			for i := range list {
				list[i] = Quote(list[i])
			}
			expected = strings.Join(list, ", ")
		}
	case "minimum":
		expected = "at least " + bound(*s.min) + s.ofFormat()
	case "maximum":
		expected = "at most " + bound(*s.max) + s.ofFormat()
	case "minItems":
		expected, got = "at least "+count(s.minItem, "element"), count(p.At.Len(), "element")
	case "minLength":
		expected = "at least " + count(s.minLen, "character")
	case "pattern":
		expected = "text that matches " + s.pattern.String()
	case "contentEncoding":
		expected = "base64"
	case "format":
		expected = s.format
	case "oneOf":
		expected, got = "exactly one of the alternatives", "several"
	}
	return Mistake{at, rule, expected, got}
}

// Lacks is the mistake that the object at a pointer has no member of this name.
func Lacks(pointer, member string) Mistake {
	return Mistake{pointer, "required", "member " + Quote(member), "nothing"}
}

// near returns the member of an object that was probably meant by a missing one. It
// looks for it only while explaining.
func (c *checker) near(p *parts, v jtree.Value, missing string) string {
	if c.explain == nil {
		return ""
	}
	var undeclared []string
	for name := range v.Members() {
		if !slices.ContainsFunc(p.list[:p.n], func(s *Shape) bool { return s.property(name) >= 0 }) {
			undeclared = append(undeclared, string(name))
		}
	}
	return jx.Near(missing, undeclared)
}

// listed returns the words that a schema or its branches list, and the words of
// a tag.
func (s *Shape) listed() []string {
	list := slices.Concat(s.values, slices.Sorted(maps.Keys(s.cases)))
	for _, n := range s.numbers {
		list = append(list, strconv.FormatInt(n, 10))
	}
	if s.tag == "" {
		for _, b := range s.any {
			list = append(list, b.listed()...)
		}
	}
	return list
}

// bound is a limit as a number. The largest integers of 64 bits are no float64.
func bound(f float64) string {
	switch f {
	case 1 << 63:
		return "9223372036854775807"
	case 1 << 64:
		return "18446744073709551615"
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

func (s *Shape) ofFormat() string {
	if s.format == "" {
		return ""
	}
	return " (" + s.format + ")"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// TypeOf is the type of a value in the words of JSON Schema.
func TypeOf(v jtree.Value) string {
	switch text := string(v.Text()); {
	case v.Kind() != jtree.Number:
		return v.Kind().String()
	case strings.ContainsAny(text, ".eE"):
		return "number " + Shorten(text)
	}
	return "integer"
}

// Show is a value as it is written, cut if it is long.
func Show(v jtree.Value) string { return Shorten(string(v.Text())) }

// Quote is a text in quotes, cut if it is long.
func Quote(s string) string { return Shorten(strconv.Quote(s)) }

// shownBytes is how much of a value a mistake shows.
const shownBytes = 60

// Shorten cuts a text that is long.
func Shorten(s string) string {
	if len(s) <= shownBytes {
		return s
	}
	return strings.ToValidUTF8(s[:shownBytes], "") + "…"
}
