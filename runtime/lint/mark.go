package lint

import "bytes"

// mark is a word that rules look for in the bytes of every message, by its rarest byte:
// letters and quotes are so frequent that a search for the first byte stops everywhere.
type mark struct {
	before string
	rare   byte
	after  string
}

// marked reports whether text has one of some marks with the same rare byte.
func marked(text []byte, marks ...mark) bool {
	rare := marks[0].rare
	for i := bytes.IndexByte(text, rare); i >= 0; {
		for _, m := range marks {
			if n := len(m.before); n > 0 && (i < n || text[i-1] != m.before[n-1]) {
				continue // as nearly always
			}
			if bytes.HasSuffix(text[:i], []byte(m.before)) && bytes.HasPrefix(text[i+1:], []byte(m.after)) {
				return true
			}
		}
		next := bytes.IndexByte(text[i+1:], rare)
		if next < 0 {
			return false
		}
		i += 1 + next
	}
	return false
}
