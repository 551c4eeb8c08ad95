package rpc

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hermes-nvim/hermes/runtime/transport"
)

// ErrClosed is the cause of a connection that ended because Close was called.
var ErrClosed = errors.New("closed by this side")

// ErrSessionCancelled is the cause (context.Cause) of the contexts that session/cancel
// ends: on the agent's side those of the session's session/prompt handlers, on the client's
// those of its open questions (session/request_permission, elicitation/create). A handler
// that returns the error of its context then is answered for: the stop reason, the outcome
// or the action is that of a cancelled turn.
var ErrSessionCancelled = errors.New("session/cancel")

// ErrRequestCancelled is the cause (context.Cause) of a request handler's
// context after the peer sent $/cancel_request for it.
var ErrRequestCancelled = errors.New("$/cancel_request")

// ErrTurnEnded is the cause (context.Cause) of the context of a question to the user
// (session/request_permission, elicitation/create) whose turn ended before it was
// answered: the answer to session/prompt came behind it. In version 2 that answer is not
// the end of the turn, and ends no question.
var ErrTurnEnded = errors.New("the turn is over")

// ClosedError is what calls fail with when the connection has ended. Cause is
// why: ErrClosed, io.EOF, *StalledError, the error of the transport, or, when
// an agent process is behind it, its *launch.ExitError.
type ClosedError struct {
	Method string // of the call that failed; empty from Conn.Err
	Cause  error
}

func (e *ClosedError) Error() string {
	cause := e.Cause
	text := "connection closed: " + cause.Error()
	if cause == io.EOF {
		text = "connection closed by the peer"
	}
	if e.Method != "" {
		return e.Method + ": " + text
	}
	return text
}

func (e *ClosedError) Unwrap() error { return e.Cause }

// TooLargeError reports a message above Limits.Message.
type TooLargeError = transport.TooLargeError

// MalformedError reports a message that is JSON but not a JSON-RPC message, or an
// answer that does not fit the call it belongs to.
type MalformedError struct {
	Method string // of the call whose answer it is; empty when unknown
	Reason string
}

func (e *MalformedError) Error() string {
	if e.Method != "" {
		return e.Method + ": malformed answer: " + e.Reason
	}
	return "malformed message: " + e.Reason
}

// ResultError reports an answer whose result does not decode.
type ResultError struct {
	Method string
	Err    error
}

func (e *ResultError) Error() string { return e.Method + ": bad result: " + e.Err.Error() }

func (e *ResultError) Unwrap() error { return e.Err }

// BacklogError fails a call made by a handler while so much was waiting to be
// handled that its answer could not be read any more.
type BacklogError struct {
	Method          string
	Messages, Bytes int // waiting
}

func (e *BacklogError) Error() string {
	return fmt.Sprintf("%s: %d messages (%d bytes) wait to be handled before the answer", e.Method, e.Messages, e.Bytes)
}

// StalledError is the cause of a connection that ended because the peer did
// not read, and the error of the report that it stopped inside a message.
type StalledError struct {
	Write bool // the peer does not read; otherwise it stopped sending
	For   time.Duration
}

func (e *StalledError) Error() string {
	if e.Write {
		return fmt.Sprintf("peer has not read for %v", e.For)
	}
	return fmt.Sprintf("peer stopped inside a message %v ago", e.For)
}

// PanicError reports a handler that panicked. The peer sees an internal error
// without the value or the stack.
type PanicError struct {
	Method string
	Value  any
	Stack  []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("%s: handler panicked: %v", e.Method, e.Value)
}
