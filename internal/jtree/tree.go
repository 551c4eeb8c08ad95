// Package jtree reads JSON text once into a flat tree, for programs that look at
// many members of a message and have to say where in it something is. Values are
// handles into the tree, so looking something up allocates nothing.
package jtree

import (
	"bytes"
	"errors"

	"github.com/hermes-nvim/hermes/internal/jx"
)

// MaxValues bounds the values and names of one text. It bounds the memory of a tree
// to 32 MiB.
const MaxValues = 2 << 20

// ErrValues is returned for text with more than MaxValues values.
var ErrValues = errors.New("more values than anybody needs in one message")

// Kind is the kind of a value.
type Kind uint8

// The kinds.
const (
	Absent Kind = iota
	Null
	False
	True
	Number
	String
	Array
	Object
)

// names are the kinds in the words of JSON Schema.
var names = [...]string{"nothing", "null", "boolean", "boolean", "number", "string", "array", "object"}

// String returns the name of the kind.
func (k Kind) String() string { return names[k] }

// node is a value, or the name of a member, which is followed by its value.
type node struct {
	start, end uint32 // in the text; of a string or name without the quotes
	next       uint32 // the node after the value and everything in it
	kind       Kind
	escaped    bool // a name with escapes
}

// Tree is the text of one value. It is reused by Parse, which invalidates all Values
// of the text before. It is not safe for concurrent use.
type Tree struct {
	text  []byte
	base  uint32 // where it begins in what the decoder reads
	nodes []node
	dec   jx.Dec
	full  bool

	depth      int
	duplicates []uint32
	odd        bool
	escaped    bool // a name has escapes
}

// maxDuplicates bounds how many duplicate members are remembered.
const maxDuplicates = 32

// Parse reads text, which must not change while Values of it are used. The error is
// a *jx.Error or ErrValues; afterwards the tree is empty.
func (t *Tree) Parse(text []byte) error {
	t.reset(text, 0, len(text))
	t.dec.Reset(text)
	t.value(&t.dec, 1)
	err := t.dec.Close()
	t.odd = t.dec.Odd()
	if t.full {
		err = ErrValues
	}
	if err != nil {
		t.clear()
	}
	return err
}

// Read reads the next value of d, whose text is given, and reports whether it did. If not,
// d has failed or has not moved: the value is too large, or what precedes it is odd.
func (t *Tree) Read(d *jx.Dec, text []byte) bool {
	m := d.Mark()
	start := d.Pos()
	t.reset(text[start:], start, len(text))
	if d.Odd() {
		return false
	}
	t.value(d, 1)
	t.odd = d.Odd()
	if d.Failed() || t.full {
		t.clear()
		d.Rewind(m)
		return false
	}
	t.text = d.Since(start)
	return true
}

// Move says where the text is now, after it was copied.
func (t *Tree) Move(text []byte) { t.text = text }

// reset forgets the text before. The value begins at base in what is read.
func (t *Tree) reset(text []byte, base, size int) {
	t.text, t.base = text, uint32(base)
	if cap(t.nodes) > 64<<10 && size < 64<<10 {
		t.nodes = nil // after one giant message the rest needs little
	}
	t.clear()
	t.full = false
}

func (t *Tree) clear() {
	t.nodes, t.duplicates = t.nodes[:0], t.duplicates[:0]
	t.depth, t.odd, t.escaped = 0, false, false
}

