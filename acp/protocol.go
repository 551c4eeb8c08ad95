package acp

import (
	"encoding/json"

	"github.com/hermes-nvim/hermes/internal/jx"
)

// Side is a party of the protocol.
type Side uint8

// The sides. A proxy stands between a client and an agent; only the unstable
// versions have methods for it.
const (
	SideAgent Side = iota + 1
	SideClient
	SideProxy
	SideBoth // methods of the protocol itself, such as $/cancel_request
)

// String returns the name of the side.
func (s Side) String() string {
	switch s {
	case SideAgent:
		return "agent"
	case SideClient:
		return "client"
	case SideProxy:
		return "proxy"
	case SideBoth:
		return "both"
	}
	return "unknown side"
}

// Method is one row of a method table.
type Method struct {
	Name         string
	Handler      Side // the side that answers it, or acts on it
	Request      bool // can be sent as a request
	Notification bool // can be sent as a notification
	Session      bool // the params carry a sessionId
}

// Protocol is one version of ACP as data, for programs that treat messages in
// general: a connection, a recorder, an editor that speaks several versions.
// Each package of this module has one (acp.V1, unstable.V1, v2.V2 and
// v2/unstable.V2). It is safe for concurrent use.
type Protocol interface {
	// String names the version, such as "version 1 (stable)".
	String() string
	// Version is the number that initialize negotiates.
	Version() int
	// Channel is "stable" or "unstable".
	Channel() string
	// Methods lists the methods by handler and name. The caller may keep it.
	Methods() []Method
	// Method finds a method that side handles. Methods of SideBoth are found
	// on every side.
	Method(side Side, name string) (Method, bool)
	// DecodeRequest decodes the params of a request that side handles. An
	// unknown method is the error MethodNotFound, params that do not decode
	// are InvalidParams.
	DecodeRequest(side Side, method string, params json.RawMessage) (Appender, error)
	// DecodeNotification does the same for notifications.
	DecodeNotification(side Side, method string, params json.RawMessage) (Appender, error)
	// DecodeResult decodes the result of a request that side handled. A result
	// that does not decode is not an *Error, because the peer did not answer with one.
	DecodeResult(side Side, method string, result json.RawMessage) (Appender, error)
}

// SessionOf returns the sessionId of params without decoding the rest, and
// false when they have none.
func SessionOf(params json.RawMessage) (string, bool) {
	var d jx.Dec
	d.Reset(params)
	id, ok := d.Tag("sessionId")
	return string(id), ok
}
