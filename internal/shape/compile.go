package shape

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/internal/jtree"
)

// keywords are what compile understands; the others of the pinned schemas say nothing
// about values.
var (
	keywords = []string{
		"$ref", "type", "const", "enum", "minimum", "maximum", "minLength", "minItems", "pattern", "format", "contentEncoding",
		"properties", "required", "additionalProperties", "unevaluatedProperties", "items", "not", "allOf", "anyOf", "oneOf",
	}
	silent = []string{
		"$schema", "$defs", "title", "default", "discriminator", "x-side", "x-method", "x-docs-ignore",
		"x-deserialize-default-on-error", "x-deserialize-skip-invalid-items", "x-deserialize-default-on-null",
	}
)

// limits are the smallest and the largest value of an integer format.
var limits = map[string][2]float64{
	"int32":  {-1 << 31, 1<<31 - 1},
	"int64":  {-1 << 63, 1 << 63},
	"uint16": {0, 1<<16 - 1},
	"uint32": {0, 1<<32 - 1},
	"uint64": {0, 1 << 64},
}

// document is a schema that is being compiled.
type document struct {
	defs     map[string]json.RawMessage
	shapes   map[string]*Shape
	tolerant bool
}

// repair says what a reader does with a member that does not fit.
type repair struct {
	Error bool `json:"x-deserialize-default-on-error"`   // it counts as absent
	Items bool `json:"x-deserialize-skip-invalid-items"` // elements are dropped
	Null  bool `json:"x-deserialize-default-on-null"`    // null counts as empty
}

// source is one schema as the file has it.
type source struct {
	Ref                   string                     `json:"$ref"`
	Type                  any                        `json:"type"`
	Const                 any                        `json:"const"`
	Enum                  []string                   `json:"enum"`
	Minimum               *float64                   `json:"minimum"`
	Maximum               *float64                   `json:"maximum"`
	MinLength             int                        `json:"minLength"`
	MinItems              int                        `json:"minItems"`
	Pattern               string                     `json:"pattern"`
	Format                string                     `json:"format"`
	ContentEncoding       string                     `json:"contentEncoding"`
	Properties            map[string]json.RawMessage `json:"properties"`
	Required              []string                   `json:"required"`
	AdditionalProperties  json.RawMessage            `json:"additionalProperties"`
	UnevaluatedProperties json.RawMessage            `json:"unevaluatedProperties"`
	Items                 json.RawMessage            `json:"items"`
	Not                   json.RawMessage            `json:"not"`
	AllOf                 []json.RawMessage          `json:"allOf"`
	AnyOf                 []json.RawMessage          `json:"anyOf"`
	OneOf                 []json.RawMessage          `json:"oneOf"`
}

// definition compiles a definition once. Definitions may refer to each other in
// circles.
func (d *document) definition(name string) (*Shape, error) {
	if s := d.shapes[name]; s != nil {
		return s, nil
	}
	text, ok := d.defs[name]
	if !ok {
		return nil, fmt.Errorf("there is no definition %s", name)
	}
	s := &Shape{}
	d.shapes[name] = s
	return s, d.fill(s, name, text)
}

func (d *document) compile(text json.RawMessage) (*Shape, error) {
	s := &Shape{}
	if string(text) == "true" || string(text) == "{}" {
		return nil, nil
	}
	return s, d.fill(s, "", text)
}

func (d *document) list(texts []json.RawMessage) (list []*Shape, err error) {
	for _, text := range texts {
		s, err := d.compile(text)
		if err != nil {
			return nil, err
		}
		if s == nil {
			s = &Shape{}
		}
		list = append(list, s)
	}
	return list, nil
}

func (d *document) fill(s *Shape, name string, text json.RawMessage) error {
	var src source
	if err := json.Unmarshal(text, &src); err != nil {
		return err
	}
	s.name = name
	s.takes(src.Type)
	s.constants(&src)
	s.min, s.max, s.minLen, s.minItem, s.format = src.Minimum, src.Maximum, src.MinLength, src.MinItems, src.Format
	if l, ok := limits[src.Format]; ok {
		if s.min == nil {
			s.min = &l[0]
		}
		if s.max == nil {
			s.max = &l[1]
		}
	}
	s.base64 = src.ContentEncoding == "base64" || src.Format == "byte"
	if err := d.members(s, &src); err != nil {
		return err
	}
	var err error
	if src.Pattern != "" {
		if s.pattern, err = regexp.Compile(src.Pattern); err != nil {
			return err
		}
	}
	if s.items, err = d.optional(src.Items); err != nil {
		return err
	}
	s.others = src.Not != nil
	if s.all, err = d.list(src.AllOf); err != nil {
		return err
	}
	if src.Ref != "" {
		target, err := d.definition(strings.TrimPrefix(src.Ref, "#/$defs/"))
		if err != nil {
			return err
		}
		s.all = append(s.all, target)
	}
	if s.any, err = d.list(append(src.AnyOf, src.OneOf...)); err != nil {
		return err
	}
	s.one = len(src.OneOf) > 1
	s.union()
	return nil
}

func (d *document) optional(text json.RawMessage) (*Shape, error) {
	if text == nil {
		return nil, nil
	}
	return d.compile(text)
}

