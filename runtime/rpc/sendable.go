package rpc

import (
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
	if jx.Deeper(msg, l.SendDepth) {
		return &TooDeepError{Limit: l.SendDepth}
	}
	return nil
}

// sendableError is e, without what makes the answer one that may not be sent.
func (c *Conn) sendableError(req *request, e *acp.Error) *acp.Error {
	if e.Data == nil && e.Extra == nil {
		return e
	}
	const head = `{"error":`
	err := c.lim.sendable(append(e.AppendJSON([]byte(head)), '}'), len(head))
	if err == nil {
		return e
	}
	c.fault(FaultHandler, fmt.Errorf("%s: data of the error: %w", req.method, err), req.buf.b)
	return &acp.Error{Code: e.Code, Message: e.Message}
}
