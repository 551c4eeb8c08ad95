// Package servicesv2 is package services for agents of version 2 of the protocol:
// permission, elicitation and session state. In version 2 clients do not serve
// files or terminals; terminals of the agent are part of the state. The state is kept by package
// history, in the types of version 1 wherever they exist, so that a program that shows sessions
// need not know their version.
package servicesv2

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"

	"github.com/hermes-nvim/hermes/acp"
	v2 "github.com/hermes-nvim/hermes/acp/v2"
	"github.com/hermes-nvim/hermes/runtime/history"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/services"
)

// Services answers what an agent of version 2 asks of its client, with the
// settings, rules, hooks and state of a services.Services. Embed it to override
// methods.
//
// The hooks see requests of version 2 in the types of version 1, so one program
// serves both. The title of a permission request becomes the title of its tool
// call. A command becomes the rawInput of a tool call of kind execute. Extra keeps
// title, description and subject.
type Services struct {
	v2.UnimplementedClientHandler
	// Updated, if set, is called after an update has been added to the state.
	Updated func(context.Context, *v2.UpdateSessionNotification) error

	one *services.Services
}

var _ v2.ClientHandler = (*Services)(nil)

// New returns the handler for agents of version 2.
func New(s *services.Services) *Services { return &Services{one: s} }

// Capabilities says what is offered, for the initialize request.
func (s *Services) Capabilities() *v2.ClientCapabilities {
	can := new(v2.ClientCapabilities)
	if s.one.Capabilities().Elicitation != nil {
		can.Elicitation = &v2.ElicitationCapabilities{Form: &v2.ElicitationFormCapabilities{}, URL: &v2.ElicitationURLCapabilities{}}
	}
	return can
}

// NewSession calls session/new and keeps the state of the session.
func (s *Services) NewSession(ctx context.Context, agent v2.Agent, req *v2.NewSessionRequest) (*v2.NewSessionResponse, error) {
	var opened acp.SessionID
	open := func(_ context.Context, id acp.SessionID, _ json.RawMessage) {
		opened = id
		s.one.Sessions().Open(id)
	}
	resp, err := agent.NewSession(rpc.WithOpened(ctx, open), req)
	if err != nil {
		if opened != "" {
			err = errors.Join(err, s.one.CloseSession(opened))
		}
		return nil, err
	}
	Start(s.one.Sessions().Open(acp.SessionID(resp.SessionID)), resp.ConfigOptions, resp.AvailableCommands)
	return resp, nil
}

// ResumeSession calls session/resume. A replay resets the state; without one the
// state is kept.
func (s *Services) ResumeSession(ctx context.Context, agent v2.Agent, req *v2.ResumeSessionRequest) (*v2.ResumeSessionResponse, error) {
	id := acp.SessionID(req.SessionID)
	st := s.one.Sessions().Open(id)
	if req.ReplayFrom != nil {
		st.Reset()
	}
	resp, err := agent.ResumeSession(ctx, req)
	if err != nil {
		return nil, errors.Join(err, s.one.CloseSession(id))
	}
	Start(st, resp.ConfigOptions, resp.AvailableCommands)
	return resp, nil
}

// SessionUpdate adds the update to the state of its session.
func (s *Services) SessionUpdate(ctx context.Context, n *v2.UpdateSessionNotification) error {
	s.one.Sessions().Update(acp.SessionID(n.SessionID), func(st *history.State) { Apply(st, n.Update) })
	if s.Updated != nil {
		return s.Updated(ctx, n)
	}
	return nil
}

// RequestPermission answers by a rule, or by asking the user, or with cancelled.
func (s *Services) RequestPermission(ctx context.Context, p *v2.RequestPermissionRequest) (*v2.RequestPermissionResponse, error) {
	resp, err := s.one.RequestPermission(ctx, s.older(p))
	if err != nil {
		return nil, err
	}
	if o, ok := resp.Outcome.(*acp.SelectedPermissionOutcome); ok {
		return &v2.RequestPermissionResponse{Outcome: v2.NewSelectedPermissionOutcome(v2.PermissionOptionID(o.OptionID))}, nil
	}
	return &v2.RequestPermissionResponse{Outcome: &v2.CancelledPermissionOutcome{}}, nil
}

