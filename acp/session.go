package acp

import (
	"context"
	"fmt"
)

// ClientSession is a session as its agent sees it, with shorthands for the usual
// calls of an agent. Everything else is a method of Client.
type ClientSession struct {
	Client Client
	ID     SessionID
}

// Session returns the client's end of a session. It sends nothing.
func (c Client) Session(id SessionID) ClientSession { return ClientSession{c, id} }

// Update sends an update of the session, such as a *ToolCall or a *Plan. Like
// all notifications it returns when it is queued.
func (s ClientSession) Update(ctx context.Context, update SessionUpdate) error {
	return s.Client.SessionUpdate(ctx, &SessionNotification{SessionID: s.ID, Update: update})
}

// Say sends a piece of the agent's reply.
func (s ClientSession) Say(ctx context.Context, text string) error {
	return s.Update(ctx, NewAgentMessageChunk(NewTextContent(text)))
}

// Think sends a piece of the agent's reasoning.
func (s ClientSession) Think(ctx context.Context, text string) error {
	return s.Update(ctx, NewAgentThoughtChunk(NewTextContent(text)))
}

// Ask asks the user for permission and returns the chosen option, or an empty one if
// the turn was cancelled instead. Pass a *ToolCall as its AsUpdate.
func (s ClientSession) Ask(ctx context.Context, call *ToolCallUpdate, options ...PermissionOption) (PermissionOption, error) {
	answer, err := s.Client.RequestPermission(ctx, &RequestPermissionRequest{SessionID: s.ID, ToolCall: *call, Options: options})
	if err != nil {
		return PermissionOption{}, err
	}
	switch outcome := answer.Outcome.(type) {
	case *RequestPermissionOutcomeCancelled:
		return PermissionOption{}, nil
	case *SelectedPermissionOutcome:
		for _, o := range options {
			if o.OptionID == outcome.OptionID {
				return o, nil
			}
		}
	}
	return PermissionOption{}, fmt.Errorf("%s: the client did not choose one of the options: %v", MethodSessionRequestPermission, answer)
}

// ReadFile returns the text of a file as the client sees it, unsaved changes
// included. The path is absolute. If there is no such file, the error matches
// &Error{Code: ErrorCodeResourceNotFound} by errors.Is, unless the client uses a code of its own.
func (s ClientSession) ReadFile(ctx context.Context, path string) (string, error) {
	file, err := s.Client.ReadTextFile(ctx, &ReadTextFileRequest{SessionID: s.ID, Path: path})
	if err != nil {
		return "", err
	}
	return file.Content, nil
}

// WriteFile replaces the text of a file, or creates the file. The path is absolute.
func (s ClientSession) WriteFile(ctx context.Context, path, text string) error {
	_, err := s.Client.WriteTextFile(ctx, &WriteTextFileRequest{SessionID: s.ID, Path: path, Content: text})
	return err
}

// AsUpdate returns an update that holds all of the tool call, for a permission
// request.
func (v *ToolCall) AsUpdate() *ToolCallUpdate {
	return &ToolCallUpdate{
		ToolCallID: v.ToolCallID, Title: Some(v.Title), Name: v.Name, Kind: v.Kind, Status: v.Status,
		Content: v.Content, Locations: v.Locations, RawInput: v.RawInput, RawOutput: v.RawOutput, Meta: v.Meta, Extra: v.Extra,
	}
}

// AgentSession is a session as its client sees it, with shorthands for the usual
// calls of a client. Everything else is a method of Agent.
type AgentSession struct {
	Agent Agent
	ID    SessionID
}

// Session returns the agent's end of a session. It sends nothing: NewSession
// makes a session.
func (a Agent) Session(id SessionID) AgentSession { return AgentSession{a, id} }

// Prompt sends a user message and waits for the end of the turn.
func (s AgentSession) Prompt(ctx context.Context, message ...ContentBlock) (StopReason, error) {
	answer, err := s.Agent.Prompt(ctx, &PromptRequest{SessionID: s.ID, Prompt: message})
	if err != nil {
		return "", err
	}
	return answer.StopReason, nil
}

// Cancel stops the running turn. Its Prompt returns StopReasonCancelled.
func (s AgentSession) Cancel(ctx context.Context) error {
	return s.Agent.Cancel(ctx, &CancelNotification{SessionID: s.ID})
}
