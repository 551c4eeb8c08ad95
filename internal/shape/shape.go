// Package shape checks JSON values against the schemas of the protocol, strictly and
// at the speed of traffic. A schema is compiled once; a check reads the tree of a
// message and allocates nothing unless something is wrong.
//
// It understands what the pinned schemas use, and TestEveryKeywordIsUnderstood fails
// when they use more. Unlike a schema library it knows the members that no schema
// declares.
package shape

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/internal/jtree"
	"github.com/hermes-nvim/hermes/internal/jx"
)

// Problem is what is wrong with a value.
type Problem struct {
	At   jtree.Value // the value, or the object that lacks a member
	Kind Kind
	Want string // what the schema wants there, in words
	Name string // of the member that is missing or not declared
	// Of is what an Invented or Extended word describes: the object whose tag it is, or
	// the word itself.
	Of jtree.Value

	broken broken // of a Mismatch
	near   string // of a Missing: the undeclared member that was probably meant, while explaining
}

// Kind is the kind of a problem.
type Kind uint8

// The kinds.
const (
	Mismatch   Kind = iota // the value does not fit
	Missing                // a required member is missing
	Undeclared             // no schema declares the member; Want is the declared name that was probably meant, if any
	Invented               // the word is none that the definition Name has, and does not begin with an underscore
	Extended               // the word is none that the definition Name has, and begins with one, so nothing is wrong
)

// Shape is a compiled schema. It is safe for concurrent use.
type Shape struct {
	name     string
	types    []string // the words of the schema for kinds
	kinds    uint16   // allowed kinds, one bit each; 0 allows all
	integer  bool
	min      *float64
	max      *float64
	minLen   int
	minItem  int
	format   string
	pattern  *regexp.Regexp
	base64   bool
	values   []string // of a string enum or const
	numbers  []int64  // of a number const
	constant bool     // the only one of these

	props    []property
	required uint64   // bits of props
	needs    []string // required members that are not among props
	rest     *Shape   // additionalProperties
	open     bool     // members that are not declared are allowed explicitly
	items    *Shape
	others   bool // not: it fits only what the tagged branches beside it do not

	all   []*Shape
	any   []*Shape // at least one fits
	one   bool     // and no other
	tag   string   // the member whose constant selects among any
	cases map[string][]*Shape
	other []*Shape // the branches of any without a constant tag
	apart bool     // no value with a tag in cases fits other
}

type property struct {
	name  string
	shape *Shape
	null  bool // which counts as empty
}

// Check calls report for everything that is wrong with v, and for words of extensions,
// until report returns false.
func (s *Shape) Check(v jtree.Value, report func(Problem) bool) {
	c := checker{report: report}
	c.at(s, v)
}

// Fits reports whether nothing is wrong with v. Members that are not declared do not
// count.
func (s *Shape) Fits(v jtree.Value) bool {
	if s.isAlone(v) {
		return s.breaks(v) == ""
	}
	var c checker
	c.at(s, v)
	return !c.failed
}

// checker walks over a value. Without report it stops at the first mismatch and does
// not look for undeclared members.
type checker struct {
	report  func(Problem) bool
	explain *[]Mistake // see Explain
	failed  bool
	stopped bool
}

func (c *checker) fail(p Problem) {
	if p.Kind < Undeclared {
		c.failed = true
		if c.explain != nil {
			*c.explain = append(*c.explain, p.mistake())
			return
		}
	}
	if c.report == nil {
		c.stopped = true
	} else if !c.report(p) {
		c.stopped = true
	}
}

// mismatch notes that a value does not fit a schema. The right value is only looked up
// if somebody asks for it.
func (c *checker) mismatch(s *Shape, v jtree.Value, rule string) {
	if c.report == nil {
		c.failed, c.stopped = true, true
		return
	}
	c.fail(Problem{At: v, Want: s.title(), broken: broken{s, rule}})
}

// maxParts bounds how many schemas apply to one value at the same time.
const maxParts = 12

// parts are the schemas that apply to one value, without those that only combine
// others.
type parts struct {
	list [maxParts]*Shape
	n    int
}

func (p *parts) add(s *Shape) {
	if p.n < maxParts {
		p.list[p.n] = s
		p.n++
	}
}

// at checks a value that stands in a place of its own: the root, a member, an element.
func (c *checker) at(s *Shape, v jtree.Value) {
	if s == nil || c.stopped {
		return
	}
	if s.isAlone(v) {
		c.plain(s, v)
		return
	}
	var p parts
	c.collect(s, v, &p)
	if c.stopped || p.n == 0 {
		return
	}
	switch v.Kind() {
	case jtree.Object:
		c.object(&p, v)
	case jtree.Array:
		for _, s := range p.list[:p.n] {
			if s.items != nil {
				for _, e := range v.Items() {
					c.at(s.items, e)
				}
			}
		}
	}
}

