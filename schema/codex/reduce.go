package codex

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// node is a schema, or a part of one.
type node = map[string]any

// Reduce turns the schema bundle of a codex binary into the form of the schemas
// of ACP: only what the used methods reach, without prose, with a name for each
// object, open enums, and the method of each definition. The result is JSON with
// sorted members.
func Reduce(bundle []byte) ([]byte, error) {
	var root struct {
		Definitions map[string]json.RawMessage `json:"definitions"`
	}
	if err := json.Unmarshal(bundle, &root); err != nil {
		return nil, fmt.Errorf("schema of codex: %w", err)
	}
	r := reduction{from: map[string]node{}, to: node{}}
	if err := r.collect(root.Definitions); err != nil {
		return nil, err
	}
	r.table("ClientRequest", "agent", Requests)
	r.table("ServerRequest", "client", Questions)
	r.table("ServerNotification", "client", Notifications)
	r.table("ClientNotification", "agent", Announcements)
	r.frames()
	if err := errors.Join(r.errs...); err != nil {
		return nil, fmt.Errorf("schema of codex: %w", err)
	}
	return json.Marshal(node{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "Codex app-server",
		"$defs":   r.to,
	})
}

type reduction struct {
	from map[string]node // as published
	to   node            // reduced
	errs []error
}

func (r *reduction) fail(format string, a ...any) {
	r.errs = append(r.errs, fmt.Errorf(format, a...))
}

// collect flattens the namespaces. The newer definition wins.
func (r *reduction) collect(defs map[string]json.RawMessage) error {
	newer := map[string]json.RawMessage{}
	if err := json.Unmarshal(defs["v2"], &newer); err != nil {
		return fmt.Errorf("schema of codex: definitions of v2: %w", err)
	}
	delete(defs, "v2")
	maps.Copy(defs, newer)
	for name, text := range defs {
		var n node
		if err := json.Unmarshal(text, &n); err != nil {
			return fmt.Errorf("schema of codex: %s: %w", name, err)
		}
		r.from[name] = n
	}
	return nil
}

// table checks that the frame has the methods, and reduces what they carry.
func (r *reduction) table(frame, handler string, methods []Method) {
	params := map[string]string{}
	for _, b := range list(r.from[frame]["oneOf"]) {
		props, _ := b["properties"].(node)
		method, _ := props["method"].(node)
		p, _ := props["params"].(node)
		for _, name := range texts(method["enum"]) {
			params[name] = refOf(p)
		}
	}
	for _, m := range methods {
		got, ok := params[m.Wire]
		switch {
		case !ok:
			r.fail("%s: no method %s", frame, m.Wire)
		case got != m.Params:
			r.fail("%s: the params of %s are %q, want %q", frame, m.Wire, got, m.Params)
		}
		for _, def := range []string{m.ParamsName(), m.Result} {
			if def == "" {
				continue
			}
			if r.from[def] == nil && def != m.Params && def != m.Result {
				r.from[def] = node{"type": "object"} // a method without params
			}
			r.define(def)
			if n, ok := r.to[def].(node); ok {
				n["x-method"], n["x-side"] = m.Wire, handler
			}
		}
	}
}

// ParamsName names the definition of the params. A method without params gets an
// empty object.
func (m Method) ParamsName() string {
	if m.Params != "" {
		return m.Params
	}
	if m.Result != "" {
		return strings.TrimSuffix(m.Result, "Response") + "Params"
	}
	return upper(m.Wire) + "Notification"
}

// frames writes the JSON-RPC frames, which tell requests from notifications.
func (r *reduction) frames() {
	refs := func(methods []Method, def func(Method) string) []any {
		var out []any
		for _, m := range methods {
			out = append(out, ref(def(m)))
		}
		return out
	}
	frame := func(name string, params []any) {
		r.to[name] = node{"type": "object", "x-docs-ignore": true,
			"properties": node{"method": node{"type": "string"}, "params": node{"anyOf": params}}}
	}
	answer := func(name string, results []any) {
		r.to[name] = node{"x-docs-ignore": true,
			"anyOf": []any{node{"title": "Result", "type": "object", "properties": node{"result": node{"anyOf": results}}}}}
	}
	result := func(m Method) string { return m.Result }
	frame("ClientRequest", refs(Requests, Method.ParamsName))
	frame("ClientNotification", refs(Announcements, Method.ParamsName))
	frame("AgentRequest", refs(Questions, Method.ParamsName))
	frame("AgentNotification", refs(Notifications, Method.ParamsName))
	answer("AgentResponse", refs(Requests, result))
	answer("ClientResponse", refs(Questions, result))
}

