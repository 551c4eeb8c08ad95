package acptest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hermes-nvim/hermes/schema"
)

type kit struct {
	Package
	edition schema.Edition
	doc     *schema.Document
	patches map[string]bool
	strict  map[string]bool
	secrets map[string]bool
}

func (k *kit) readOverlay(t *testing.T) {
	patches, err := schema.ReadPatches(schema.Tree)
	if err != nil {
		t.Fatal(err)
	}
	k.patches = patches.Of(k.edition)
	quirks, err := schema.ReadOverlay[schema.Quirks](schema.Tree, schema.QuirksFile)
	if err != nil {
		t.Fatal(err)
	}
	k.strict, k.secrets = set(quirks.Strict), set(quirks.Secrets)
}

// set is a set of members, of any version.
func set(members []string) map[string]bool {
	set := map[string]bool{}
	for _, m := range members {
		set[m] = true
	}
	return set
}

// values makes random values that a schema allows. Each value comes with the expected
// result of decoding and encoding it: the same, except for members whose null or bad
// value the protocol reads as absent.
type values struct {
	kit   *kit
	r     *rand.Rand
	bad   int  // one in bad members with a rule for bad values gets one; 0: none
	nulls bool // members that may be null sometimes are
	extra bool // objects get undeclared members

	planted map[string]int // nil, or secret members get a canary and are counted here
}

func (k *kit) values(seed uint64) *values {
	return &values{kit: k, r: rand.New(rand.NewPCG(seed, seed))}
}

// pair is a value and what must come back.
type pair struct{ in, want any }

func same(v any) pair { return pair{v, v} }

const tooDeep = 5

func (g *values) definition(name string, depth int) pair {
	return g.value(name, g.kit.doc.Def(name), depth)
}

func (g *values) value(owner string, n *schema.Node, depth int) pair {
	if n.Kind == 't' {
		return same(g.anything(depth))
	}
	if ref := n.Ref(); ref != "" && !n.Has("properties") {
		return g.definition(ref, depth)
	}
	if c := n.Get("const"); c != nil {
		return same(parse(c.JSON()))
	}
	var branch *schema.Node
	for _, keyword := range []string{"oneOf", "anyOf"} {
		if a := n.Get(keyword); a != nil {
			bs := slices.Clone(a.Arr)
			if len(bs) == 2 { // nulls beside one type are made by members
				bs = slices.DeleteFunc(bs, func(b *schema.Node) bool { return b.Get("type").Text() == "null" })
			}
			branch = bs[g.r.IntN(len(bs))]
		}
	}
	isObject := n.Has("properties") || n.Get("type").Text() == "object" && !n.Has("additionalProperties")
	if branch == nil && !isObject && !n.Has("allOf") {
		return g.scalarOrContainer(owner, n, depth)
	}
	out := pair{map[string]any{}, map[string]any{}}
	if isObject {
		g.members(owner, n, out, depth)
	}
	for _, e := range branches(n.Get("allOf")) {
		merge(out, g.value(owner, e, depth))
	}
	if branch != nil {
		v := g.value(owner, branch, depth)
		if _, ok := v.in.(map[string]any); !ok {
			return v
		}
		merge(out, v)
		g.fixTag(n, branch, out)
	}
	if g.extra && isObject && g.r.IntN(3) == 0 {
		x := g.anything(depth)
		out.in.(map[string]any)["x_new"] = x
		out.want.(map[string]any)["x_new"] = x
	}
	return out
}

// fixTag gives the open branch a tag that no version knows, and the branch for
// an absent tag none.
func (g *values) fixTag(n, branch *schema.Node, out pair) {
	tag := ""
	for _, keyword := range []string{"oneOf", "anyOf"} {
		for _, b := range branches(n.Get(keyword)) {
			ps := b.Get("properties")
			if ps == nil {
				continue
			}
			for _, p := range ps.Keys {
				if ps.Obj[p].Has("const") {
					tag = p
				}
			}
		}
	}
	switch {
	case branch.Has("not"):
		out.in.(map[string]any)[tag] = "_new"
		out.want.(map[string]any)[tag] = "_new"
	case tag != "" && branch.Get("properties").Get(tag) != nil && !branch.Get("properties").Get(tag).Has("const"):
		delete(out.in.(map[string]any), tag)
		delete(out.want.(map[string]any), tag)
	}
}

func (g *values) members(owner string, n *schema.Node, out pair, depth int) {
	in, want := out.in.(map[string]any), out.want.(map[string]any)
	var required []string
	for _, r := range branches(n.Get("required")) {
		required = append(required, r.Str)
	}
	ps := n.Get("properties")
	if ps == nil {
		return
	}
	for _, k := range ps.Keys {
		p := ps.Obj[k]
		must := slices.Contains(required, k)
		key := owner + "." + k
		wanted := must || g.planted != nil && g.kit.secrets[key]
		if !wanted && (depth >= tooDeep || g.r.IntN(2) == 0) {
			continue
		}
		if p.Has("const") {
			in[k] = parse(p.Get("const").JSON())
			want[k] = in[k]
			continue
		}
		if g.nulls && g.null(key, k, p, must, in, want) {
			continue
		}
		if g.bad > 0 && g.r.IntN(g.bad) == 0 && g.broken(key, k, p, must, in, want, depth) {
			continue
		}
		v := g.value(owner, p, depth+1)
		if g.planted != nil && g.kit.secrets[key] {
			v = same(withCanary(v.in))
			g.planted[key]++
		}
		if p.Has("default") && p.Get("default").JSON() == "false" { // false is written as absence
			v = same(true)
		}
		if key == "Error.data" { // kept as text, however the version reads it
			v = same(v.in)
		}
		in[k], want[k] = v.in, v.want
	}
}