// takes notes the kinds that the type keyword names.
func (s *Shape) takes(t any) {
	list, ok := t.([]any)
	if !ok && t != nil {
		list = []any{t}
	}
	for _, one := range list {
		word, _ := one.(string)
		s.types = append(s.types, word)
		switch word {
		case "null":
			s.kinds |= bit(jtree.Null)
		case "boolean":
			s.kinds |= bit(jtree.True) | bit(jtree.False)
		case "integer":
			s.kinds |= bit(jtree.Number)
			s.integer = true
		case "number":
			s.kinds |= bit(jtree.Number)
		case "string":
			s.kinds |= bit(jtree.String)
		case "array":
			s.kinds |= bit(jtree.Array)
		case "object":
			s.kinds |= bit(jtree.Object)
		}
	}
}

func (s *Shape) constants(src *source) {
	s.values = src.Enum
	s.constant = src.Const != nil
	switch c := src.Const.(type) {
	case string:
		s.values = []string{c}
	case float64:
		s.numbers = []int64{int64(c)}
	}
}

func (d *document) members(s *Shape, src *source) (err error) {
	names := make([]string, 0, len(src.Properties))
	for name := range src.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) > 64 {
		return fmt.Errorf("%s has %d members, and the limit is 64", s.name, len(names))
	}
	for i, name := range names {
		p := property{name: name}
		if p.shape, err = d.compile(src.Properties[name]); err != nil {
			return err
		}
		if d.tolerant {
			p.repair(src.Properties[name])
		}
		s.props = append(s.props, p)
		if slices.Contains(src.Required, name) {
			s.required |= 1 << i
		}
	}
	for _, name := range src.Required {
		if !slices.Contains(names, name) {
			s.needs = append(s.needs, name)
		}
	}
	for _, text := range []json.RawMessage{src.AdditionalProperties, src.UnevaluatedProperties} {
		switch string(text) {
		case "":
		case "true":
			s.open = true
		case "false":
			return fmt.Errorf("%s: closed objects are not supported", s.name)
		default:
			if s.rest, err = d.compile(text); err != nil {
				return err
			}
		}
	}
	return nil
}

// repair drops what a reader repairs. A schema that is not an object says nothing of it.
func (p *property) repair(text json.RawMessage) {
	var r repair
	switch json.Unmarshal(text, &r); {
	case r.Error:
		p.shape = nil
	case r.Items && p.shape != nil:
		p.shape.items = nil
	}
	p.null = r.Null
}

// union finds the member whose constant selects a branch.
func (s *Shape) union() {
	if len(s.any) == 0 {
		return
	}
	for _, b := range s.any {
		for _, p := range b.props {
			if p.shape != nil && len(p.shape.values) == 1 && s.tag == "" {
				s.tag = p.name
			}
		}
	}
	if s.tag == "" {
		s.one = s.one && !enumerates(s.any)
		return
	}
	s.one = false // the tag decides
	shared := s.property([]byte(s.tag))
	s.cases = map[string][]*Shape{}
	for _, b := range s.any {
		k := b.property([]byte(s.tag))
		if k >= 0 && b.props[k].shape != nil && len(b.props[k].shape.values) == 1 {
			v := b.props[k].shape.values[0]
			s.cases[v] = append(s.cases[v], b)
		} else {
			s.other = append(s.other, b)
			if k >= 0 && shared >= 0 && s.props[shared].shape == nil {
				b.props[k].shape = nil // a tag that was repaired counts as absent
			}
		}
	}
	for _, b := range s.other {
		s.apart = b.others
	}
}

// maxWords bounds the words of a title.
const maxWords = 24

// title says in words what a shape wants.
func (s *Shape) title() string {
	words := s.words(0)
	slices.Sort(words)
	words = slices.Compact(words)
	if len(words) == 0 {
		return "another value"
	}
	if len(words) > maxWords {
		words = append(words[:maxWords], "…")
	}
	return strings.Join(words, ", ")
}

func (s *Shape) words(depth int) (words []string) {
	if s == nil || depth > 4 {
		return nil
	}
	for tag := range s.cases {
		words = append(words, s.tag+" "+tag)
	}
	for _, a := range s.any {
		if s.tag == "" || slices.Contains(s.other, a) {
			words = append(words, a.words(depth+1)...)
		}
	}
	for _, a := range s.all {
		words = append(words, a.words(depth+1)...)
	}
	if len(words) > 0 {
		return words
	}
	for _, v := range s.values {
		words = append(words, fmt.Sprintf("%q", v))
	}
	if len(words) > 0 {
		return words
	}
	switch {
	case s.integer && s.min != nil && s.max != nil:
		return []string{fmt.Sprintf("integer from %.0f to %.0f", *s.min, *s.max)}
	case s.integer && s.min != nil:
		return []string{fmt.Sprintf("integer of at least %.0f", *s.min)}
	case s.integer:
		return []string{"integer"}
	case s.min != nil && s.max != nil:
		return []string{fmt.Sprintf("number from %g to %g", *s.min, *s.max)}
	case s.pattern != nil:
		return []string{"string like " + s.pattern.String()}
	case s.format != "":
		return []string{"string (" + s.format + ")"}
	case s.base64:
		return []string{"string (base64)"}
	case s.minLen > 0:
		return []string{"string that is not empty"}
	case s.minItem > 0:
		return []string{fmt.Sprintf("array of at least %d", s.minItem)}
	}
	for k := jtree.Null; k <= jtree.Object; k++ {
		if s.kinds&bit(k) != 0 {
			words = append(words, k.String())
		}
	}
	return words
}
