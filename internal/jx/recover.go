package jx

// Mark is a place in the text: the start of a value.
type Mark struct {
	p, depth int
	first    bool
}

// Mark returns the place of the next value. After a failure there is none, so
// what failed before the value cannot be forgiven as part of it.
//
//go:noinline
func (d *Dec) Mark() Mark {
	if d.code != ok {
		return Mark{p: -1}
	}
	d.space()
	return Mark{d.p, d.depth, d.first}
}

// Rewind goes back to m, unless something failed.
func (d *Dec) Rewind(m Mark) {
	if d.code == ok {
		d.p, d.depth, d.first = m.p, m.depth, m.first
	}
}

// Recover forgives a failure inside the value that started at m and goes to the
// end of that value; it reports whether it did. Text that is not JSON, or has a
// member twice, is not forgiven. With it generated code gives members their
// default and drops items of lists where the schema says so.
//
// The rest of the value is read from where the failure left the cursor, which
// is on the value that failed or behind it. So forgiving costs each byte of the
// text at most once, no matter how deep failures are nested.
//
//go:noinline
func (d *Dec) Recover(m Mark) bool {
	forgiven := d.recover(m)
	d.forgave = d.forgave || forgiven
	return forgiven
}

func (d *Dec) recover(m Mark) bool {
	if d.code < wrongType || m.p < 0 {
		return false
	}
	unread := d.p == d.at
	d.code, d.detail, d.val, d.cause = ok, "", "", nil
	if unread {
		d.step()
	}
	d.climb(m.depth)
	return d.code == ok
}

// Retry forgives a failure inside the value that started at m and goes back to
// m, for another attempt; it reports whether it did.
func (d *Dec) Retry(m Mark) bool {
	if !d.recover(m) {
		return false
	}
	d.Rewind(m)
	return true
}
