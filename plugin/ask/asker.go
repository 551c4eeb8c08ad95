package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/permission"
)

// Asker is on whose behalf the user is asked for permission: an agent in one of
// its sessions, or a program in a terminal whose changes wait for the user. Both
// are asked for in the same way.
type Asker struct {
	About  *permission.Gate          // describes what it asks
	Of     onBehalf                  // nil when it is unknown, and for a program in a terminal
	Policy func() *permission.Policy // the user's rules; nil for none
	Notice func(level, format string, args ...any)
	// Push fires an event of its session.
	Push func(name string, o *wire.Object)
	// Put puts a question to Neovim and waits for the answer.
	Put func(context.Context, Question) (Answer, error)
}

// onBehalf is a session whose agent asks.
type onBehalf interface {
	// Places is where the diffs of a tool call stand in their files, as JSON; nil for none.
	Places(*acp.ToolCallUpdate) []byte
	// AsksAbout notes that the agent asks about a tool call, and returns what notes that
	// the user has allowed it with all of its diffs in sight.
	AsksAbout(*acp.ToolCallUpdate) (approve func())
}

// resolved fires the event that says how a question ended. why is empty unless an
// answer could not be used.
func (a *Asker) resolved(o *wire.Object, choice *acp.PermissionOption, why error) {
	if why != nil {
		o.Str("error", why.Error())
	}
	if choice == nil {
		o.Str("outcome", "cancelled")
	} else {
		o.Str("outcome", "selected").Str("optionId", string(choice.OptionID))
	}
	a.Push(events.PermissionResolved, o)
}

// ByRule answers p by a rule of the user; false when none decides.
func (a *Asker) ByRule(p *acp.RequestPermissionRequest) (*acp.PermissionOption, bool) {
	policy := a.Policy()
	if policy == nil {
		return nil, false
	}
	choice, _, ok := policy.Answer(a.About.Describe(p), p.Options)
	if !ok {
		return nil, false
	}
	var why error
	if choice == nil {
		why = permission.ErrNoOption
	}
	a.resolved(new(wire.Object).Str("toolCallId", string(p.ToolCall.ToolCallID)).Str("by", "rule"), choice, why)
	return choice, true
}

// ByUser asks the user and returns the choice, nil for none. If anything goes
// wrong, there is none.
func (a *Asker) ByUser(ctx context.Context, p *acp.RequestPermissionRequest) (*acp.PermissionOption, error) {
	call, known := a.call(p)
	asked := *p
	asked.ToolCall = *call
	q := Question{
		Event: events.Request(acp.MethodSessionRequestPermission, ""), Method: acp.MethodSessionRequestPermission,
		Session: p.SessionID, Data: wire.From(asked.AppendJSON(nil)), User: true,
	}
	whole := known && q.IsWhole()
	if !known {
		q.Data.LeftOut(wire.Lost{Entries: 1})
	}
	if whole {
		q.Data.Aside("deciding", wire.Encode(permission.Decides(call, a.About.Describe(p))))
		if a.Of != nil {
			q.Data.Aside("places", a.Of.Places(call))
		}
		q.Data.Aside("rules", a.offers(p))
	}
	approve := func() {}
	if whole && a.Of != nil {
		approve = a.Of.AsksAbout(call)
	}
	var id string
	q.Asked = func(requestID string) { id = requestID }
	v, err := a.Put(ctx, q)
	if err != nil {
		return nil, err
	}
	choice, err := permissionChoice(p, v)
	if choice != nil && !whole && !rejects(choice.Kind) {
		choice, err = nil, errCut
	}
	if err != nil {
		err = Unusable{err}
		a.Notice("error", "the answer to PermissionRequest from %s is not valid: %v", v.By, err)
	}
	if choice != nil && Allows(choice) && v.Seen && v.By == "default" {
		approve()
	}
	a.resolved(new(wire.Object).Str("requestId", id).Str("by", v.By), choice, err)
	return choice, err
}

// call is everything that is known about the tool call of p. whole is false if
// parts of earlier updates about it were not received or not kept. A call that is
// unknown may be among those that were forgotten, unless p says what it is.
func (a *Asker) call(p *acp.RequestPermissionRequest) (call *acp.ToolCallUpdate, whole bool) {
	if a.About.Merge == nil {
		return &p.ToolCall, true
	}
	call, whole = a.About.Merge(p.SessionID, &p.ToolCall)
	if call == &p.ToolCall && (call.Title.V != "" || call.RawInput != nil) {
		whole = true
	}
	return call, whole
}

// offers returns the rules that would answer other questions like p, as JSON.
func (a *Asker) offers(p *acp.RequestPermissionRequest) []byte {
	rules := permission.Offers(a.About.Describe(p), p.Options)
	text, err := json.Marshal(rules)
	if err != nil || len(rules) == 0 {
		return nil
	}
	return text
}

// Unusable is why an answer to a question cannot be used. The question is then
// handled as if there were no answer.
type Unusable struct{ error }

// Unwrap returns the reason.
func (b Unusable) Unwrap() error { return b.error }

// errCut is why a question cannot be answered with allow.
var errCut = errors.New("the tool call is too large to be shown whole, so it can only be rejected")

func rejects(kind acp.PermissionOptionKind) bool {
	return kind == acp.PermissionOptionKindRejectOnce || kind == acp.PermissionOptionKindRejectAlways
}

// permissionChoice returns the option that was chosen, nil for none.
func permissionChoice(p *acp.RequestPermissionRequest, v Answer) (*acp.PermissionOption, error) {
	if v.Cancelled || v.Default || v.Error != nil {
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
	for i, o := range p.Options {
		if o.OptionID == selected.OptionID {
			return &p.Options[i], nil
		}
	}
	return nil, fmt.Errorf("there is no option %q", selected.OptionID)
}

// Allows reports whether an option allows what was asked about.
func Allows(o *acp.PermissionOption) bool {
	return o.Kind == acp.PermissionOptionKindAllowOnce || o.Kind == acp.PermissionOptionKindAllowAlways
}
