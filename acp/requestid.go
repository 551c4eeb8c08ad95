package acp

import (
	"strconv"

	"github.com/hermes-nvim/hermes/internal/jx"
)

// RequestID identifies a JSON-RPC request: null, an integer or a string. It is
// comparable, so it can be a map key. The zero value is the null id.
type RequestID struct {
	kind idKind
	num  int64
	str  string
}

type idKind uint8

const (
	idNull idKind = iota
	idNumber
	idString
)

// NumberID returns the integer id n.
func NumberID(n int64) RequestID { return RequestID{kind: idNumber, num: n} }

// StringID returns the string id s.
func StringID(s string) RequestID { return RequestID{kind: idString, str: s} }

// IsNull reports whether the id is null.
func (id RequestID) IsNull() bool { return id.kind == idNull }

// String returns the id as JSON text, so that 1 and "1" differ.
func (id RequestID) String() string { return string(id.AppendJSON(nil)) }

// AppendJSON appends the id as JSON text.
func (id RequestID) AppendJSON(b []byte) []byte {
	switch id.kind {
	case idNumber:
		return strconv.AppendInt(b, id.num, 10)
	case idString:
		return jx.AppendReplaced(b, id.str)
	}
	return append(b, "null"...)
}

// MarshalJSON implements json.Marshaler.
func (id RequestID) MarshalJSON() ([]byte, error) { return id.AppendJSON(nil), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (id *RequestID) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*id = RequestID{}
	switch d.Peek() {
	case 'n':
		d.Null()
	case '"':
		*id = StringID(d.Str())
	default:
		*id = NumberID(d.Int(-1<<63, 1<<63-1))
	}
	d.End()
	return d.Err()
}
