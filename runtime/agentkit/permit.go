package agentkit

import (
	"context"
	"errors"
	"fmt"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// ErrRejected says that the user was asked for permission and has refused it.
var ErrRejected = errors.New("rejected by the user")

// The ids of the options of Permit.
const (
	OptionOnce   acp.PermissionOptionID = "once"
	OptionAlways acp.PermissionOptionID = "always"
	OptionReject acp.PermissionOptionID = "reject"
)

// Permit asks the user whether a tool call may go on. It may if the error is nil. A text for
// always adds an option of that name; the user has chosen it if trusted is true, and the agent
// need not ask about such calls again.
//
// Everything else is an error, so that no answer is taken for a permission: ErrRejected, or
// one that wraps rpc.ErrSessionCancelled if the client has cancelled the question and with it
// the turn, or the failure to ask.
func Permit(ctx context.Context, session acp.ClientSession, call *acp.ToolCallUpdate, always string) (trusted bool, err error) {
	options := []acp.PermissionOption{{OptionID: OptionOnce, Name: "Allow", Kind: acp.PermissionOptionKindAllowOnce}}
	if always != "" {
		options = append(options, acp.PermissionOption{OptionID: OptionAlways, Name: always, Kind: acp.PermissionOptionKindAllowAlways})
	}
	options = append(options, acp.PermissionOption{OptionID: OptionReject, Name: "Reject", Kind: acp.PermissionOptionKindRejectOnce})
	chosen, err := session.Ask(ctx, call, options...)
	if err != nil {
		return false, err
	}
	switch chosen.OptionID {
	case OptionOnce:
		return false, nil
	case OptionAlways:
		return true, nil
	case OptionReject:
		return false, ErrRejected
	}
	return false, fmt.Errorf("%s was cancelled: %w", acp.MethodSessionRequestPermission, rpc.ErrSessionCancelled)
}
