package jx

import (
	"bytes"
	"strings"
)

// Encoders do not return errors: they append, and the caller checks the result
// once. A value that cannot be encoded leaves a fault in the text: its reason
// between two bytes that are never part of UTF-8. Encoding continues, and Fault
// finds the fault.
const faultMark = 0xff

// AppendFault appends a fault in place of a value that cannot be encoded.
//
//go:noinline
func AppendFault(dst []byte, reason string) []byte {
	dst = append(dst, faultMark)
	dst = append(dst, strings.ToValidUTF8(reason, "\ufffd")...)
	return append(dst, faultMark)
}

// Fault returns the first fault of encoded text as an *Error. It returns nil if
// there is none, so the text may be sent.
func Fault(text []byte) error {
	at := bytes.IndexByte(text, faultMark)
	if at < 0 {
		return nil
	}
	reason, _, _ := bytes.Cut(text[at+1:], []byte{faultMark})
	return &Error{Pointer: pointer(text, at), Offset: at, Msg: string(reason)}
}

// Marshaled returns the results of MarshalJSON for encoded text.
//
//go:noinline
func Marshaled(text []byte) ([]byte, error) {
	if err := Fault(text); err != nil {
		return nil, err
	}
	return text, nil
}
