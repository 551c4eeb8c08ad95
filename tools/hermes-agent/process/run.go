package process

import (
	"context"
	"time"
)

// minLeft is how often it is looked at least whether the time of a command is over.
const minLeft = 10 * time.Millisecond

// Run runs a command in the foreground and returns all its output. When ctx or
// the time ends, it ends the command; late says that this was the reason. The time in which
// the command waits for answers does not count.
func (r *Registry) Run(ctx context.Context, c Command, timeout time.Duration) (out Output, late bool, err error) {
	p, err := r.start(ctx, c)
	if err != nil {
		return Output{}, false, err
	}
	defer r.forget(p)
	expired := time.NewTimer(timeout)
	defer expired.Stop()
	for running := true; running && !late; {
		select {
		case <-p.done:
			running = false
		case <-ctx.Done():
			running, err = false, ctx.Err()
		case <-expired.C:
			left := timeout + p.hasWaited(r.now()) - r.now().Sub(p.started)
			late = left <= 0
			expired.Reset(max(left, minLeft))
		}
	}
	if ended := r.end(p); err == nil {
		err = ended
	}
	return r.news(p), late, err
}
