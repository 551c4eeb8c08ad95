package acp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hermes-nvim/hermes/internal/jx"
)

// Error is the JSON-RPC error object, and a Go error. A handler that returns one,
// wrapped or not, decides what the peer sees. A caller gets one only as an answer of
// the peer. All packages of this module share the type.
type Error struct {
	Code    ErrorCode
	Message string
	Data    json.RawMessage // any JSON value, nil when absent
	Extra   Extra
}

// ErrorCode classifies an Error. Codes from -32768 to -32000 are reserved by
// JSON-RPC and the protocol; others are free for implementations.
type ErrorCode int32

// The error codes of JSON-RPC 2.0 and of the protocol.
const (
	ErrorCodeParseError     ErrorCode = -32700 // the message is not JSON
	ErrorCodeInvalidRequest ErrorCode = -32600 // the message is not a request, notification or response
	ErrorCodeMethodNotFound ErrorCode = -32601 // the method is not supported
	ErrorCodeInvalidParams  ErrorCode = -32602 // the params do not fit the method
	ErrorCodeInternalError  ErrorCode = -32603 // the handler failed

	ErrorCodeRequestCancelled           ErrorCode = -32800 // the caller withdrew the request
	ErrorCodeAuthenticationRequired     ErrorCode = -32000 // sign in first
	ErrorCodeResourceNotFound           ErrorCode = -32002 // no such file, session or other resource
	ErrorCodeUnsupportedProtocolVersion ErrorCode = -32022 // protocol version 2
)

// maxShown bounds the message and the cause in the text of an Error, in bytes
// each.
const maxShown = 1 << 10

// Error returns the message and the cause, in one line that is safe to print
// and not long. Many agents send a message such as "Internal error" and put
// the cause into Data: a string, or an object with the member details or
// message. The code is in the text only if there is no message.
func (e *Error) Error() string {
	text, cause := oneLine(e.Message), oneLine(e.cause())
	switch {
	case text == "" && cause == "":
		return fmt.Sprintf("error %d", e.Code)
	case text == "":
		return cause
	case strings.Contains(text, cause):
		return text
	case strings.HasPrefix(cause, text):
		return cause
	}
	return text + ": " + cause
}

// cause returns what Data says about the reason, empty for nothing.
func (e *Error) cause() string {
	d := jx.New(e.Data)
	if d.Peek() != '{' {
		return text(e.Data)
	}
	for _, name := range []string{"details", "message"} {
		value, _ := Extra(e.Data).Get(name)
		if cause := text(value); cause != "" {
			return cause
		}
	}
	return ""
}

// text returns the string in raw, empty if raw is anything else.
func text(raw []byte) string {
	d := jx.New(raw)
	s := d.Str()
	if d.End(); d.Failed() {
		return ""
	}
	return s
}

// oneLine joins the lines of s, writes what cannot be printed as an escape and
// cuts the rest after maxShown bytes.
func oneLine(s string) string {
	var b strings.Builder
	s = strings.TrimSpace(s)
	s = s[:min(len(s), utf8.UTFMax*maxShown+1)]
	for _, r := range strings.ReplaceAll(s, "\r\n", "\n") {
		switch {
		case b.Len() >= maxShown:
			return b.String() + "..."
		case r == '\n':
			b.WriteString(" | ")
		case r == '\t':
			b.WriteByte(' ')
		case !unicode.IsPrint(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Is reports whether target is an *Error with the same code, so that
// errors.Is(err, &acp.Error{Code: acp.ErrorCodeMethodNotFound}) works whatever
// the message says.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Errorf returns an error with a code and a formatted message.
func Errorf(code ErrorCode, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// MethodNotFound returns the error for a method that is not supported.
func MethodNotFound(method string) *Error {
	return &Error{Code: ErrorCodeMethodNotFound, Message: "method not found: " + method}
}

// InvalidParams returns the error for params that do not decode. The JSON
// pointer of the offending value is part of the message and of the data.
func InvalidParams(method string, err error) *Error {
	e := &Error{Code: ErrorCodeInvalidParams, Message: method + ": " + err.Error()}
	var at *jx.Error
	if errors.As(err, &at) {
		b := append([]byte(`{"pointer":`), jx.AppendReplaced(nil, at.Pointer)...)
		b = append(b, `,"reason":`...)
		e.Data = append(jx.AppendReplaced(b, at.Msg), '}')
	}
	return e
}

// ToError turns any error into the one to send: an *Error in its chain as it is,
// anything else as an internal error with its message.
func ToError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: ErrorCodeInternalError, Message: err.Error()}
}

// Pointer returns the JSON pointer of the value that could not be decoded or
// encoded. It returns false when err is not such an error, or the text was not
// JSON.
func Pointer(err error) (string, bool) {
	var at *jx.Error
	if !errors.As(err, &at) || at.Syntax {
		return "", false
	}
	return at.Pointer, true
}

// AppendJSON appends the error object as JSON text.
func (e *Error) AppendJSON(b []byte) []byte {
	b = append(b, `{"code":`...)
	b = jx.AppendInt(b, int64(e.Code))
	b = append(b, `,"message":`...)
	b = jx.AppendReplaced(b, e.Message)
	if e.Data != nil {
		b = append(b, `,"data":`...)
		b = jx.AppendRaw(b, e.Data)
	}
	return append(jx.AppendMembers(b, e.Extra, "code message data"), '}')
}

// MarshalJSON implements json.Marshaler.
func (e Error) MarshalJSON() ([]byte, error) { return jx.Marshaled(e.AppendJSON(nil)) }

// UnmarshalJSON implements json.Unmarshaler.
func (e *Error) UnmarshalJSON(b []byte) error {
	var d jx.Dec
	d.Reset(b)
	*e = Error{}
	m := d.Mark()
	if d.Obj() {
		var seen uint64
		var x jx.Unknown
		for d.More('}') {
			switch k := d.Key(); string(k) {
			case "code":
				seen = d.Once(seen, 1)
				e.Code = ErrorCode(d.Int(-1<<31, 1<<31-1))
			case "message":
				seen = d.Once(seen, 2)
				e.Message = d.Str()
			case "data":
				seen = d.Once(seen, 4)
				e.Data = d.Raw()
			default:
				x.Add(&d, k, nil)
			}
		}
		d.Need(m, seen, 3, "code message")
		e.Extra = x.Text()
	}
	d.End()
	return d.Err()
}

// NoResult returns the error for a handler that returned neither the result
// its method requires nor an error.
func NoResult(method string) *Error {
	return &Error{Code: ErrorCodeInternalError, Message: method + ": the handler returned no result"}
}
