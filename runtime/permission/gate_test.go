package permission

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hermes-nvim/hermes/acp"
)

func option(id, name string, kind acp.PermissionOptionKind) acp.PermissionOption {
	return acp.PermissionOption{OptionID: acp.PermissionOptionID(id), Name: name, Kind: kind}
}

const (
	allowOnce, allowAlways   = acp.PermissionOptionKindAllowOnce, acp.PermissionOptionKindAllowAlways
	rejectOnce, rejectAlways = acp.PermissionOptionKindRejectOnce, acp.PermissionOptionKindRejectAlways
)

var usual = []acp.PermissionOption{
	option("aa", "Always allow", allowAlways), option("a", "Allow", allowOnce), option("r", "Reject", rejectOnce),
}

// C119, C131, PER03, PER10.
func TestARuleSelectsOnlyAnOptionThatFits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options     []acp.PermissionOption
		allow, deny string
	}{
		"usual":              {usual, "a", "r"},
		"only always":        {[]acp.PermissionOption{option("aa", "Allow", allowAlways), option("ra", "No", rejectAlways)}, "", ""},
		"two that allow":     {[]acp.PermissionOption{option("a", "Yes", allowOnce), option("b", "Yes, and leave plan mode", allowOnce), option("r", "No", rejectOnce)}, "", "r"},
		"unknown kinds":      {[]acp.PermissionOption{option("a", "Allow", "allow"), option("b", "Allow", "_allow_once"), option("c", "x", "ALLOW_ONCE")}, "", ""},
		"labels contradict":  {[]acp.PermissionOption{option("a", "Reject", allowOnce), option("r", "Yes, run it", rejectOnce)}, "", ""},
		"don't":              {[]acp.PermissionOption{option("a", "Don’t run", allowOnce), option("r", "Don't run", rejectOnce)}, "", "r"},
		"do not":             {[]acp.PermissionOption{option("a", "Do not run", allowOnce)}, "", ""},
		"do it":              {[]acp.PermissionOption{option("a", "Do it", allowOnce)}, "a", ""},
		"names say nothing":  {[]acp.PermissionOption{option("a", "", allowOnce), option("r", "👎", rejectOnce)}, "a", "r"},
		"nothing is offered": {nil, "", ""},
	} {
		for a, want := range map[Action]string{Allow: c.allow, Deny: c.deny} {
			id, ok := Select(c.options, a)
			if string(id) != want || ok != (want != "") {
				t.Errorf("%s, %s: %q, %v", name, a, id, ok)
			}
		}
	}
}

