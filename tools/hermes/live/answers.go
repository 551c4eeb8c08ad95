package live

import (
	"context"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/elicitation"
	"github.com/hermes-nvim/hermes/runtime/permission"
)

// ask decides a permission request as the step wants.
func (s *stage) ask(ctx context.Context, req *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
	s.mu.Lock()
	s.asked++
	decide := s.decide
	s.mu.Unlock()
	return decide(ctx, req)
}

func (s *stage) deciding(f func(context.Context, *acp.RequestPermissionRequest) (acp.PermissionOptionID, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.decide = f
}

func (s *stage) questions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func reject(_ context.Context, req *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
	return choose(req, acp.PermissionOptionKindRejectOnce, acp.PermissionOptionKindRejectAlways)
}

func allow(_ context.Context, req *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
	return choose(req, acp.PermissionOptionKindAllowOnce, acp.PermissionOptionKindAllowAlways)
}

// decline answers what the agent asks besides permissions.
func decline(context.Context, *elicitation.Question) (elicitation.Answer, error) {
	return &acp.CreateElicitationResponseDecline{}, nil
}

func choose(req *acp.RequestPermissionRequest, kinds ...acp.PermissionOptionKind) (acp.PermissionOptionID, error) {
	for _, kind := range kinds {
		for _, o := range req.Options {
			if o.Kind == kind {
				return o.OptionID, nil
			}
		}
	}
	return "", permission.ErrNoOption
}
