package jx

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
)

// Skip checks the next value and moves past it.
func (d *Dec) Skip() {
	base := d.depth
	d.step()
	d.climb(base)
}

// Token checks the next value, moves past it and returns its text, which aliases
// the text of d; nil after a failure.
func (d *Dec) Token() []byte {
	d.Peek()
	start := d.p
	d.Skip()
	return d.Since(start)
}

// Since returns the text read since an offset, nil after a failure. It aliases the
// text of d.
func (d *Dec) Since(start int) []byte {
	if d.code != ok {
		return nil
	}
	return d.b[start:d.p:d.p]
}

// Name is Key, but returns the name as it is written, with its quotes.
func (d *Dec) Name() []byte {
	if d.Peek() != '"' {
		if d.code == ok {
			d.fail(syntax, "expected a member name")
		}
		return nil
	}
	name := d.Token()
	if d.code == ok {
		d.colon()
	}
	return name
}

// Deeper reports whether text nests arrays and objects deeper than a limit, or
// than 512 levels.
func Deeper(text []byte, limit int) bool {
	limit = min(limit, MaxDepth)
	// Two searches show that nearly all text has too few brackets for that.
	if len(text) <= 2*limit || bytes.Count(text, []byte{'{'})+bytes.Count(text, []byte{'['}) <= limit {
		return false
	}
	d := Dec{b: text}
	d.Limit(limit)
	d.Skip()
	return d.code == tooDeep
}

// climb skips the rest of the objects and arrays beyond level base.
func (d *Dec) climb(base int) {
	for d.depth > base && d.code == ok {
		if d.inObject() {
			if d.More('}') {
				d.skipName()
				d.step()
			}
		} else if d.More(']') {
			d.step()
		}
	}
}

// skipName is Key for a name that is not needed.
func (d *Dec) skipName() {
	b, i := d.b, d.p+1
	if d.p >= len(b) || b[d.p] != '"' {
		d.fail(syntax, "expected a member name")
		return
	}
	for ; i+8 < len(b); i += 8 {
		if m := marks(binary.LittleEndian.Uint64(b[i:]), tops); m != 0 {
			if i += lowest(m); b[i] == '"' && b[i+1] == ':' { // nearly always
				d.p = i + 2
				d.values++
				return
			}
			break
		}
	}
	if d.scan(); d.code == ok {
		d.colon()
	}
}

// step skips a simple value, or the opening of an object or array.
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

// Raw checks the next value and returns a copy of its text. Unpaired surrogate
// escapes are replaced by the escape of U+FFFD. No object in it has a member twice.
func (d *Dec) Raw() json.RawMessage { return d.appendRaw(nil) }

// RawObject is Raw for values that must be objects.
func (d *Dec) RawObject() json.RawMessage {
	if d.Peek() != '{' {
		d.want("object")
		return nil
	}
	return d.appendRaw(nil)
}

// Params is the text of params or of a result: an empty object if a message left
// it out.
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
