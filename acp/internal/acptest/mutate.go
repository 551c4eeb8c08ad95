package acptest

import (
	"encoding/json"
	"iter"
	"math/rand/v2"
	"strings"
)

// raw is the text of a value that no Go value encodes to.
type raw string

func (r raw) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// twice is an object with a duplicate member.
type twice struct {
	members map[string]any
	name    string
	second  any
}

func (t twice) MarshalJSON() ([]byte, error) {
	b := print(t.members)
	b = append(b[:len(b)-1], ',')
	b = append(append(b, print(t.name)...), ':')
	return append(append(b, print(t.second)...), '}'), nil
}

// place is a value inside another one: a member, an element, or the whole.
type place struct {
	value any
	set   func(any)
	name  string         // of a member
	of    map[string]any // the object it is a member of
	wrap  func(any)      // sets that object
}

// places lists v and all values inside it, in a fixed order.
func places(v any, set func(any)) []place {
	list := []place{{value: v, set: set}}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range keys(v) {
			in := places(v[k], func(x any) { v[k] = x })
			in[0].name, in[0].of, in[0].wrap = k, v, set
			list = append(list, in...)
		}
	case []any:
		for i := range v {
			list = append(list, places(v[i], func(x any) { v[i] = x })...)
		}
	}
	return list
}

// A mutation changes one place and reports whether it could.
type mutation struct {
	name string
	do   func(r *rand.Rand, p place) bool
}

// replace is a mutation of the values of one Go type.
func replace[T any](values ...any) func(*rand.Rand, place) bool {
	return func(r *rand.Rand, p place) bool {
		if _, ok := p.value.(T); !ok {
			return false
		}
		p.set(values[r.IntN(len(values))])
		return true
	}
}

// number is replace for numbers, which the generator writes in several types.
func number(values ...any) func(*rand.Rand, place) bool {
	return func(r *rand.Rand, p place) bool {
		return replace[json.Number](values...)(r, p) || replace[float64](values...)(r, p)
	}
}

var mutations = []mutation{
	{"another type", func(r *rand.Rand, p place) bool {
		p.set([]any{true, json.Number("7"), json.Number("-1.5"), "text", []any{}, []any{nil}, map[string]any{}, map[string]any{"type": "zz"}}[r.IntN(8)])
		return true
	}},
	{"null", func(_ *rand.Rand, p place) bool { p.set(nil); return p.value != nil }},
	{"member missing", member(func(r *rand.Rand, p place) { delete(p.of, p.name) })},
	{"member in wrong case", member(func(r *rand.Rand, p place) {
		delete(p.of, p.name)
		p.of[strings.ToUpper(p.name[:1])+p.name[1:]] = p.value
	})},
	{"member twice", member(func(r *rand.Rand, p place) {
		p.wrap(twice{p.of, p.name, []any{p.value, nil, "second", json.Number("2")}[r.IntN(4)]})
	})},
	{"member more", func(r *rand.Rand, p place) bool {
		o, ok := p.value.(map[string]any)
		if ok {
			o[[]string{"x-more", "type", "state", "value", "sessionId", "text"}[r.IntN(6)]] = []any{"more", json.Number("3"), nil, map[string]any{"a": true}}[r.IntN(4)]
		}
		return ok
	}},
	{"unknown word", replace[string]("_unknown", "unknown", "Other")},
	{"empty text", replace[string]("")},
	{"text of no format", replace[string]("%%%", "yesterday", "no uri", "2026-13-01T00:00:00Z", "YQ")},
	{"half a character", replace[string](raw(`"a\ud800b"`), raw(`"\udc00"`), raw(`"\ud83d\ude00\ud83d"`))},
	{"not UTF-8", replace[string](raw("\"a\xffb\""), raw("\"\xed\xa0\x80\""))},
	{"number out of range", number(json.Number("-1"), json.Number("65536"), json.Number("4294967296"), json.Number("0"), json.Number("2"))},
	{"huge number", number(json.Number("18446744073709551616"), json.Number("-9223372036854775809"), json.Number("99999999999999999999999"), json.Number("1e400"))},
	{"whole number with fraction", number(raw("1.0"), raw("10e-1"), raw("1e0"))},
	{"fraction", number(json.Number("1.5"), json.Number("-0.5"))},
	{"empty list", replace[[]any]([]any{})},
	{"bad element", func(r *rand.Rand, p place) bool {
		list, ok := p.value.([]any)
		if ok {
			bad := []any{nil, json.Number("7"), "bad", []any{}, map[string]any{}}[r.IntN(5)]
			i := r.IntN(len(list) + 1)
			p.set(append(append(append([]any{}, list[:i]...), bad), list[i:]...))
		}
		return ok
	}},
}

// dateTimes are edge cases of RFC 3339: valid ones, and those that readers disagree
// about.
var dateTimes = []string{
	"2026-01-02t03:04:05z", "2016-12-31T23:59:60Z", "1990-12-31T15:59:60-08:00", "2026-01-02T03:04:05-23:59", // valid
	"2026-01-02T3:04:05Z", "2026-01-02T+3:04:05Z", "2026-01-02T03:04:05,123Z", "2026-01-02T03:04:05+24:00",
	"2026-01-02T03:04:05+00:60", "2026-01-02 03:04:05Z", "2016-12-31T23:58:60Z", "2026-02-29T00:00:00Z", "2026-01-02T03:04:05",
}

// mutants ranges over values of a definition with one change each, and names
// the change: n random ones, and every edge of each date and time it has.
func (k *kit) mutants(def string, n int) iter.Seq2[any, string] {
	return func(yield func(any, string) bool) {
		g := k.values(seedOf(def))
		g.extra, g.nulls = true, true
		r := rand.New(rand.NewPCG(seedOf(def), 1))
		for i := range n {
			if !yield(mutate(r, i, g.definition(def, 0).in)) {
				return
			}
		}
		members := k.doc.Def(def).Get("properties")
		if members == nil {
			return
		}
		for _, name := range members.Keys {
			if members.Obj[name].Get("format").Text() != "date-time" {
				continue
			}
			for _, s := range dateTimes {
				v := g.definition(def, 0).in.(map[string]any)
				v[name] = s
				if !yield(v, "edge of a date and time") {
					return
				}
			}
		}
	}
}

// member is a mutation of the members of objects.
func member(do func(*rand.Rand, place)) func(*rand.Rand, place) bool {
	return func(r *rand.Rand, p place) bool {
		if p.of == nil || p.name == "" {
			return false
		}
		do(r, p)
		return true
	}
}

// mutate changes one thing in v, with mutation number n or the next one that can be
// applied, and returns the name of the mutation.
func mutate(r *rand.Rand, n int, v any) (any, string) {
	all := places(v, func(x any) { v = x })
	for ; ; n++ {
		m := mutations[n%len(mutations)]
		for _, i := range r.Perm(len(all)) {
			if m.do(r, all[i]) {
				return v, m.name
			}
		}
	}
}
