package serve

import (
	"context"
	"errors"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/ask"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/permission"
)

// asker asks on behalf of an agent, whose session may be unknown.
func (k *Client) asker(s *Session) *ask.Asker {
	a := &ask.Asker{About: &permission.Gate{Agent: k.Agent}, Policy: k.Policy, Notice: k.Editor.Notice, Put: k.ask, Push: func(string, *wire.Object) {}}
	if s != nil {
		a.Of, a.Push = s, s.Push
		a.About.Merge = func(_ acp.SessionID, u *acp.ToolCallUpdate) (*acp.ToolCallUpdate, bool) { return s.calls.Merge(u) }
		a.About.Roots = func(acp.SessionID) []string { return s.Roots }
	}
	return a
}

// RequestPermission answers by the user's rules, or asks the user for the agent.
func (k *Client) RequestPermission(ctx context.Context, p *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	s, err := k.Session(p.SessionID)
	var shown approval
	if err == nil {
		shown = s.shown(ctx, p.ToolCall)
	}
	choice, ruled := k.ruled(s, p)
	if !ruled {
		if choice, err = k.permission(ctx, p); err != nil {
			return nil, err
		}
	}
	outcome := acp.RequestPermissionOutcome(&acp.RequestPermissionOutcomeCancelled{})
	if choice != nil {
		outcome = &acp.SelectedPermissionOutcome{OptionID: choice.OptionID}
		if !ruled && ask.Allows(choice) { // a rule is about this call alone
			s.approve(shown)
		}
	}
	return &acp.RequestPermissionResponse{Outcome: outcome}, nil
}

// ruled answers p by a rule; false when there is none and the user is asked.
func (k *Client) ruled(s *Session, p *acp.RequestPermissionRequest) (*acp.PermissionOption, bool) {
	if s == nil || s.Cancelling() {
		return nil, false
	}
	return k.asker(s).ByRule(p)
}

// permission asks the user and returns the choice, nil for none or for one that
// cannot be used.
func (k *Client) permission(ctx context.Context, p *acp.RequestPermissionRequest) (*acp.PermissionOption, error) {
	if !k.Permissions().MayAsk() {
		return nil, acp.MethodNotFound(acp.MethodSessionRequestPermission)
	}
	s, _ := k.Session(p.SessionID) // without one there is no question
	choice, err := k.asker(s).ByUser(ctx, p)
	if bad := (ask.Unusable{}); errors.As(err, &bad) {
		err = nil
	}
	return choice, err
}

// askItself puts a question of the host itself to the user and returns the id of
// the option that was chosen, "" for none.
func (k *Client) askItself(ctx context.Context, p *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
	if !k.Permissions().MayAsk() {
		return "", ask.ErrNobodyAsked
	}
	choice, err := k.permission(ctx, p)
	if choice == nil {
		return "", err
	}
	return choice.OptionID, nil
}
