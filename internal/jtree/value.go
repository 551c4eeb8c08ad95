package jtree

import (
	"bytes"
	"iter"
	"strconv"
	"strings"

	"github.com/hermes-nvim/hermes/internal/jx"
)

// Value is a value of a Tree. The zero Value is absent: it has no members and no
// elements, and it equals nothing.
type Value struct {
	t *Tree
	i uint32
}

// Tree returns the tree that v is in, nil if v is absent.
func (v Value) Tree() *Tree { return v.t }

// Kind returns the kind of v.
func (v Value) Kind() Kind {
	if v.t == nil {
		return Absent
	}
	return v.t.nodes[v.i].kind
}

// Exists reports whether v is not absent.
func (v Value) Exists() bool { return v.t != nil }

// IsNull reports whether v is null.
func (v Value) IsNull() bool { return v.Kind() == Null }

// Set reports whether v is neither absent nor null.
func (v Value) Set() bool { return v.Kind() > Null }

// IsObject reports whether v is an object.
func (v Value) IsObject() bool { return v.Kind() == Object }

// IsArray reports whether v is an array.
func (v Value) IsArray() bool { return v.Kind() == Array }

// IsString reports whether v is a string.
func (v Value) IsString() bool { return v.Kind() == String }

// True reports whether v is the literal true.
func (v Value) True() bool { return v.Kind() == True }

// Text returns v as it is written, nil if it is absent. It aliases the text.
func (v Value) Text() []byte {
	if v.t == nil {
		return nil
	}
	n := &v.t.nodes[v.i]
	if n.kind == String {
		return v.t.text[n.start-1 : n.end+1 : n.end+1]
	}
	return v.t.text[n.start:n.end:n.end]
}

// Offset returns where in the text v starts.
func (v Value) Offset() int {
	if v.t == nil {
		return 0
	}
	n := &v.t.nodes[v.i]
	if n.kind == String {
		return int(n.start) - 1
	}
	return int(n.start)
}

// Bytes returns the content of a string, nil if v is not one. It aliases the text
// unless the string has escapes.
func (v Value) Bytes() []byte {
	if v.Kind() != String {
		return nil
	}
	n := &v.t.nodes[v.i]
	b := v.t.text[n.start:n.end:n.end]
	if bytes.IndexByte(b, '\\') >= 0 {
		return jx.Unescape(b)
	}
	return b
}

// Str returns the content of a string, empty if v is not one.
func (v Value) Str() string { return string(v.Bytes()) }

// Is reports whether v is the string s.
func (v Value) Is(s string) bool {
	if v.Kind() != String {
		return false
	}
	const longest = 6 // bytes of an escape for one byte
	n := &v.t.nodes[v.i]
	if size := int(n.end - n.start); size < len(s) || size > longest*len(s) {
		return false
	}
	return string(v.Bytes()) == s
}

// OneOf reports whether v is one of some strings.
func (v Value) OneOf(list ...string) bool {
	for _, s := range list {
		if v.Is(s) {
			return true
		}
	}
	return false
}

// Int returns an integer of 64 bits; ok is false if v is anything else. Like JSON
// Schema, it takes 1.0 for an integer, and 1e2 too.
func (v Value) Int() (n int64, ok bool) {
	if v.Kind() != Number {
		return 0, false
	}
	text := v.Text()
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return n, true
	}
	if bytes.ContainsAny(text, ".eE") {
		if f, err := strconv.ParseFloat(string(text), 64); err == nil && f == float64(int64(f)) && f >= -1<<62 && f <= 1<<62 {
			return int64(f), true
		}
	}
	return 0, false
}

// Float returns a number.
func (v Value) Float() (f float64, ok bool) {
	if v.Kind() != Number {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v.Text()), 64)
	return f, err == nil
}

// Get returns a member of an object, or the member of a member and so on. It is
// absent if there is none. If there are several with the name, it returns the
// first.
func (v Value) Get(path ...string) Value {
	for _, name := range path {
		v = v.member(name)
	}
	return v
}

func (v Value) member(name string) Value {
	if v.Kind() != Object {
		return Value{}
	}
	t, nodes := v.t, v.t.nodes
	for i, end := v.i+1, nodes[v.i].next; i < end; i = nodes[i+1].next {
		n := &nodes[i]
		if n.escaped {
			if string(t.name(i)) == name {
				return Value{t, i + 1}
			}
		} else if int(n.end-n.start) == len(name) && string(t.text[n.start:n.end]) == name {
			return Value{t, i + 1}
		}
	}
	return Value{}
}

// Members ranges over the members of an object. The names alias the text unless they
// have escapes.
func (v Value) Members() iter.Seq2[[]byte, Value] {
	return func(yield func([]byte, Value) bool) {
		if v.Kind() != Object {
			return
		}
		t := v.t
		for i, end := v.i+1, t.nodes[v.i].next; i < end; i = t.nodes[i+1].next {
			if !yield(t.name(i), Value{t, i + 1}) {
				return
			}
		}
	}
}

// Items ranges over the elements of an array.
func (v Value) Items() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		if v.Kind() != Array {
			return
		}
		t := v.t
		k := 0
		for i, end := v.i+1, t.nodes[v.i].next; i < end; i = t.nodes[i].next {
			if !yield(k, Value{t, i}) {
				return
			}
			k++
		}
	}
}

// Len returns how many elements or members v has.
func (v Value) Len() int {
	n := 0
	switch v.Kind() {
	case Array:
		for range v.Items() {
			n++
		}
	case Object:
		for range v.Members() {
			n++
		}
	}
	return n
}

// Below ranges over v and everything in it, in the order of the text. Names of
// members are not values.
func (v Value) Below() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.t == nil {
			return
		}
		for i, end := v.i, v.t.nodes[v.i].next; i < end; i++ {
			if v.t.nodes[i].kind != Absent && !yield(Value{v.t, i}) {
				return
			}
		}
	}
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// Pointer returns the JSON pointer of v, which is empty for the whole value.
func (v Value) Pointer() string {
	if v.t == nil {
		return ""
	}
	var p strings.Builder
	t := v.t
	for at := uint32(0); at != v.i; {
		isObject := t.nodes[at].kind == Object
		end := t.nodes[at].next
		k := 0
		for i := at + 1; i < end; {
			child := i
			if isObject {
				child = i + 1
			}
			if v.i < t.nodes[child].next {
				p.WriteByte('/')
				if isObject {
					escapePointer.WriteString(&p, string(t.name(i)))
				} else {
					p.WriteString(strconv.Itoa(k))
				}
				at = child
				break
			}
			i = t.nodes[child].next
			k++
		}
	}
	return p.String()
}
