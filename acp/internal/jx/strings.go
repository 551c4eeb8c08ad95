package jx

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Str reads a string. Unpaired surrogate escapes become U+FFFD.
func (d *Dec) Str() string {
	if d.Peek() != '"' {
		d.want("string")
		return ""
	}
	s := d.p + 1
	end, escaped := d.scan()
	if d.code != ok {
		return ""
	}
	return d.texts.keep(d.b[s:end], len(d.b)-s, escaped)
}

// StrBytes reads a string. The bytes alias the text unless it has escapes.
func (d *Dec) StrBytes() []byte {
	if d.Peek() != '"' {
		d.want("string")
		return nil
	}
	s := d.p + 1
	end, escaped := d.scan()
	if d.code != ok {
		return nil
	}
	if escaped {
		return unescaped(d.b[s:end])
	}
	return d.b[s:end:end]
}

// texts makes strings. Short ones share an allocation with their neighbours, so
// a string that outlives its message keeps at most a block alive.
type texts struct{ block strings.Builder }

const (
	blockSize = 1024 // bytes of a block
	ownBlock  = 256  // longer strings do not start a block
)

// keep makes a string of raw, the text between two quotes. At most rest bytes
// of text are left for this string and all that follow.
func (t *texts) keep(raw []byte, rest int, escaped bool) string {
	if len(raw) > t.block.Cap()-t.block.Len() {
		if len(raw) > ownBlock && rest > blockSize {
			if !escaped {
				return string(raw)
			}
			var own strings.Builder
			own.Grow(len(raw))
			unescape(&own, raw)
			return own.String()
		}
		t.block.Reset()
		t.block.Grow(min(rest, blockSize))
	}
	n := t.block.Len()
	if escaped {
		unescape(&t.block, raw)
	} else {
		t.block.Write(raw)
	}
	return t.block.String()[n:]
}

// unescaped returns what raw stands for.
func unescaped(raw []byte) []byte {
	var s strings.Builder
	unescape(&s, raw)
	return []byte(s.String())
}

// unescape writes what raw stands for; raw has been checked. It is never longer
// than raw.
func unescape(s *strings.Builder, raw []byte) {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			s.Write(raw)
			return
		}
		s.Write(raw[:i])
		raw = raw[i:]
		for len(raw) > 0 && raw[0] == '\\' {
			if c := raw[1]; c != 'u' {
				s.WriteByte(short[c])
				raw = raw[2:]
				continue
			}
			r := hex4(raw, 2)
			n := 6
			if utf16.IsSurrogate(r) {
				if paired(raw, 6, r) {
					r = utf16.DecodeRune(r, hex4(raw, 8))
					n = 12
				} else {
					r = utf8.RuneError
				}
			}
			s.WriteRune(r)
			raw = raw[n:]
		}
	}
}

// appendPaired copies JSON text that has been checked and replaces unpaired
// surrogate escapes.
func appendPaired(dst, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:i]...)
		text = text[i:]
		n := 2
		if text[1] == 'u' {
			n = 6
			if r := hex4(text, 2); utf16.IsSurrogate(r) {
				if !paired(text, 6, r) {
					dst = append(dst, `\ufffd`...)
					text = text[6:]
					continue
				}
				n = 12
			}
		}
		dst = append(dst, text[:n]...)
		text = text[n:]
	}
}
