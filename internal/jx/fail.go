package jx

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

type code uint8

const (
	ok code = iota

	// The text is not JSON as the protocol requires it. Never forgiven.
	syntax
	tooDeep
	badUTF8
	duplicate // readers differ in which of the two they use

	// The text is JSON but does not fit the type.
	wrongType
	badRange
	missing
	badValue
	noVariant
	foreign
)

// Error says what did not fit, and where.
type Error struct {
	Pointer string // JSON pointer of the value, e.g. /update/content/1/path; empty when Syntax
	Offset  int    // bytes before it
	Syntax  bool   // the text is not JSON, or nested too deeply
	Msg     string // what was wrong
}

func (e *Error) Error() string {
	switch {
	case e.Syntax:
		return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.Msg)
	case e.Pointer == "":
		return e.Msg
	}
	return e.Pointer + ": " + e.Msg
}

// Err returns the first failure as an *Error, nil if there was none.
func (d *Dec) Err() error {
	if d.code == ok {
		return nil
	}
	return d.err()
}

func (d *Dec) err() error {
	e := &Error{Offset: d.at}
	switch d.code {
	case syntax, tooDeep, badUTF8:
		e.Syntax = true
		e.Msg = d.detail
		if d.code == tooDeep {
			e.Msg = fmt.Sprintf("more than %d levels of nesting", MaxDepth-d.less)
		}
		return e
	case foreign:
		return d.foreignErr()
	case wrongType:
		e.Msg = "want " + d.detail + ", got " + kind(d.b[d.at])
	case missing:
		e.Msg = "missing required member " + strconv.Quote(d.detail) + foundInstead(neighbour(d.b, d.at, d.detail))
	case duplicate:
		e.Msg = "duplicate member"
	case badValue:
		what, known, _ := strings.Cut(d.detail, " ")
		e.Msg = fmt.Sprintf("unknown %s %q", what, d.val) + didYouMean(Near(d.val, strings.Fields(known)))
	case noVariant:
		e.Msg = fmt.Sprintf("no variant of %s fits: want %s", d.val, d.detail)
	default:
		e.Msg = d.detail
	}
	e.Pointer = pointer(d.b, d.at)
	return e
}

// kind names the type of the value that starts with c.
func kind(c byte) string {
	switch c {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// fail records a failure at the value at the cursor.
func (d *Dec) fail(c code, detail string) { d.failAt(d.p, c, detail) }

// failAt records a failure of the value that starts at offset at. The cursor is on
// that value, or after it.
//
//go:noinline
func (d *Dec) failAt(at int, c code, detail string) {
	if d.code == ok {
		d.code, d.at, d.detail = c, at, detail
	}
}

// want fails because the next value is not of the right kind.
func (d *Dec) want(what string) {
	if d.code != ok {
		return
	}
	if d.p >= len(d.b) {
		d.fail(syntax, "unexpected end")
		return
	}
	switch c := d.b[d.p]; c {
	case '{', '[', '"', 't', 'f', 'n', '-':
	default:
		if c < '0' || c > '9' {
			d.fail(syntax, "expected a value")
			return
		}
	}
	d.fail(wrongType, what)
}

// Once sets a bit in seen; a bit that is already set is a duplicate member.
func (d *Dec) Once(seen, bit uint64) uint64 {
	if seen&bit != 0 {
		d.Duplicate()
	}
	return seen | bit
}

// Duplicate fails because of the member whose name was read last. It is called
// before the value is read.
//
//go:noinline
func (d *Dec) Duplicate() { d.fail(duplicate, "") }

// missing records the first required member of the object that started at m
// whose bit is not in seen. The bits of required members are the lowest ones,
// in the order of names.
//
//go:noinline
func (d *Dec) missing(m Mark, seen uint64, names string) {
	if d.code != ok {
		return
	}
	for i, n := range strings.Fields(names) {
		if seen&(1<<i) == 0 {
			d.failAt(m.p, missing, n)
			return
		}
	}
}

// Reject fails with a message about the value that started at m.
func (d *Dec) Reject(m Mark, msg string) { d.failAt(m.p, badRange, msg) }

// BadValue records that the value at m is not a value of an enum. The name of the
// enum and its values are separated by spaces.
func (d *Dec) BadValue(m Mark, enum string, v []byte) {
	if d.code == ok {
		d.val = string(v)
		d.failAt(m.p, badValue, enum)
	}
}

// NoVariant records that the value at m fits no variant of a union.
func (d *Dec) NoVariant(m Mark, union, want string) {
	if d.code == ok {
		d.val = union
		d.failAt(m.p, noVariant, want)
	}
}

// NoTag records why the object at m has no usable tag.
func (d *Dec) NoTag(m Mark, member string) {
	d.Rewind(m)
	if !d.Obj() {
		return
	}
	for name, more := d.Next(); more; name, more = d.Next() {
		if string(name) == member {
			d.want("string")
			return
		}
		d.Skip()
	}
	d.failAt(m.p, missing, member)
}

// Unmarshal decodes the next value into a type that brings its own decoder.
func (d *Dec) Unmarshal(v json.Unmarshaler) {
	d.Peek()
	s := d.p
	d.distinct() // here, because a failure in v may be forgiven
	if d.code != ok {
		return
	}
	if err := v.UnmarshalJSON(d.b[s:d.p]); err != nil {
		d.cause = err
		d.failAt(s, foreign, "")
	}
}

func (d *Dec) foreignErr() error {
	at := pointer(d.b, d.at)
	var e *Error
	if !errors.As(d.cause, &e) {
		return &Error{Pointer: at, Offset: d.at, Msg: d.cause.Error()}
	}
	c := *e
	c.Pointer, c.Offset = at+e.Pointer, d.at+e.Offset
	return &c
}
