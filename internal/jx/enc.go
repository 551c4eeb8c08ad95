package jx

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const hexdigits = "0123456789abcdef"

// AppendString appends s as a JSON string, or a fault if s is not UTF-8: a path or an
// id with other bytes in their place would be another one.
func AppendString(dst []byte, s string) []byte {
	at := len(dst)
	dst = append(dst, '"')
	start := 0 // of the part that is not written yet
	for i := 0; ; {
		for i+8 <= len(s) {
			m := marks(word(s, i), tops)
			if m != 0 {
				i += lowest(m)
				break
			}
			i += 8
		}
		if i >= len(s) {
			break
		}
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				return AppendFault(dst[:at], "string is not UTF-8: byte "+strconv.Itoa(i)+" is 0x"+strconv.FormatUint(uint64(c), 16))
			}
			i += n
		case c < ' ' || c == '"' || c == '\\':
			dst = append(dst, s[start:i]...)
			dst = appendEscape(dst, c)
			i++
			start = i
		default:
			i++
		}
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// AppendReplaced is AppendString for text that is only read by people: each byte that
// is not UTF-8 becomes U+FFFD.
func AppendReplaced(dst []byte, s string) []byte {
	at := len(dst)
	if dst = AppendString(dst, s); dst[at] == faultMark {
		return AppendString(dst[:at], string([]rune(s)))
	}
	return dst
}

// word loads eight bytes of s in little endian; it compiles to one load.
func word(s string, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\t':
		return append(dst, '\\', 't')
	case '\r':
		return append(dst, '\\', 'r')
	}
	return append(dst, '\\', 'u', '0', '0', hexdigits[c>>4], hexdigits[c&15])
}

// AppendInt appends an integer.
func AppendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

// AppendUint appends an integer.
func AppendUint(dst []byte, n uint64) []byte { return strconv.AppendUint(dst, n, 10) }

// AppendBool appends true or false.
func AppendBool(dst []byte, b bool) []byte { return strconv.AppendBool(dst, b) }

// AppendFloat appends a number, in the form encoding/json and JavaScript use, or a
// fault for NaN and the infinities, which JSON does not have.
func AppendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return AppendFault(dst, "JSON has no number "+strconv.FormatFloat(f, 'g', -1, 64))
	}
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, f, format, -1, 64)
}

// AppendRaw appends JSON text, or null if there is none. Text that is not one JSON
// value, or has an object with a member twice, becomes a fault, because it could
// change the meaning of the message around it. Line ends, which can only be space
// between tokens, become spaces, because a message is one line.
func AppendRaw(dst, raw []byte) []byte {
	if len(raw) == 0 {
		return append(dst, "null"...)
	}
	at := len(dst)
	var d Dec
	d.Reset(raw)
	dst = d.appendRaw(dst)
	if d.End(); d.code != ok {
		return AppendFault(dst[:at], "not a JSON value: "+d.err().Error())
	}
	added := dst[at:]
	if bytes.IndexByte(added, '\n') >= 0 || bytes.IndexByte(added, '\r') >= 0 {
		for i, c := range added {
			if c == '\n' || c == '\r' {
				added[i] = ' '
			}
		}
	}
	return dst
}

// AppendRawObject is AppendRaw for text that must be an object.
func AppendRawObject(dst, raw []byte) []byte {
	at := len(dst)
	dst = AppendRaw(dst, raw)
	if c := dst[at]; c != '{' && c != faultMark {
		return AppendFault(dst[:at], "want an object, got "+kind(c))
	}
	return dst
}

// Comma appends a separator unless an object or array has just been opened.
func Comma(dst []byte) []byte {
	if n := len(dst); n > 0 && dst[n-1] != '{' && dst[n-1] != '[' {
		return append(dst, ',')
	}
	return dst
}

// AppendMembers appends the members of the object text obj. The object around them
// declares some names, separated by spaces, which obj must not use: the member
// would occur twice, and readers differ in which of the two they use.
func AppendMembers(dst, obj []byte, declared string) []byte {
	written(dst)
	if len(obj) == 0 {
		return dst
	}
	return appendMembers(dst, obj, declared)
}

func appendMembers(dst, obj []byte, declared string) []byte {
	before := len(dst)
	dst = Comma(dst)
	at := len(dst)
	dst = AppendRawObject(dst, obj)
	if dst[at] == faultMark {
		return dst
	}
	var d Dec
	d.Reset(dst[at:])
	d.Obj()
	n, names := 0, strings.Fields(declared)
	for name, more := d.Next(); more; name, more = d.Next() {
		if n++; slices.Contains(names, string(name)) {
			return AppendFault(dst[:at], "the extra member "+strconv.Quote(string(name))+" is a declared one")
		}
		d.Skip()
	}
	if n == 0 {
		return dst[:before]
	}
	return append(dst[:at], dst[at+1:len(dst)-1]...)
}

// Apart checks the members of a variant, which start at at in text. They must not
// use the names that the object around them declares; see AppendMembers.
//
//go:noinline
func Apart(text []byte, at int, declared string) []byte {
	if at == len(text) || bytes.IndexByte(text[at:], faultMark) >= 0 {
		return text
	}
	members := append([]byte{'{'}, bytes.TrimPrefix(text[at:], []byte{','})...)
	var d Dec
	d.Reset(append(members, '}'))
	d.Obj()
	names := strings.Fields(declared)
	for name, more := d.Next(); more; name, more = d.Next() {
		if slices.Contains(names, string(name)) {
			return AppendFault(text[:at], "the extra member "+strconv.Quote(string(name))+" is a declared one")
		}
		d.Skip()
	}
	return text
}

// Keys returns the keys of m in order.
func Keys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
