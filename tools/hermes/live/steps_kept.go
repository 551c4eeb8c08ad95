package live

import (
	"context"
	"errors"
	"fmt"

	"github.com/hermes-nvim/hermes/acp"
)

// kept are the steps with sessions that were there before.
var kept = []*step{
	{id: "session-load", title: "session/load loads a session.", tier: Capability, requirements: []string{"ACP-LOAD-001", "ACP-LOAD-002"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, one, err := s.session(ctx)
			if err != nil {
				return err
			}
			if !d.hello.AgentCapabilities.LoadSession {
				return skip("loadSession is not offered")
			}
			return s.again(ctx, d, one, acp.MethodSessionLoad)
		}},
	{id: "session-load-unknown", title: "Loading a session that does not exist.", tier: Informational, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, _, err := s.session(ctx)
			if err != nil {
				return err
			}
			if !d.hello.AgentCapabilities.LoadSession {
				return skip("loadSession is not offered")
			}
			params := s.fresh()
			params["sessionId"] = "hermes-lint-nobody"
			return s.seen(ctx, d, acp.MethodSessionLoad, params)
		}},
	{id: "session-resume", title: "session/resume resumes a session.", tier: Capability, requirements: []string{"ACP-RESUME-001", "ACP-RESUME-002"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, one, err := s.offering(ctx, "resume")
			if err != nil {
				return err
			}
			return s.again(ctx, d, one, acp.MethodSessionResume)
		}},
	{id: "session-fork", title: "session/fork makes another session of one.", tier: Capability, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, one, err := s.offering(ctx, "fork")
			if err != nil {
				return err
			}
			params := s.fresh()
			params["sessionId"] = one.id
			two, err := s.open(ctx, d, "session/fork", params)
			if err != nil && one.turns == 0 {
				return skip("there was no turn to fork: " + err.Error())
			}
			if err == nil && two.id == one.id {
				err = errors.New("the fork has the id of its session")
			}
			return err
		}},
	{id: "session-close", title: "session/close closes a session.", tier: Capability, requirements: []string{"ACP-CLOSE-001"}, session: true,
		do: func(s *stage, ctx context.Context) error { return s.leave(ctx, "close", acp.MethodSessionClose) }},
	{id: "close-busy", title: "Closing a session ends its turn as cancelled.", tier: Capability, requirements: []string{"ACP-CLOSE-002"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, _, err := s.offering(ctx, "close")
			if err != nil {
				return err
			}
			fresh := func() (*session, error) { return s.another(ctx, d) }
			return s.interrupted(ctx, d, fresh, func(one *session) error {
				_, err := d.call(ctx, acp.MethodSessionClose, object{"sessionId": one.id})
				return err
			})
		}},
	{id: "session-delete", title: "session/delete deletes a session.", tier: Capability, requirements: []string{"ACP-DELETE-001"}, session: true,
		do: func(s *stage, ctx context.Context) error { return s.leave(ctx, "delete", acp.MethodSessionDelete) }},
	{id: "session-delete-unknown", title: "Deleting a session that does not exist succeeds.", tier: Advisory, requirements: []string{"ACP-DELETE-002"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, _, err := s.offering(ctx, "delete")
			if err != nil {
				return err
			}
			_, err = d.call(ctx, acp.MethodSessionDelete, object{"sessionId": "hermes-lint-nobody"})
			return err
		}},
}

// again opens a session that was open before, here or after a restart.
func (s *stage) again(ctx context.Context, d *driven, one *session, method string) error {
	params := s.fresh()
	params["sessionId"] = one.id
	_, err := s.open(ctx, d, method, params)
	if f := (*failure)(nil); !errors.As(err, &f) {
		return err
	}
	if one.turns == 0 {
		return skip("there was no turn that the agent could have kept: " + err.Error())
	}
	// An agent may keep its sessions in files, and load them only from there.
	fresh, e := s.connect(ctx, nil)
	if e == nil {
		_, e = s.open(ctx, fresh, method, params)
	}
	if e != nil {
		return fmt.Errorf("%w, and in a new process: %w", err, e)
	}
	s.note = "only after a restart: " + err.Error()
	return nil
}

// leave opens a session and ends it.
func (s *stage) leave(ctx context.Context, capability, method string) error {
	d, _, err := s.offering(ctx, capability)
	if err != nil {
		return err
	}
	one, err := s.another(ctx, d)
	if err == nil {
		_, err = d.call(ctx, method, object{"sessionId": one.id})
	}
	return err
}