// null gives a member null where that is allowed, and reports whether it did.
func (g *values) null(key, k string, p *schema.Node, must bool, in, want map[string]any) bool {
	if g.r.IntN(3) > 0 || key == "Error.data" {
		return false
	}
	switch {
	case g.kit.patches[key]:
		in[k], want[k] = nil, nil
	case p.Get("x-deserialize-default-on-null").True():
		in[k] = nil
		if must {
			want[k] = []any{}
		}
	case !must && nullable(p):
		in[k] = nil // the same as absent
	default:
		return false
	}
	return true
}

// broken gives a member a value of a wrong type if the protocol defines how to read
// it, and reports whether it did.
func (g *values) broken(key, k string, p *schema.Node, must bool, in, want map[string]any, depth int) bool {
	if g.kit.strict[key] || key == "Error.data" {
		return false
	}
	if p.Get("x-deserialize-skip-invalid-items").True() && g.r.IntN(2) == 0 {
		item := p.Get("items")
		bad := g.misfit(item)
		if bad == nil {
			return false
		}
		good := g.value("", item, depth+1)
		in[k], want[k] = []any{bad, good.in, bad}, []any{good.want}
		return true
	}
	if !p.Get("x-deserialize-default-on-error").True() {
		return false
	}
	bad := g.misfit(p)
	if bad == nil {
		return false
	}
	in[k] = bad
	if must {
		want[k] = []any{}
	}
	return true
}

// misfit is a value that does not fit n, nil if every value fits.
func (g *values) misfit(n *schema.Node) any {
	if ref := n.Ref(); ref != "" {
		return g.misfit(g.kit.doc.Def(ref))
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		for _, b := range branches(n.Get(keyword)) {
			if !b.Has("type") && b.Ref() == "" && !b.Has("allOf") {
				return nil // anything goes
			}
		}
		if bs := branches(n.Get(keyword)); bs != nil {
			return g.misfit(bs[0])
		}
	}
	types := n.Types()
	switch {
	case slices.Contains(types, "string"), slices.Contains(types, "boolean"), slices.Contains(types, "array"):
		return map[string]any{"bad": []any{1.0}}
	case len(types) > 0, n.Has("properties"), n.Has("allOf"):
		return []any{"bad"}
	}
	return nil
}

func nullable(n *schema.Node) bool {
	if slices.Contains(n.Types(), "null") {
		return true
	}
	for _, b := range branches(n.Get("anyOf")) {
		if b.Get("type").Text() == "null" {
			return true
		}
	}
	return false
}

func (g *values) scalarOrContainer(owner string, n *schema.Node, depth int) pair {
	switch ty := firstType(n); ty {
	case "":
		if n.Has("type") {
			return same(nil)
		}
		return same(g.anything(depth))
	case "string":
		return same(g.text(n))
	case "boolean":
		return same(g.r.IntN(2) == 0)
	case "integer":
		return same(g.integer(n))
	case "number":
		return same(json.Number([]string{"0.5", "0.25", "1", "0"}[g.r.IntN(4)]))
	case "array":
		length := g.r.IntN(3)
		if n.Has("minItems") && length == 0 {
			length = 1
		}
		in, want := []any{}, []any{}
		for range length {
			e := g.value(owner, n.Get("items"), depth+1)
			in, want = append(in, e.in), append(want, e.want)
		}
		return pair{in, want}
	case "object":
		ap := n.Get("additionalProperties")
		if ap.Kind != '{' {
			return same(map[string]any{"k": g.anything(depth + 1)})
		}
		in, want := map[string]any{}, map[string]any{}
		for _, k := range []string{"k", "a/~b"} {
			e := g.value(owner, ap, depth+1)
			in[k], want[k] = e.in, e.want
		}
		return pair{in, want}
	default:
		panic(fmt.Sprintf("%s: type %q", n.Ptr, ty))
	}
}

func firstType(n *schema.Node) string {
	for _, t := range n.Types() {
		if t != "null" {
			return t
		}
	}
	return ""
}

func (g *values) text(n *schema.Node) string {
	switch {
	case n.Has("contentEncoding"):
		return "aGk="
	case n.Get("format").Text() == "uri":
		return "file:///a%20b"
	case n.Get("format").Text() == "date-time":
		return "2026-01-02T03:04:05.678Z"
	}
	return []string{"x", "héllo\n\"q\"\\ \u2028\x00", "a/b", "😀", "</script>"}[g.r.IntN(5)]
}

func (g *values) integer(n *schema.Node) json.Number {
	limits := map[string][2]string{
		"uint16": {"1", "65535"}, "uint32": {"1", "4294967295"}, "uint64": {"1", "18446744073709551615"},
		"int32": {"-2147483648", "2147483647"}, "int64": {"-9223372036854775808", "9223372036854775807"}, "": {"-9223372036854775808", "9223372036854775807"},
	}
	l, ok := limits[n.Get("format").Text()]
	if !ok {
		panic(n.Ptr + ": format " + n.Get("format").Text())
	}
	return json.Number([]string{l[0], l[1], "1", "12345"}[g.r.IntN(4)])
}

func (g *values) anything(int) any {
	return []any{"s", json.Number("1"), json.Number("1.50e+300"), true, nil, map[string]any{"a": []any{true, map[string]any{}}}, []any{}}[g.r.IntN(7)]
}

func merge(to, from pair) {
	for _, m := range [][2]any{{to.in, from.in}, {to.want, from.want}} {
		dst := m[0].(map[string]any)
		for k, v := range m[1].(map[string]any) {
			dst[k] = v
		}
	}
}

func branches(n *schema.Node) []*schema.Node {
	if n == nil {
		return nil
	}
	return n.Arr
}
