package agentv2

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/hermes-nvim/hermes/acp"
	v2 "github.com/hermes-nvim/hermes/acp/v2"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// two is the agent as a client of version 2 sees it.
type two struct {
	*bridge
	v2.UnimplementedAgentHandler
}

func (t *two) Initialize(ctx context.Context, p *v2.InitializeRequest) (*v2.InitializeResponse, error) {
	req := &acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersionNumber, Meta: p.Meta}
	req.ClientInfo = &acp.Implementation{Name: p.Info.Name, Title: p.Info.Title, Version: p.Info.Version}
	if p.Capabilities != nil && p.Capabilities.Elicitation != nil {
		can := new(acp.ElicitationCapabilities)
		if err := recode(p.Capabilities.Elicitation, can); err != nil {
			return nil, err
		}
		req.ClientCapabilities = &acp.ClientCapabilities{Elicitation: can}
	}
	r, err := t.one.Initialize(ctx, req)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, acp.NoResult(acp.MethodInitialize)
	}
	info := v2.Implementation{Name: "agent", Version: "unknown"} // version 2 asks for one
	if r.AgentInfo != nil {
		info = v2.Implementation{Name: r.AgentInfo.Name, Title: r.AgentInfo.Title, Version: r.AgentInfo.Version}
	}
	methods, err := authMethods(r.AuthMethods)
	if err != nil {
		return nil, err
	}
	return &v2.InitializeResponse{
		ProtocolVersion: v2.ProtocolVersionNumber, Info: info, Capabilities: capabilities(r.AgentCapabilities), AuthMethods: methods, Meta: r.Meta,
	}, nil
}

func (t *two) LoginAuth(ctx context.Context, p *v2.LoginAuthRequest) (*v2.LoginAuthResponse, error) {
	_, err := t.one.Authenticate(ctx, &acp.AuthenticateRequest{MethodID: acp.AuthMethodID(p.MethodID), Meta: p.Meta})
	return nil, err
}

func (t *two) LogoutAuth(ctx context.Context, p *v2.LogoutAuthRequest) (*v2.LogoutAuthResponse, error) {
	_, err := t.one.Logout(ctx, &acp.LogoutRequest{Meta: p.Meta})
	return nil, err
}

func (t *two) NewSession(ctx context.Context, p *v2.NewSessionRequest) (*v2.NewSessionResponse, error) {
	r, err := t.one.NewSession(ctx, &acp.NewSessionRequest{
		Cwd: string(p.Cwd), AdditionalDirectories: paths(p.AdditionalDirectories), MCPServers: servers(p.MCPServers), Meta: p.Meta,
	})
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, acp.NoResult(acp.MethodSessionNew)
	}
	options := t.session(r.SessionID).start(r.Modes, r.ConfigOptions)
	return &v2.NewSessionResponse{SessionID: v2.SessionID(r.SessionID), ConfigOptions: options, Meta: r.Meta}, nil
}

func (t *two) ResumeSession(ctx context.Context, p *v2.ResumeSessionRequest) (*v2.ResumeSessionResponse, error) {
	id := acp.SessionID(p.SessionID)
	if p.ReplayFrom == nil {
		r, err := t.one.ResumeSession(ctx, &acp.ResumeSessionRequest{
			SessionID: id, Cwd: string(p.Cwd), AdditionalDirectories: paths(p.AdditionalDirectories), MCPServers: servers(p.MCPServers), Meta: p.Meta,
		})
		if err != nil {
			return nil, err
		}
		if r == nil {
			r = new(acp.ResumeSessionResponse)
		}
		return t.resumed(ctx, id, r.Modes, r.ConfigOptions, r.Meta)
	}
	if _, ok := p.ReplayFrom.(*v2.ReplayFromStart); !ok {
		return nil, acp.InvalidParams(v2.MethodSessionResume, errors.New("this agent replays a session from its start only"))
	}
	r, err := t.one.LoadSession(ctx, &acp.LoadSessionRequest{
		SessionID: id, Cwd: string(p.Cwd), AdditionalDirectories: paths(p.AdditionalDirectories), MCPServers: servers(p.MCPServers), Meta: p.Meta,
	})
	if err != nil {
		return nil, err
	}
	if r == nil {
		r = new(acp.LoadSessionResponse)
	}
	return t.resumed(ctx, id, r.Modes, r.ConfigOptions, r.Meta)
}

