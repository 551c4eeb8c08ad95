package live

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
)

// permissions are the steps in which the agent asks for permission.
var permissions = []*step{
	{id: "permission-allow", title: "A turn goes on when the user allows.", tier: Mandatory, session: true,
		do: func(s *stage, ctx context.Context) error { return s.permission(ctx, allow) }},
	{id: "permission-reject", title: "A turn goes on, or ends, when the user rejects.", tier: Mandatory, session: true,
		do: func(s *stage, ctx context.Context) error { return s.permission(ctx, reject) }},
	{id: "permission-cancel", title: "A turn that is cancelled while the agent asks ends as cancelled.", tier: Mandatory, requirements: []string{"ACP-CANCEL-001"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, main, err := s.session(ctx)
			if err != nil {
				return err
			}
			one, err := s.apart(ctx, d, main)
			if err != nil {
				return err
			}
			renew := sync.OnceValue(s.renew) // to end has its own time
			s.deciding(func(ctx context.Context, _ *acp.RequestPermissionRequest) (acp.PermissionOptionID, error) {
				renew()
				s.cancel(d, one)
				<-ctx.Done() // the cancel answers
				return "", ctx.Err()
			})
			stop, err := s.prompt(ctx, d, one, text(s.Asking), nil)
			if s.questions() > 0 {
				d.canceled = append(d.canceled, one)
			} else if err == nil || errors.As(err, new(skip)) {
				return errNotAsked
			}
			if err == nil && stop != "cancelled" {
				return fmt.Errorf("the turn ended with %s", stop)
			}
			return err
		}},
}

const errNotAsked = skip("the agent did not ask for permission; a --permission-prompt for what it has to ask, or a permission setting of the agent, makes it ask; --without leaves the step out for an agent that never asks")

func (s *stage) permission(ctx context.Context, decide func(context.Context, *acp.RequestPermissionRequest) (acp.PermissionOptionID, error)) error {
	d, _, err := s.session(ctx)
	if err != nil {
		return err
	}
	s.deciding(decide)
	one, err := s.another(ctx, d) // nothing has been allowed for ever in it
	if err != nil {
		return err
	}
	s.note, err = s.prompt(ctx, d, one, text(s.Asking), nil)
	if s.questions() == 0 && err == nil {
		return errNotAsked
	}
	return err
}