// define reduces a definition, once.
func (r *reduction) define(name string) {
	if _, done := r.to[name]; done {
		return
	}
	n, ok := r.from[name]
	if !ok {
		r.fail("no definition %s", name)
		return
	}
	out := node{}
	r.to[name] = out // before its members, which may refer to it
	if !opaque[name] {
		maps.Copy(out, r.shape(name, n))
	}
}

// shape reduces a definition. Unions and enums are possible only here.
func (r *reduction) shape(name string, n node) node {
	if words := texts(n["enum"]); words != nil {
		return enum(words)
	}
	branches := append(list(n["oneOf"]), list(n["anyOf"])...)
	if branches == nil {
		return r.value(name, n)
	}
	out := node{}
	if n["properties"] != nil {
		out = r.object(name, n)
	}
	var words []string
	text := false
	var rest []any
	tag := tagOf(branches)
	for _, b := range branches {
		switch {
		case b["enum"] != nil && b["type"] == "string":
			words = append(words, texts(b["enum"])...)
			text = true
		case tag != "":
			rest = append(rest, r.tagged(name, tag, b))
		case elements(b["type"]) != nil: // several types: anything else
		default:
			rest = append(rest, r.branch(name, b))
		}
	}
	if rest == nil {
		return enum(words)
	}
	if tag == "" {
		if text {
			rest = append([]any{node{"title": "Word", "type": "string"}}, rest...)
		}
		rest = append(rest, node{"title": "Other"})
	}
	out["oneOf"] = rest
	return out
}

// tagged reduces a branch that a constant selects. Members of which one of several
// must be present are all optional.
func (r *reduction) tagged(name, tag string, b node) node {
	word := texts(asNode(asNode(b["properties"])[tag])["enum"])[0]
	props := maps.Clone(asNode(b["properties"]))
	props[tag] = node{"type": "string", "const": word}
	for _, one := range list(b["anyOf"]) {
		maps.Copy(props, asNode(one["properties"]))
	}
	return r.object(name+upper(word), node{"properties": props, "required": b["required"]})
}

// branch reduces an alternative that its JSON type or its only member selects.
func (r *reduction) branch(name string, b node) node {
	if b["properties"] == nil {
		out := r.value(name, b)
		title, _ := b["type"].(string)
		out["title"] = upper(title)
		return out
	}
	keys := slices.Sorted(maps.Keys(b["properties"].(node)))
	title := upper(keys[0])
	def := name + title
	r.to[def] = r.object(def, b)
	return node{"title": title, "$ref": "#/$defs/" + def}
}

// object reduces an object with members. A required member that may be null
// becomes optional: both mean that there is no value.
func (r *reduction) object(name string, n node) node {
	props, required := node{}, []any{}
	need := texts(n["required"])
	for member, p := range maps.All(asNode(n["properties"])) {
		v := r.member(name+upper(member), p)
		props[member] = v
		if slices.Contains(need, member) && !nullable(v) {
			required = append(required, member)
		}
	}
	slices.SortFunc(required, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	out := node{"type": "object", "properties": props}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// member reduces the type of a member. What needs a name gets the one given.
func (r *reduction) member(name string, p any) node {
	n, ok := p.(node)
	if !ok { // true: any value
		return node{}
	}
	if texts(n["enum"]) != nil || n["properties"] != nil {
		r.to[name] = r.shape(name, n)
		return ref(name)
	}
	return r.value(name, n)
}

// value reduces a type that needs no name of its own.
func (r *reduction) value(name string, n node) node {
	if all := list(n["allOf"]); len(all) == 1 {
		return r.value(name, all[0])
	}
	if to := refOf(n); to != "" {
		if target := r.from[to]; target["type"] == "array" || target["type"] == "object" && target["properties"] == nil && target["additionalProperties"] != nil {
			return r.value(to, target) // lists and maps have no names
		}
		r.define(to)
		return ref(to)
	}
	if n["properties"] != nil {
		return r.object(name, n)
	}
	if branches := list(n["anyOf"]); branches != nil {
		var out []any
		for _, b := range branches {
			out = append(out, r.value(name, b))
		}
		if len(out) == 2 && nullable(out[1].(node)) {
			return node{"anyOf": out}
		}
		return node{} // alternatives without a name: any value
	}
	out := node{}
	if c, ok := n["const"]; ok {
		out["const"] = c
	}
	if t, ok := n["type"]; ok {
		out["type"] = t
	}
	if f, ok := n["format"].(string); ok {
		out["format"] = format(f)
	}
	if items, ok := n["items"]; ok {
		out["items"] = r.member(name+"Item", items)
	}
	if more, ok := n["additionalProperties"].(node); ok {
		out["additionalProperties"] = r.member(name+"Value", more)
	}
	return out
}
