// Package validate checks messages of the Agent Client Protocol against its
// JSON schemas, for tests, for tools that judge traffic, and for agents that
// want to know what they send.
//
// Each mistake gives one [Finding] that names the place, the rule and what was
// expected. The bindings in package acp check what they need while decoding;
// this package looks at everything else too, and belongs off the hot path.
// Nothing in acp imports it.
package validate

import (
	"fmt"
	"sync"

	"github.com/hermes-nvim/hermes/internal/jtree"
	"github.com/hermes-nvim/hermes/internal/shape"
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

// Validator judges values of one edition. It is safe for concurrent use. The schema is
// compiled when it is first needed, which takes milliseconds.
type Validator struct {
	edition func() (*shape.Edition, error)
	mode    Mode
}

// New makes a validator. It does no work yet; an unknown edition is reported by
// the first use.
func New(e Edition, mode Mode) *Validator {
	return &Validator{mode: mode, edition: sync.OnceValues(func() (*shape.Edition, error) {
		text := e.source()
		if text == nil {
			return nil, fmt.Errorf("validate: unknown edition %q: want one of %v", string(e), Editions)
		}
		return shape.Load(text, mode == Tolerant)
	})}
}

// Value checks a JSON text against a definition of the schema, for instance
// "ContentBlock". It returns no findings for a valid value. The error is about
// the call, not about the value: the definition does not exist.
func (v *Validator) Value(definition string, text []byte) ([]Finding, error) {
	edition, err := v.edition()
	if err != nil {
		return nil, err
	}
	s := edition.Definition(definition)
	if s == nil {
		return nil, fmt.Errorf("validate: no definition %q in the schema", definition)
	}
	return value(s, text), nil
}

func value(s *shape.Shape, text []byte) []Finding {
	value, broken := parse(text)
	if broken != nil {
		return broken
	}
	return append(explain(s, value), duplicates(value)...)
}

func explain(s *shape.Shape, v jtree.Value) (found []Finding) {
	for _, m := range s.Explain(v) {
		found = append(found, Finding(m))
	}
	return found
}
