package plugin

import (
	"context"
	"errors"
	"fmt"

	"github.com/hermes-nvim/hermes/acp"
)

// opError is why an operation failed, in words for the person at the editor.
// Kind is what programs compare: invalid, unknown_agent, not_connected,
// unknown_session, start, initialize, timeout, exit, closed, cancelled, agent,
// auth_required.
type opError struct {
	Kind    string
	Message string
	Cause   error
}

func (e *opError) Error() string {
	if e.Cause == nil {
		return e.Message
	}
	return e.Message + ": " + e.Cause.Error()
}

func (e *opError) Unwrap() error { return e.Cause }

func invalid(format string, args ...any) error {
	return &opError{Kind: "invalid", Message: fmt.Sprintf(format, args...)}
}

// describe makes the error object that Lua gets.
func describe(err error) *object {
	o := new(object)
	kind := "closed"
	var op *opError
	var peer *acp.Error
	switch {
	case errors.As(err, &peer):
		if kind = "agent"; peer.Code == acp.ErrorCodeAuthenticationRequired {
			kind = "auth_required"
		}
		o.num("code", int64(peer.Code))
		o.raw("data", peer.Data)
	case errors.As(err, &op):
		kind = op.Kind
	case errors.Is(err, context.DeadlineExceeded):
		kind = "timeout"
	case errors.Is(err, context.Canceled):
		kind = "cancelled"
	default:
		if exit := exitOf(err); exit != nil {
			kind = "exit"
		}
	}
	return o.str("kind", kind).str("message", err.Error())
}
