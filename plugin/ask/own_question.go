package ask

import (
	"crypto/rand"
	"errors"

	"github.com/hermes-nvim/hermes/acp"
)

// Why a question of the host itself has no answer.
var (
	ErrNotAnswered = errors.New("the user was asked and gave no answer, or could not be asked")
	ErrNobodyAsked = errors.New("the user is not asked, because request_permissions is off")
)

// Options of the host's own questions.
const (
	OptionAllow  = "allow"
	OptionTurn   = "turn" // and every further command of the turn
	OptionReject = "reject"
)

// Own is a question of the host itself.
func Own(id acp.SessionID, call acp.ToolCallUpdate, options ...acp.PermissionOption) *acp.RequestPermissionRequest {
	// No agent can have sent an update about a call of that name.
	call.ToolCallID = acp.ToolCallID("hermes:" + rand.Text())
	return &acp.RequestPermissionRequest{SessionID: id, ToolCall: call, Options: options}
}
