package jx

// Distinct returns an error unless text is one JSON value in which no object has a
// member twice.
func Distinct(text []byte) error {
	var d Dec
	d.Reset(text)
	d.distinct()
	d.End()
	return d.Err()
}

// distinct is Skip for text that another program reads later: no object in it may
// have a member twice, because readers differ in which of the two they use.
func (d *Dec) distinct() {
	switch d.Peek() {
	case '{':
		d.distinctMembers()
	case '[':
		d.Array()
		for d.More(']') {
			d.distinct()
		}
	default:
		d.step()
	}
}

func (d *Dec) distinctMembers() {
	var seen names
	d.Obj()
	for d.More('}') {
		at := d.p
		if seen.add(d.Key(), d.b, at) {
			d.Duplicate()
			return
		}
		d.distinct()
	}
}
