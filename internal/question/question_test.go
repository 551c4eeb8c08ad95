package question

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestOnlyAnAnswerInTimeThatFitsCounts(t *testing.T) {
	t.Parallel()
	broken, misfit, withdrawn := errors.New("broken"), errors.New("does not fit"), errors.New("withdrawn")
	type ask = func(context.Context, string) (string, error)
	says := func(answer string, err error) ask {
		return func(context.Context, string) (string, error) { return answer, err }
	}
	late := func(ctx context.Context, _ string) (string, error) {
		<-ctx.Done()
		return "yes", nil
	}
	for name, c := range map[string]struct {
		ask       ask
		timeout   time.Duration
		open      int64
		max       int
		withdrawn bool
		want      error
	}{
		"answered":         {ask: says("yes", nil), timeout: time.Minute},
		"the last place":   {ask: says("yes", nil), open: DefaultMaxOpen - 1},
		"nobody":           {want: ErrNobodyToAsk},
		"an error":         {ask: says("yes", broken), want: broken},
		"a misfit":         {ask: says("no", nil), want: misfit},
		"a panic":          {ask: func(context.Context, string) (string, error) { panic("boom") }, want: errAny},
		"too late":         {ask: late, timeout: time.Minute, want: ErrTimeout},
		"withdrawn":        {ask: late, withdrawn: true, want: withdrawn},
		"too many":         {ask: says("yes", nil), open: DefaultMaxOpen, want: ErrTooMany},
		"too many of few":  {ask: says("yes", nil), open: 1, max: 1, want: ErrTooMany},
		"none is accepted": {ask: says("yes", nil), max: -1, want: ErrTooMany},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var open atomic.Int64
				open.Store(c.open)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if c.withdrawn {
					time.AfterFunc(time.Second, func() { cancel(withdrawn) })
				}
				fits := func(_, answer string) error {
					if answer != "yes" {
						return misfit
					}
					return nil
				}
				answer, err := Asker[string, string]{c.ask, fits, c.timeout, c.max}.Put(ctx, &open, "may I?")
				if !errors.Is(err, c.want) && (c.want != errAny || err == nil) || (answer == "yes") != (c.want == nil) {
					t.Errorf("%q, %v; want %v", answer, err, c.want)
				}
				if open.Load() != c.open {
					t.Errorf("%d questions are open, want %d", open.Load(), c.open)
				}
			})
		})
	}
}

var errAny = errors.New("any")