// resumed reports whether the session is at work, which comes before the answer.
func (t *two) resumed(ctx context.Context, id acp.SessionID, modes *acp.SessionModeState, options []acp.SessionConfigOption, meta json.RawMessage) (*v2.ResumeSessionResponse, error) {
	s := t.session(id)
	var state v2.SessionUpdate = &v2.IdleStateUpdate{Variant: &v2.IdleStateUpdateNone{}}
	if s.atWork() {
		state = &v2.RunningStateUpdate{}
	}
	err := v2.Client{Conn: t.conn}.SessionUpdate(ctx, &v2.UpdateSessionNotification{SessionID: v2.SessionID(id), Update: state})
	return &v2.ResumeSessionResponse{ConfigOptions: s.start(modes, options), Meta: meta}, err
}

func (t *two) ListSessions(ctx context.Context, p *v2.ListSessionsRequest) (*v2.ListSessionsResponse, error) {
	req, answer := new(acp.ListSessionsRequest), new(v2.ListSessionsResponse)
	if err := recode(p, req); err != nil {
		return nil, err
	}
	r, err := t.one.ListSessions(ctx, req)
	if err != nil {
		return nil, err
	}
	return answer, recode(r, answer)
}

func (t *two) CloseSession(ctx context.Context, p *v2.CloseSessionRequest) (*v2.CloseSessionResponse, error) {
	_, err := t.one.CloseSession(ctx, &acp.CloseSessionRequest{SessionID: acp.SessionID(p.SessionID), Meta: p.Meta})
	if err != nil && !errors.Is(err, &acp.Error{Code: acp.ErrorCodeMethodNotFound}) {
		return nil, err
	}
	t.forget(acp.SessionID(p.SessionID))
	return nil, nil
}

func (t *two) DeleteSession(ctx context.Context, p *v2.DeleteSessionRequest) (*v2.DeleteSessionResponse, error) {
	if _, err := t.one.DeleteSession(ctx, &acp.DeleteSessionRequest{SessionID: acp.SessionID(p.SessionID), Meta: p.Meta}); err != nil {
		return nil, err
	}
	t.forget(acp.SessionID(p.SessionID))
	return nil, nil
}

// Prompt accepts a prompt; the agent works on it afterwards.
func (t *two) Prompt(ctx context.Context, p *v2.PromptRequest) (*v2.PromptResponse, error) {
	content, err := blocks(p.Prompt)
	if err != nil {
		return nil, acp.InvalidParams(v2.MethodSessionPrompt, err)
	}
	s := t.session(acp.SessionID(p.SessionID))
	work, id, ok := s.begin()
	if !ok {
		return nil, &acp.Error{Code: acp.ErrorCodeInvalidRequest, Message: "invalid request: session/prompt: the session is at work"}
	}
	req := &acp.PromptRequest{SessionID: acp.SessionID(p.SessionID), Prompt: content, Meta: p.Meta, Extra: p.Extra}
	begin := func() { go t.work(work, s, id, req, p) }
	if !rpc.AfterResponse(ctx, begin) {
		begin()
	}
	return &v2.PromptResponse{MessageID: id}, nil
}

// work runs a prompt and reports its end.
func (t *two) work(ctx context.Context, s *session, id v2.MessageID, req *acp.PromptRequest, p *v2.PromptRequest) {
	report := func(u v2.SessionUpdate) {
		v2.Client{Conn: t.conn}.SessionUpdate(context.Background(), &v2.UpdateSessionNotification{SessionID: p.SessionID, Update: u})
	}
	said := v2.NewUserMessage(id)
	said.Content = acp.Set(p.Prompt)
	report(said)
	report(&v2.RunningStateUpdate{})
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-t.conn.Done():
			s.cancelFor(t.conn.Err())
		case <-over:
		}
	}()
	answer, err := t.prompt(ctx, req)
	cancelled := context.Cause(ctx) == rpc.ErrSessionCancelled
	s.end()
	if !cancelled && t.cutOff(err) {
		return // as a prompt of version 1 is not answered then
	}
	report(&v2.IdleStateUpdate{Variant: ending(answer, err, cancelled)})
}

