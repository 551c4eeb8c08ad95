package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// Docs is overlay/docs.json: the protocol explained in our own words.
type Docs struct{ layers Layers[docs] }

type docs struct {
	Definitions map[string]defWords    `json:"definitions"`
	Methods     map[string]methodWords `json:"methods"`
}

type defWords struct {
	text                      string
	members, values, variants map[string]string
}

type methodWords struct{ text, page string }

// UnmarshalJSON reads {"": text, "members": {}, "values": {}, "variants": {}}.
func (d *defWords) UnmarshalJSON(b []byte) error {
	return decodeParts(b, map[string]any{"": &d.text, "members": &d.members, "values": &d.values, "variants": &d.variants})
}

// UnmarshalJSON reads {"": text, "page": page of the specification}.
func (m *methodWords) UnmarshalJSON(b []byte) error {
	return decodeParts(b, map[string]any{"": &m.text, "page": &m.page})
}

// decodeParts exists because a struct tag cannot spell the empty name.
func decodeParts(b []byte, parts map[string]any) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	for k, v := range raw {
		to, ok := parts[k]
		if !ok {
			return fmt.Errorf("unknown member %q", k)
		}
		if err := json.Unmarshal(v, to); err != nil {
			return fmt.Errorf("%q: %w", k, err)
		}
	}
	return nil
}

// ReadDocs reads the words. A folder without the file has none.
func ReadDocs(fsys fs.FS) (*Docs, error) {
	layers, err := ReadLayers[docs](fsys, DocsFile)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return &Docs{layers}, err
}

// Words answers for one edition. Each method gives an empty text when there are
// no words.
type Words struct{ layers []docs }

// For is what is said about an edition.
func (d *Docs) For(e Edition) Words { return Words{d.layers.For(e)} }

// Definition explains a type.
func (w Words) Definition(name string) string {
	return w.find(func(d docs) string { return d.Definitions[name].text })
}

// Member explains a member of an object.
func (w Words) Member(def, member string) string {
	return w.find(func(d docs) string { return d.Definitions[def].members[member] })
}

// Value explains a value of an enum.
func (w Words) Value(def, value string) string {
	return w.find(func(d docs) string { return d.Definitions[def].values[value] })
}

// Variant explains a variant of a union by its tag, or by its title where it
// has no tag.
func (w Words) Variant(def, tag string) string {
	return w.find(func(d docs) string { return d.Definitions[def].variants[tag] })
}

// Method explains a method, and names its page of the specification, a path
// below https://agentclientprotocol.com/.
func (w Words) Method(method string) (text, page string) {
	text = w.find(func(d docs) string { return d.Methods[method].text })
	page = w.find(func(d docs) string { return d.Methods[method].page })
	return text, page
}

func (w Words) find(f func(docs) string) string {
	for _, l := range w.layers {
		if s := f(l); s != "" {
			return s
		}
	}
	return ""
}

// Check reports every entry that explains something no schema has.
func (d *Docs) Check(loaded map[Edition]*Document) error {
	l := NewLedger(DocsFile)
	for layer, words := range d.layers {
		where := ""
		if layer != V1 {
			where = string(layer) + ": "
		}
		need := func(exists func(*Document) bool, format string, a ...any) {
			for _, e := range usersOf(layer) {
				if d := loaded[e]; d != nil && exists(d) {
					return
				}
			}
			l.unused[where+fmt.Sprintf(format, a...)] = true
		}
		for def, w := range words.Definitions {
			need(func(d *Document) bool { return d.Def(def) != nil }, "definitions: %s", def)
			for m := range w.members {
				need(func(d *Document) bool { return d.HasMember(def, m) }, "definitions: %s: members: %s", def, m)
			}
			for v := range w.values {
				need(func(d *Document) bool { return d.HasValue(def, v) }, "definitions: %s: values: %s", def, v)
			}
			for v := range w.variants {
				need(func(d *Document) bool { return d.HasVariant(def, v) }, "definitions: %s: variants: %s", def, v)
			}
		}
		for m := range words.Methods {
			need(func(d *Document) bool { return d.HasMethod(m) }, "methods: %s", m)
		}
	}
	return l.Err()
}
