package jx

import "encoding/json"

// Skip checks the next value and passes over it.
func (d *Dec) Skip() {
	base := d.depth
	d.step()
	d.climb(base)
}

// climb passes over what is left of the objects and arrays beyond level base.
func (d *Dec) climb(base int) {
	for d.depth > base && d.code == ok {
		if !d.inObject() {
			if d.More(']') {
				d.step()
			}
		} else if d.More('}') {
			if d.p >= len(d.b) || d.b[d.p] != '"' {
				d.fail(syntax, "expected a member name")
				return
			}
			if d.scan(); d.code == ok {
				d.colon()
				d.step()
			}
		}
	}
}

// step passes over a simple value, or the opening of an object or array.
func (d *Dec) step() {
	switch d.Peek() {
	case '"':
		d.scan()
	case '{':
		d.Obj()
	case '[':
		d.Array()
	case 't':
		d.literal("true")
	case 'f':
		d.literal("false")
	case 'n':
		d.null()
	default:
		d.number("value")
	}
}

// Raw returns a copy of the next value's text, checked. Unpaired surrogate
// escapes are replaced by the one for U+FFFD. No object in it has a member
// twice.
func (d *Dec) Raw() json.RawMessage { return d.appendRaw(nil) }

// RawObject is Raw for values that must be objects.
func (d *Dec) RawObject() json.RawMessage {
	if d.Peek() != '{' {
		d.want("object")
		return nil
	}
	return d.appendRaw(nil)
}

// Params is the text of params or of a result: an empty object when a message
// left them out.
func Params(raw []byte) []byte {
	if len(raw) == 0 {
		return []byte("{}")
	}
	return raw
}

func (d *Dec) appendRaw(dst []byte) []byte {
	d.kept = d.kept || d.Peek() == 'n'
	s := d.p
	d.lone = false
	d.distinct()
	if d.code != ok {
		return dst
	}
	if d.lone {
		return appendPaired(dst, d.b[s:d.p])
	}
	return append(dst, d.b[s:d.p]...)
}
