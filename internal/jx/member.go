package jx

import "encoding/json"

// Policy says what a decoder does with an optional member that has no usable
// value. Its bits are the marks of the schema.
type Policy uint8

const (
	Null    Policy = 1 << iota // null counts as absent
	Forgive                    // a value that does not fit counts as absent
	Skip                       // an element that does not fit is left out
)

// Meta reads the value of a _meta member: an object, nil if it is null or anything
// else.
func (d *Dec) Meta() json.RawMessage {
	if d.Null() {
		return nil
	}
	mk := d.Mark()
	v := d.RawObject()
	if d.Failed() && d.Recover(mk) {
		return nil
	}
	return v
}

// OptStr reads an optional string and reports whether there is one.
func OptStr[S ~string](d *Dec, p Policy) (s S, ok bool) {
	if p&Null != 0 && d.Null() {
		return "", false
	}
	if p&Forgive == 0 {
		return S(d.Str()), true
	}
	mk := d.Mark()
	s = S(d.Str())
	if d.Failed() && d.Recover(mk) {
		return "", false
	}
	return s, true
}

// Strs reads a list of strings.
func Strs[S ~string](d *Dec, p Policy) (list []S) {
	if p&Null != 0 && d.Null() {
		return nil
	}
	mk := d.Mark()
	if d.Array() {
		begin := d.Mark()
		list = []S{}
		for d.More(']') {
			element := d.Mark()
			s := S(d.Str())
			if p&Skip != 0 && d.Failed() && d.Recover(element) {
				continue
			}
			list = append(Grow(d, list, begin), s)
		}
	}
	if p&Forgive != 0 && d.Failed() && d.Recover(mk) {
		return nil
	}
	return list
}

// Need fails unless seen has all bits of mask: the bits of the required
// members, whose names are separated by spaces. The object started at m.
func (d *Dec) Need(m Mark, seen, mask uint64, names string) {
	if seen&mask != mask {
		d.missing(m, seen, names)
	}
}

// Close ends the decoding of a text. It returns the first failure; text after the
// value is one.
func (d *Dec) Close() error {
	d.End()
	return d.Err()
}

// AppendRest appends what most messages do not have: a _meta member, unless it is
// absent, and the members of the object text extra; see AppendMembers.
func AppendRest(dst, meta, extra []byte, declared string) []byte {
	if meta != nil {
		dst = AppendRawObject(append(Comma(dst), `"_meta":`...), meta)
	}
	return AppendMembers(dst, extra, declared)
}

// AppendOptStr appends a member unless it is absent. Its name comes with quotes and
// colon.
func AppendOptStr(dst []byte, name, v string, ok bool) []byte {
	if !ok {
		return dst
	}
	return AppendString(append(Comma(dst), name...), v)
}
