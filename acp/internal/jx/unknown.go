package jx

import (
	"bytes"
	"encoding/json"
	"iter"
)

// Outer lists the members that enclosing unions and objects read from the very
// object that is decoded now: tags, and the members shared by all variants.
type Outer struct {
	Up    *Outer
	Names []string
}

// Unknown collects the members of one object that nobody declares.
type Unknown struct {
	text  []byte              // `{"a":1,"b":2`, without the closing brace
	names []span              // of the members, quoted, in text
	index map[string]struct{} // the same, once there are many
	seen  uint64              // tags and shared members found, to refuse duplicates
}

type span struct{ from, to int }

// manyUnknown is where comparing with every name gets slower than a map.
const manyUnknown = 16

// Add reads the value of member key, and keeps it unless outer has it.
func (u *Unknown) Add(d *Dec, key []byte, outer *Outer) {
	bit := uint64(1)
	for o := outer; o != nil; o = o.Up {
		for _, n := range o.Names {
			if string(key) == n {
				u.seen = d.Once(u.seen, bit)
				d.Skip()
				return
			}
			bit <<= 1
		}
	}
	if d.Failed() {
		return
	}
	if u.text == nil {
		u.text = append(make([]byte, 0, 128), '{')
	}
	u.text = Comma(u.text)
	from := len(u.text)
	u.text = AppendString(u.text, string(key))
	if u.note(span{from, len(u.text)}) {
		d.Duplicate()
		return
	}
	u.text = d.appendRaw(append(u.text, ':'))
}

// note remembers a name and reports whether it was there before.
func (u *Unknown) note(s span) bool {
	name := u.text[s.from:s.to]
	if u.index == nil {
		for _, o := range u.names {
			if bytes.Equal(u.text[o.from:o.to], name) {
				return true
			}
		}
		if u.names = append(u.names, s); len(u.names) < manyUnknown {
			return false
		}
		u.index = make(map[string]struct{}, 2*manyUnknown)
		for _, o := range u.names {
			u.index[string(u.text[o.from:o.to])] = struct{}{}
		}
		return false
	}
	if _, dup := u.index[string(name)]; dup {
		return true
	}
	u.index[string(name)] = struct{}{}
	return false
}

// Text returns the members as the text of an object, nil when there are none.
func (u *Unknown) Text() []byte {
	if u.text == nil {
		return nil
	}
	return append(u.text[:len(u.text):len(u.text)], '}')
}

// Members ranges over the members of the object text obj. Text that is not an
// object ends the loop.
func Members(obj []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		d := Dec{b: obj}
		if d.Peek() != '{' || !d.Obj() {
			return
		}
		for name, more := d.Next(); more; name, more = d.Next() {
			k, s := string(name), d.p
			d.Skip()
			if d.Failed() || !yield(k, json.RawMessage(obj[s:d.p:d.p])) {
				return
			}
		}
	}
}
