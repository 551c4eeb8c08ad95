package permission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/question"
)

// DefaultMaxOpen is how many questions of one connection may be open at once.
const DefaultMaxOpen = question.DefaultMaxOpen

// Gate answers the permission requests of one connection. Its members must not
// be changed while it is in use.
type Gate struct {
	Agent  string  // for rules that name one
	Policy *Policy // nil: no rules
	// Merge completes a tool call with what earlier updates said about it, for
	// the rules, and reports whether all of that is known. Nil: requests are
	// complete.
	Merge func(acp.SessionID, *acp.ToolCallUpdate) (call *acp.ToolCallUpdate, whole bool)
	// Roots returns the folders of a session, its working folder first: a rule
	// allows a command only there. Nil, or nil folders: they are unknown.
	Roots func(acp.SessionID) []string
	// Ask puts the question to the user and returns one of the options. It must
	// return when the context ends. Nil, or an error, denies.
	Ask func(context.Context, *acp.RequestPermissionRequest) (acp.PermissionOptionID, error)
	// Timeout bounds each question; 0 means no bound.
	Timeout time.Duration
	// MaxOpen bounds the open questions; further ones are denied. 0 means
	// DefaultMaxOpen.
	MaxOpen int
	// Decided is called with the end of each request, for a log. rule is nil if
	// no rule decided; err says why the request was denied without a choice.
	Decided func(req *acp.RequestPermissionRequest, outcome acp.RequestPermissionOutcome, rule *Rule, err error)

	open atomic.Int64
}

// Reasons for a denial that nobody chose.
var (
	ErrNobodyToAsk = question.ErrNobodyToAsk
	ErrTimeout     = question.ErrTimeout
	ErrTooMany     = question.ErrTooMany
	ErrNotOffered  = errors.New("the answer is not among the options")
	ErrNoOption    = errors.New("a rule denies it and no option fits")
)

// Answer answers a request: by a rule if one decides and exactly one option
// carries it out, otherwise by asking. It fails only for a request that must not
// be asked at all (see CheckOptions). After any other failure the outcome is
// cancelled.
func (g *Gate) Answer(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	if err := CheckOptions(req.Options); err != nil {
		return nil, &acp.Error{Code: acp.ErrorCodeInvalidParams, Message: "session/request_permission: " + err.Error()}
	}
	option, rule, err := g.decide(ctx, req)
	var outcome acp.RequestPermissionOutcome = &acp.RequestPermissionOutcomeCancelled{}
	if err == nil {
		outcome = &acp.SelectedPermissionOutcome{OptionID: option}
	}
	if g.Decided != nil {
		g.Decided(req, outcome, rule, err)
	}
	return &acp.RequestPermissionResponse{Outcome: outcome}, nil
}

func (g *Gate) decide(ctx context.Context, req *acp.RequestPermissionRequest) (acp.PermissionOptionID, *Rule, error) {
	if g.Policy != nil {
		option, rule, ok := g.Policy.Answer(g.Describe(req), req.Options)
		switch {
		case !ok:
		case option == nil:
			return "", rule, ErrNoOption
		default:
			return option.OptionID, rule, nil
		}
	}
	ask := question.Asker[*acp.RequestPermissionRequest, acp.PermissionOptionID]{Ask: g.Ask, Fits: offered, Timeout: g.Timeout, MaxOpen: g.MaxOpen}
	id, err := ask.Put(ctx, &g.open, req)
	return id, nil, err
}

// Describe is the function Describe with everything that is known about the tool
// call and its session.
func (g *Gate) Describe(req *acp.RequestPermissionRequest) Request {
	call, whole := &req.ToolCall, true
	if g.Merge != nil {
		call, whole = g.Merge(req.SessionID, call)
	}
	q := Describe(g.Agent, req.SessionID, call)
	q.Truncated = !whole
	if g.Roots != nil {
		q.Roots = g.Roots(req.SessionID)
	}
	return q
}

// offered checks that the user has chosen one of the options.
func offered(req *acp.RequestPermissionRequest, id acp.PermissionOptionID) error {
	if slices.ContainsFunc(req.Options, func(o acp.PermissionOption) bool { return o.OptionID == id }) {
		return nil
	}
	return fmt.Errorf("%w: %q", ErrNotOffered, id)
}