// prompt calls the agent. A panic is a fault and an internal error, as it is in a
// handler of the connection.
func (t *two) prompt(ctx context.Context, req *acp.PromptRequest) (answer *acp.PromptResponse, err error) {
	defer func() {
		if v := recover(); v != nil {
			t.conn.Report(rpc.FaultHandler, &rpc.PanicError{Method: v2.MethodSessionPrompt, Value: v, Stack: debug.Stack()})
			err = &acp.Error{Code: acp.ErrorCodeInternalError, Message: "internal error"}
		}
	}()
	return t.one.Prompt(ctx, req)
}

// Cancel ends the context of the prompt that runs, and calls the agent's Cancel.
func (t *two) Cancel(ctx context.Context, p *v2.CancelSessionNotification) error {
	t.session(acp.SessionID(p.SessionID)).cancel()
	err := t.one.Cancel(ctx, &acp.CancelNotification{SessionID: acp.SessionID(p.SessionID), Meta: p.Meta})
	if errors.Is(err, &acp.Error{Code: acp.ErrorCodeMethodNotFound}) {
		return nil // an agent need not have it
	}
	return err
}

func (t *two) SetSessionConfigOption(ctx context.Context, p *v2.SetSessionConfigOptionRequest) (*v2.SetSessionConfigOptionResponse, error) {
	id, s := acp.SessionID(p.SessionID), t.session(acp.SessionID(p.SessionID))
	if value, ok := p.Variant.(*v2.SetSessionConfigOptionRequestID); ok && p.ConfigID == modeOption && s.hasModes() {
		mode := acp.SessionModeID(value.Value)
		if _, err := t.one.SetSessionMode(ctx, &acp.SetSessionModeRequest{SessionID: id, ModeID: mode, Meta: p.Meta}); err != nil {
			return nil, err
		}
		return &v2.SetSessionConfigOptionResponse{ConfigOptions: s.setMode(mode)}, nil
	}
	req := &acp.SetSessionConfigOptionRequest{SessionID: id, ConfigID: acp.SessionConfigID(p.ConfigID), Meta: p.Meta}
	switch v := p.Variant.(type) {
	case *v2.SetSessionConfigOptionRequestID:
		req.Variant = acp.NewSetSessionConfigOptionRequestValueID(acp.SessionConfigValueID(v.Value))
	case *v2.SetSessionConfigOptionRequestBoolean:
		req.Variant = acp.NewSetSessionConfigOptionRequestBoolean(v.Value)
	default:
		return nil, acp.InvalidParams(v2.MethodSessionSetConfigOption, fmt.Errorf("option %q: this agent does not know values of this kind", p.ConfigID))
	}
	r, err := t.one.SetSessionConfigOption(ctx, req)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, acp.NoResult(acp.MethodSessionSetConfigOption)
	}
	return &v2.SetSessionConfigOptionResponse{ConfigOptions: s.setOptions(r.ConfigOptions), Meta: r.Meta}, nil
}

// ExtRequest implements acp.ExtHandler with the agent's own, if it has one.
func (t *two) ExtRequest(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if x, ok := t.one.(acp.ExtHandler); ok {
		return x.ExtRequest(ctx, method, params)
	}
	return nil, acp.MethodNotFound(method)
}

// ExtNotification implements acp.ExtHandler.
func (t *two) ExtNotification(ctx context.Context, method string, params json.RawMessage) error {
	if x, ok := t.one.(acp.ExtHandler); ok {
		return x.ExtNotification(ctx, method, params)
	}
	return acp.MethodNotFound(method)
}