// invented notes a word for which a schema has only a branch for all other words. It
// describes v.
func (c *checker) invented(s *Shape, word, v jtree.Value) {
	if c.report == nil || s.name == "" || !word.IsString() {
		return
	}
	p := Problem{At: word, Kind: Invented, Name: s.name, Of: v}
	if b := word.Bytes(); len(b) > 0 && b[0] == '_' {
		p.Kind = Extended
	}
	c.fail(p)
}

// collect checks everything about v except its members and elements, and notes which
// schemas apply to those.
func (c *checker) collect(s *Shape, v jtree.Value, p *parts) {
	if c.stopped {
		return
	}
	if !c.plain(s, v) {
		return // its members would only repeat that
	}
	if s.props != nil || s.needs != nil || s.rest != nil || s.open || s.items != nil {
		p.add(s)
	}
	for _, a := range s.all {
		c.collect(a, v, p)
	}
	if s.any != nil {
		if branch := c.choose(s, v); branch != nil {
			c.collect(branch, v, p)
		}
	}
}

// choose returns the branch of a union that v fits, or else the one that explains best
// what is wrong, or nil after a failure.
func (c *checker) choose(s *Shape, v jtree.Value) *Shape {
	branches := s.any
	var word jtree.Value // that no branch defines
	if s.tag != "" && v.IsObject() {
		tag := v.Get(s.tag)
		if tag.IsString() {
			if cases := s.cases[string(tag.Bytes())]; cases != nil {
				if len(cases) == 1 && (len(s.other) == 0 || s.apart) {
					return cases[0]
				}
				for _, b := range cases {
					if b.Fits(v) {
						return b
					}
				}
				for _, b := range s.other {
					if !b.others && b.Fits(v) {
						return b
					}
				}
				return cases[0]
			}
		}
		branches, word = s.other, tag
		if len(branches) == 0 {
			if !tag.Exists() {
				c.fail(Problem{At: v, Kind: Missing, Name: s.tag, Want: "member " + s.tag, near: c.near(&parts{}, v, s.tag)})
			} else {
				c.mismatch(s, tag, "enum")
			}
			return nil
		}
	}
	if only := single(branches, v); only != nil && !word.Exists() && (v.IsObject() || v.IsArray()) {
		return only // which says what is wrong, if anything is
	}
	var best *Shape
	for i, b := range branches {
		if b.kinds != 0 && b.kinds&bit(v.Kind()) == 0 {
			continue
		}
		if b.Fits(v) {
			if s.one && slices.ContainsFunc(branches[i+1:], func(other *Shape) bool { return other.Fits(v) }) {
				c.mismatch(s, v, "oneOf")
				return nil
			}
			if v.IsString() && b.values == nil && enumerates(branches) {
				word = v
			}
			c.invented(s, word, v)
			return b
		}
		if best == nil {
			best = b
		}
	}
	if c.explain != nil {
		return c.explainUnion(s, branches, v)
	}
	if best == nil || len(best.values) > 0 || len(branches) > 1 && !v.IsObject() && !v.IsArray() {
		c.mismatch(s, v, "")
		return nil
	}
	return best
}

// single returns the only branch for values of a kind, nil if there are more or none.
func single(branches []*Shape, v jtree.Value) (only *Shape) {
	for _, b := range branches {
		if b.kinds == 0 || b.kinds&bit(v.Kind()) != 0 {
			if only != nil {
				return nil
			}
			only = b
		}
	}
	if only != nil && len(only.values) > 0 {
		return nil
	}
	return only
}

// enumerates reports whether a union lists words.
func enumerates(branches []*Shape) bool {
	for _, b := range branches {
		if b.values != nil || b.numbers != nil {
			return true
		}
	}
	return false
}

func bit(k jtree.Kind) uint16 { return 1 << k }

// isAlone reports whether there is nothing to check but v alone.
func (s *Shape) isAlone(v jtree.Value) bool {
	return s.any == nil && s.all == nil && !v.IsObject() && !v.IsArray()
}

// plain checks what concerns v alone.
func (c *checker) plain(s *Shape, v jtree.Value) bool {
	rule := s.breaks(v)
	if rule != "" {
		c.mismatch(s, v, rule)
	}
	return rule == ""
}

// breaks returns the keyword that v alone breaks, empty if there is none.
func (s *Shape) breaks(v jtree.Value) string {
	switch k := v.Kind(); {
	case s.kinds != 0 && s.kinds&bit(k) == 0:
		return "type"
	case k == jtree.String:
		return s.text(v)
	case k == jtree.Number:
		return s.number(v)
	case k == jtree.Array && v.Len() < s.minItem:
		return "minItems"
	}
	return ""
}

