package services

import (
	"context"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// asked is a question to the user that is open.
type asked struct{ cancel context.CancelCauseFunc }

// question opens a question of a session: its context ends with Cancel and with the
// session. The id is empty when there is no session yet; Close ends such a question.
func (s *Services) question(ctx context.Context, id acp.SessionID, method string, params any) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	a := &asked{cancel}
	s.mu.Lock()
	if s.closed {
		cancel(rpc.ErrSessionCancelled)
	}
	if s.asking[id] == nil {
		s.asking[id] = make(map[*asked]struct{})
	}
	s.asking[id][a] = struct{}{}
	s.mu.Unlock()
	done := func() {}
	if st := s.sessions.Get(id); st != nil {
		done = st.Begin(method, params)
	}
	return ctx, func() {
		done()
		cancel(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		if delete(s.asking[id], a); len(s.asking[id]) == 0 {
			delete(s.asking, id)
		}
	}
}

// RequestPermission answers by a rule, or by asking the user, or with cancelled.
func (s *Services) RequestPermission(ctx context.Context, p *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	ctx, end := s.question(ctx, p.SessionID, acp.MethodSessionRequestPermission, p)
	defer end()
	return s.gate.Answer(ctx, p)
}

// CreateElicitation answers by asking the user, or with cancel.
func (s *Services) CreateElicitation(ctx context.Context, p *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	ctx, end := s.question(ctx, sessionOf(p), acp.MethodElicitationCreate, p)
	defer end()
	return s.elicit.Answer(ctx, p)
}

// sessionOf returns the session that asks, "" when there is none.
func sessionOf(p *acp.CreateElicitationRequest) acp.SessionID {
	var scope any
	switch v := p.Variant.(type) {
	case *acp.ElicitationFormMode:
		scope = v.Variant
	case *acp.ElicitationURLMode:
		scope = v.Variant
	}
	if s, ok := scope.(*acp.ElicitationSessionScope); ok {
		return s.SessionID
	}
	return ""
}

// CompleteElicitation says that the user is done with a web page.
func (s *Services) CompleteElicitation(ctx context.Context, p *acp.CompleteElicitationNotification) error {
	s.elicit.Completed(ctx, p.ElicitationID)
	return nil
}
