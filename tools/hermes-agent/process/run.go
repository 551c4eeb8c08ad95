package process

import (
	"context"
	"time"
)

// Run runs a command in the foreground and returns all its output. When ctx or
// the time ends, it ends the command; late says that this was the reason.
func (r *Registry) Run(ctx context.Context, c Command, timeout time.Duration) (out Output, late bool, err error) {
	p, err := r.start(ctx, c)
	if err != nil {
		return Output{}, false, err
	}
	defer r.forget(p)
	expired := time.NewTimer(timeout)
	defer expired.Stop()
	select {
	case <-p.done:
	case <-ctx.Done():
		err = ctx.Err()
	case <-expired.C:
		late = true
	}
	if ended := r.end(p); err == nil {
		err = ended
	}
	return r.news(p), late, err
}
