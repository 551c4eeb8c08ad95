package wire

import (
	"fmt"
)

// ErrorKind is what programs compare; *hermes-error* in doc/hermes.txt says what
// each kind means.
type ErrorKind int

// Kinds of errors. Lua logs what the user did, errorDisconnected and
// errorCancelled, and shows no message for it.
const (
	ErrorClosed ErrorKind = iota // also what has no kind of its own
	ErrorAgent
	ErrorAuthRequired
	ErrorCancelled
	ErrorChanged
	ErrorDisconnected
	ErrorExit
	ErrorInitialize
	ErrorInvalid
	ErrorNotConnected
	ErrorNotQueued
	ErrorNothing
	ErrorLogin
	ErrorRegistry
	ErrorRules
	ErrorSandbox
	ErrorStart
	ErrorTimeout
	ErrorTouched
	ErrorUnknownAgent
	ErrorUnknownSession
	ErrorUnsupported
	ErrorWire
)

// ErrorKinds are the names of the kinds.
var ErrorKinds = [...]string{
	ErrorClosed:         "closed",
	ErrorAgent:          "agent",
	ErrorAuthRequired:   "auth_required",
	ErrorCancelled:      "cancelled",
	ErrorChanged:        "changed",
	ErrorDisconnected:   "disconnected",
	ErrorExit:           "exit",
	ErrorInitialize:     "initialize",
	ErrorInvalid:        "invalid",
	ErrorNotConnected:   "not_connected",
	ErrorNotQueued:      "not_queued",
	ErrorNothing:        "nothing",
	ErrorLogin:          "login",
	ErrorRegistry:       "registry",
	ErrorRules:          "rules",
	ErrorSandbox:        "sandbox",
	ErrorStart:          "start",
	ErrorTimeout:        "timeout",
	ErrorTouched:        "touched",
	ErrorUnknownAgent:   "unknown_agent",
	ErrorUnknownSession: "unknown_session",
	ErrorUnsupported:    "unsupported",
	ErrorWire:           "wire",
}

// String is what Lua compares.
func (k ErrorKind) String() string { return ErrorKinds[k] }

// Error is why an operation failed, in words for the person at the editor.
type Error struct {
	Kind    ErrorKind
	Message string
	Cause   error
	Data    []byte // JSON for programs, or nil
}

// Error implements error.
func (e *Error) Error() string {
	if e.Cause == nil {
		return e.Message
	}
	return e.Message + ": " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// ByUser reports whether the user brought the end about.
func (e *Error) ByUser() bool { return e.Kind == ErrorDisconnected || e.Kind == ErrorCancelled }

// Invalid is the error for a call that cannot be understood.
func Invalid(format string, args ...any) error {
	return &Error{Kind: ErrorInvalid, Message: fmt.Sprintf(format, args...)}
}
