// Package tomlfile reads small TOML files key by key, so that every mistake is named with
// its line and key.
package tomlfile

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Only the syntax is the library's. Its decoder would cost the program 250 KiB more and
// could not say in which line a value is wrong.

// maxFile bounds a file, in bytes.
const maxFile = 1 << 20

// Load returns the text of a file.
func Load(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s: %d bytes, more than the %d that a configuration may have", name, info.Size(), maxFile)
	}
	return os.ReadFile(name)
}

// Key is the name of a table or value, and where it is.
type Key struct {
	Name []string // the parts of a dotted key, including the key of its table
	Line int
	file string
}

// Errorf is an error about a key.
func (k Key) Errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s: %w", k.file, k.Line, strings.Join(k.Name, "."), fmt.Errorf(format, args...))
}

// Is reports whether a key has this name.
func (k Key) Is(name ...string) bool { return slices.Equal(k.Name, name) }

// Member is the key of something that a table lacks.
func (k Key) Member(name string) Key {
	k.Name = append(slices.Clone(k.Name), name)
	return k
}

// Value is a key with its value, which is not a table.
type Value struct {
	Key
	node *unstable.Node
}

// IsList reports whether the value is a list.
func (v Value) IsList() bool { return v.node.Kind == unstable.Array }

// Text is a value in quotes.
func (v Value) Text() (string, error) {
	if v.node.Kind != unstable.String {
		return "", v.Errorf("want text in quotes, such as %s = \"…\"", v.Name[len(v.Name)-1])
	}
	return string(v.node.Data), nil
}

// Texts is a list of values in quotes.
func (v Value) Texts() ([]string, error) {
	bad := v.Errorf("want a list of texts in quotes, such as %s = [\"…\", \"…\"]", v.Name[len(v.Name)-1])
	if !v.IsList() {
		return nil, bad
	}
	list := []string{}
	for it := v.node.Children(); it.Next(); {
		switch one := it.Node(); one.Kind {
		case unstable.String:
			list = append(list, string(one.Data))
		case unstable.Comment:
		default:
			return nil, bad
		}
	}
	return list, nil
}

// Day is a date, with or without quotes, as it is written.
func (v Value) Day() (text string, ok bool) {
	return string(v.node.Data), v.node.Kind == unstable.LocalDate || v.node.Kind == unstable.String
}

// Reader gets the tables and values of a file, in their order. The first error ends the
// reading.
type Reader interface {
	// Table begins a table; list says that it has two brackets.
	Table(k Key, list bool) error
	// Value is never called twice for one value of one table.
	Value(v Value) error
}

// Read reads the text of a file that has a name.
func Read(name string, text []byte, to Reader) error {
	f := &file{name: name, to: to, set: map[string]bool{}}
	f.toml.Reset(text)
	for f.toml.NextExpression() {
		node := f.toml.Expression()
		var err error
		switch node.Kind {
		case unstable.KeyValue:
			err = f.value(f.table, node)
		case unstable.Table, unstable.ArrayTable:
			key := f.key(nil, node)
			if f.table = key.Name; node.Kind == unstable.ArrayTable {
				f.entry = fmt.Sprintf("%s %d ", key.Name[0], key.Line)
			}
			err = to.Table(key, node.Kind == unstable.ArrayTable)
		}
		if err != nil {
			return err
		}
	}
	if err := f.toml.Error(); err != nil {
		line := 0
		var syntax *unstable.ParserError
		if errors.As(err, &syntax) {
			line = 1 + strings.Count(string(text[:f.toml.Range(syntax.Highlight).Offset]), "\n")
		}
		return fmt.Errorf("%s:%d: %w", name, line, err)
	}
	return nil
}

// file is a file that is being read.
type file struct {
	name  string
	to    Reader
	toml  unstable.Parser
	table []string        // that the next values are in
	entry string          // the table in two brackets that came last
	set   map[string]bool // the values so far
}

// key returns the key of a node, below the key of a table.
func (f *file) key(table []string, node *unstable.Node) Key {
	k := Key{Name: slices.Clone(table), file: f.name}
	for it := node.Key(); it.Next(); {
		if k.Line == 0 {
			k.Line = f.toml.Shape(it.Node().Raw).Start.Line
		}
		k.Name = append(k.Name, string(it.Node().Data))
	}
	return k
}

// value passes a value on, or the values of a table that is written as a value.
func (f *file) value(table []string, node *unstable.Node) error {
	key, value := f.key(table, node), node.Value()
	if value.Kind == unstable.InlineTable {
		for it := value.Children(); it.Next(); {
			if err := f.value(key.Name, it.Node()); err != nil {
				return err
			}
		}
		return nil
	}
	id := strings.Join(key.Name, ".")
	if list, _, _ := strings.Cut(f.entry, " "); f.table != nil && list == key.Name[0] {
		id = f.entry + id
	}
	if f.set[id] {
		return key.Errorf("it is set twice")
	}
	f.set[id] = true
	return f.to.Value(Value{key, value})
}
