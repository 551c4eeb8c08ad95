package chat

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes a foreign text safe to print: what a terminal obeys, what nobody sees, and
// what changes the order of a text is spelled out, except line breaks and tabs.
func Clean(text string) string {
	var b strings.Builder
	before := rune(0)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == pictureSelector && unicode.Is(unicode.So, before):
			b.WriteRune(r)
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "<%02x>", text[i])
		case r == '\r' && strings.HasPrefix(text[i:], "\r\n"):
		case r == '\n', r == '\t':
			b.WriteRune(r)
		case hidden(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
		before = r
		i += size
	}
	return b.String()
}

// pictureSelector makes a picture of the symbol before it. Anywhere else it is not drawn,
// and text can be hidden in such characters.
const pictureSelector = '\uFE0F'

// hidden reports whether a character is not drawn as one of a text.
func hidden(r rune) bool {
	return unicode.IsControl(r) ||
		unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// OneLine is Clean for a text that must stay on its line.
func OneLine(text string) string {
	return strings.Join(strings.FieldsFunc(Clean(text), func(r rune) bool { return r == '\n' || r == '\t' }), " ")
}
