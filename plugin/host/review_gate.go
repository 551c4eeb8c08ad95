package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/permission"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// Why a program in a terminal may not change a file.
var (
	errChangeDenied = errors.New("the user did not allow the change")
	errRuleDenied   = errors.New("a rule of the user denies the change")
)

// ask asks the user whether a program in a terminal may change a file, unless a rule
// decides. Only a clear yes allows it.
func (p *reviewed) ask(ctx context.Context, r feed.Report) error {
	h := p.reviews.host
	if !on(h.permissions().Requests) {
		return errNobodyAsked
	}
	request := p.changeQuestion(r)
	resolved := func(o *object, choice *acp.PermissionOption) {
		o.str("agent", r.Agent).str("sessionId", r.Author.Session).str("toolCallId", string(request.ToolCall.ToolCallID))
		if choice == nil {
			o.str("outcome", "cancelled")
		} else {
			o.str("outcome", "selected").str("optionId", string(choice.OptionID))
		}
		h.queue.push(event(eventPermissionResolved, o))
	}
	choice, offers, ruled := p.ruled(r, request)
	if ruled {
		resolved(new(object).str("by", "rule"), choice)
		if choice == nil || !allows(choice) {
			return errRuleDenied
		}
		return nil
	}
	a, err := h.asks.add(r.Agent, r.Author.Session, acp.MethodSessionRequestPermission)
	if err != nil {
		return err
	}
	data := from(request.AppendJSON(nil)).str("agent", r.Agent).str("requestId", a.id)
	if offers != nil {
		data.raw("rules", offers)
	}
	h.queue.push(new(object).str("requestId", a.id).str("name", requestEvent(acp.MethodSessionRequestPermission, "")).
		str("method", acp.MethodSessionRequestPermission).str("agent", r.Agent).object("data", data).item(kindAsk))
	v := h.asks.wait(ctx, a)
	choice, err = permissionChoice(request, v)
	o := new(object).str("requestId", a.id).str("by", v.By)
	switch {
	case err != nil:
		h.notice("error", "the answer to PermissionRequest from %s is not valid: %v", v.By, err)
		o.str("error", err.Error())
	case choice == nil:
		err = errNotAnswered
	case !allows(choice):
		err = errChangeDenied
	}
	resolved(o, choice)
	return err
}

// changeQuestion says what a program wants to change.
func (p *reviewed) changeQuestion(r feed.Report) *acp.RequestPermissionRequest {
	name := func(path string) string {
		if name := p.Name(path); !filepath.IsAbs(name) {
			return name
		}
		return path
	}
	title, kind := "Change "+name(r.Path), acp.ToolKindEdit
	locations := []acp.ToolCallLocation{{Path: r.Path}}
	switch {
	case r.Kind == feed.Rename:
		title, kind = fmt.Sprintf("Rename %s to %s", name(r.From), name(r.Path)), acp.ToolKindMove
		locations = append(locations, acp.ToolCallLocation{Path: r.From})
	case r.Kind == feed.Remove:
		title, kind = "Remove "+name(r.Path), acp.ToolKindDelete
	case r.Before != nil && r.Before.Absent:
		title = "Create " + name(r.Path)
	}
	return ownQuestion(acp.SessionID(r.Author.Session), acp.ToolCallUpdate{
		Title: acp.Some(title), Kind: acp.Some(kind), Locations: locations,
	},
		acp.PermissionOption{OptionID: optionAllow, Name: "Allow this change", Kind: acp.PermissionOptionKindAllowOnce},
		acp.PermissionOption{OptionID: optionReject, Name: "Do not allow it", Kind: acp.PermissionOptionKindRejectOnce},
	)
}

// ruled answers a question by the user's rules. Without a rule that decides, it
// returns those that would, as JSON.
func (p *reviewed) ruled(r feed.Report, request *acp.RequestPermissionRequest) (choice *acp.PermissionOption, offers []byte, ok bool) {
	q := permission.Describe(r.Agent, request.SessionID, &request.ToolCall)
	if policy := p.reviews.host.rules.current(); policy != nil {
		if choice, _, ok = policy.Answer(q, request.Options); ok {
			return choice, nil, true
		}
	}
	rules := permission.Offers(q, request.Options)
	if offers, err := json.Marshal(rules); err == nil && len(rules) > 0 {
		return nil, offers, false
	}
	return nil, nil, false
}
