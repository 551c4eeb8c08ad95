package host

import (
	"context"
	"errors"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// What ends everything.
var (
	errNeovimEnded error = &wire.Error{Kind: wire.ErrorDisconnected, Message: "Neovim has ended"}
	errHostStopped error = &wire.Error{Kind: wire.ErrorDisconnected, Message: "the host was stopped"}
)

// describe makes the error object that Lua gets.
func describe(err error) *wire.Object {
	o := new(wire.Object)
	kind := wire.ErrorClosed
	var op *wire.Error
	var peer *acp.Error
	var login *loginError
	if errors.As(err, &login) {
		o.Raw("auth", login.json())
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
		if exit := exitOf(err); exit != nil {
			kind = wire.ErrorExit
		}
	}
	return o.Str("kind", kind.String()).Str("message", err.Error())
}
