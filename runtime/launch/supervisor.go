package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Restarts says how often an agent that ends is restarted. A zero member means
// its default.
type Restarts struct {
	// Max is how many restarts are allowed Within a time: 4 in 3 minutes. Older
	// restarts do not count.
	Max    int
	Within time.Duration
	// Pause is the wait before the first of these; each further one waits twice
	// as long, up to MaxPause: 0.5 s and 8 s. Up to half of each is added at
	// random, within MaxPause, so that many agents do not start at once.
	Pause, MaxPause time.Duration
	// OnPause is called before each wait with the number of the restart, the
	// length of the wait and why the agent ended.
	OnPause func(restart int, pause time.Duration, cause error)
}

func (r Restarts) withDefaults() Restarts {
	r.Max = cmp.Or(r.Max, 4)
	r.Within = cmp.Or(r.Within, 3*time.Minute)
	r.Pause = cmp.Or(r.Pause, 500*time.Millisecond)
	r.MaxPause = cmp.Or(r.MaxPause, 8*time.Second)
	return r
}

// RestartError says that an agent keeps ending and is no longer restarted. Err
// is how it last ended: an *ExitError, or the *StartError.
type RestartError struct {
	Command  string
	Restarts int
	Within   time.Duration
	Err      error
}

func (e *RestartError) Error() string {
	return fmt.Sprintf("%s: gave up after %d restarts in %v: %v", e.Command, e.Restarts, e.Within, e.Err)
}

func (e *RestartError) Unwrap() error { return e.Err }

// Permanent says that the next attempt would be refused as well.
func (e *RestartError) Permanent() bool { return true }

// Supervisor restarts an agent when it has ended, but not endlessly. It runs
// one process at a time. Its methods are safe for concurrent use.
type Supervisor struct {
	cmd    Command
	policy Restarts
	turn   chan struct{} // holds a token while no start runs

	// Owned by the goroutine that has the turn.
	last   *Process
	failed error       // of the last start, nil if it succeeded
	starts []time.Time // restarts within the policy's time
	began  bool        // the next start is a restart

	now   func() time.Time // has the monotonic clock
	sleep func(context.Context, time.Duration) error
}

// Supervise returns a Supervisor of cmd; nothing is started yet.
func Supervise(cmd Command, policy Restarts) *Supervisor {
	s := &Supervisor{cmd: cmd, policy: policy.withDefaults(), turn: make(chan struct{}, 1), now: time.Now, sleep: sleep}
	s.turn <- struct{}{}
	return s
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Start starts the agent: the first time at once, after that as a restart, once
// the pause is over. A process that is still running is stopped first; the
// caller still closes its transport. When the restarts are used up the error is
// a *RestartError, until some of them are old enough or Reset is called. A
// failed start, with a *StartError, counts like an agent that ended at once.
// ctx bounds the pause and the agent's life as in the function Start.
func (s *Supervisor) Start(ctx context.Context) (*Process, error) {
	select {
	case <-s.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { s.turn <- struct{}{} }()
	if err := s.stop(ctx); err != nil {
		return nil, err
	}
	if s.began {
		if err := s.pause(ctx); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.began = true
	s.last, s.failed = Start(ctx, s.cmd)
	return s.last, s.failed
}

func (s *Supervisor) stop(ctx context.Context) error {
	if s.last == nil {
		return nil
	}
	return s.last.Stop(ctx)
}

// pause counts a restart and waits before it. An interrupted wait does not
// count.
func (s *Supervisor) pause(ctx context.Context) error {
	now := s.now()
	for len(s.starts) > 0 && now.Sub(s.starts[0]) >= s.policy.Within {
		s.starts = s.starts[1:]
	}
	cause := s.failed
	if s.last != nil {
		cause = s.last.Err()
	}
	n := len(s.starts)
	if n >= s.policy.Max {
		return &RestartError{Command: s.cmd.String(), Restarts: n, Within: s.policy.Within, Err: cause}
	}
	d := s.policy.Pause
	for range n {
		d = min(2*d, s.policy.MaxPause)
	}
	d = min(d+rand.N(d/2+1), s.policy.MaxPause)
	if s.policy.OnPause != nil {
		s.policy.OnPause(n+1, d, cause)
	}
	if err := s.sleep(ctx, d); err != nil {
		return err
	}
	s.starts = append(s.starts, s.now())
	return nil
}

// Reset forgets earlier restarts: the next start happens at once and counts as
// the first. It is for a user who asks for it. It waits for a start in
// progress.
func (s *Supervisor) Reset() {
	<-s.turn
	s.starts, s.began = nil, false
	s.turn <- struct{}{}
}

// Run keeps the agent running. It calls serve with each process, in turn; serve
// talks to the agent and returns when it is done or the agent has ended. If the
// agent has ended and serve returned an error, the agent is restarted.
// Otherwise the agent is stopped and Run returns what serve did. Run fails with
// the *RestartError when the restarts are used up, at once with a *StartError,
// because a missing program stays missing, and with the error of ctx.
func (s *Supervisor) Run(ctx context.Context, serve func(context.Context, *Process) error) error {
	for {
		p, err := s.Start(ctx)
		if err != nil {
			return err
		}
		err = serve(ctx, p)
		again := err != nil && ended(p, err) && ctx.Err() == nil
		stopped := p.Transport().Close()
		if !again {
			return errors.Join(err, stopped)
		}
	}
}

// ended reports whether an agent has ended, or is about to: an error that comes
// from its end may be seen before the end.
func ended(p *Process, err error) bool {
	var exit *ExitError
	if errors.As(err, &exit) {
		return true
	}
	return p.gone(lastWords)
}
