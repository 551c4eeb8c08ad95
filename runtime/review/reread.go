package review

// Reread returns what somebody knows of a text who knew it as known and has now
// read lines start to end, exclusive, of it as it is now. What has changed
// outside of these lines is still unknown to them.
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
