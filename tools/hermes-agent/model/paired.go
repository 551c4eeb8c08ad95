package model

import (
	"bytes"
	"regexp"
)

// escapes finds the escapes of JSON: whole surrogate pairs, halves of one, and all others,
// so that no backslash is read twice.
var escapes = regexp.MustCompile(`\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)`)

// Paired replaces halves of surrogate pairs in JSON by U+FFFD. Go reads them as that, others
// refuse the whole text because of one: no half stands for a character. Text without one
// is returned as it is.
func Paired(text []byte) []byte {
	if !HasHalf(text) {
		return text
	}
	return escapes.ReplaceAllFunc(text, func(escape []byte) []byte {
		if isHalf(escape) {
			return []byte(`\ufffd`)
		}
		return escape
	})
}

// HasHalf reports whether JSON has half of a surrogate pair.
func HasHalf(text []byte) bool {
	if !bytes.Contains(text, []byte(`\ud`)) && !bytes.Contains(text, []byte(`\uD`)) {
		return false
	}
	for _, escape := range escapes.FindAll(text, -1) {
		if isHalf(escape) {
			return true
		}
	}
	return false
}

// isHalf reports whether an escape is half of a pair: those are the only ones that are six
// bytes long.
func isHalf(escape []byte) bool { return len(escape) == len(`\ud800`) }
