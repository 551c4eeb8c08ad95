package process

import (
	"context"
	"strings"
	"time"
)

// minLeft is how often it is looked at least whether the time of a command is over.
const minLeft = 10 * time.Millisecond

// Output is shown while a command runs this often, and this much of it.
const (
	showEvery = 300 * time.Millisecond
	maxShown  = 8 << 10 // bytes
)

// end is the end of a text, of whole lines where that is possible.
func end(text string, size int) string {
	if len(text) <= size {
		return text
	}
	text = text[len(text)-size:]
	if _, rest, ok := strings.Cut(text, "\n"); ok {
		return rest
	}
	return strings.ToValidUTF8(text, "")
}

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
	shows := time.NewTicker(showEvery)
	defer shows.Stop()
	shown := ""
	if _, elsewhere := p.child.(*inClient); elsewhere || c.Progress == nil {
		shows.Stop() // the client shows it
	}
	for running := true; running && !late; {
		select {
		case <-p.done:
			running = false
		case <-ctx.Done():
			running, err = false, ctx.Err()
		case <-shows.C:
			if text := end(p.log(), maxShown); text != shown {
				c.Progress(text)
				shown = text
			}
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
