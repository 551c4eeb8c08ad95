package permission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hermes-nvim/hermes/acp"
)

// DefaultMaxOpen is how many questions of one connection may be open at once.
const DefaultMaxOpen = 64

// Gate answers the permission requests of one connection. Its members must not
// be changed while it is in use.
type Gate struct {
	Agent  string  // for rules that name one
	Policy *Policy // nil: no rules
	// Merge returns a tool call with what earlier updates told about it, for
	// the rules. Nil: a request tells everything itself.
	Merge func(acp.SessionID, *acp.ToolCallUpdate) *acp.ToolCallUpdate
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
	// Decided is told how each request ended, for a log. rule is nil when no
	// rule decided, err says why the request was denied without a choice.
	Decided func(req *acp.RequestPermissionRequest, outcome acp.RequestPermissionOutcome, rule *Rule, err error)

	open atomic.Int64
}

// Reasons for a denial that nobody chose.
var (
	ErrNobodyToAsk = errors.New("nobody to ask")
	ErrTimeout     = errors.New("no answer in time")
	ErrTooMany     = errors.New("too many open permission requests")
	ErrNotOffered  = errors.New("the answer is not among the options")
	ErrNoOption    = errors.New("a rule denies it and no option fits")
)

// Answer answers a request: by a rule when there is one and exactly one option
// carries it out, else by asking. It fails only for a request that must not be
// asked at all (see CheckOptions); everything else that goes wrong gives the
// outcome cancelled.
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
		call := &req.ToolCall
		if g.Merge != nil {
			call = g.Merge(req.SessionID, call)
		}
		q := Describe(g.Agent, req.SessionID, call)
		if g.Roots != nil {
			q.Roots = g.Roots(req.SessionID)
		}
		switch outcome, rule := g.Policy.Decide(q); outcome {
		case Allowed:
			if id, ok := Select(req.Options, Allow); ok {
				return id, rule, nil
			}
		case Denied:
			if id, ok := Select(req.Options, Deny); ok {
				return id, rule, nil
			}
			return "", rule, ErrNoOption
		}
	}
	id, err := g.ask(ctx, req)
	return id, nil, err
}

func (g *Gate) ask(ctx context.Context, req *acp.RequestPermissionRequest) (id acp.PermissionOptionID, err error) {
	if g.Ask == nil {
		return "", ErrNobodyToAsk
	}
	limit := g.MaxOpen
	if limit == 0 {
		limit = DefaultMaxOpen
	}
	defer g.open.Add(-1)
	if g.open.Add(1) > int64(limit) {
		return "", ErrTooMany
	}
	if g.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, g.Timeout, ErrTimeout)
		defer cancel()
	}
	defer func() {
		if r := recover(); r != nil {
			id, err = "", fmt.Errorf("asking failed: %v", r)
		}
	}()
	id, err = g.Ask(ctx, req)
	// An answer that comes after the question was withdrawn was not given to it.
	if cause := context.Cause(ctx); cause != nil {
		return "", cause
	}
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(req.Options, func(o acp.PermissionOption) bool { return o.OptionID == id }) {
		return "", fmt.Errorf("%w: %q", ErrNotOffered, id)
	}
	return id, nil
}
