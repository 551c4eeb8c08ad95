package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"sort"
	"strings"
)

// The files of the overlay, below the schema folder.
const (
	DocsFile    = "overlay/docs.json"       // our documentation
	PatchesFile = "overlay/patches.json"    // members with three states
	NamesFile   = "overlay/names.lock.json" // Go names that must not change
	EventsFile  = "overlay/events.json"     // autocommand names
	QuirksFile  = "overlay/quirks.json"     // strict members, secret positions
)

// With is a schema folder in which some files are replaced, by name.
func With(folder fs.FS, files map[string][]byte) fs.FS { return changed{folder, files} }

type changed struct {
	fs.FS
	files map[string][]byte
}

// ReadFile implements fs.ReadFileFS, which everything here reads through.
func (c changed) ReadFile(name string) ([]byte, error) {
	if b, ok := c.files[name]; ok {
		return b, nil
	}
	return fs.ReadFile(c.FS, name)
}

// ReadOverlay reads one JSON file of a schema folder into a T. Members that T
// does not have, and members that are written twice, are errors.
func ReadOverlay[T any](fsys fs.FS, file string) (T, error) {
	var v T
	b, err := fs.ReadFile(fsys, file)
	if err != nil {
		return v, fmt.Errorf("schema/%s: %w", file, err)
	}
	if _, err := ParseNode(bytes.NewReader(b)); err != nil {
		return v, fmt.Errorf("schema/%s: %w", file, err)
	}
	if err := decodeStrict(b, &v); err != nil {
		return v, fmt.Errorf("schema/%s: %w", file, err)
	}
	return v, nil
}

func decodeStrict(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// Layers is an overlay file that applies to all editions and can override
// itself for some. The members of T are at the top of the file, and those of an
// override under the name of its edition.
type Layers[T any] map[Edition]T

// ReadLayers reads such a file.
func ReadLayers[T any](fsys fs.FS, file string) (Layers[T], error) {
	members, err := ReadOverlay[map[string]json.RawMessage](fsys, file)
	if err != nil {
		return nil, err
	}
	layers := Layers[T]{}
	read := func(e Edition, b []byte) error {
		var v T
		if err := decodeStrict(b, &v); err != nil {
			return fmt.Errorf("schema/%s: %s: %w", file, e, err)
		}
		layers[e] = v
		return nil
	}
	for _, e := range Editions[1:] {
		b, ok := members[string(e)]
		if !ok {
			continue
		}
		if err := read(e, b); err != nil {
			return nil, err
		}
		delete(members, string(e))
	}
	base, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	return layers, read(V1, base)
}

// For lists what applies to an edition, the most specific first.
func (l Layers[T]) For(e Edition) []T {
	var list []T
	for _, layer := range e.Layers() {
		if v, ok := l[layer]; ok {
			list = append(list, v)
		}
	}
	return list
}

// usersOf lists the editions that read a layer.
func usersOf(layer Edition) []Edition {
	var users []Edition
	for _, e := range Editions {
		if slices.Contains(e.Layers(), layer) {
			users = append(users, e)
		}
	}
	return users
}

// Ledger finds the entries of an overlay file that nothing needs. It
// is not safe for concurrent use.
type Ledger struct {
	file   string
	unused map[string]bool
}

// NewLedger starts a ledger of the entries of a file. An entry is named the
// way a reader finds it, for instance "strict: NewSessionRequest.cwd".
func NewLedger(file string, entries ...string) *Ledger {
	l := &Ledger{file: file, unused: map[string]bool{}}
	for _, e := range entries {
		l.unused[e] = true
	}
	return l
}

// Use says that an entry was needed.
func (l *Ledger) Use(entry string) { delete(l.unused, entry) }

// Err names every entry that was not used, nil when there is none.
func (l *Ledger) Err() error {
	if len(l.unused) == 0 {
		return nil
	}
	var list []string
	for e := range l.unused {
		list = append(list, e)
	}
	sort.Strings(list)
	return fmt.Errorf("schema/%s: nothing in the schemas matches these entries, correct or delete them:\n  %s", l.file, strings.Join(list, "\n  "))
}
