// Package validate checks messages of the Agent Client Protocol against its
// JSON schemas, for tests, for tools that judge traffic, and for agents that
// want to know what they send.
//
// Each mistake gives one [Finding] that names the place, the rule and what was
// expected. The bindings in package acp check what they need while decoding;
// this package is slower by two orders of magnitude and belongs off the hot
// path. Nothing in acp imports it.
package validate

import (
	"fmt"
	"sync"

	v1 "github.com/hermes-nvim/hermes/schema/v1"
	v2 "github.com/hermes-nvim/hermes/schema/v2"
)

// Edition names one of the four schemas.
type Edition string

// The editions of the protocol.
const (
	V1         Edition = "v1"
	Unstable   Edition = "unstable"
	V2         Edition = "v2"
	V2Unstable Edition = "v2/unstable"
)

// Editions lists all editions.
var Editions = []Edition{V1, Unstable, V2, V2Unstable}

func (e Edition) source() []byte {
	switch e {
	case V1:
		return v1.Stable
	case Unstable:
		return v1.Unstable
	case V2:
		return v2.Stable
	case V2Unstable:
		return v2.Unstable
	}
	return nil
}

// Mode says how a value is judged.
type Mode uint8

const (
	// Strict takes the schema at its word. It fits what one sends oneself.
	Strict Mode = iota
	// Tolerant accepts what the protocol tells a reader to repair: bad values that
	// count as absent, bad elements that are dropped, null that counts as empty. Use
	// it for messages of a peer.
	Tolerant
)

// Side is a party of a connection.
type Side string

// The sides.
const (
	Agent  Side = "agent"
	Client Side = "client"
	Proxy  Side = "proxy" // stands between the other two; only in the unstable editions
)

// Validator judges values of one edition. It is safe for concurrent use. A
// definition is compiled when it is first needed, which takes milliseconds.
type Validator struct {
	schema   func() (map[string]any, error)
	mode     Mode
	mu       sync.Mutex // guards compiler and programs
	compiler *compiler
	programs map[string]*program
	methods  func() (methodTable, error)
}

// New makes a validator. It does no work yet; an unknown edition is reported by
// the first use.
func New(e Edition, mode Mode) *Validator {
	v := &Validator{mode: mode, programs: map[string]*program{}}
	parse := func() (map[string]any, error) {
		doc, ok := decode(e.source()).(map[string]any)
		if !ok {
			return nil, fmt.Errorf("validate: unknown edition %q: want one of %v", string(e), Editions)
		}
		return doc, nil
	}
	v.methods = sync.OnceValues(func() (methodTable, error) {
		doc, err := parse()
		if err != nil {
			return nil, err
		}
		return methodsOf(doc), nil
	})
	v.schema = sync.OnceValues(func() (map[string]any, error) {
		doc, err := parse()
		if err != nil {
			return nil, err
		}
		addLimits(doc)
		rewrite(doc, mode == Tolerant)
		return doc, nil
	})
	return v
}

// Value checks a JSON text against a definition of the schema, for instance
// "ContentBlock". It returns no findings for a valid value. The error is about
// the call, not about the value: the definition does not exist.
func (v *Validator) Value(definition string, text []byte) ([]Finding, error) {
	p, err := v.program(definition)
	if err != nil {
		return nil, err
	}
	value, broken := parseText(text)
	if broken != nil {
		return []Finding{*broken}, nil
	}
	return append(p.findings(value, ""), duplicates(text)...), nil
}

// program compiles a definition once.
func (v *Validator) program(definition string) (*program, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if p := v.programs[definition]; p != nil {
		return p, nil
	}
	doc, err := v.schema()
	if err != nil {
		return nil, err
	}
	if defs, _ := doc["$defs"].(map[string]any); defs[definition] == nil {
		return nil, fmt.Errorf("validate: no definition %q in the schema", definition)
	}
	if v.compiler == nil {
		if v.compiler, err = newCompiler(doc); err != nil {
			return nil, err
		}
	}
	p, err := v.compiler.compile(definition)
	if err != nil {
		return nil, err
	}
	v.programs[definition] = p
	return p, nil
}

// decode reads a schema; the embedded ones are valid JSON.
func decode(text []byte) any {
	value, _ := parseText(text)
	return value
}
