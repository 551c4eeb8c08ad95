package host

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/permission"
)

// RequestPermission answers by the user's rules, or asks the user for the agent.
func (k *client) RequestPermission(ctx context.Context, p *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	s, err := k.conn.session(p.SessionID)
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
		if !ruled && allows(choice) { // a rule is about this call alone
			s.approve(shown)
		}
	}
	return &acp.RequestPermissionResponse{Outcome: outcome}, nil
}

// permission asks the user and returns the choice, nil for none. Whatever goes
// wrong, there is none.
func (k *client) permission(ctx context.Context, p *acp.RequestPermissionRequest) (*acp.PermissionOption, error) {
	if !on(k.conn.host.permissions().Requests) {
		return nil, acp.MethodNotFound(acp.MethodSessionRequestPermission)
	}
	q := k.question(acp.MethodSessionRequestPermission, p.SessionID, p)
	q.user = true
	whole := q.isWhole()
	if offers := k.offers(p); whole && len(offers) > 0 && q.data.cost()+len(offers) < maxCost/2 {
		q.data.raw("rules", offers)
	}
	var id string
	q.asked = func(requestID string) { id = requestID }
	v, err := k.ask(ctx, q)
	if err != nil {
		return nil, err
	}
	o := new(object).str("requestId", id).str("by", v.By)
	choice, err := permissionChoice(p, v)
	if choice != nil && !whole && !rejects(choice.Kind) {
		choice, err = nil, errCut
	}
	switch {
	case err != nil:
		k.conn.host.notice("error", "the answer to PermissionRequest from %s is not valid: %v", v.By, err)
		o.str("outcome", "cancelled").str("error", err.Error())
	case choice == nil:
		o.str("outcome", "cancelled")
	default:
		o.str("outcome", "selected").str("optionId", string(choice.OptionID))
	}
	if s, err := k.conn.session(p.SessionID); err == nil {
		s.push(eventPermissionResolved, o)
	}
	return choice, nil
}

// offers returns the rules that would answer other questions like p, as JSON.
func (k *client) offers(p *acp.RequestPermissionRequest) []byte {
	s, err := k.conn.session(p.SessionID)
	if err != nil {
		return nil
	}
	call, whole := s.calls.Merge(&p.ToolCall)
	q := permission.Describe(k.conn.name, p.SessionID, call)
	q.Truncated, q.Roots = !whole, s.roots
	rules := permission.Offers(q, p.Options)
	text, err := json.Marshal(rules)
	if err != nil || len(rules) == 0 {
		return nil
	}
	return text
}

// errCut is why a question cannot be answered with allow.
var errCut = errors.New("the question is too large to be shown whole, so it can only be rejected")

func rejects(kind acp.PermissionOptionKind) bool {
	return kind == acp.PermissionOptionKindRejectOnce || kind == acp.PermissionOptionKindRejectAlways
}

// permissionChoice returns the option that was chosen, nil for none.
func permissionChoice(p *acp.RequestPermissionRequest, v answer) (*acp.PermissionOption, error) {
	if v.cancelled || v.Default || v.Error != nil {
		return nil, nil
	}
	var r acp.RequestPermissionResponse
	if err := r.UnmarshalJSON(v.Result); err != nil {
		return nil, err
	}
	selected, ok := r.Outcome.(*acp.SelectedPermissionOutcome)
	if !ok {
		return nil, nil
	}
	if o := chosen(p, selected); o != nil {
		return o, nil
	}
	return nil, fmt.Errorf("there is no option %q", selected.OptionID)
}

func allows(o *acp.PermissionOption) bool {
	return o.Kind == acp.PermissionOptionKindAllowOnce || o.Kind == acp.PermissionOptionKindAllowAlways
}

// Options of the host's own questions.
const (
	optionAllow  = "allow"
	optionTurn   = "turn" // and every further command of the turn
	optionReject = "reject"
)

// askItself puts a question of the host itself to the user and returns the id of
// the option that was chosen, "" for none.
func (k *client) askItself(ctx context.Context, p *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
	if !on(k.conn.host.permissions().Requests) {
		return "", errNobodyAsked
	}
	choice, err := k.permission(ctx, p)
	if choice == nil {
		return "", err
	}
	return choice.OptionID, nil
}

// ownQuestion is a question of the host itself.
func ownQuestion(id acp.SessionID, call acp.ToolCallUpdate, options ...acp.PermissionOption) *acp.RequestPermissionRequest {
	// No agent can have said anything about a call of that name.
	call.ToolCallID = acp.ToolCallID("hermes:" + rand.Text())
	return &acp.RequestPermissionRequest{SessionID: id, ToolCall: call, Options: options}
}
