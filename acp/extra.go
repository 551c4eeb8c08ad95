package acp

import (
	"encoding/json"
	"fmt"
	"iter"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/internal/jx"
)

// Extra keeps the members of a JSON object that this version of the protocol
// does not declare, so that they survive decoding and encoding. It is the text
// of an object with those members in the order they came, and nil when there
// are none. Extensions belong under _meta; Extra is for peers that are newer,
// or less careful.
type Extra []byte

// Get returns the raw value of a member and whether it is there.
func (e Extra) Get(name string) (json.RawMessage, bool) {
	for k, v := range e.All() {
		if k == name {
			return v, true
		}
	}
	return nil, false
}

// All ranges over the members in order. The values alias e.
func (e Extra) All() iter.Seq2[string, json.RawMessage] { return jx.Members(e) }

// Set stores a member and replaces one of the same name. It fails if value is not
// one JSON value, or has a member twice, or if name is not UTF-8. A member that the type declares does not
// belong here: a message with one cannot be sent.
func (e *Extra) Set(name string, value json.RawMessage) error {
	if err := jx.Distinct(value); err != nil {
		return fmt.Errorf("extra member %q: %w", name, err)
	}
	if !utf8.ValidString(name) {
		return fmt.Errorf("extra member %q: the name is not UTF-8", name)
	}
	e.edit(name, value)
	return nil
}

// Delete removes a member.
func (e *Extra) Delete(name string) { e.edit(name, nil) }

func (e *Extra) edit(name string, value json.RawMessage) {
	b := []byte{'{'}
	put := func(k string, v []byte) {
		b = jx.AppendString(jx.Comma(b), k)
		b = jx.AppendRaw(append(b, ':'), v)
	}
	found := false
	for k, v := range e.All() {
		if k != name {
			put(k, v)
			continue
		}
		found = true
		if value != nil {
			put(k, value)
		}
	}
	if !found && value != nil {
		put(name, value)
	}
	if len(b) == 1 {
		*e = nil
		return
	}
	*e = append(b, '}')
}

// String returns the text of the object.
func (e Extra) String() string { return string(e) }

// MarshalJSON implements json.Marshaler.
func (e Extra) MarshalJSON() ([]byte, error) {
	if e == nil {
		return []byte("{}"), nil
	}
	return e, nil
}
