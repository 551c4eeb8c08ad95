package codex

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Changes lists what another reduced schema has that the pinned one has not ("+")
// and what it lacks ("-"), each as a path. It is for users; compat.Compare says what
// the same changes do to Go programs.
func Changes(other []byte) ([]string, error) {
	old, err := paths(Schema)
	if err != nil {
		return nil, fmt.Errorf("schema/codex: %w", err)
	}
	next, err := paths(other)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, p := range slices.Sorted(maps.Keys(next)) {
		if !old[p] {
			out = append(out, "+ "+p)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(old)) {
		if !next[p] {
			out = append(out, "- "+p)
		}
	}
	return out, nil
}

// paths are the leaves of a schema, each with its value and the way to it. An
// alternative is called by its constant or title, so that order does not count.
func paths(schema []byte) (map[string]bool, error) {
	var root struct {
		Defs map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(schema, &root); err != nil {
		return nil, err
	}
	out := map[string]bool{}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case node:
			for k, e := range v {
				switch k {
				case "properties", "oneOf", "anyOf":
					walk(at, e)
				default:
					walk(at+"."+k, e)
				}
			}
		case []any:
			for _, e := range v {
				walk(at+label(e), e)
			}
		default:
			out[fmt.Sprintf("%s = %v", at, v)] = true
		}
	}
	for name, def := range root.Defs {
		walk(name, def)
	}
	return out, nil
}

// label names an element of a list.
func label(e any) string {
	n, ok := e.(node)
	if !ok {
		return ""
	}
	for _, k := range []string{"const", "title", "$ref"} {
		if s, ok := n[k].(string); ok {
			return "[" + s[strings.LastIndexByte(s, '/')+1:] + "]"
		}
	}
	for member, p := range asNode(n["properties"]) {
		if c, ok := asNode(p)["const"].(string); ok {
			return "[" + member + "=" + c + "]"
		}
	}
	return ""
}
