package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
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

// ReadDocs reads the words; there are none without the file.
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

// For returns the words about an edition.
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
	for _, entry := range d.stale(loaded) {
		l.unused[strings.Join(entry, ": ")] = true
	}
	return l.Err()
}

// stale lists the entries that explain something no schema has, each by the
// names on the way to it. The content of such an entry is not listed.
func (d *Docs) stale(loaded map[Edition]*Document) [][]string {
	var list [][]string
	for layer, words := range d.layers {
		var where []string
		if layer != V1 {
			where = []string{string(layer)}
		}
		unknown := func(exists func(*Document) bool, entry ...string) bool {
			for _, e := range usersOf(layer) {
				if d := loaded[e]; d != nil && exists(d) {
					return false
				}
			}
			list = append(list, slices.Concat(where, entry))
			return true
		}
		for def, w := range words.Definitions {
			if unknown(func(d *Document) bool { return d.Def(def) != nil }, "definitions", def) {
				continue
			}
			for m := range w.members {
				unknown(func(d *Document) bool { return d.HasMember(def, m) }, "definitions", def, "members", m)
			}
			for v := range w.values {
				unknown(func(d *Document) bool { return d.HasValue(def, v) }, "definitions", def, "values", v)
			}
			for v := range w.variants {
				unknown(func(d *Document) bool { return d.HasVariant(def, v) }, "definitions", def, "variants", v)
			}
		}
		for m := range words.Methods {
			unknown(func(d *Document) bool { return d.HasMethod(m) }, "methods", m)
		}
	}
	slices.SortFunc(list, slices.Compare)
	return list
}

// PruneDocs makes overlay/docs.json fit other schemas: it moves the words of a
// renamed definition to its new name, and removes words about what is gone. It
// returns the new text of the file and a line for each change.
func PruneDocs(folder fs.FS, loaded map[Edition]*Document, renamed map[string]string) (text []byte, done []string, err error) {
	text, err = fs.ReadFile(folder, DocsFile)
	if err != nil {
		return nil, nil, fmt.Errorf("schema/%w", err)
	}
	root, err := ParseNode(bytes.NewReader(text))
	if err != nil {
		return nil, nil, fmt.Errorf("schema/%s: %w", DocsFile, err)
	}
	for _, layer := range append([]*Node{root}, root.layers()...) {
		for was, is := range renamed {
			if slices.ContainsFunc(slices.Collect(maps.Values(loaded)), func(d *Document) bool { return d.Def(was) != nil }) {
				continue // of another edition
			}
			if layer.Get("definitions").rename(was, is) {
				done = append(done, fmt.Sprintf("moved the words of %s to %s", was, is))
			}
		}
	}
	slices.Sort(done)
	moved, err := ReadDocs(With(folder, map[string][]byte{DocsFile: root.appendCompact(nil)}))
	if err != nil {
		return nil, nil, err
	}
	for _, entry := range moved.stale(loaded) {
		root.remove(entry)
		done = append(done, "removed the words of "+strings.Join(entry, ": "))
	}
	if len(done) == 0 {
		return text, nil, nil
	}
	var b bytes.Buffer
	if err := json.Indent(&b, root.appendCompact(nil), "", "  "); err != nil {
		return nil, nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), done, nil
}

// layers are the members of an overlay file that are about one edition.
func (n *Node) layers() []*Node {
	var list []*Node
	for _, e := range Editions[1:] {
		if l := n.Get(string(e)); l != nil {
			list = append(list, l)
		}
	}
	return list
}

// rename gives a member another name and keeps its place. It reports whether
// the member exists and the name was free.
func (n *Node) rename(was, is string) bool {
	if !n.Has(was) || n.Has(is) {
		return false
	}
	n.Keys[slices.Index(n.Keys, was)] = is
	n.Obj[is] = n.Obj[was]
	delete(n.Obj, was)
	return true
}

// remove deletes a member by the names on the way to it, and every object that
// is empty afterwards.
func (n *Node) remove(path []string) {
	if in := n.Get(path[0]); len(path) > 1 {
		if in.remove(path[1:]); len(in.Keys) > 0 {
			return
		}
	}
	n.Keys = slices.DeleteFunc(n.Keys, func(k string) bool { return k == path[0] })
	delete(n.Obj, path[0])
}
