package codexagent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/codex"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
)

// errNoForms is what a client without forms cannot answer.
var errNoForms = errors.New("codexagent: the client has no forms")

// approve asks the user through the client.
func (s *session) approve(ctx context.Context, a *codex.Approval) (codex.Choice, error) {
	call := s.approvalCall(a)
	if known, _ := s.shown.known(a.ItemID, a.Item != nil); !known {
		if err := s.to().Update(ctx, call); err != nil {
			return codex.Deny, err
		}
	}
	u := update(call)
	if a.Subject == codex.SubjectExec && a.Wanted != nil {
		says(u, "It also gets these permissions: "+string(a.Wanted))
		asks(u, "additionalPermissions", a.Wanted)
	}
	unnamed := a.Subject == codex.SubjectPatch && len(a.Changes) == 0
	if a.Root != "" {
		says(u, "If it is allowed for this session, everything below "+a.Root+" may be written.")
		if !unnamed { // rules would take the folder for all that changes
			asks(u, "grantRoot", a.Root)
			u.Locations = append(slices.Clone(u.Locations), *acp.NewToolCallLocation(a.Root))
		}
	}
	if unnamed {
		says(u, "Codex does not say which files this changes.")
	}
	if a.Reason != "" {
		says(u, a.Reason)
	}
	var options []acp.PermissionOption
	for _, o := range a.Options {
		options = append(options, *acp.NewPermissionOption(acp.PermissionOptionID(o.ID), o.Name, optionKind(o)))
	}
	chosen, err := s.to().Ask(ctx, u, options...)
	if err != nil {
		s.leave(ctx)
		return codex.Deny, err
	}
	if chosen.OptionID == "" {
		s.leave(ctx)
		return codex.Cancel, nil
	}
	return codex.Choice(chosen.OptionID), nil
}

// update says all of a tool call again.
func update(c *acp.ToolCall) *acp.ToolCallUpdate {
	u := acp.NewToolCallUpdate(c.ToolCallID)
	u.Title, u.Kind, u.Content, u.Locations, u.RawInput = acp.Some(c.Title), c.Kind, c.Content, c.Locations, c.RawInput
	return u
}

// says puts words before what a question shows.
func says(u *acp.ToolCallUpdate, words string) {
	u.Content = append([]acp.ToolCallContent{acp.NewContent(acp.NewTextContent(words))}, u.Content...)
}

// asks adds to the input of a question, so that rules see what else is allowed.
func asks(u *acp.ToolCallUpdate, name string, value any) {
	var input map[string]any
	_ = json.Unmarshal(u.RawInput, &input)
	if input == nil {
		input = map[string]any{}
	}
	input[name] = value
	u.RawInput, _ = json.Marshal(input)
}

func optionKind(o codex.Option) acp.PermissionOptionKind {
	switch {
	case o.Denies && o.Choice == codex.Deny && o.ID != "decline":
		return acp.PermissionOptionKindRejectAlways
	case o.Denies:
		return acp.PermissionOptionKindRejectOnce
	case o.Choice == codex.Once:
		return acp.PermissionOptionKindAllowOnce
	}
	return acp.PermissionOptionKindAllowAlways
}

// approvalCall is the tool call that an approval is about.
func (s *session) approvalCall(a *codex.Approval) *acp.ToolCall {
	if a.Item != nil {
		if c := s.call(a.Item); c != nil {
			return c
		}
	}
	c := acp.NewToolCall(acp.ToolCallID(a.ItemID), a.Command)
	c.Status = acp.Some(acp.ToolCallStatusInProgress)
	switch a.Subject {
	case codex.SubjectPatch:
		s.edit(c, a.Changes)
	case codex.SubjectPermissions:
		c.Title, c.Kind, c.RawInput = "More permissions", acp.Some(acp.ToolKindOther), a.Wanted
	default:
		c.Kind = acp.Some(acp.ToolKindExecute)
		c.RawInput, _ = json.Marshal(map[string]string{"command": a.Command, "cwd": a.Dir})
	}
	if c.Title == "" {
		c.Title = "Run a command"
	}
	return c
}

