package jx

import (
	"bytes"
	"unicode/utf8"
)

// notes are what a Dec reports about the text besides the value.
type notes struct {
	values  int
	forgave bool
	kept    bool
	odd     bool
}

// maxShort is how many digits every reader of numbers keeps.
const maxShort = 15

// Values returns how many values and names of members d has read. One that was
// read twice counts twice.
func (d *Dec) Values() int { return d.values }

// Forgave reports whether the value holds less than the text: a member that did
// not fit counts as absent, or an element was left out.
func (d *Dec) Forgave() bool { return d.forgave }

// KeptNull reports whether a null was kept: in a member that null clears, or in
// one that may have any value.
func (d *Dec) KeptNull() bool { return d.kept }

// Cleared skips a null that clears a member, and reports whether there was one.
func (d *Dec) Cleared() bool {
	null := d.Null()
	d.kept = d.kept || null
	return null
}

// Odd reports whether the text has something that some readers misread: an integer
// of more than 15 digits, a null element of a list, or an unpaired surrogate.
func (d *Dec) Odd() bool { return d.odd }

// Paired returns checked text with each unpaired surrogate escape replaced by the
// escape of U+FFFD.
func Paired(text []byte) []byte {
	if !bytes.Contains(text, []byte(`\u`)) {
		return text
	}
	return appendPaired(nil, text)
}

// CharLen returns the length of the character that s starts with, however it is
// written. s is a part of the inside of a checked string.
func CharLen(s []byte) int {
	switch {
	case len(s) == 0 || s[0] != '\\':
		_, n := utf8.DecodeRune(s)
		return max(n, 1)
	case len(s) == 1 || s[1] != 'u':
		return 2
	}
	_, n := unicode(s)
	return n
}
