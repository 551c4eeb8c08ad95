package golang

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/gen/ir"
)

var schemas = flag.Int("schemas", 150, "how many random schemas to generate from")

// Every schema gives either Go that compiles or an error that names the place.
func TestRandomSchemasCompileOrAreRefused(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 5))
	compiled, refused := 0, map[string]int{}
	for i := range *schemas {
		g := randomSchema{r: r}
		text := g.text()
		patches := map[string]bool{}
		for _, def := range g.names {
			for _, m := range memberNames {
				patches[def+"."+m] = r.IntN(8) == 0
			}
		}
		out, err := generate(t, "random.json", text, ir.Overlay{Patches: patches, Secrets: someMembers{}})
		if err != nil {
			if !strings.Contains(err.Error(), "\n  ") {
				t.Errorf("schema %d: error without a place: %v\n%s", i, err, text)
			}
			_, why, _ := strings.Cut(err.Error(), "\n  ")
			why, _, _ = strings.Cut(why, "\n")
			refused[why[strings.LastIndex(why, ": ")+1:]]++
			continue
		}
		compiled++
		if err := typeCheck(out); err != nil {
			t.Fatalf("schema %d: %v\n%s", i, err, text)
		}
	}
	t.Logf("%d compile, refused: %v", compiled, refused)
	if compiled < *schemas/4 {
		t.Errorf("only %d of %d schemas are accepted; the test proves little", compiled, *schemas)
	}
}

type someMembers struct{}

func (someMembers) Has(m string) bool { return strings.HasSuffix(m, ".value") }

var memberNames = []string{"id", "type", "value", "_meta", "sessionId", "error", "string", "range", "3d", "a/b", "URL", "über", "tag", "d", "v", "b", "nil", "map", "bytes", "extra2"}

var tags = []string{"one", "two_three", "func", "Other2", "a b", "4th", "x-y", "Ä"}

type randomSchema struct {
	r     *rand.Rand
	names []string
}

func (g *randomSchema) text() []byte {
	all := []string{"Alpha", "beta", "GammaDelta", "type", "Jx", "Error2", "Zulu", "Opt2", "Kilo", "Lima"}
	g.names = all[:3+g.r.IntN(len(all)-3)]
	defs := map[string]any{}
	for i, n := range g.names {
		defs[n] = g.definition(i)
	}
	b, err := json.Marshal(map[string]any{"$defs": defs})
	if err != nil {
		panic(err)
	}
	return b
}

func (g *randomSchema) one(list ...any) any { return list[g.r.IntN(len(list))] }

func (g *randomSchema) ref() map[string]any {
	return map[string]any{"$ref": "#/$defs/" + g.names[g.r.IntN(len(g.names))]}
}

func (g *randomSchema) definition(i int) any {
	switch g.r.IntN(9) {
	case 0:
		return map[string]any{"type": "string"}
	case 1:
		return map[string]any{"type": "integer", "format": g.one("uint16", "uint32", "int64", "uint64", "int32")}
	case 2:
		return g.enum()
	case 3:
		return map[string]any{}
	case 4:
		if i > 0 {
			return g.union()
		}
	case 5:
		return map[string]any{"anyOf": []any{
			map[string]any{"title": "Text", "type": "string"},
			map[string]any{"title": "Whole", "type": "integer", "format": "int64"},
			map[string]any{"title": "List", "type": "array", "items": g.ref()},
			map[string]any{"title": "Flag", "type": "boolean"},
		}[g.r.IntN(3):]}
	}
	return g.object()
}

func (g *randomSchema) enum() any {
	var branches []any
	for _, v := range tags[:1+g.r.IntN(len(tags))] {
		branches = append(branches, map[string]any{"type": "string", "const": v})
	}
	if g.r.IntN(2) == 0 {
		branches = append(branches, map[string]any{"type": "string", "title": "other"})
	}
	return map[string]any{"oneOf": branches}
}

func (g *randomSchema) union() any {
	tag := memberNames[g.r.IntN(len(memberNames))]
	constant := func(v string) map[string]any {
		return map[string]any{"type": "object", "properties": map[string]any{tag: map[string]any{"type": "string", "const": v}}, "required": []any{tag}}
	}
	var branches, known []any
	for _, v := range tags[:1+g.r.IntN(4)] {
		b := constant(v)
		known = append(known, constant(v))
		switch g.r.IntN(3) {
		case 0:
			b["allOf"] = []any{g.ref()}
		case 1:
			b["properties"].(map[string]any)[memberNames[g.r.IntN(len(memberNames))]] = g.member()
			b["properties"].(map[string]any)[tag] = map[string]any{"type": "string", "const": v}
		}
		branches = append(branches, b)
	}
	u := map[string]any{"anyOf": branches}
	if g.r.IntN(2) == 0 {
		u["anyOf"] = append(branches, map[string]any{"title": "other", "type": "object", "properties": map[string]any{tag: map[string]any{"type": "string"}}, "required": []any{tag}, "not": map[string]any{"anyOf": known}, "additionalProperties": true})
	} else if g.r.IntN(3) == 0 {
		u["anyOf"] = append(branches, map[string]any{"title": "plain", "allOf": []any{g.ref()}})
	}
	if g.r.IntN(3) == 0 {
		for k, v := range g.object() {
			u[k] = v
		}
	}
	return u
}

func (g *randomSchema) object() map[string]any {
	ps, required := map[string]any{}, []any{}
	for range g.r.IntN(6) {
		n := memberNames[g.r.IntN(len(memberNames))]
		ps[n] = g.member()
	}
	for _, n := range memberNames {
		if m, ok := ps[n]; ok && g.r.IntN(3) == 0 && !strings.Contains(fmt.Sprint(m), "null") {
			required = append(required, n)
		}
	}
	return map[string]any{"type": "object", "properties": ps, "required": required}
}

func (g *randomSchema) member() map[string]any {
	m := g.one(
		map[string]any{"type": g.one("string", "boolean", "number")},
		map[string]any{"type": []any{g.one("string", "boolean", "number", "object"), "null"}},
		map[string]any{"type": "string", "format": g.one("uri", "date-time", "regex")},
		map[string]any{"type": "string", "contentEncoding": "base64"},
		map[string]any{"type": "string", "minLength": g.r.IntN(3)},
		map[string]any{"type": "integer", "format": g.one("uint16", "uint32", "uint64", "int64"), "minimum": g.r.IntN(3)},
		map[string]any{"type": "number", "minimum": 0.5, "maximum": 1.5},
		map[string]any{"type": "boolean", "default": g.r.IntN(2) == 0},
		map[string]any{"type": "array", "items": g.ref(), "minItems": g.r.IntN(2)},
		map[string]any{"type": "array", "items": map[string]any{"type": "array", "items": map[string]any{"type": "string"}}},
		map[string]any{"type": "object", "additionalProperties": g.ref()},
		map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "array", "items": map[string]any{"type": "integer", "format": "uint64"}}},
		map[string]any{"allOf": []any{g.ref()}},
		map[string]any{"anyOf": []any{g.ref(), map[string]any{"type": "null"}}},
		map[string]any{},
	).(map[string]any)
	if g.r.IntN(3) == 0 {
		m["x-deserialize-default-on-error"] = true
	}
	if m["items"] != nil && g.r.IntN(2) == 0 {
		m["x-deserialize-skip-invalid-items"] = true
	}
	if (m["items"] != nil || m["additionalProperties"] != nil) && g.r.IntN(3) == 0 {
		m["x-deserialize-default-on-null"] = true
	}
	return m
}
