package live

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// cancels are the steps of session/cancel.
var cancels = []*step{
	{id: "cancel", title: "A turn that is cancelled ends as cancelled, and not with an error.", tier: Mandatory, requirements: []string{"ACP-CANCEL-001", "ACP-CANCEL-002"}, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, main, err := s.session(ctx)
			if err != nil {
				return err
			}
			open := func() (*session, error) { return s.apart(ctx, d, main) }
			return s.interrupted(ctx, d, open, func(one *session) error {
				s.cancel(d, one)
				d.canceled = append(d.canceled, one)
				return nil
			})
		}},
	{id: "cancel-then-prompt", title: "After a cancel the session takes another prompt.", tier: Advisory, session: true,
		do: func(s *stage, ctx context.Context) error {
			d, main, err := s.session(ctx)
			if err != nil {
				return err
			}
			sessions := d.canceled
			if len(sessions) == 0 || !s.Lint.RuleSet.Since("2026-12") {
				sessions = []*session{main}
			}
			for _, one := range sessions {
				s.note, err = s.prompt(ctx, d, one, text(s.Prompts[0]), nil)
				if f := (*failure)(nil); one != main && main.turns > 0 && errors.As(err, &f) {
					return fmt.Errorf("a session takes no prompt after a turn of it was cancelled: %w", f)
				} else if err != nil {
					return err
				}
				s.renew()
			}
			return nil
		}},
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
}

// apart returns a session of the step's own, in which it cancels a turn. An agent that takes no
// prompt after that in the session fails the step that is about it, and no other one. Earlier
// rules have only the main session.
func (s *stage) apart(ctx context.Context, d *driven, main *session) (*session, error) {
	if !s.Lint.RuleSet.Since("2026-12") {
		return main, nil
	}
	return s.another(ctx, d)
}

// interrupted plays a turn that something ends. Its end and the interrupt may cross, so a turn
// that ends otherwise than cancelled right after the interrupt proves nothing. Then another one
// is interrupted later: a turn that was short has ended by then, and one that still runs and
// ends right after the interrupt, too, was ended by it.
func (s *stage) interrupted(ctx context.Context, d *driven, open func() (*session, error), interrupt func(*session) error) error {
	crossed, err := s.interruptedAfter(ctx, d, 0, open, interrupt)
	if crossed && s.Lint.RuleSet.Since("2026-12") {
		_, err = s.interruptedAfter(ctx, d, 2*quiet, open, interrupt)
	} else if crossed {
		err = tooEarly
	}
	return err
}

const tooEarly = skip("the turn ended before it could be cancelled; --cancel-prompt TEXT gives the agent more to do")

// interruptedAfter interrupts a turn some time after the agent has begun to work on it. The error
// is what is wrong with how the turn ended, or crossed reports that it may have ended by itself.
func (s *stage) interruptedAfter(ctx context.Context, d *driven, later time.Duration, open func() (*session, error), interrupt func(*session) error) (crossed bool, err error) {
	one, err := open()
	if err != nil {
		return false, err
	}
	c, err := s.busy(ctx, d, one)
	if err != nil {
		return false, err
	}
	time.Sleep(later)
	if err := s.stillBusy(ctx, d, one, c); err != nil {
		return false, err
	}
	began := time.Now()
	s.renew() // to end has its own time, however late the turn began
	if err := interrupt(one); err != nil {
		return false, err
	}
	stop, err := d.stopReason(ctx, c)
	took := time.Since(began)
	if err == nil && stop != "cancelled" {
		err = fmt.Errorf("the turn ended with %s, %v after it was cancelled", stop, took.Round(10*time.Millisecond))
		return took < quiet, err
	}
	if err == nil {
		one.turns++
		time.Sleep(quiet) // in which the linter sees late updates
	}
	return errors.As(err, new(*failure)) && took < quiet, err
}

// stillBusy returns an error if a turn has ended: tooEarly, or what went wrong with it.
func (s *stage) stillBusy(ctx context.Context, d *driven, one *session, c *call) error {
	if len(c.answer) == 0 {
		return nil
	}
	if _, err := s.turn(ctx, d, one, c); err != nil {
		return err
	}
	return tooEarly
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
