package plugin

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/terminal"
)

// RequestPermission asks the user for the agent.
func (k *client) RequestPermission(ctx context.Context, p *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	s, err := k.conn.await(ctx, p.SessionID)
	execute := err == nil && s.isExecute(p.ToolCall) // as of now: what the user will see
	choice, err := k.permission(ctx, p)
	if err != nil {
		return nil, err
	}
	outcome := acp.RequestPermissionOutcome(&acp.RequestPermissionOutcomeCancelled{})
	if choice != nil {
		outcome = &acp.SelectedPermissionOutcome{OptionID: choice.OptionID}
		if execute {
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
	for i, o := range p.Options {
		if o.OptionID == selected.OptionID {
			return &p.Options[i], nil
		}
	}
	return nil, fmt.Errorf("there is no option %q", selected.OptionID)
}

// allowed puts a question of the host itself to the user.
func (k *client) allowed(ctx context.Context, id acp.SessionID, call acp.ToolCallUpdate, yes, no string) (bool, error) {
	if !on(k.conn.host.permissions().Requests) {
		return false, errNobodyAsked
	}
	// No agent can have said anything about a call of that name.
	call.ToolCallID = acp.ToolCallID("hermes:" + rand.Text())
	choice, err := k.permission(ctx, &acp.RequestPermissionRequest{
		SessionID: id,
		ToolCall:  call,
		Options: []acp.PermissionOption{
			{OptionID: "allow", Name: yes, Kind: acp.PermissionOptionKindAllowOnce},
			{OptionID: "reject", Name: no, Kind: acp.PermissionOptionKindRejectOnce},
		},
	})
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

// maxCalls bounds the tool calls of a turn that are remembered.
const maxCalls = 1024

// noteCall remembers the tool calls of the turn that execute something: a
// question about one of them need not say so again.
func (s *session) noteCall(u acp.SessionUpdate) {
	var id acp.ToolCallID
	var kind acp.Opt[acp.ToolKind]
	switch u := u.(type) {
	case *acp.ToolCall:
		id, kind = u.ToolCallID, u.Kind
	case *acp.ToolCallUpdate:
		id, kind = u.ToolCallID, u.Kind
	}
	if !kind.OK {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if kind.Or("") != acp.ToolKindExecute {
		delete(s.executes, id)
	} else if len(s.executes) < maxCalls {
		s.executes[id] = true
	}
}

func (s *session) isExecute(call acp.ToolCallUpdate) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return call.Kind.Or("") == acp.ToolKindExecute || !call.Kind.OK && s.executes[call.ToolCallID]
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
	clear(s.executes)
	s.executing = false
}

func (s *session) mayRun() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.executing
}
