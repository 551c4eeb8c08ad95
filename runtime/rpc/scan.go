package rpc

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
	"unicode/utf8"
)

// scanner checks JSON text in one pass without building values. Text that is
// not UTF-8 is refused before it starts, so only ASCII matters to it.
type scanner struct {
	b   []byte
	p   int
	lim *Limits
	why string
}

// SyntaxError reports a message that is not JSON.
type SyntaxError struct {
	Offset int // bytes from the start of the message
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.Reason)
}

func (s *scanner) fail(why string) bool {
	if s.why == "" {
		s.why = why
	}
	return false
}

func (s *scanner) err() error { return &SyntaxError{Offset: s.p, Reason: s.why} }

func (s *scanner) space() {
	for s.p < len(s.b) {
		switch s.b[s.p] {
		case ' ', '\t', '\r', '\n':
			s.p++
		default:
			return
		}
	}
}

// peek returns the first byte of the next token, 0 at the end.
func (s *scanner) peek() byte {
	if s.p < len(s.b) && s.b[s.p] > ' ' {
		return s.b[s.p]
	}
	s.space()
	if s.p < len(s.b) {
		return s.b[s.p]
	}
	return 0
}

// value passes over one value at the given nesting level.
func (s *scanner) value(level int) bool {
	switch c := s.peek(); c {
	case '"':
		_, ok := s.str()
		return ok
	case '{':
		return s.members(level, nil)
	case '[':
		return s.elements(level)
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	case 0:
		return s.fail("unexpected end")
	default:
		return s.number()
	}
}

// members passes over the object at the cursor. f, unless nil, sees each name,
// quotes included, with the cursor before its value; it reports whether it took
// the value, and whether to go on.
func (s *scanner) members(level int, f *frame) bool {
	if level >= s.lim.Depth {
		return s.fail("nesting too deep")
	}
	s.p++
	if s.peek() == '}' {
		s.p++
		return true
	}
	for {
		if s.peek() != '"' {
			return s.fail("expected a member name")
		}
		name, ok := s.str()
		if !ok {
			return false
		}
		if s.peek() != ':' {
			return s.fail("expected ':'")
		}
		s.p++
		took := false
		if f != nil {
			if took, ok = f.member(name, level+1); !ok {
				return false
			}
		}
		if !took && !s.value(level+1) {
			return false
		}
		switch s.peek() {
		case ',':
			s.p++
		case '}':
			s.p++
			return true
		default:
			return s.fail("expected ',' or '}'")
		}
	}
}

func (s *scanner) elements(level int) bool {
	if level >= s.lim.Depth {
		return s.fail("nesting too deep")
	}
	s.p++
	if s.peek() == ']' {
		s.p++
		return true
	}
	for {
		if !s.value(level + 1) {
			return false
		}
		switch s.peek() {
		case ',':
			s.p++
		case ']':
			s.p++
			return true
		default:
			return s.fail("expected ',' or ']'")
		}
	}
}

func (s *scanner) literal(word string) bool {
	if len(s.b)-s.p < len(word) || string(s.b[s.p:s.p+len(word)]) != word {
		return s.fail("expected a value")
	}
	s.p += len(word)
	return true
}

func (s *scanner) number() bool {
	b, i := s.b, s.p
	if i < len(b) && b[i] == '-' {
		i++
	}
	start := i
	if i = digits(b, i); i == start {
		return s.fail("expected a value")
	}
	if b[start] == '0' && i > start+1 {
		return s.fail("number with a leading zero")
	}
	if i < len(b) && b[i] == '.' {
		start = i + 1
		if i = digits(b, start); i == start {
			return s.fail("expected a digit")
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		start = i
		if i = digits(b, start); i == start {
			return s.fail("expected a digit")
		}
	}
	s.p = i
	return true
}

func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' < 10 {
		i++
	}
	return i
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// str passes over the string at the cursor and returns it with its quotes.
// Unpaired surrogate escapes become \ufffd, which has the same length.
func (s *scanner) str() ([]byte, bool) {
	b, i := s.b, s.p+1
	for {
		// Eight bytes at a time up to a quote, a backslash or a control character.
		for i+8 <= len(b) {
			x := binary.LittleEndian.Uint64(b[i:])
			q, e := x^ones*'"', x^ones*'\\'
			hit := ((q - ones) &^ q) | ((e - ones) &^ e) | ((x - ones*0x20) &^ x)
			if hit &= highs; hit != 0 {
				i += bits.TrailingZeros64(hit) >> 3
				break
			}
			i += 8
		}
		if i >= len(b) {
			s.p = len(b)
			return nil, s.fail("string without end")
		}
		switch c := b[i]; {
		case c == '"':
			token := b[s.p : i+1]
			s.p = i + 1
			return token, true
		case c == '\\':
			if i+1 < len(b) && simple[b[i+1]] {
				i += 2
				continue
			}
			n := escape(b, i)
			if n == 0 {
				s.p = i
				return nil, s.fail("bad escape in a string")
			}
			i += n
		case c < ' ':
			s.p = i
			return nil, s.fail("control character in a string")
		default:
			i++
		}
	}
}

// simple holds what makes an escape of two characters.
var simple = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// escape returns the length of the \u sequence at i, both halves of a surrogate
// pair together; 0 when it is none.
func escape(b []byte, i int) int {
	if i+1 >= len(b) || b[i+1] != 'u' {
		return 0
	}
	r := hex4(b, i+2)
	if r < 0 {
		return 0
	}
	if r < 0xd800 || r > 0xdfff {
		return 6
	}
	if r < 0xdc00 && i+7 < len(b) && b[i+6] == '\\' && b[i+7] == 'u' {
		if low := hex4(b, i+8); low >= 0xdc00 && low <= 0xdfff {
			return 12
		}
	}
	copy(b[i:], `\ufffd`)
	return 6
}

func hex4(b []byte, i int) rune {
	if i+4 > len(b) {
		return -1
	}
	var r rune
	for _, c := range b[i : i+4] {
		switch {
		case c-'0' < 10:
			c -= '0'
		case c|0x20-'a' < 6:
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// text returns the value of a string token. The bytes alias the token unless
// it has escapes.
func text(token []byte) []byte {
	inner := token[1 : len(token)-1]
	if !escaped(token) {
		return inner
	}
	var s string
	if json.Unmarshal(token, &s) != nil {
		return inner
	}
	return []byte(s)
}

func escaped(token []byte) bool { return bytes.IndexByte(token, '\\') >= 0 }

func badUTF8(b []byte) error {
	at := 0
	for at < len(b) {
		r, n := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	return &SyntaxError{Offset: at, Reason: "not UTF-8"}
}
