package say

import (
	"context"
	"errors"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/launch"
)

// Detailed is an error that gives Lua more than its kind and its text.
type Detailed interface {
	error
	Detail(o *wire.Object) // adds members
}

// Describe makes the error object that Lua gets.
func Describe(err error) *wire.Object {
	o := new(wire.Object)
	kind := wire.ErrorClosed
	var op *wire.Error
	var peer *acp.Error
	var more Detailed
	if errors.As(err, &more) {
		more.Detail(o)
	}
	if errors.As(err, &peer) {
		o.Num("code", int64(peer.Code))
		o.Raw("data", peer.Data)
	}
	if errors.As(err, &op) {
		o.Raw("data", op.Data)
	}
	switch {
	case errors.As(err, &op) && op.ByUser():
		kind = op.Kind
	case peer != nil && peer.Code == acp.ErrorCodeAuthenticationRequired:
		kind = wire.ErrorAuthRequired
	case peer != nil:
		kind = wire.ErrorAgent
	case op != nil:
		kind = op.Kind
	case errors.Is(err, context.DeadlineExceeded):
		kind = wire.ErrorTimeout
	default:
		if exit := (*launch.ExitError)(nil); errors.As(err, &exit) {
			kind = wire.ErrorExit
		}
	}
	return o.Str("kind", kind.String()).Str("message", err.Error())
}
