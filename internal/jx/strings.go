package jx

import (
	"bytes"
	"encoding/binary"
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

// Unquote returns the value of a checked string; token is its text with the
// quotes. The bytes alias the token unless it has escapes.
func Unquote(token []byte) []byte { return Unescape(token[1 : len(token)-1]) }

// Unescape is Unquote for the text between the quotes.
func Unescape(inner []byte) []byte {
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	return unescaped(inner)
}

// Mend replaces unpaired surrogate escapes in the text read so far with the escape
// of U+FFFD, which has the same length. It changes the text in place, and reports
// whether there were any.
func (d *Dec) Mend() bool {
	if d.lone {
		appendPaired(d.b[:0], d.b[:d.p])
	}
	return d.lone
}

// texts makes strings. Short ones share an allocation with their neighbours, so
// a string that outlives its message keeps at most a block alive.
type texts struct{ block strings.Builder }

const (
	blockSize = 1024 // bytes of a block
	ownBlock  = 256  // longer strings do not start a block
)

// keep makes a string of raw, the text between two quotes. At most rest bytes of
// text are left for this string and all following ones.
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

// unescaped returns raw without its escapes.
func unescaped(raw []byte) []byte {
	var s strings.Builder
	unescape(&s, raw)
	return []byte(s.String())
}

// unescape writes raw without its escapes; raw has been checked. The result is
// never longer than raw.
func unescape(s *strings.Builder, raw []byte) {
	var buf [256]byte
	n := 0 // bytes in buf
	for i := 0; i < len(raw); {
		if n > len(buf)-16 {
			s.Write(buf[:n])
			n = 0
		}
		if i+8 <= len(raw) {
			// copy a word, as far as it has no backslash
			w := binary.LittleEndian.Uint64(raw[i:])
			binary.LittleEndian.PutUint64(buf[n:], w)
			w ^= slash
			m := (w - ones) &^ w & tops
			if m == 0 {
				i += 8
				n += 8
				continue
			}
			i += lowest(m)
			n += lowest(m)
		}
		c := raw[i]
		switch {
		case c != '\\':
			i++
		case raw[i+1] != 'u':
			c = short[raw[i+1]]
			i += 2
		default:
			r, size := unicode(raw[i:])
			n += utf8.EncodeRune(buf[n:], r)
			i += size
			continue
		}
		buf[n] = c
		n++
	}
	s.Write(buf[:n])
}

// unicode returns the character of the \u escape at the start of s, and the length
// of that escape.
func unicode(s []byte) (r rune, size int) {
	r = hex4(s, 2)
	switch {
	case !utf16.IsSurrogate(r):
		return r, 6
	case paired(s, 6, r):
		return utf16.DecodeRune(r, hex4(s, 8)), 12
	}
	return utf8.RuneError, 6
}

// appendPaired copies JSON text and replaces unpaired surrogate escapes.
func appendPaired(dst, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:i]...)
		text = text[i:]
		if len(text) < 2 || text[1] == 'u' && len(text) < 6 {
			return append(dst, text...) // it was not checked; the decoder says why
		}
		n := 2
		if text[1] == 'u' {
			var r rune
			if r, n = unicode(text); r == utf8.RuneError {
				dst = append(dst, `\ufffd`...)
				text = text[n:]
				continue
			}
		}
		dst = append(dst, text[:n]...)
		text = text[n:]
	}
}