// value reads the next value, which is at a level of nesting.
func (t *Tree) value(d *jx.Dec, depth int) {
	if len(t.nodes) >= MaxValues {
		t.full = true
	}
	if t.full {
		return
	}
	at := len(t.nodes)
	switch c := d.Peek(); c {
	case '{':
		start := t.at(d)
		t.depth = max(t.depth, depth)
		t.nodes = append(t.nodes, node{kind: Object, start: start})
		d.Obj()
		members := 0
		for d.More('}') {
			from := t.at(d) + 1 // More has moved past white space
			name := d.Name()
			if name == nil {
				return
			}
			n := node{start: from, end: from + uint32(len(name)) - 2, escaped: bytes.IndexByte(name, '\\') >= 0}
			t.escaped = t.escaped || n.escaped
			n.next = uint32(len(t.nodes) + 1)
			t.nodes = append(t.nodes, n)
			members++
			t.value(d, depth+1)
			if d.Failed() || t.full {
				return
			}
		}
		t.nodes[at].end, t.nodes[at].next = t.at(d), uint32(len(t.nodes))
		if members > 1 {
			t.distinct(at, members)
		}
	case '[':
		start := t.at(d)
		t.depth = max(t.depth, depth)
		t.nodes = append(t.nodes, node{kind: Array, start: start})
		d.Array()
		for d.More(']') {
			t.value(d, depth+1)
			if d.Failed() || t.full {
				return
			}
		}
		t.nodes[at].end, t.nodes[at].next = t.at(d), uint32(len(t.nodes))
	default:
		start := t.at(d)
		d.Skip()
		n := node{start: start, end: t.at(d), next: uint32(at + 1)}
		switch c {
		case '"':
			n.kind = String
			n.start++
			n.end--
		case 'n':
			n.kind = Null
		case 't':
			n.kind = True
		case 'f':
			n.kind = False
		default:
			n.kind = Number
		}
		t.nodes = append(t.nodes, n)
	}
}

// at is where d is in the text of t.
func (t *Tree) at(d *jx.Dec) uint32 { return uint32(d.Pos()) - t.base }

// distinct notes the members of an object whose name occurred before.
func (t *Tree) distinct(object, members int) {
	if members > 16 {
		t.distinctMany(object, members)
		return
	}
	var seen [16]uint32
	n := 0
	for i := uint32(object + 1); i < t.nodes[object].next; i = t.nodes[i+1].next {
		for _, s := range seen[:n] {
			if t.sameName(s, i) {
				t.duplicate(i)
				break
			}
		}
		seen[n] = i
		n++
	}
}

func (t *Tree) distinctMany(object, members int) {
	seen := make(map[string]struct{}, members)
	for i := uint32(object + 1); i < t.nodes[object].next; i = t.nodes[i+1].next {
		name := t.name(i)
		if _, ok := seen[string(name)]; ok {
			t.duplicate(i)
		}
		seen[string(name)] = struct{}{}
	}
}

func (t *Tree) sameName(i, j uint32) bool {
	a, b := &t.nodes[i], &t.nodes[j]
	if !a.escaped && !b.escaped {
		return a.end-a.start == b.end-b.start && bytes.Equal(t.text[a.start:a.end], t.text[b.start:b.end])
	}
	return bytes.Equal(t.name(i), t.name(j))
}

func (t *Tree) duplicate(name uint32) {
	if len(t.duplicates) < maxDuplicates {
		t.duplicates = append(t.duplicates, name)
	}
}

// name returns the name at node i, without its escapes.
func (t *Tree) name(i uint32) []byte {
	n := &t.nodes[i]
	name := t.text[n.start:n.end:n.end]
	if n.escaped {
		name = jx.Unescape(name)
	}
	return name
}

// Root returns the whole value; it is absent if the text could not be read.
func (t *Tree) Root() Value {
	if len(t.nodes) == 0 {
		return Value{}
	}
	return Value{t, 0}
}

// Depth returns how many arrays and objects are nested at most.
func (t *Tree) Depth() int { return t.depth }

// Escaped reports whether the name of a member is written with escapes.
func (t *Tree) Escaped() bool { return t.escaped }

// Odd reports whether the text has something that some readers misread: an integer of
// more than 15 digits, a null in a list, or an unpaired surrogate.
func (t *Tree) Odd() bool { return t.odd }

// Duplicates returns the values of members whose object has another one of that name
// before them, 32 at most.
func (t *Tree) Duplicates() []Value {
	var list []Value
	for _, i := range t.duplicates {
		list = append(list, Value{t, i + 1})
	}
	return list
}
