package special

import (
	"strings"
	"unicode"
)

// compat lists characters that a normalising file system replaces, and their
// replacements. Full-width forms and mathematical letters are computed.
var compat = strings.NewReplacer(
	"ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st",
	"․", ".", "﹒", ".", "‥", "..", "…", "...", "﹘", "-", "﹣", "-", "﹍", "_", "﹎", "_", "﹏", "_",
	"ª", "a", "º", "o", "ⁱ", "i", "ⁿ", "n", "ℂ", "c", "ℊ", "g", "ℋ", "h", "ℌ", "h", "ℍ", "h", "ℎ", "h",
	"ℐ", "i", "ℑ", "i", "ℒ", "l", "ℓ", "l", "ℕ", "n", "ℙ", "p", "ℚ", "q", "ℛ", "r", "ℜ", "r", "ℝ", "r",
	"ℤ", "z", "ℨ", "z", "ℬ", "b", "ℭ", "c", "ℯ", "e", "ℰ", "e", "ℱ", "f", "ℳ", "m", "ℴ", "o", "ℹ", "i",
	"ⅅ", "d", "ⅆ", "d", "ⅇ", "e", "ⅈ", "i", "ⅉ", "j", "Ⅰ", "i", "ⅰ", "i", "Ⅱ", "ii", "ⅱ", "ii",
	"Ⅲ", "iii", "ⅲ", "iii", "Ⅳ", "iv", "ⅳ", "iv", "Ⅴ", "v", "ⅴ", "v", "Ⅵ", "vi", "ⅵ", "vi", "Ⅹ", "x",
	"ⅹ", "x", "Ⅺ", "xi", "ⅺ", "xi", "Ⅼ", "l", "ⅼ", "l", "Ⅽ", "c", "ⅽ", "c", "Ⅾ", "d", "ⅾ", "d",
	"Ⅿ", "m", "ⅿ", "m",
)

// Fold reduces all spellings that some file system treats as the same name to
// one: letter case, Unicode compatibility forms, invisible characters, trailing
// dots and spaces, and alternate streams (name:stream).
func Fold(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r < 0x80:
			return r
		case unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
			return -1
		case 0xff01 <= r && r <= 0xff5e: // full width
			return r - 0xfee0
		case 0x1d400 <= r && r <= 0x1d6a3: // mathematical letters
			return 'a' + (r-0x1d400)%26
		case 0x1d7ce <= r && r <= 0x1d7ff: // mathematical digits
			return '0' + (r-0x1d7ce)%10
		case 0x24b6 <= r && r <= 0x24e9: // circled letters
			return 'a' + (r-0x24b6)%26
		}
		return r
	}, compat.Replace(name))
	name = strings.Map(func(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }, name)
	name, _, _ = strings.Cut(name, ":")
	return strings.TrimRight(name, ". ")
}
