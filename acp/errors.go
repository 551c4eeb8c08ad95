package acp

import (
	"errors"
	"fmt"
)

// Error makes the JSON-RPC error object a Go error.
func (e *Error) Error() string {
	return fmt.Sprintf("%s (%d)", e.Message, e.Code)
}

// Is reports whether target is an *Error with the same code, so that
// errors.Is(err, ErrMethodNotFound) works whatever the message says.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// MethodNotFound returns the error for a method nobody handles.
func MethodNotFound(method string) *Error {
	return &Error{Code: ErrorCodeMethodNotFound, Message: "method not found: " + method}
}

// InvalidParams returns the error for params that do not decode.
func InvalidParams(method string, err error) *Error {
	return &Error{Code: ErrorCodeInvalidParams, Message: method + ": " + err.Error()}
}

// ToError turns any error into what goes on the wire.
func ToError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: ErrorCodeInternalError, Message: err.Error()}
}