// S6, T14, T26, C067, C131.
func TestEveryWayWithoutAnAnswerEndsInDenial(t *testing.T) {
	t.Parallel()
	allowAll, denyAll, denyEdit := Rule{Action: Allow, Scope: Always}, Rule{Action: Deny, Scope: Always}, Rule{Action: Deny, Scope: Once}
	fails := func(err error) func(context.Context, *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
		return func(context.Context, *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) { return "a", err }
	}
	says := func(id acp.PermissionOptionID) func(context.Context, *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
		return func(context.Context, *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) { return id, nil }
	}
	hangs := func(ctx context.Context, _ *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
		<-ctx.Done()
		return "a", nil // an answer that comes too late
	}
	gone := errors.New("disconnected")
	for name, c := range map[string]struct {
		gate    *Gate
		rules   []Rule
		kind    acp.ToolKind
		options []acp.PermissionOption
		cancel  bool
		want    string // option id; empty: cancelled
		err     error
	}{
		"user allows":                     {gate: &Gate{Ask: says("a")}, want: "a"},
		"user allows always":              {gate: &Gate{Ask: says("aa")}, want: "aa"},
		"user rejects":                    {gate: &Gate{Ask: says("r")}, want: "r"},
		"nobody to ask":                   {err: ErrNobodyToAsk},
		"user interface fails":            {gate: &Gate{Ask: fails(gone)}, err: gone},
		"window closed":                   {gate: &Gate{Ask: says("")}, err: ErrNotOffered},
		"option never offered":            {gate: &Gate{Ask: says("allow")}, err: ErrNotOffered},
		"no answer in time":               {gate: &Gate{Ask: hangs, Timeout: time.Minute}, err: ErrTimeout},
		"turn cancelled or agent gone":    {gate: &Gate{Ask: hangs}, cancel: true, err: context.Canceled},
		"too many open":                   {gate: &Gate{Ask: says("a"), MaxOpen: -1}, err: ErrTooMany},
		"user interface panics":           {gate: &Gate{Ask: func(context.Context, *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) { panic("x") }}, err: errAny},
		"rule allows":                     {rules: []Rule{allowAll}, want: "a"},
		"rule denies":                     {rules: []Rule{denyAll}, gate: &Gate{Ask: says("a")}, want: "r"},
		"rule denies once":                {rules: []Rule{allowAll, denyEdit}, gate: &Gate{Ask: says("a")}, want: "r"},
		"rule denies, no option":          {rules: []Rule{denyAll}, gate: &Gate{Ask: says("aa")}, options: usual[:1], err: ErrNoOption},
		"rule allows, no option":          {rules: []Rule{allowAll}, options: usual[2:], err: ErrNobodyToAsk},
		"rule allows, option only always": {rules: []Rule{allowAll}, options: usual[:1], err: ErrNobodyToAsk},
		"rule allows, unknown kind":       {rules: []Rule{allowAll}, kind: "_x", err: ErrNobodyToAsk},
	} {
		synctest.Test(t, func(t *testing.T) {
			policy, err := Open("")
			must(t, err)
			for _, r := range c.rules {
				must(t, policy.Add(t.Context(), r))
			}
			g := c.gate
			if g == nil {
				g = &Gate{}
			}
			g.Policy = policy
			var decided error
			calls := 0
			g.Decided = func(_ *acp.RequestPermissionRequest, o acp.RequestPermissionOutcome, _ *Rule, err error) {
				decided = err
				calls++
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.cancel {
				time.AfterFunc(time.Second, cancel)
			}
			kind, options := c.kind, c.options
			if kind == "" {
				kind = acp.ToolKindEdit
			}
			if options == nil {
				options = usual
			}
			resp, err := g.Answer(ctx, &acp.RequestPermissionRequest{SessionID: "s", ToolCall: *call(kind, "", "/w/a"), Options: options})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			switch o := resp.Outcome.(type) {
			case *acp.SelectedPermissionOutcome:
				got = string(o.OptionID)
			case *acp.RequestPermissionOutcomeCancelled:
			default:
				t.Errorf("%s: outcome %T", name, o)
			}
			if got != c.want || calls != 1 || !errors.Is(decided, c.err) && (c.err != errAny || decided == nil) {
				t.Errorf("%s: %q, %v; want %q, %v", name, got, decided, c.want, c.err)
			}
		})
	}
}

var errAny = errors.New("any")

// PER01, PER02, C131.
func TestRequestsThatCannotBeAnsweredAreRefused(t *testing.T) {
	t.Parallel()
	g := Gate{Ask: func(context.Context, *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
		t.Error("asked")
		return "a", nil
	}}
	for _, options := range [][]acp.PermissionOption{nil, {}, {usual[0], usual[1], usual[0]}} {
		_, err := g.Answer(t.Context(), &acp.RequestPermissionRequest{Options: options})
		if !errors.Is(err, &acp.Error{Code: acp.ErrorCodeInvalidParams}) {
			t.Errorf("%v: %v", options, err)
		}
	}
}

func TestRulesUseEarlierUpdates(t *testing.T) {
	t.Parallel()
	p, _ := Open("")
	must(t, p.Add(t.Context(), Rule{Action: Allow, Scope: Always, Kind: acp.ToolKindRead, Path: "/w/**"}))
	for _, whole := range []bool{true, false} {
		g := Gate{Policy: p, Merge: func(acp.SessionID, *acp.ToolCallUpdate) (*acp.ToolCallUpdate, bool) {
			return call(acp.ToolKindRead, "", "/w/a"), whole
		}}
		resp, err := g.Answer(t.Context(), &acp.RequestPermissionRequest{SessionID: "s", ToolCall: acp.ToolCallUpdate{ToolCallID: "c"}, Options: usual})
		must(t, err)
		if o, ok := resp.Outcome.(*acp.SelectedPermissionOutcome); ok != whole || ok && o.OptionID != "a" {
			t.Errorf("whole %v: %+v", whole, resp.Outcome)
		}
	}
}
