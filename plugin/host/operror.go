package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/hermes-nvim/hermes/acp"
)

// What the user did. Lua logs these kinds and shows no message for them.
const (
	kindDisconnected = "disconnected" // the user ended the agent, or Neovim
	kindCancelled    = "cancelled"    // the user cancelled the turn
)

// opError is why an operation failed, in words for the person at the editor.
// Kind is what programs compare: kindDisconnected, kindCancelled, invalid,
// unknown_agent, not_connected, unknown_session, start, initialize, timeout,
// exit, closed, agent, auth_required.
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

// byUser reports whether the user brought the end about.
func (e *opError) byUser() bool { return e.Kind == kindDisconnected || e.Kind == kindCancelled }

func invalid(format string, args ...any) error {
	return &opError{Kind: "invalid", Message: fmt.Sprintf(format, args...)}
}

// describe makes the error object that Lua gets.
func describe(err error) *object {
	o := new(object)
	kind := "closed"
	var op *opError
	var peer *acp.Error
	var login *loginError
	if errors.As(err, &login) {
		o.raw("auth", login.json())
	}
	if errors.As(err, &peer) {
		o.num("code", int64(peer.Code))
		o.raw("data", peer.Data)
	}
	switch {
	case errors.As(err, &op) && op.byUser():
		kind = op.Kind
	case peer != nil && peer.Code == acp.ErrorCodeAuthenticationRequired:
		kind = "auth_required"
	case peer != nil:
		kind = "agent"
	case op != nil:
		kind = op.Kind
	case errors.Is(err, context.DeadlineExceeded):
		kind = "timeout"
	default:
		if exit := exitOf(err); exit != nil {
			kind = "exit"
		}
	}
	return o.str("kind", kind).str("message", err.Error())
}
