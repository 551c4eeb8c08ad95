package agent

import (
	"errors"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// SetupFlag follows the arguments of the agent when a client starts it in a terminal to
// sign in: then it asks for its settings and ends.
const SetupFlag = "--setup"

// authMethods are the ways to sign in that a client can offer.
func authMethods(can *acp.ClientCapabilities) []acp.AuthMethod {
	if can == nil || can.Auth == nil || !can.Auth.Terminal {
		return nil
	}
	setup := acp.NewAuthMethodTerminal("setup", "Choose the endpoint, its key and the model")
	setup.Args = []string{SetupFlag}
	return []acp.AuthMethod{setup}
}

// explain is the answer to a request that failed. A client that can sign in learns that
// this helps.
func (a *agent) explain(err error) error {
	a.mu.Lock()
	can := a.can
	a.mu.Unlock()
	if login := (*model.LoginError)(nil); errors.As(err, &login) && len(authMethods(&can)) > 0 {
		return acp.Errorf(acp.ErrorCodeAuthenticationRequired, "%v", err)
	}
	return acp.Errorf(acp.ErrorCodeInternalError, "%v", err)
}
