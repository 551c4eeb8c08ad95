package codexagent

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

const (
	methodChatGPT acp.AuthMethodID = "chatgpt"
	methodKey     acp.AuthMethodID = "api-key"
	keyVariable                    = "OPENAI_API_KEY"
)

func authMethods() []acp.AuthMethod {
	chat := acp.NewAuthMethodAgent(methodChatGPT, "Log in with ChatGPT")
	chat.Description = acp.Some("Opens a page in the browser. `codex login` in a terminal does the same.")
	key := acp.NewAuthMethodAgent(methodKey, "Use "+keyVariable)
	key.Description = acp.Some("Takes the key from the environment of the agent.")
	return []acp.AuthMethod{chat, key}
}

// needsLogin is the error for a client whose user has to log in first; nil when
// the model can be used.
func (a *agent) needsLogin(ctx context.Context) error {
	server, err := a.codex.Agent(ctx)
	if err != nil {
		return err
	}
	account, err := server.GetAccount(ctx, &appserver.GetAccountParams{})
	if err != nil {
		return err
	}
	if account.RequiresOpenaiAuth && account.Account == nil {
		return acp.Errorf(acp.ErrorCodeAuthenticationRequired, "log in to Codex first")
	}
	return nil
}

// Authenticate logs in, and waits for the end of the login.
func (a *agent) Authenticate(ctx context.Context, p *acp.AuthenticateRequest) (*acp.AuthenticateResponse, error) {
	server, err := a.codex.Agent(ctx)
	if err != nil {
		return nil, err
	}
	switch p.MethodID {
	case methodKey:
		key := os.Getenv(keyVariable)
		if key == "" {
			return nil, acp.Errorf(acp.ErrorCodeInvalidParams, "authenticate: %s is not set where the agent runs", keyVariable)
		}
		text, _ := json.Marshal(map[string]string{"type": "apiKey", "apiKey": key})
		_, err := server.LoginAccount(ctx, &appserver.LoginAccountParams{Raw: text})
		return &acp.AuthenticateResponse{}, err
	case methodChatGPT:
		return &acp.AuthenticateResponse{}, a.browserLogin(ctx, server)
	}
	return nil, acp.Errorf(acp.ErrorCodeInvalidParams, "authenticate: no method %q", p.MethodID)
}

// browserLogin shows the user a page through the client.
func (a *agent) browserLogin(ctx context.Context, server appserver.Agent) error {
	a.mu.Lock()
	can := a.can.Elicitation != nil && a.can.Elicitation.URL != nil
	a.mu.Unlock()
	if !can {
		return acp.Errorf(acp.ErrorCodeAuthenticationRequired, "the client cannot open a page: run `codex login` in a terminal, then try again")
	}
	r, err := server.LoginAccount(ctx, &appserver.LoginAccountParams{Raw: json.RawMessage(`{"type":"chatgpt"}`)})
	if err != nil {
		return err
	}
	login, ok := r.(*appserver.LoginAccountResponseChatgpt)
	if !ok {
		return fmt.Errorf("authenticate: codex offers no page: %T", r)
	}
	done := a.login(login.LoginID)
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.logins, login.LoginID)
	}()
	id, ok := rpc.RequestID(ctx)
	if !ok {
		return fmt.Errorf("authenticate: no request to ask about")
	}
	answer, err := a.client.CreateElicitation(ctx, acp.NewCreateElicitationRequest("Log in to Codex with ChatGPT.",
		acp.NewElicitationURLMode(acp.ElicitationID(login.LoginID), login.AuthURL, acp.NewElicitationRequestScope(id))))
	if err != nil {
		return err
	}
	if _, accepted := answer.Variant.(*acp.ElicitationAcceptAction); !accepted {
		return acp.Errorf(acp.ErrorCodeAuthenticationRequired, "the login was declined")
	}
	select {
	case failed := <-done:
		if failed != "" {
			return acp.Errorf(acp.ErrorCodeAuthenticationRequired, "%s", failed)
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// login gets the end of a login, which may come before anybody waits for it.
func (a *agent) login(id string) chan string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.logins[id] == nil {
		a.logins[id] = make(chan string, 1)
	}
	return a.logins[id]
}

// loggedIn notes the end of a login: why it failed, if it did.
func (a *agent) loggedIn(id, failed string) {
	select {
	case a.login(id) <- failed:
	default: // said twice
	}
}

// Logout forgets the account.
func (a *agent) Logout(ctx context.Context, _ *acp.LogoutRequest) (*acp.LogoutResponse, error) {
	server, err := a.codex.Agent(ctx)
	if err != nil {
		return nil, err
	}
	_, err = server.LogoutAccount(ctx, &appserver.LogoutAccountParams{})
	return &acp.LogoutResponse{}, err
}
