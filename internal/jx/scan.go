package jx

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// Strings are scanned eight bytes at a time. In a word of eight bytes the top bit
// of each byte is free for a mark, because bytes beyond ASCII are handled first.
const (
	ones  = 0x0101010101010101
	tops  = 0x8080808080808080
	slash = ones * '\\'
)

// marks sets the top bit of bytes in w that end a run of plain text: quotes,
// backslashes, control characters and, where high has a bit, bytes beyond
// ASCII. Flipping bit 1 puts the quote right after the control characters, so that
// one comparison finds both. Only the lowest mark is exact, because subtraction
// borrows upwards.
func marks(w, high uint64) uint64 {
	return ((((w^ones*2)-ones*0x21)|((w^slash)-ones))&^w | w&high) & tops
}

// lowest returns the index of the lowest byte that marks marked.
func lowest(m uint64) int { return bits.TrailingZeros64(m) >> 3 }

// scan checks the string at the cursor and moves past it. It returns where the
// closing quote is and whether there are escapes.
func (d *Dec) scan() (end int, escaped bool) {
	b, i := d.b, d.p+1
	d.values++
	high := uint64(tops)
	for {
		for i+8 <= len(b) {
			m := marks(binary.LittleEndian.Uint64(b[i:]), high)
			if m != 0 {
				i += lowest(m)
				break
			}
			i += 8
		}
		if i >= len(b) {
			return d.broken(i, "unexpected end of string")
		}
		switch c := b[i]; {
		case c == '"':
			if high == 0 && !utf8.Valid(b[d.p+1:i]) {
				d.fail(badUTF8, "string is not UTF-8")
				return 0, false
			}
			d.p = i + 1
			return i, escaped
		case c == '\\':
			escaped = true
			for i+1 < len(b) && b[i] == '\\' { // escapes come in groups
				if short[b[i+1]] != 0 {
					i += 2
				} else if n := d.unicode(i); n > 0 {
					i += n
				} else {
					return d.broken(i, "invalid escape")
				}
			}
			if i+1 == len(b) && b[i] == '\\' {
				return d.broken(i, "invalid escape")
			}
		case c < ' ':
			return d.broken(i, "control character in string")
		case c >= utf8.RuneSelf:
			high = 0
			i++
		default:
			i++
		}
	}
}

// broken fails inside a string.
func (d *Dec) broken(at int, detail string) (int, bool) {
	d.failAt(at, syntax, detail)
	return 0, false
}

// unicode returns the length of the \u escape at i, both halves of a surrogate
// pair together, and 0 if it is not one.
func (d *Dec) unicode(i int) int {
	b := d.b
	if i+1 >= len(b) || b[i+1] != 'u' {
		return 0
	}
	r := hex4(b, i+2)
	switch {
	case r < 0:
		return 0
	case !utf16.IsSurrogate(r):
		return 6
	case paired(b, i+6, r):
		return 12
	}
	d.lone, d.odd = true, true
	return 6
}

// short maps the letter of a two-byte escape to its character.
var short = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// hex4 returns the value of four hexadecimal digits, -1 if they are not digits.
func hex4(b []byte, i int) rune {
	if i+4 > len(b) {
		return -1
	}
	var r rune
	for _, c := range b[i : i+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// paired reports whether the escape at i is the low surrogate that completes r.
func paired(b []byte, i int, r rune) bool {
	return i+6 <= len(b) && b[i] == '\\' && b[i+1] == 'u' &&
		utf16.DecodeRune(r, hex4(b, i+2)) != utf8.RuneError
}
