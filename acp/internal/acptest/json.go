package acptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"sort"
	"strconv"
)

// parse reads valid JSON text. Numbers keep their text.
func parse(text string) any {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(fmt.Sprintf("%v in %s", err, text))
	}
	return v
}

func print(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// difference returns the place of the first difference between two values, as a
// path, and whether there is one. Numbers are equal if their values are.
func difference(a, b any) (path []string, differ bool) {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return nil, true
		}
		for _, k := range keys(a, b) {
			x, inA := a[k]
			y, inB := b[k]
			if inA != inB {
				return []string{k}, true
			}
			if p, differ := difference(x, y); differ {
				return append([]string{k}, p...), true
			}
		}
		return nil, false
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return nil, true
		}
		for i := range a {
			if p, differ := difference(a[i], b[i]); differ {
				return append([]string{strconv.Itoa(i)}, p...), true
			}
		}
		return nil, false
	case json.Number:
		b, ok := b.(json.Number)
		if !ok {
			return nil, true
		}
		x, ok1 := new(big.Rat).SetString(a.String())
		y, ok2 := new(big.Rat).SetString(b.String())
		return nil, !ok1 || !ok2 || x.Cmp(y) != 0
	}
	return nil, a != b
}

func keys(maps ...map[string]any) []string {
	seen := map[string]bool{}
	var out []string
	for _, m := range maps {
		for k := range m {
			if !seen[k] {
				seen[k] = true
				out = append(out, k)
			}
		}
	}
	sort.Strings(out)
	return out
}