// older converts a permission request to version 1.
func (s *Services) older(p *v2.RequestPermissionRequest) *acp.RequestPermissionRequest {
	req := &acp.RequestPermissionRequest{SessionID: acp.SessionID(p.SessionID), Meta: p.Meta}
	for name, value := range acp.Extra(p.AppendJSON(nil)).All() {
		if name != "sessionId" && name != "options" && name != "_meta" {
			req.Extra.Set(name, value) // cannot fail: it is JSON
		}
	}
	for _, o := range p.Options {
		req.Options = append(req.Options, acp.PermissionOption{
			OptionID: acp.PermissionOptionID(o.OptionID), Name: o.Name, Kind: acp.PermissionOptionKind(o.Kind), Meta: o.Meta, Extra: o.Extra,
		})
	}
	switch subject := p.Subject.(type) {
	case *v2.ToolCallPermissionSubject:
		req.ToolCall = s.toolCall(req.SessionID, &subject.ToolCall)
	case *v2.CommandPermissionSubject:
		input, _ := json.Marshal(map[string]string{"command": subject.Command, "cwd": string(subject.Cwd)}) // strings always encode
		req.ToolCall = acp.ToolCallUpdate{
			ToolCallID: acp.ToolCallID(subject.ToolCallID.Or("")), Kind: acp.Some(acp.ToolKindExecute), RawInput: input,
		}
	}
	req.ToolCall.Title = acp.Some(p.Title)
	return req
}

// toolCall returns the whole tool call that a permission request updates. The
// files of its diffs are among its locations, where rules look for them.
func (s *Services) toolCall(id acp.SessionID, u *v2.ToolCallUpdate) acp.ToolCallUpdate {
	st := s.one.State(id)
	if st == nil {
		st = history.New(id, history.Limits{Bytes: math.MaxInt}) // the session is not open, but the question is valid
	}
	Apply(st, u)
	merged, _ := st.Merge(&acp.ToolCallUpdate{ToolCallID: acp.ToolCallID(u.ToolCallID)})
	call := *merged
	call.Locations = slices.Clip(call.Locations)
	for _, c := range call.Content {
		d, ok := Diff(c)
		if !ok {
			continue
		}
		for _, change := range d.Changes {
			for _, path := range paths(change.Variant) {
				call.Locations = append(call.Locations, acp.ToolCallLocation{Path: string(path)})
			}
		}
	}
	return call
}

func paths(change v2.DiffChangeVariant) []v2.AbsolutePath {
	switch c := change.(type) {
	case *v2.DiffChangeAdd:
		return []v2.AbsolutePath{c.Path}
	case *v2.DiffChangeDelete:
		return []v2.AbsolutePath{c.Path}
	case *v2.DiffChangeModify:
		return []v2.AbsolutePath{c.Path}
	case *v2.DiffChangeMove:
		return []v2.AbsolutePath{c.OldPath, c.Path}
	case *v2.DiffChangeCopy:
		return []v2.AbsolutePath{c.OldPath, c.Path}
	case *v2.DiffChangeOther:
		// A newer operation: every member may be a path.
		var all []v2.AbsolutePath
		for _, raw := range c.Raw.All() {
			path := v2.AbsolutePath(raw) // if it is not a string: a path that no rule allows
			json.Unmarshal(raw, &path)
			all = append(all, path)
		}
		return all
	}
	return nil
}

// CreateElicitation answers by asking the user, or with cancel. Both versions
// write questions and answers the same way.
func (s *Services) CreateElicitation(ctx context.Context, p *v2.CreateElicitationRequest) (*v2.CreateElicitationResponse, error) {
	req, resp := new(acp.CreateElicitationRequest), new(v2.CreateElicitationResponse)
	if err := req.UnmarshalJSON(p.AppendJSON(nil)); err != nil {
		return nil, acp.InvalidParams(v2.MethodElicitationCreate, err)
	}
	answer, err := s.one.CreateElicitation(ctx, req)
	if err != nil {
		return nil, err
	}
	return resp, resp.UnmarshalJSON(answer.AppendJSON(nil))
}

// CompleteElicitation notes that the user is done with a web page.
func (s *Services) CompleteElicitation(ctx context.Context, p *v2.CompleteElicitationNotification) error {
	return s.one.CompleteElicitation(ctx, &acp.CompleteElicitationNotification{ElicitationID: acp.ElicitationID(p.ElicitationID)})
}
