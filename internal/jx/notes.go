package jx

import (
	"bytes"
	"unicode/utf8"
)

// notes are what a Dec says of the text beside the value.
type notes struct {
	values  int
	forgave bool
	kept    bool
	odd     bool
}

// maxShort is how many digits any reader of numbers keeps.
const maxShort = 15

// Values returns how many values and names of members d has passed over. What
// it looked at twice counts twice.
func (d *Dec) Values() int { return d.values }

// Forgave reports whether the value says less than the text: a member that does
// not fit counts as absent, or an element is left out.
func (d *Dec) Forgave() bool { return d.forgave }

// KeptNull reports whether a member of the value is null: one that a null
// clears, or one that may have any value.
func (d *Dec) KeptNull() bool { return d.kept }

// Cleared passes over a null that clears a member, and reports whether there
// was one.
func (d *Dec) Cleared() bool {
	null := d.Null()
	d.kept = d.kept || null
	return null
}

// Odd reports whether the text has something that some readers take wrongly: an
// integer of more than 15 digits, a null element of a list, or an unpaired
// surrogate.
func (d *Dec) Odd() bool { return d.odd }

// Paired returns text that has been checked with the unpaired surrogate escapes
// replaced by the one for U+FFFD.
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