func (s *session) forms() bool {
	s.agent.mu.Lock()
	defer s.agent.mu.Unlock()
	return s.agent.can.Elicitation != nil && s.agent.can.Elicitation.Form != nil
}

// answer shows the model's questions as a form.
func (s *session) answer(ctx context.Context, p *appserver.ToolRequestUserInputParams) (map[string][]string, error) {
	if !s.forms() {
		return nil, errNoForms
	}
	form := acp.ElicitationSchema{Properties: map[string]acp.ElicitationPropertySchema{}}
	message := ""
	for _, q := range p.Questions {
		field := &acp.StringPropertySchema{Title: acp.Some(q.Header), Description: acp.Some(q.Question)}
		if !q.IsOther.V {
			for _, o := range q.Options {
				option := acp.EnumOption{Const: o.Label, Title: o.Label}
				if o.Description != "" {
					option.Title += ": " + o.Description
				}
				field.OneOf = append(field.OneOf, option)
			}
		}
		form.Properties[q.ID] = field
		form.Required = append(form.Required, q.ID)
		if message == "" {
			message = q.Question
		}
	}
	content, err := s.form(ctx, message, form)
	if err != nil {
		return nil, err
	}
	answers := map[string][]string{}
	for id, v := range content {
		switch v := v.(type) {
		case acp.ElicitationContentValueString:
			answers[id] = []string{string(v)}
		case acp.ElicitationContentValueStringArray:
			answers[id] = v
		}
	}
	return answers, nil
}

// form shows a form of the session. Anything but an accepted form is an error.
func (s *session) form(ctx context.Context, message string, schema acp.ElicitationSchema) (map[string]acp.ElicitationContentValue, error) {
	r, err := s.agent.client.CreateElicitation(ctx, acp.NewCreateElicitationRequest(message,
		acp.NewElicitationFormMode(schema, acp.NewElicitationSessionScope(s.id()))))
	if err != nil {
		s.leave(ctx)
		return nil, err
	}
	switch v := r.Variant.(type) {
	case *acp.ElicitationAcceptAction:
		return v.Content, nil
	case *acp.CreateElicitationResponseCancel:
		s.leave(ctx)
	}
	return nil, errDeclined
}

var errDeclined = errors.New("codexagent: declined")

// elicit passes the question of an MCP server on.
func (s *session) elicit(ctx context.Context, p *appserver.MCPServerElicitationRequestParams) (*appserver.MCPServerElicitationRequestResponse, error) {
	switch v := p.Variant.(type) {
	case *appserver.MCPServerElicitationRequestParamsForm:
		if !s.forms() {
			return nil, errNoForms
		}
		var schema acp.ElicitationSchema
		if err := schema.UnmarshalJSON(v.RequestedSchema.Raw); err != nil {
			return nil, err
		}
		content, err := s.form(ctx, p.ServerName+": "+v.Message, schema)
		if err != nil {
			return nil, err
		}
		whole := (&acp.ElicitationAcceptAction{Content: content}).AppendJSON(nil)
		raw, _ := acp.Extra(whole).Get("content")
		return &appserver.MCPServerElicitationRequestResponse{Action: appserver.MCPServerElicitationActionAccept, Content: raw}, nil
	case *appserver.MCPServerElicitationRequestParamsURL:
		s.agent.mu.Lock()
		can := s.agent.can.Elicitation != nil && s.agent.can.Elicitation.URL != nil
		s.agent.mu.Unlock()
		if !can {
			return nil, errNoForms
		}
		r, err := s.agent.client.CreateElicitation(ctx, acp.NewCreateElicitationRequest(p.ServerName+": "+v.Message,
			acp.NewElicitationURLMode(acp.ElicitationID(v.ElicitationID), v.URL, acp.NewElicitationSessionScope(s.id()))))
		if err != nil {
			s.leave(ctx)
			return nil, err
		}
		switch r.Variant.(type) {
		case *acp.ElicitationAcceptAction:
			return &appserver.MCPServerElicitationRequestResponse{Action: appserver.MCPServerElicitationActionAccept}, nil
		case *acp.CreateElicitationResponseCancel:
			s.leave(ctx)
		}
	}
	return nil, errDeclined
}
