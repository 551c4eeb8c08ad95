package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hermes-nvim/hermes/acp"
)

// cancels are the steps of session/cancel.
var cancels = []*step{
	{id: "cancel", title: "A turn that is cancelled ends as cancelled, and not with an error.", tier: Mandatory, requirements: []string{"ACP-CANCEL-001", "ACP-CANCEL-002"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, one, err := s.session(ctx)
			if err != nil {
				return err
			}
			return s.interrupted(ctx, d, one, func() error {
				s.cancel(d, one)
				return nil
			})
		}},
	{id: "cancel-then-prompt", title: "After a cancel the session takes another prompt.", tier: Advisory, session: true,
		do: func(s *stage, ctx context.Context) error { return s.oneTurn(ctx, s.Prompts[0]) }},
	{id: "cancel-idle", title: "A cancel without a turn is ignored.", tier: Advisory, requirements: []string{"ACP-JSONRPC-003"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, one, err := s.session(ctx)
			if err != nil {
				return err
			}
			return s.unanswered(ctx, d, func() error {
				s.cancel(d, one)
				return nil
			})
		}},
	{id: "close-busy", title: "Closing a session ends its turn as cancelled.", tier: Capability, requirements: []string{"ACP-CLOSE-002"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, _, err := s.offering(ctx, "close")
			if err != nil {
				return err
			}
			one, err := s.open(ctx, d, acp.MethodSessionNew, s.fresh())
			if err != nil {
				return err
			}
			return s.interrupted(ctx, d, one, func() error {
				_, err := d.call(ctx, acp.MethodSessionClose, object{"sessionId": one.id})
				return err
			})
		}},
}

// interrupted plays a turn that something ends.
func (s *stage) interrupted(ctx context.Context, d *driven, one *session, interrupt func() error) error {
	c, err := s.busy(ctx, d, one)
	if err != nil {
		return err
	}
	tooEarly := skip("the turn ended before it could be cancelled; --cancel-prompt TEXT gives the agent more to do")
	if len(c.answer) > 0 {
		_, err := s.turn(ctx, d, one, c)
		if err == nil {
			return tooEarly
		}
		return err
	}
	began := time.Now()
	if err := interrupt(); err != nil {
		return err
	}
	stop, err := d.stopReason(ctx, c)
	if f := (*failure)(nil); (err == nil && stop != "cancelled" || errors.As(err, &f)) && time.Since(began) < quiet {
		return tooEarly // they may have crossed
	}
	if err == nil && stop != "cancelled" {
		return fmt.Errorf("the turn ended with %s, %v after it was cancelled", stop, time.Since(began).Round(10*time.Millisecond))
	}
	if err == nil {
		one.turns++
		time.Sleep(quiet) // in which the linter sees late updates
	}
	return err
}

// unanswered does something that has no answer, and sees that the agent is still there.
func (s *stage) unanswered(ctx context.Context, d *driven, do func() error) error {
	stray, end := d.expect(func(m *message) bool { return m.IsAnswer() && d.open[string(m.ID)] == nil })
	defer end()
	if err := do(); err != nil {
		return err
	}
	if err := s.alive(ctx, d); err != nil {
		return err
	}
	select {
	case m := <-stray:
		return fmt.Errorf("it is answered: %s", quoted(string(m.text)))
	case <-time.After(quiet):
		return nil
	}
}

// alive sees that the agent still answers.
func (s *stage) alive(ctx context.Context, d *driven) error {
	_, err := d.call(ctx, customMethod, object{})
	if f := (*failure)(nil); errors.As(err, &f) {
		return nil
	}
	return err
}