// text returns the keyword that a string breaks, empty if there is none.
func (s *Shape) text(v jtree.Value) string {
	if s.values == nil && s.numbers == nil && s.format == "" && s.minLen == 0 && !s.base64 && s.pattern == nil {
		return ""
	}
	b := v.Bytes()
	switch {
	case s.numbers != nil, s.values != nil && !contains(s.values, b):
		return "enum"
	case s.minLen > 0 && utf8.RuneCount(b) < s.minLen:
		return "minLength"
	case s.pattern != nil && !s.pattern.Match(b):
		return "pattern"
	case s.base64 && !jx.IsBase64(string(b)):
		return "contentEncoding"
	case s.format == "uri" && !jx.IsURI(string(b)), s.format == "date-time" && !jx.IsDateTime(string(b)):
		return "format"
	}
	return ""
}

func contains(list []string, b []byte) bool {
	for _, s := range list {
		if s == string(b) {
			return true
		}
	}
	return false
}

// number returns the keyword that a number breaks, empty if there is none.
func (s *Shape) number(v jtree.Value) string {
	if s.values != nil {
		return "enum"
	}
	if !s.integer && s.min == nil && s.max == nil && s.numbers == nil {
		return ""
	}
	if !s.integer {
		f, ok := v.Float()
		if !ok {
			return "type"
		}
		return s.bounds(f)
	}
	n, ok := v.Int()
	switch {
	case ok && s.numbers != nil && !slices.Contains(s.numbers, n):
		return "enum"
	case ok:
		return s.bounds(float64(n))
	}
	text := string(v.Text())
	u, err := strconv.ParseUint(text, 10, 64) // above 2^63
	switch {
	case err == nil && s.numbers == nil && s.format == "uint64":
		return s.bounds(float64(u))
	case strings.ContainsAny(text, ".eE"):
		return "type"
	case text[0] == '-':
		return "minimum"
	}
	return "maximum"
}

func (s *Shape) bounds(f float64) string {
	switch {
	case s.min != nil && f < *s.min:
		return "minimum"
	case s.max != nil && f > *s.max:
		return "maximum"
	}
	return ""
}

// object checks the members of v.
func (c *checker) object(p *parts, v jtree.Value) {
	var seen [maxParts]uint64
	open := false
	for _, s := range p.list[:p.n] {
		open = open || s.open
	}
	for name, member := range v.Members() {
		declared := false
		for i, s := range p.list[:p.n] {
			if k := s.property(name); k >= 0 {
				declared = true
				seen[i] |= 1 << k
				if !s.props[k].null || !member.IsNull() {
					c.at(s.props[k].shape, member)
				}
			} else if s.rest != nil {
				declared = true
				c.at(s.rest, member)
			}
			if c.stopped {
				return
			}
		}
		if !declared && !open && c.report != nil {
			c.fail(Problem{At: member, Kind: Undeclared, Name: string(name), Want: p.near(string(name))})
		}
	}
	for i, s := range p.list[:p.n] {
		if missing := s.required &^ seen[i]; missing != 0 {
			for k, m := range s.props {
				if missing&(1<<k) != 0 {
					c.fail(Problem{At: v, Kind: Missing, Name: m.name, Want: m.shape.title(), near: c.near(p, v, m.name)})
				}
			}
		}
		for _, name := range s.needs {
			if !v.Get(name).Exists() {
				c.fail(Problem{At: v, Kind: Missing, Name: name, Want: "member", near: c.near(p, v, name)})
			}
		}
	}
}

// property returns the index of a declared member, -1 if there is none.
func (s *Shape) property(name []byte) int {
	for i := range s.props {
		if n := s.props[i].name; len(n) == len(name) && n == string(name) {
			return i
		}
	}
	return -1
}

// near returns the declared name that was probably meant.
func (p *parts) near(name string) string {
	var words []string
	for _, s := range p.list[:p.n] {
		for _, m := range s.props {
			words = append(words, m.name)
		}
	}
	return jx.Near(name, words)
}

// Requires reports whether an object needs members to fit s.
func (s *Shape) Requires() bool {
	if s.required != 0 || s.needs != nil {
		return true
	}
	for _, a := range s.all {
		if a.Requires() {
			return true
		}
	}
	for _, b := range s.any {
		if !b.Requires() {
			return false
		}
	}
	return len(s.any) > 0
}

// Name is the name of the definition, empty for a schema inside of one.
func (s *Shape) Name() string { return s.name }

// HasCase reports whether a union has a variant with this tag.
func (s *Shape) HasCase(tag string) bool { return s.cases[tag] != nil }
