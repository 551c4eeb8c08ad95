package project

import (
	"context"
	"time"

	"github.com/hermes-nvim/hermes/runtime/review"
)

// Programs write in pieces, and empty or remove a file before they write it. So a text
// is taken only when its writer is done, which is judged here for every reader. A text
// is done if nobody had touched the file for a while when it was read. A missing text is
// done if it has been missing for a while by the clock of this program. The times of
// such a file do not show that: on ext4 an emptied file has the time of the write before
// for as long as its blocks are being freed.
//
// No wait decides whose a line is. A text that is taken because the limit is over may be
// a part of a write; lines that are missing from it then come back as they were, see
// review.Review.Synced.
type settling struct {
	quiet time.Duration // how long a file must have been left alone
	gone  time.Duration // how long it must have been empty or gone
	limit time.Duration // how long one look waits at most for files that are written all the time
}

func (s *settling) setDefaults() {
	if *s == (settling{}) {
		*s = settling{quiet: 40 * time.Millisecond, gone: 300 * time.Millisecond, limit: 600 * time.Millisecond}
	}
}

// isNothing reports whether a state has no text where the next one may have some.
func isNothing(s review.State) bool {
	return s.Kind == review.Absent || s.Kind == review.Regular && s.Text == ""
}

// settle waits a little if the writer of a file may not be done. s is what a look has
// read that began at seen. It reports whether it has waited; then the file may be
// another one.
func (p *Project) settle(ctx context.Context, j *job, name string, s review.State, seen time.Time) bool {
	wait := p.unsettled(j, name, s, seen)
	if wait <= 0 {
		return false
	}
	wait = min(wait, p.opts.settle.quiet)
	j.waited += wait
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// unsettled returns how long to wait until the state that was read is taken, if it is
// still the same then.
func (p *Project) unsettled(j *job, name string, s review.State, seen time.Time) time.Duration {
	missing := p.missing(name, s)
	if j.waited >= p.opts.settle.limit {
		return 0
	}
	if !missing.IsZero() {
		return p.opts.settle.gone - time.Since(missing)
	}
	dir, base, err := p.open(name)
	if err != nil {
		return 0
	}
	defer dir.Close()
	info, err := dir.Lstat(base)
	if err != nil {
		return 0
	}
	changed := info.ModTime()
	switch now := time.Now(); {
	case changed.After(now): // by the clock of another machine
		return 0
	case changed.Add(p.opts.settle.quiet).After(seen): // then it may not be what was read
		return max(p.opts.settle.quiet-now.Sub(changed), 1)
	}
	return 0
}

// missing returns since when the text of a file has been missing, as far as this program
// has seen. It is zero if it is not.
func (p *Project) missing(name string, s review.State) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !isNothing(s) {
		delete(p.gone, name)
		return time.Time{}
	}
	since, ok := p.gone[name]
	if !ok {
		since = time.Now()
		p.gone[name] = since
	}
	return since
}

// settled notes that it is known what a file is.
func (p *Project) settled(name string) {
	p.mu.Lock()
	delete(p.gone, name)
	p.mu.Unlock()
}

// isMissing reports whether a text was there before, and is missing now.
func isMissing(before, now review.State) bool { return isNothing(now) && !isNothing(before) }
