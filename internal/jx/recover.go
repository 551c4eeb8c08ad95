package jx

// Mark is a place in the text: the start of a value.
type Mark struct {
	p, depth int
	first    bool
}

// Mark returns the place of the next value. After a failure there is none, so an
// earlier failure cannot be forgiven as part of the value.
//
//go:noinline
func (d *Dec) Mark() Mark {
	if d.code != ok {
		return Mark{p: -1}
	}
	d.space()
	return Mark{d.p, d.depth, d.first}
}

// Rewind returns to m, unless something failed.
func (d *Dec) Rewind(m Mark) {
	if d.code == ok {
		d.p, d.depth, d.first = m.p, m.depth, m.first
	}
}

// Recover forgives a failure inside the value that started at m and moves to the
// end of that value. It reports whether it did. Text that is not JSON, or has a
// member twice, is not forgiven. Generated code uses it to give members their
// default and to drop items of lists, where the schema says so.
//
// It reads the rest of the value from where the failure left the cursor, which is
// on the failed value or after it. So forgiving reads each byte of the text at
// most once, no matter how deep failures are nested.
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

// Retry forgives a failure inside the value that started at m and returns to m for
// another attempt. It reports whether it did.
func (d *Dec) Retry(m Mark) bool {
	if !d.recover(m) {
		return false
	}
	d.Rewind(m)
	return true
}
