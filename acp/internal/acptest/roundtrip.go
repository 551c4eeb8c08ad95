package acptest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/schema"
)

// perDefinition is how many random values of each definition are tried, more than
// 100,000 in all packages together.
const perDefinition = 125

func (k *kit) testComplete(t *testing.T) {
	for _, def := range k.doc.Defs {
		n := k.doc.Def(def)
		if n.Get("x-docs-ignore").True() && !n.Has("x-method") && !strings.HasPrefix(def, "Ext") || def == "ErrorCode" {
			continue // an envelope, or a hand-written number
		}
		if k.Definitions[def] == nil {
			t.Errorf("%s has no codec", def)
		}
	}
}

// each runs f for random values of every definition, with a seed of its own.
func (k *kit) each(t *testing.T, n int, set func(*values), f func(def string, v pair) error) {
	total := 0
	for _, def := range k.doc.Defs {
		if k.Definitions[def] == nil {
			continue
		}
		g := k.values(seedOf(def))
		set(g)
		for range n {
			total++
			v := g.definition(def, 0)
			if err := f(def, v); err != nil {
				t.Errorf("%s: %.1500v", def, err)
				break
			}
		}
	}
	t.Logf("%d values", total)
}

func seedOf(def string) (seed uint64) {
	for _, c := range def {
		seed = seed*31 + uint64(c)
	}
	return seed
}

// survives decodes a value, encodes it, and compares.
func (k *kit) survives(def string, v pair) error {
	in := print(v.in)
	out, _, err := k.Definitions[def](in)
	if err != nil {
		return fmt.Errorf("%s\n  %w", in, err)
	}
	if at, differ := difference(parse(string(out)), parse(string(print(v.want)))); differ {
		return fmt.Errorf("differs at /%s\n  in   %s\n  out  %s\n  want %s", strings.Join(at, "/"), in, out, print(v.want))
	}
	return nil
}

func (k *kit) testRoundTrip(t *testing.T) {
	k.each(t, perDefinition, func(g *values) { g.nulls, g.extra = true, true }, k.survives)
}

func (k *kit) testLenient(t *testing.T) {
	k.each(t, perDefinition/4, func(g *values) { g.bad, g.extra = 3, true }, k.survives)
}

// testStrict gives every strict member a value that does not fit and expects
// the message to fail at that member.
func (k *kit) testStrict(t *testing.T) {
	for member := range k.strict {
		def, name, _ := strings.Cut(member, ".")
		p := k.doc.Def(def).Get("properties").Get(name)
		if p == nil {
			continue // of another version
		}
		g := k.values(1)
		for _, bad := range []any{g.misfit(p), []any{g.misfit(p)}} {
			v, ok := g.definition(def, 0).in.(map[string]any)
			if !ok {
				t.Fatalf("%s is not an object", def)
			}
			v[name] = bad
			_, _, err := k.Definitions[def](print(v))
			if err == nil || !strings.HasPrefix(err.Error(), "/"+name) {
				t.Errorf("%s = %s: error %v, want one at /%s", member, print(bad), err, name)
			}
		}
	}
}

// testRequired removes each required member.
func (k *kit) testRequired(t *testing.T) {
	for _, def := range k.doc.Defs {
		n := k.doc.Def(def)
		if k.Definitions[def] == nil || n.Get("type").Text() != "object" {
			continue
		}
		for _, r := range branches(n.Get("required")) {
			v, ok := k.values(seedOf(def)).definition(def, 0).in.(map[string]any)
			if !ok {
				continue
			}
			delete(v, r.Str)
			_, _, err := k.Definitions[def](print(v))
			if want := `missing required member "` + r.Str + `"`; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s without %s: error %v, want %s", def, r.Str, err, want)
			}
		}
	}
}

// testOneLeaf changes one leaf of a valid value. Either decoding fails, or only the
// leaf, or a member around it, differs in the result.
func (k *kit) testOneLeaf(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	failed := 0
	k.each(t, perDefinition/4, func(g *values) { g.extra = true }, func(def string, v pair) error {
		in, path := changeLeaf(r, v.in)
		out, _, err := k.Definitions[def](print(in))
		if err != nil {
			failed++
			return nil
		}
		at, differ := difference(parse(string(out)), parse(string(print(in))))
		if differ && !prefix(at, path) && !(len(at) > 0 && prefix(at[:len(at)-1], path)) {
			return fmt.Errorf("changed /%s, but /%s came back different\n  in  %s\n  out %s", strings.Join(path, "/"), strings.Join(at, "/"), print(in), out)
		}
		return nil
	})
	t.Logf("%d failed to decode", failed)
}

// testNewer replaces one word of the schema, the value of an enum or the tag of a
// union, with one that only a newer version could know. Either decoding fails or the
// word survives, so a program that passes messages on never loses it silently.
func (k *kit) testNewer(t *testing.T) {
	words := map[string]bool{}
	var collect func(n *schema.Node)
	collect = func(n *schema.Node) {
		words[n.Get("const").Text()] = true
		n.EachSubschema(func(_ string, sub *schema.Node) { collect(sub) })
	}
	collect(k.doc.Raw)
	r := rand.New(rand.NewPCG(3, 4))
	kept, refused := 0, 0
	k.each(t, perDefinition/4, func(*values) {}, func(def string, v pair) error {
		all := slices.DeleteFunc(places(v.in, func(x any) { v.in = x }), func(p place) bool {
			s, ok := p.value.(string)
			return !ok || !words[s] || s == ""
		})
		if len(all) == 0 {
			return nil
		}
		all[r.IntN(len(all))].set("_newer")
		in := print(v.in)
		out, _, err := k.Definitions[def](in)
		if err != nil {
			refused++
			return nil
		}
		kept++
		if at, differ := difference(parse(string(out)), parse(string(in))); differ {
			return fmt.Errorf("lost at /%s\n  in  %s\n  out %s", strings.Join(at, "/"), in, out)
		}
		return nil
	})
	if kept == 0 || refused == 0 {
		t.Errorf("%d kept, %d refused: the test has no teeth", kept, refused)
	}
}

func prefix(p, of []string) bool { return len(p) <= len(of) && slices.Equal(p, of[:len(p)]) }

// changeLeaf copies v with one leaf replaced.
func changeLeaf(r *rand.Rand, v any) (any, []string) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			break
		}
		ks := keys(v)
		k := ks[r.IntN(len(ks))]
		out := map[string]any{}
		for name, x := range v {
			out[name] = x
		}
		x, path := changeLeaf(r, v[k])
		out[k] = x
		return out, append([]string{k}, path...)
	case []any:
		if len(v) == 0 {
			break
		}
		i := r.IntN(len(v))
		out := slices.Clone(v)
		x, path := changeLeaf(r, v[i])
		out[i] = x
		return out, append([]string{fmt.Sprint(i)}, path...)
	}
	leaves := []any{"changed", true, nil, map[string]any{}, []any{}, parse("7"), parse("-1.5")}
	return leaves[r.IntN(len(leaves))], nil
}
