package validate

import "strings"

// method names the definitions of a method's payloads.
type method struct{ request, response, notification string }

// methodTable is keyed by the side that handles a method, and its name.
type methodTable map[Side]map[string]*method

// either is the key for methods that both sides handle.
const either Side = "protocol"

func (t methodTable) find(side Side, name string) *method {
	if m := t[side][name]; m != nil {
		return m
	}
	return t[either][name]
}

// methodsOf reads the table from a schema. The envelope of a definition says whether
// it is a request, a response or a notification, because its name is only a habit;
// x-side is the side that handles it.
func methodsOf(doc map[string]any) methodTable {
	table := methodTable{}
	defs, _ := doc["$defs"].(map[string]any)
	note := func(kind, name string) {
		def, _ := defs[name].(map[string]any)
		wire, _ := def["x-method"].(string)
		side, _ := def["x-side"].(string)
		if wire == "" {
			return
		}
		methods := table[Side(side)]
		if methods == nil {
			methods = map[string]*method{}
			table[Side(side)] = methods
		}
		m := methods[wire]
		if m == nil {
			m = &method{}
			methods[wire] = m
		}
		switch kind {
		case "Request":
			m.request = name
		case "Response":
			m.response = name
		case "Notification":
			m.notification = name
		}
	}
	for name, def := range defs {
		envelope, _ := def.(map[string]any)
		if envelope["x-docs-ignore"] != true || envelope["x-method"] != nil {
			continue
		}
		for _, kind := range []string{"Request", "Response", "Notification"} {
			if strings.HasSuffix(name, kind) {
				eachRef(def, func(ref string) { note(kind, ref) })
			}
		}
	}
	branches, _ := doc["anyOf"].([]any)
	for _, b := range branches {
		if frame, _ := b.(map[string]any); frame["title"] == "ProtocolLevel" {
			eachRef(frame, func(ref string) { note("Notification", ref) })
		}
	}
	return table
}

// eachRef calls f with every definition that v refers to directly.
func eachRef(v any, f func(name string)) {
	switch x := v.(type) {
	case map[string]any:
		if r, ok := x["$ref"].(string); ok {
			f(strings.TrimPrefix(r, "#/$defs/"))
		}
		for _, c := range x {
			eachRef(c, f)
		}
	case []any:
		for _, c := range x {
			eachRef(c, f)
		}
	}
}
