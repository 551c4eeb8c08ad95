package acp

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hermes-nvim/hermes/internal/jx"
)

// Appender is a value that writes itself as JSON at the end of dst.
type Appender interface {
	AppendJSON(dst []byte) []byte
}

// Handler answers the messages one side of a connection receives. AgentSide
// and ClientSide make one from typed handlers; a program that wants the raw
// messages implements it directly. Params are valid until the call returns.
//
// A handler that wraps another embeds it, and so stays on its side:
//
//	type logged struct{ acp.Handler }
type Handler interface {
	// Side says which side of the protocol this is. A connection behaves as that
	// side must. 0 leaves it to the options of the connection.
	Side() Side
	// HandleRequest returns the result, or an error. An *Error reaches the
	// peer as it is; any other error reaches it as an internal error.
	HandleRequest(ctx context.Context, method string, params json.RawMessage) (Appender, error)
	HandleNotification(ctx context.Context, method string, params json.RawMessage) error
}

// Caller sends requests and notifications to the peer. An rpc.Conn is one.
type Caller interface {
	// Call sends a request and decodes the answer into result. An error
	// answer is returned as *Error.
	Call(ctx context.Context, method string, params Appender, result json.Unmarshaler) error
	Notify(ctx context.Context, method string, params Appender) error
}

// Connected returns c, or for nil a Caller whose calls fail. The generated callers
// use it, so that an Agent or Client without a connection is an error, not a panic.
func Connected(c Caller) Caller {
	if c == nil {
		return nowhere{}
	}
	return c
}

type nowhere struct{}

func (nowhere) Call(_ context.Context, method string, _ Appender, _ json.Unmarshaler) error {
	return fmt.Errorf("%s: the caller has no connection: its field Conn is nil", method)
}

func (n nowhere) Notify(ctx context.Context, method string, params Appender) error {
	return n.Call(ctx, method, params, nil)
}

// ExtHandler is implemented by an AgentHandler or ClientHandler that handles methods
// outside the protocol. Methods of extensions start with an underscore, those of
// newer versions do not. Return MethodNotFound for a method you do not know; without
// an ExtHandler this is the answer to all of them. Params in which an object has a
// member twice do not get here.
// Spec: https://agentclientprotocol.com/protocol/extensibility
type ExtHandler interface {
	ExtRequest(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	ExtNotification(ctx context.Context, method string, params json.RawMessage) error
}

// HandleExtRequest passes a request that the protocol does not have to h, when
// h is an ExtHandler. The generated sides use it.
func HandleExtRequest(ctx context.Context, h any, method string, params json.RawMessage) (Appender, error) {
	x, ok := h.(ExtHandler)
	if !ok {
		return nil, MethodNotFound(method)
	}
	if err := jx.Distinct(jx.Params(params)); err != nil {
		return nil, InvalidParams(method, err)
	}
	r, err := x.ExtRequest(ctx, method, params)
	if err != nil {
		return nil, err
	}
	return Raw(r), nil
}

// HandleExtNotification is HandleExtRequest for notifications.
func HandleExtNotification(ctx context.Context, h any, method string, params json.RawMessage) error {
	x, ok := h.(ExtHandler)
	if !ok {
		return MethodNotFound(method)
	}
	if err := jx.Distinct(jx.Params(params)); err != nil {
		return InvalidParams(method, err)
	}
	return x.ExtNotification(ctx, method, params)
}

// SessionParams are params that name a session: Raw, and the params of each
// method with Method.Session, except elicitation/create, where only one variant
// has a session. Session returns "" when the params name none.
type SessionParams interface {
	Appender
	Session() string
}

// Raw is JSON text as params or result, for methods without types of their own.
// Nil is null.
type Raw json.RawMessage

// AppendJSON appends the text.
func (r Raw) AppendJSON(b []byte) []byte { return jx.AppendRaw(b, r) }

// Session returns the sessionId of the text, "" when there is none.
func (r Raw) Session() string {
	id, _ := SessionOf(json.RawMessage(r))
	return id
}

// UnmarshalJSON keeps a copy of the text. It fails when an object in it has a
// member twice, because readers differ in which of the two they take.
func (r *Raw) UnmarshalJSON(b []byte) error {
	if err := jx.Distinct(b); err != nil {
		return err
	}
	*r = append((*r)[:0], b...)
	return nil
}

// MarshalJSON implements json.Marshaler.
func (r Raw) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil), nil }
