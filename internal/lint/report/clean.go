package report

import (
	"strconv"
	"strings"
)

// clean returns text of a capture on one line. It escapes characters that a terminal
// would obey and characters that a reader does not see, such as those that turn text
// around.
func clean(s string) string {
	for i, r := range s {
		if !strconv.IsPrint(r) || r == '\ufffd' {
			return s[:i] + escape(s[i:])
		}
	}
	return s
}

func escape(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\ufffd' && s[i] != 0xef:
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[i]), 16)) // not UTF-8
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		}
	}
	return b.String()
}
