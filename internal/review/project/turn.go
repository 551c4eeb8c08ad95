package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/tree"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// Prompt looks for what the user has changed since the last turn, makes a
// checkpoint and begins a turn. It returns when that is done or ctx ends; then it
// is done later, and what has changed after ctx ended is the session's.
func (p *Project) Prompt(ctx context.Context, session, turn, name string) error {
	p.settleCommitted()
	author := review.Author{Session: session, Turn: turn, Source: "disk", Inferred: true}
	var err error
	j := &job{user: true, scan: true, turn: author, done: make(chan struct{})}
	j.then = func(now *tree.Snapshot) {
		p.mu.Lock()
		clear(p.guessed)
		p.went, p.came = nil, nil
		p.mu.Unlock()
		err = p.checkpoint(session, turn, name, now)
	}
	p.mu.Lock() // what is found before is looked for before
	if others := slices.DeleteFunc(slices.Clone(p.started), func(s string) bool { return s == session }); len(others) > 0 {
		j.user, j.author = false, p.running[others[len(others)-1]]
	}
	p.running[session] = author
	joined := p.joinedLocked(session)
	joined.turns = begin(joined.turns, turn, time.Now())
	p.started = append(slices.DeleteFunc(p.started, func(s string) bool { return s == session }), session)
	added := p.addLocked(j)
	p.mu.Unlock()
	if !added {
		return fmt.Errorf("review %s: %w", p.given, os.ErrClosed)
	}
	p.failed("store that a turn runs", "", p.review.Works(session, true))
	select {
	case <-j.done:
		return err
	case <-ctx.Done():
		p.mu.Lock()
		j.late = time.Now()
		p.mu.Unlock()
		return fmt.Errorf("review %s: make a checkpoint: %w", p.given, context.Cause(ctx))
	}
}

// Told is what a tool call says about a file.
type Told struct {
	Path string
	// Before and After are its texts, if the tool call has them. They count only
	// if nothing else is known, and if After is what the file is.
	Before, After *string
	modes         [2]*fs.FileMode // the permissions before and after, if a report has them
	missed        bool            // it happened before it was known what the files are
	exact         bool            // a journal has both
}

// Expect notes what files are that an agent is about to change. It reads those
// that no snapshot has.
func (p *Project) Expect(paths ...string) {
	for _, path := range paths {
		for _, name := range p.names(path) {
			if p.covered(name) || p.isKnown(name) {
				continue
			}
			if s, err := p.read(name); err == nil {
				p.failed("track", name, p.review.Track(name, s))
			}
		}
	}
}

// Look looks at files that a session has changed by a tool call.
func (p *Project) Look(author review.Author, files ...Told) {
	p.add(&job{author: author, files: files})
}

// Scan looks at all files, after something that may have changed any of them.
// The changes are the author's.
func (p *Project) Scan(author review.Author) {
	p.add(&job{author: author, scan: true})
}

// TurnEnded is a Scan after the last thing that a turn did.
func (p *Project) TurnEnded(author review.Author) {
	p.mu.Lock()
	joined := p.joinedLocked(author.Session)
	if i := running(joined.turns, author.Turn); i >= 0 {
		joined.turns[i].to = time.Now()
	}
	p.mu.Unlock()
	p.add(&job{author: author, scan: true, then: func(*tree.Snapshot) {
		p.settleCommitted() // while the turn still runs: the agent's commits accept nothing
		p.mu.Lock()
		last := p.running[author.Session].Turn == author.Turn
		if last {
			delete(p.running, author.Session)
			p.started = slices.DeleteFunc(p.started, func(s string) bool { return s == author.Session })
		}
		p.mu.Unlock()
		if last {
			p.failed("store that a turn is over", "", p.review.Works(author.Session, false))
		}
	}})
}

// Running returns the session that was prompted last of those whose turns have
// not ended.
func (p *Project) Running() (author review.Author, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.runningLocked()
}

func (p *Project) runningLocked() (author review.Author, ok bool) {
	if len(p.started) == 0 {
		return author, false
	}
	return p.running[p.started[len(p.started)-1]], true
}

// clockStep is how far the times of files are behind, at most: the system takes them
// from a clock that ticks.
const clockStep = 20 * time.Millisecond

// isLate reports whether a file, or the folder that has lost it, has changed after the
// prompt was sent for which a look is. It was sent before the look was done.
func (p *Project) isLate(j *job, name string) bool {
	p.mu.Lock()
	late := j.late
	p.mu.Unlock()
	if !j.user || late.IsZero() {
		return false
	}
	info, err := os.Lstat(p.Path(name))
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Lstat(filepath.Dir(p.Path(name)))
	}
	return err == nil && info.ModTime().After(late.Add(-clockStep))
}
