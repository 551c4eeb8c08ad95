package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/hermes-nvim/hermes/acp"
)

// errorKind is what programs compare; *hermes-error* in doc/hermes.txt says what
// each kind means.
type errorKind int

// Kinds of errors. Lua logs what the user did, errorDisconnected and
// errorCancelled, and shows no message for it.
const (
	errorClosed errorKind = iota // also what has no kind of its own
	errorAgent
	errorAuthRequired
	errorCancelled
	errorDisconnected
	errorExit
	errorInitialize
	errorInvalid
	errorNotConnected
	errorNotQueued
	errorNothing
	errorLogin
	errorRegistry
	errorRules
	errorSandbox
	errorStart
	errorTimeout
	errorTouched
	errorUnknownAgent
	errorUnknownSession
	errorUnsupported
	errorWire
)

// errorKinds are the names of the kinds.
var errorKinds = [...]string{
	errorClosed:         "closed",
	errorAgent:          "agent",
	errorAuthRequired:   "auth_required",
	errorCancelled:      "cancelled",
	errorDisconnected:   "disconnected",
	errorExit:           "exit",
	errorInitialize:     "initialize",
	errorInvalid:        "invalid",
	errorNotConnected:   "not_connected",
	errorNotQueued:      "not_queued",
	errorNothing:        "nothing",
	errorLogin:          "login",
	errorRegistry:       "registry",
	errorRules:          "rules",
	errorSandbox:        "sandbox",
	errorStart:          "start",
	errorTimeout:        "timeout",
	errorTouched:        "touched",
	errorUnknownAgent:   "unknown_agent",
	errorUnknownSession: "unknown_session",
	errorUnsupported:    "unsupported",
	errorWire:           "wire",
}

func (k errorKind) String() string { return errorKinds[k] }

// opError is why an operation failed, in words for the person at the editor.
type opError struct {
	Kind    errorKind
	Message string
	Cause   error
	Data    []byte // JSON for programs, or nil
}

func (e *opError) Error() string {
	if e.Cause == nil {
		return e.Message
	}
	return e.Message + ": " + e.Cause.Error()
}

func (e *opError) Unwrap() error { return e.Cause }

// byUser reports whether the user brought the end about.
func (e *opError) byUser() bool { return e.Kind == errorDisconnected || e.Kind == errorCancelled }

func invalid(format string, args ...any) error {
	return &opError{Kind: errorInvalid, Message: fmt.Sprintf(format, args...)}
}

// describe makes the error object that Lua gets.
func describe(err error) *object {
	o := new(object)
	kind := errorClosed
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
	if errors.As(err, &op) {
		o.raw("data", op.Data)
	}
	switch {
	case errors.As(err, &op) && op.byUser():
		kind = op.Kind
	case peer != nil && peer.Code == acp.ErrorCodeAuthenticationRequired:
		kind = errorAuthRequired
	case peer != nil:
		kind = errorAgent
	case op != nil:
		kind = op.Kind
	case errors.Is(err, context.DeadlineExceeded):
		kind = errorTimeout
	default:
		if exit := exitOf(err); exit != nil {
			kind = errorExit
		}
	}
	return o.str("kind", kind.String()).str("message", err.Error())
}
