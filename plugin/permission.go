package plugin

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hermes-nvim/hermes/acp"
	history "github.com/hermes-nvim/hermes/runtime/session"
	"github.com/hermes-nvim/hermes/runtime/terminal"
)

// RequestPermission answers by the user's rules, or asks the user for the agent.
func (k *client) RequestPermission(ctx context.Context, p *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	s, err := k.conn.await(ctx, p.SessionID)
	execute := err == nil && s.isExecute(p.ToolCall) // as of now: what the user will see
	choice, ruled := k.ruled(s, p)
	if !ruled {
		if choice, err = k.permission(ctx, p); err != nil {
			return nil, err
		}
	}
	outcome := acp.RequestPermissionOutcome(&acp.RequestPermissionOutcomeCancelled{})
	if choice != nil {
		outcome = &acp.SelectedPermissionOutcome{OptionID: choice.OptionID}
		if execute && !ruled { // a rule is about this call alone
			s.noteAllowed(choice.Kind)
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
	var id string
	q.asked = func(requestID string) { id = requestID }
	v, err := k.ask(ctx, q)
	if err != nil {
		return nil, err
	}
	o := new(object).str("requestId", id).str("by", v.By)
	choice, err := permissionChoice(p, v)
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

// allowed puts a question of the host itself to the user.
func (k *client) allowed(ctx context.Context, id acp.SessionID, call acp.ToolCallUpdate, yes, no string) (bool, error) {
	if !on(k.conn.host.permissions().Requests) {
		return false, errNobodyAsked
	}
	p := &acp.RequestPermissionRequest{
		SessionID: id,
		ToolCall:  call,
		Options: []acp.PermissionOption{
			{OptionID: "allow", Name: yes, Kind: acp.PermissionOptionKindAllowOnce},
			{OptionID: "reject", Name: no, Kind: acp.PermissionOptionKindRejectOnce},
		},
	}
	// No agent can have said anything about a call of that name.
	p.ToolCall.ToolCallID = acp.ToolCallID("hermes:" + rand.Text())
	if s, err := k.conn.session(id); err == nil && call.Kind.Or("") == acp.ToolKindExecute {
		// A rule for edits was not made for files that others run or trust.
		if choice, ruled := k.ruled(s, p); ruled {
			return choice != nil && choice.OptionID == "allow", nil
		}
	}
	choice, err := k.permission(ctx, p)
	return choice != nil && choice.OptionID == "allow", err
}

// Reasons why a command does not run.
var (
	errNotAllowed  = errors.New("the user did not allow it")
	errNobodyAsked = errors.New("the user is not asked, because request_permissions is off")
)

// approveCommand asks the user about a command, showing exactly what would
// run, when terminal_access is "ask" and the agent has not asked itself.
func (s *session) approveCommand(ctx context.Context, cmd *terminal.Command) error {
	if !s.conn.host.permissions().Terminal.ask || s.mayRun() {
		return nil
	}
	title := "Run "
	if cmd.Shell {
		title = "Run through a shell: "
	}
	input := struct {
		Command string   `json:"command"`
		Program string   `json:"program"`
		Cwd     string   `json:"cwd"`
		Shell   bool     `json:"shell"`
		Env     []string `json:"env,omitempty"`
	}{cmd.String(), cmd.Path, cmd.Dir, cmd.Shell, cmd.Env}
	raw, err := json.Marshal(input)
	if err != nil {
		return err
	}
	ok, err := (&client{conn: s.conn}).allowed(ctx, s.id, acp.ToolCallUpdate{
		Title: acp.Some(title + cmd.String()), Kind: acp.Some(acp.ToolKindExecute), RawInput: raw,
	}, "Run it", "Do not run it")
	if err == nil && !ok {
		err = errNotAllowed
	}
	return err
}

// callLimits bound the tool calls of a turn that are remembered.
var callLimits = history.Limits{Entries: 1024, Bytes: 4 << 20}

// noteCall remembers the tool calls of the turn: a question about one of them
// need not say everything again.
func (s *session) noteCall(u acp.SessionUpdate) {
	switch u.(type) {
	case *acp.ToolCall, *acp.ToolCallUpdate:
		s.calls.Apply(u)
	}
}

func (s *session) isExecute(call acp.ToolCallUpdate) bool {
	return s.calls.Merge(&call).Kind.Or("") == acp.ToolKindExecute
}

// noteAllowed remembers that the user let the agent execute something in this
// turn.
func (s *session) noteAllowed(choice acp.PermissionOptionKind) {
	if choice == acp.PermissionOptionKindAllowOnce || choice == acp.PermissionOptionKindAllowAlways {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.executing = true
	}
}

// forgetAllowed begins or ends a turn; the caller holds s.mu.
func (s *session) forgetAllowed() {
	s.calls.Reset()
	s.executing = false
}

func (s *session) mayRun() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.executing
}
