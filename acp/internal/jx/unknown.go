package jx

import (
	"encoding/json"
	"iter"
	"unicode/utf16"
)

// Outer lists the members that enclosing unions and objects read from the very
// object that is decoded now: tags, and the members shared by all variants.
type Outer struct {
	Up    *Outer
	Names []string
}

// Unknown collects the members of one object that nobody declares.
type Unknown struct {
	text  []byte // `{"a":1,"b":2`, without the closing brace
	n     int
	seen  uint64              // tags and shared members found, to refuse duplicates
	names map[string]struct{} // used when there are many
}

// manyUnknown is where looking through the text gets slower than a map.
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
	if u.has(key) {
		d.Duplicate()
		return
	}
	u.n++
	if u.text == nil {
		u.text = append(make([]byte, 0, 64), '{')
	} else {
		u.text = append(u.text, ',')
	}
	u.text = AppendString(u.text, string(key))
	u.text = append(u.text, ':')
	u.text = d.appendRaw(u.text)
}

func (u *Unknown) has(key []byte) bool {
	if u.n == 0 {
		return false
	}
	if u.n < manyUnknown {
		for k := range Members(u.text) {
			if k == string(key) {
				return true
			}
		}
		return false
	}
	if u.names == nil {
		u.names = map[string]struct{}{}
		for k := range Members(u.text) {
			u.names[k] = struct{}{}
		}
	}
	if _, dup := u.names[string(key)]; dup {
		return true
	}
	u.names[string(key)] = struct{}{}
	return false
}

// Text ends the object and returns it, nil when there are no members.
func (u *Unknown) Text() []byte {
	if u.n == 0 {
		return nil
	}
	return append(u.text, '}')
}

// Members ranges over the members of the object text obj. Text that is not an
// object ends the loop.
func Members(obj []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		d := Dec{b: obj}
		if d.Peek() != '{' || !d.Obj() {
			return
		}
		for d.More('}') {
			k := string(d.Key())
			s := d.p
			d.Skip()
			if d.Failed() || !yield(k, json.RawMessage(obj[s:d.p:d.p])) {
				return
			}
		}
	}
}

// paired reports whether a low surrogate escape that completes r starts at i.
func paired(b []byte, i int, r rune) bool {
	if i+6 > len(b) || b[i] != '\\' || b[i+1] != 'u' {
		return false
	}
	return utf16.DecodeRune(r, hex4(b, i+2)) != '\ufffd'
}

// appendPaired copies valid JSON text and replaces unpaired surrogate escapes.
func appendPaired(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		if text[i] != '\\' {
			dst = append(dst, text[i])
			i++
			continue
		}
		if text[i+1] != 'u' {
			dst = append(dst, text[i:i+2]...)
			i += 2
			continue
		}
		r := hex4(text, i+2)
		switch {
		case !utf16.IsSurrogate(r):
			dst = append(dst, text[i:i+6]...)
			i += 6
		case paired(text, i+6, r):
			dst = append(dst, text[i:i+12]...)
			i += 12
		default:
			dst = append(dst, `\ufffd`...)
			i += 6
		}
	}
	return dst
}
