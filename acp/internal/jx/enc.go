package jx

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

const hexdig = "0123456789abcdef"

// AppendString appends s as a JSON string; invalid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= 0x20 && c != '"' && c != '\\' {
				i++
				continue
			}
			dst = append(dst, s[start:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hexdig[c>>4], hexdig[c&15])
			}
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			dst = append(dst, s[start:i]...)
			dst = append(dst, "\ufffd"...)
			i++
			start = i
			continue
		}
		i += n
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}
func AppendInt(dst []byte, n int64) []byte   { return strconv.AppendInt(dst, n, 10) }
func AppendUint(dst []byte, n uint64) []byte { return strconv.AppendUint(dst, n, 10) }
func AppendBool(dst []byte, b bool) []byte   { return strconv.AppendBool(dst, b) }
func AppendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

// AppendRaw appends JSON text as it is, or null when there is none. Line ends,
// which can only be space between tokens, become spaces: messages are lines.
func AppendRaw(dst, raw []byte) []byte {
	if len(raw) == 0 {
		return append(dst, "null"...)
	}
	n := len(dst)
	dst = append(dst, raw...)
	if bytes.IndexByte(raw, '\n') >= 0 || bytes.IndexByte(raw, '\r') >= 0 {
		for i := n; i < len(dst); i++ {
			if dst[i] == '\n' || dst[i] == '\r' {
				dst[i] = ' '
			}
		}
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

// AppendMembers appends the members of the object text obj.
func AppendMembers(dst, obj []byte) []byte {
	in := bytes.TrimSpace(obj)
	if len(in) < 2 {
		return dst
	}
	if in = bytes.TrimSpace(in[1 : len(in)-1]); len(in) == 0 {
		return dst
	}
	return AppendRaw(Comma(dst), in)
}

// Keys returns the keys of m in order.
func Keys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
