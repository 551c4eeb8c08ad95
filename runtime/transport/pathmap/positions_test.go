package pathmap

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	v1 "github.com/hermes-nvim/hermes/schema/v1"
	v2 "github.com/hermes-nvim/hermes/schema/v2"
)

// node is what the walk needs of a JSON Schema.
type node struct {
	Ref        string           `json:"$ref"`
	Type       any              `json:"type"`
	Format     string           `json:"format"`
	Enum       []any            `json:"enum"`
	Const      any              `json:"const"`
	Properties map[string]*node `json:"properties"`
	Items      json.RawMessage  `json:"items"`
	More       json.RawMessage  `json:"additionalProperties"`
	AllOf      []*node          `json:"allOf"`
	AnyOf      []*node          `json:"anyOf"`
	OneOf      []*node          `json:"oneOf"`
	Side       string           `json:"x-side"`
	Method     string           `json:"x-method"`
}

func (n *node) isString() bool {
	if list, ok := n.Type.([]any); ok {
		return list[0] == "string" || len(list) > 1 && list[1] == "string"
	}
	return n.Type == "string"
}

// Version 1 does not mark paths, so what may be one is found by its name.
var suspicious = regexp.MustCompile(`(?i)path|cwd|dir|folder|root|file|ur[il]$|src|location|workspace`)

// notPaths are members that look like paths or addresses of files and are not.
var notPaths = map[string]string{
	"url":      "a page on the web, or an MCP server reached over HTTP",
	"src":      "an icon: https or data, nothing else is allowed",
	"baseUrl":  "a provider's service",
	"fileType": "a kind of file, which a peer may extend",
}

// program is the one position of a path whose name in version 1 does not say path.
const program = "mcpServers/command"

// walk calls tell with every string of a schema: its position without lists, and
// whether the schema describes it as a path or a file URI.
func walk(defs map[string]*node, n *node, at []string, below []string, tell func(at string, is shape)) {
	if ref := strings.TrimPrefix(n.Ref, "#/$defs/"); ref != "" {
		for _, r := range below {
			if r == ref {
				return
			}
		}
		if ref == "AbsolutePath" {
			tell(strings.Join(at, "/"), path)
			return
		}
		walk(defs, defs[ref], at, append(below[:len(below):len(below)], ref), tell)
	}
	if n.isString() && n.Enum == nil && n.Const == nil && len(at) > 0 {
		name, pos := at[len(at)-1], strings.Join(at, "/")
		_, excused := notPaths[name]
		switch {
		case excused:
			tell(pos, nil)
		case n.Format == "uri" || name == "uri":
			tell(pos, uri)
		case suspicious.MatchString(name) || strings.HasSuffix(pos, program):
			tell(pos, path)
		default:
			tell(pos, nil)
		}
	}
	for _, list := range [][]*node{n.AllOf, n.AnyOf, n.OneOf} {
		for _, m := range list {
			walk(defs, m, at, below, tell)
		}
	}
	for name, m := range n.Properties {
		walk(defs, m, append(at[:len(at):len(at)], name), below, tell)
	}
	for _, raw := range []json.RawMessage{n.Items, n.More} {
		if m := new(node); len(raw) > 0 && raw[0] == '{' && json.Unmarshal(raw, m) == nil {
			walk(defs, m, at, below, tell)
		}
	}
}

// find returns the entry of the table for a position.
func find(at object, pos string) shape {
	var s shape = at
	for _, name := range strings.Split(pos, "/") {
		o, _ := s.(object)
		s = o[name]
	}
	if l, ok := s.(leaf); ok {
		return l
	}
	return nil
}

func leaves(at object, prefix string, tell func(pos string)) {
	for name, s := range at {
		if o, ok := s.(object); ok {
			leaves(o, prefix+name+"/", tell)
		} else {
			tell(prefix + name)
		}
	}
}

func TestThePositionsMatchTheSchemas(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	excused := map[string]bool{}
	for name, text := range map[string][]byte{
		"version 1": v1.Stable, "version 1, unstable": v1.Unstable, "version 2": v2.Stable, "version 2, unstable": v2.Unstable,
	} {
		var schema struct {
			Defs map[string]*node `json:"$defs"`
		}
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatal(err)
		}
		methods := 0
		for def, n := range schema.Defs {
			if n.Method == "" {
				continue
			}
			methods++
			table := map[string]map[string]object{"agent": toAgent, "client": toClient}[n.Side]
			if strings.HasSuffix(def, "Response") {
				table = map[string]map[string]object{"agent": results}[n.Side]
			}
			walk(schema.Defs, n, nil, []string{def}, func(pos string, is shape) {
				if has := find(table[n.Method], pos); has != is {
					t.Errorf("%s: %s (%s): %s is %v in the schema, %v in the table (0 is a path, 1 a URI)", name, n.Method, def, pos, is, has)
				}
				seen[n.Method+" "+pos] = true
				if member := pos[strings.LastIndexByte(pos, '/')+1:]; is == nil && notPaths[member] != "" {
					excused[member] = true
				}
			})
		}
		if methods < 20 {
			t.Errorf("%s: the walk found %d messages", name, methods)
		}
	}
	for _, table := range []map[string]object{toAgent, results, toClient} {
		for method, at := range table {
			leaves(at, "", func(pos string) {
				if !seen[method+" "+pos] {
					t.Errorf("%s: %s is in no schema", method, pos)
				}
			})
		}
	}
	for member, why := range notPaths {
		if !excused[member] {
			t.Errorf("%s (%s) is in no schema", member, why)
		}
	}
}
