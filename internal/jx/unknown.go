package jx

import (
	"encoding/json"
	"iter"
)

// Outer says which members enclosing unions and objects have read from the same
// object that is being decoded.
type Outer struct {
	Up    *Outer
	Tag   string   // of a union; see TagIn
	Names []string // shared by all variants of a union, and read before them

	at  int // offset of the value of the tag
	end int // offset after the tags at the front of the object
}

// ObjIn is Obj for an object whose outer members have been read. It skips the tags
// at its front.
func (d *Dec) ObjIn(outer *Outer) bool {
	if !d.Obj() {
		return false
	}
	for o := outer; o != nil; o = o.Up {
		if o.end > d.p {
			d.p, d.first = o.end, false
			break
		}
	}
	return true
}

// has reports whether the member whose name was read last belongs to outer. A
// second tag is a duplicate member.
func (d *Dec) has(outer *Outer, name []byte) bool {
	for o := outer; o != nil; o = o.Up {
		if o.Names == nil && string(name) == o.Tag {
			if d.p != o.at {
				d.Duplicate()
			}
			return true
		}
		for _, n := range o.Names {
			if string(name) == n {
				return true
			}
		}
	}
	return false
}

// Unknown collects the undeclared members of one object.
type Unknown struct{ members *members }

type members struct {
	text  []byte // `{"a":1,"b":2`, without the closing brace
	names names
}

// Add reads the value of the member whose name was read last, and keeps it
// unless outer has it.
func (u *Unknown) Add(d *Dec, name []byte, outer *Outer) {
	if d.has(outer, name) {
		d.Skip()
		return
	}
	if d.Failed() {
		return
	}
	if u.members == nil {
		u.members = &members{text: append(make([]byte, 0, 128), '{')}
	}
	m := u.members
	whole := m.text // without the member, in case it fails
	m.text = Comma(m.text)
	at := len(m.text)
	m.text = append(AppendString(m.text, string(name)), ':')
	if m.names.add(name, m.text, at) {
		d.Duplicate()
	}
	if m.text = d.appendRaw(m.text); d.Failed() {
		m.text = whole
	}
}

// Rest reads an object of which no member is declared, and returns the members that
// outer has not as the text of an object, nil if there are none.
func (d *Dec) Rest(outer *Outer) []byte {
	if !d.ObjIn(outer) {
		return nil
	}
	var u Unknown
	for k, more := d.Next(); more; k, more = d.Next() {
		u.Add(d, k, outer)
	}
	return u.Text()
}

// Text returns the members as the text of an object, nil if there are none.
//
//go:noinline
func (u *Unknown) Text() []byte {
	if u.members == nil {
		return nil
	}
	return append(u.members.text, '}')
}

// Members ranges over the members of the object text obj. Text that is not an
// object ends the loop.
func Members(obj []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		var d Dec
		d.Reset(obj)
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
