package validate

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/internal/shape/oracle"
)

// generator makes random values of a schema as it is published.
type generator struct {
	*rand.Rand
	defs map[string]any
}

func (g *generator) value(s any, depth int) any {
	m, ok := s.(map[string]any)
	if !ok {
		return g.IntN(3)
	}
	if ref, ok := m["$ref"].(string); ok {
		return g.value(g.defs[strings.TrimPrefix(ref, "#/$defs/")], depth+1)
	}
	if c, ok := m["const"]; ok {
		return c
	}
	var out any
	kind := m["type"]
	if list, ok := kind.([]any); ok {
		kind = list[g.IntN(len(list))]
	}
	switch kind {
	case "object":
		o := g.object(m, depth)
		g.merge(o, m, depth)
		return o
	case "array":
		list := []any{}
		for range 1 + g.IntN(2) {
			if m["items"] != nil && depth < 12 {
				list = append(list, g.value(m["items"], depth+1))
			}
		}
		return list
	case "string":
		out = map[any]string{"uri": "file:///a", "date-time": "2026-01-02T03:04:05Z"}[m["format"]]
		if out == "" {
			out = []string{"YQ==", "text", "form"}[g.IntN(3)]
		}
	case "integer":
		out = json.Number(fmt.Sprint(1 + g.IntN(9)))
	case "number":
		out = json.Number("0.5")
	case "boolean":
		out = g.IntN(2) == 0
	case "null":
		return nil
	case nil:
		for _, k := range []string{"allOf", "anyOf", "oneOf"} {
			if list, ok := m[k].([]any); ok {
				return g.value(list[g.IntN(len(list))], depth+1)
			}
		}
		out = map[string]any{"any": true}
	}
	return out
}

func (g *generator) object(m map[string]any, depth int) map[string]any {
	o := map[string]any{}
	members, _ := m["properties"].(map[string]any)
	required, _ := m["required"].([]any)
	for _, k := range slices.Sorted(maps.Keys(members)) {
		if slices.Contains(required, any(k)) || depth < 8 && g.IntN(3) > 0 {
			o[k] = g.value(members[k], depth+1)
		}
	}
	return o
}

// merge adds what the branches of an object say.
func (g *generator) merge(o, m map[string]any, depth int) {
	for _, k := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := m[k].([]any)
		for i, b := range list {
			if k != "allOf" && i > 0 {
				break
			}
			if k != "allOf" {
				b = list[g.IntN(len(list))]
			}
			if more, ok := g.value(b, depth+1).(map[string]any); ok {
				maps.Copy(o, more)
			}
		}
	}
}

// mutate changes one thing somewhere in a value.
func (g *generator) mutate(v any) any {
	odd := func() any {
		return []any{nil, true, json.Number("-1"), json.Number("1.5"), json.Number("99999999999999999999"), "odd", []any{}, map[string]any{}, []any{json.Number("1")}}[g.IntN(9)]
	}
	switch x := v.(type) {
	case map[string]any:
		if len(x) == 0 || g.IntN(8) == 0 {
			return odd()
		}
		keys := slices.Sorted(maps.Keys(x))
		k := keys[g.IntN(len(keys))]
		if g.IntN(4) == 0 {
			delete(x, k)
		} else {
			x[k] = g.mutate(x[k])
		}
		return x
	case []any:
		if len(x) == 0 || g.IntN(4) == 0 {
			return odd()
		}
		i := g.IntN(len(x))
		x[i] = g.mutate(x[i])
		return x
	}
	return odd()
}

// TestTheVerdictIsThatOfASchemaLibrary compares values of every definition, and mutants
// of them.
func TestTheVerdictIsThatOfASchemaLibrary(t *testing.T) {
	t.Parallel()
	for _, e := range Editions {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			library, err := oracle.New(e.source())
			if err != nil {
				t.Fatal(err)
			}
			var doc map[string]any
			if err := json.Unmarshal(e.source(), &doc); err != nil {
				t.Fatal(err)
			}
			g := &generator{rand.New(rand.NewPCG(1, 2)), doc["$defs"].(map[string]any)}
			values, valid := 0, 0
			for _, name := range slices.Sorted(maps.Keys(g.defs)) {
				if g.defs[name].(map[string]any)["x-docs-ignore"] == true {
					continue // frames; a whole message is checked member by member
				}
				for i := range 24 {
					v := g.value(g.defs[name], 0)
					for range i % 4 {
						v = g.mutate(v)
					}
					text, err := json.Marshal(v)
					if err != nil {
						t.Fatal(err)
					}
					want := library.Check(name, text) == nil
					strict, err := validator(e, Strict).Value(name, text)
					if err != nil {
						t.Fatal(err)
					}
					tolerant, err := validator(e, Tolerant).Value(name, text)
					if err != nil {
						t.Fatal(err)
					}
					if (len(strict) == 0) != want {
						t.Errorf("%s: %s\nthe library says %v, this package\n%s", name, text, want, lines(strict))
					}
					if len(strict) == 0 && len(tolerant) > 0 {
						t.Errorf("%s: %s\npasses strict but not tolerant:\n%s", name, text, lines(tolerant))
					}
					values++
					if want {
						valid++
					}
				}
			}
			if valid < values/4 || valid > values*3/4 {
				t.Errorf("%d of %d values are valid: the test has no teeth", valid, values)
			}
			t.Logf("%d values, %d valid", values, valid)
		})
	}
}
