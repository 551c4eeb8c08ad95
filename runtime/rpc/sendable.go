package rpc

import (
	"bytes"
	"fmt"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/jx"
)

// InvalidError reports params or a result of this side that cannot be sent: a
// union without a variant, raw JSON that is not one JSON value or has a member
// twice, an extra member with the name of a declared one. acp.Pointer tells
// which value it is.
type InvalidError struct{ Err error }

func (e *InvalidError) Error() string { return "not sent: " + e.Err.Error() }

func (e *InvalidError) Unwrap() error { return e.Err }

// TooDeepError reports a message of this side that nests arrays and objects
// deeper than Limits.SendDepth. It was not sent.
type TooDeepError struct{ Limit int }

func (e *TooDeepError) Error() string {
	return fmt.Sprintf("message is nested more than %d levels deep", e.Limit)
}

// sendable reports why a message of this side may not be sent: *InvalidError,
// *TooLargeError or *TooDeepError. The params or the result begin at offset at.
func (l *Limits) sendable(msg []byte, at int) error {
	if err := jx.Fault(msg[at:]); err != nil {
		return &InvalidError{Err: err}
	}
	if len(msg) > l.Message {
		return &TooLargeError{Limit: l.Message, Size: len(msg)}
	}
	if deeper(msg, l.SendDepth) {
		return &TooDeepError{Limit: l.SendDepth}
	}
	return nil
}

// sendableError is e, without what makes the answer one that may not be sent.
func (c *Conn) sendableError(req *request, e *acp.Error) *acp.Error {
	if e.Data == nil && e.Extra == nil {
		return e
	}
	err := c.lim.sendable(e.AppendJSON([]byte("{")), 1) // as a member of the message
	if err == nil {
		return e
	}
	c.fault(FaultHandler, fmt.Errorf("%s: data of the error: %w", req.method, err), req.buf.b)
	return &acp.Error{Code: e.Code, Message: e.Message}
}

// deeper reports whether JSON text nests deeper than a limit. Nearly all text
// has too few brackets for that, which two searches tell. Else those outside of
// strings are counted.
func deeper(text []byte, limit int) bool {
	if len(text) <= 2*limit || bytes.Count(text, []byte{'{'})+bytes.Count(text, []byte{'['}) <= limit {
		return false
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			if depth++; depth > limit {
				return true
			}
		case '}', ']':
			depth--
		case '"':
			i = closing(text, i)
		}
	}
	return false
}

// closing returns where the string that begins at i ends.
func closing(text []byte, i int) int {
	for {
		n := bytes.IndexByte(text[i+1:], '"')
		if n < 0 {
			return len(text)
		}
		i += 1 + n
		slashes := 0
		for text[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
}
