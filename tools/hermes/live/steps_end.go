package live

import (
	"context"
	"fmt"
	"time"

	"github.com/hermes-nvim/hermes/acp"
)

// ends are the steps that end the agent.
var ends = []*step{
	{id: "logout", title: "logout succeeds.", tier: Capability, requirements: []string{"ACP-AUTH-004"},
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			switch {
			case err != nil:
				return err
			case !d.hello.logout:
				return skip("auth.logout is not offered")
			case !s.Logout:
				return skip("it may end a real login; --allow-logout allows it")
			}
			_, err = d.call(ctx, acp.MethodLogout, object{})
			return err
		}},
	{id: "shutdown", title: "The agent exits when its input is closed.", tier: Advisory, requirements: []string{"ACP-SHUTDOWN-001"},
		do: func(s *stage, ctx context.Context) error {
			d, err := s.ready(ctx)
			if err != nil {
				return err
			}
			return s.exits(d)
		}},
	{id: "shutdown-busy", title: "The agent exits when its input is closed in a turn.", tier: Advisory, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, one, err := s.session(ctx)
			if err != nil {
				return err
			}
			c, err := s.busy(ctx, d, one)
			if err != nil {
				return err
			}
			if err := s.stillBusy(ctx, d, one, c); err != nil {
				return err
			}
			return s.exits(d)
		}},
	{id: "restart", title: "After it was killed in a turn, the agent starts and works again.", tier: Advisory, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, one, err := s.session(ctx)
			if err != nil {
				return err
			}
			if _, err := s.busy(ctx, d, one); err != nil {
				return err
			}
			s.kill()
			s.stop()
			s.renew()
			if d, err = s.ready(ctx); err == nil {
				_, err = s.open(ctx, d, acp.MethodSessionNew, s.fresh())
			}
			return err
		}},
}

// exitTime is how long an agent may take to exit.
const exitTime = 5 * time.Second

// exits closes the input of the agent and waits for its exit.
func (s *stage) exits(d *driven) error {
	defer s.stop()
	d.hangUp()
	select {
	case <-d.agent.Exited:
		s.note = d.agent.Status()
		return nil
	case <-time.After(exitTime):
		return stillRuns(exitTime)
	}
}

// stillRuns is the fault of an agent that does not exit in some time.
type stillRuns time.Duration

func (t stillRuns) Error() string { return fmt.Sprintf("it still runs %v later", time.Duration(t)) }
