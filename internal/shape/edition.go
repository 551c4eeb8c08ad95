package shape

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	v1 "github.com/hermes-nvim/hermes/schema/v1"
	v2 "github.com/hermes-nvim/hermes/schema/v2"
)

// Side is the side that handles a method.
type Side uint8

// The sides.
const (
	Agent  Side = 1 << iota // handles what clients send
	Client                  // handles what agents send
	Proxy
)

// Method is a method of the protocol. A shape is nil if there is no such message.
type Method struct {
	Name         string
	Handler      Side // Agent|Client for methods of the protocol itself
	Request      *Shape
	Result       *Shape
	Notification *Shape
}

// Edition is one version of the protocol: the unstable schema, which has everything
// of the stable one.
type Edition struct {
	methods map[string]*Method
	handled map[Side]map[string]*Method
	doc     *document
}

// draft is the schema of version 2 as it was drafted in August 2026, reduced like the
// schemas of package schema.
//
//go:embed draft.json
var draft []byte

// V1, V2Draft and V2 return the editions.
var (
	V1      = sync.OnceValue(func() *Edition { return mustLoad(v1.Unstable) })
	V2Draft = sync.OnceValue(func() *Edition { return mustLoad(draft) })
	V2      = sync.OnceValue(func() *Edition { return mustLoad(v2.Unstable) })
)

// mustLoad compiles embedded schemas, so an error is a mistake in this program.
func mustLoad(text []byte) *Edition {
	e, err := Load(text, false)
	if err != nil {
		panic(fmt.Sprintf("the embedded schema does not compile: %v", err))
	}
	return e
}

// Method returns a method by its name, nil if there is none. It has the messages of all
// sides.
func (e *Edition) Method(name []byte) *Method { return e.methods[string(name)] }

// Handled returns what one side handles of a method, nil if that is nothing.
func (e *Edition) Handled(side Side, name string) *Method {
	if m := e.handled[side][name]; m != nil {
		return m
	}
	return e.handled[Agent|Client][name]
}

// Definition returns a definition of the schema by its name.
func (e *Edition) Definition(name string) *Shape { return e.doc.shapes[name] }

type root struct {
	AnyOf []json.RawMessage          `json:"anyOf"`
	Defs  map[string]json.RawMessage `json:"$defs"`
}

// about is what a definition says about the message that it is part of.
type about struct {
	Method string `json:"x-method"`
	Side   string `json:"x-side"`
	Ignore bool   `json:"x-docs-ignore"`
}

// Load compiles a schema of the protocol. If tolerant is set, faults that the protocol
// has a reader repair are not wrong: bad values that count as absent, bad elements that
// are dropped, null that counts as empty.
func Load(text []byte, tolerant bool) (*Edition, error) {
	var r root
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	e := &Edition{methods: map[string]*Method{}, handled: map[Side]map[string]*Method{}, doc: &document{defs: r.Defs, shapes: map[string]*Shape{}, tolerant: tolerant}}
	for name := range r.Defs {
		if _, err := e.doc.definition(name); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	note := func(kind, name string) {
		var a about
		if json.Unmarshal(r.Defs[name], &a) != nil || a.Method == "" {
			return
		}
		side, ok := map[string]Side{"agent": Agent, "client": Client, "proxy": Proxy}[a.Side]
		if !ok {
			side = Agent | Client
		}
		if e.handled[side] == nil {
			e.handled[side] = map[string]*Method{}
		}
		for _, table := range []map[string]*Method{e.methods, e.handled[side]} {
			m := table[a.Method]
			if m == nil {
				m = &Method{Name: a.Method}
				table[a.Method] = m
			}
			m.Handler |= side
			switch shape := e.doc.shapes[name]; kind {
			case "Request":
				m.Request = shape
			case "Response":
				m.Result = shape
			case "Notification":
				m.Notification = shape
			}
		}
	}
	for name, text := range r.Defs {
		var a about
		if json.Unmarshal(text, &a) != nil || !a.Ignore || a.Method != "" {
			continue
		}
		for _, kind := range []string{"Request", "Response", "Notification"} {
			if strings.HasSuffix(name, kind) {
				references(text, func(ref string) { note(kind, ref) })
			}
		}
	}
	for _, branch := range r.AnyOf {
		var t struct{ Title string }
		if json.Unmarshal(branch, &t) == nil && t.Title == "ProtocolLevel" {
			references(branch, func(ref string) { note("Notification", ref) })
		}
	}
	return e, nil
}

// references calls f with every definition that a schema refers to directly.
func references(text json.RawMessage, f func(name string)) {
	var walk func(any)
	walk = func(v any) {
		switch x := v.(type) {
		case map[string]any:
			if ref, ok := x["$ref"].(string); ok {
				f(strings.TrimPrefix(ref, "#/$defs/"))
			}
			for _, c := range x {
				walk(c)
			}
		case []any:
			for _, c := range x {
				walk(c)
			}
		}
	}
	var v any
	if json.Unmarshal(text, &v) == nil {
		walk(v)
	}
}
