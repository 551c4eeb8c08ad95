package review

// Reread updates a reader's copy of a text. The copy was known, and the reader
// has now read lines start to end, exclusive, of the text as it is now. Changes
// outside of these lines are not in the new copy.
func Reread(known, now string, start, end int) string {
	if known == now || opaque(known) || opaque(now) {
		return known
	}
	a, b := split(known), split(now)
	m := merger{base: a}
	for _, s := range diff(a, b) {
		// That lines are gone shows between two lines that were read.
		gone := s.b0 == s.b1
		seesStart := s.b0 > start || s.b0 == start && (!gone || start == 0)
		seesEnd := s.b1 < end || s.b1 == end && !gone || end >= len(b)
		if seesStart && seesEnd {
			m.take(s, b)
		}
	}
	m.out = append(m.out, a[m.done:]...)
	return m.text()
}
