package jx

// The methods of this file look ahead: they leave the cursor where it was. They
// fail if the text is not JSON.

// Tag finds the string value of a member of the object at the cursor; found is
// false if there is no such member or it is not a string. It looks no further than
// that member, which should come first.
func (d *Dec) Tag(member string) (v []byte, found bool) { return d.TagIn(&Outer{Tag: member}) }

// TagIn is Tag for the tag of o, and notes in o where it is.
func (d *Dec) TagIn(o *Outer) (v []byte, found bool) {
	m := d.Mark()
	if !d.ObjIn(o.Up) {
		return nil, false
	}
	o.end = d.p
	leads := true
	for name, more := d.Next(); more; name, more = d.Next() {
		if string(name) == o.Tag {
			o.at = d.p
			if d.Peek() == '"' {
				v, found = d.StrBytes(), true
			}
			if leads && found {
				o.end = d.p
			}
			break
		}
		leads = false
		d.Skip()
	}
	if d.code != ok {
		return nil, false
	}
	d.Rewind(m)
	return v, found
}

// HasKeys reports whether the value at the cursor is an object that has every
// named member, 64 at most.
func (d *Dec) HasKeys(names ...string) bool {
	m := d.Mark()
	var seen uint64
	all := uint64(1)<<len(names) - 1
	if d.Peek() == '{' && d.Obj() {
		for seen != all && d.More('}') {
			k := d.Key()
			for i, n := range names {
				if string(k) == n {
					seen |= 1 << i
				}
			}
			d.Skip()
		}
	}
	d.Rewind(m)
	return d.code == ok && seen == all
}

// ElemHasKeys is HasKeys for the first element of the array at the cursor.
func (d *Dec) ElemHasKeys(names ...string) bool {
	m := d.Mark()
	has := d.Peek() == '[' && d.Array() && d.More(']') && d.HasKeys(names...)
	d.Rewind(m)
	return d.code == ok && has
}

// EmptyArray reports whether the value at the cursor is an empty array.
func (d *Dec) EmptyArray() bool {
	m := d.Mark()
	empty := d.Peek() == '[' && d.Array() && !d.More(']')
	d.Rewind(m)
	return d.code == ok && empty
}

// IsInt reports whether the number at the cursor is written as an integer that
// fits int64.
func (d *Dec) IsInt() bool {
	m := d.Mark()
	tok, whole := d.number("number")
	d.Rewind(m)
	if d.code != ok || !whole {
		return false
	}
	_, fits := parseInt(tok)
	return fits
}
