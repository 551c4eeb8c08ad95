package project

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/tree"
)

// Prompt looks for what the user has changed since the last turn, makes a
// checkpoint and begins a turn. It returns when that is done or ctx ends; then it
// is done later.
func (p *Project) Prompt(ctx context.Context, session, turn, name string) error {
	author := review.Author{Session: session, Turn: turn, Source: "disk", Inferred: true}
	var err error
	j := &job{user: true, scan: true, done: make(chan struct{})}
	p.mu.Lock()
	if others := slices.DeleteFunc(slices.Clone(p.started), func(s string) bool { return s == session }); len(others) > 0 {
		j.user, j.author = false, p.running[others[len(others)-1]]
	}
	p.running[session] = author
	p.started = append(slices.DeleteFunc(p.started, func(s string) bool { return s == session }), session)
	p.mu.Unlock()
	j.then = func(now *tree.Snapshot) {
		p.mu.Lock()
		clear(p.guessed)
		p.mu.Unlock()
		c := review.Checkpoint{Name: title(name), Session: session, Turn: turn}
		if now != nil {
			if c.Tree, err = now.Save(p.store); err != nil {
				p.log.Warn("the checkpoint has no snapshot", "error", err)
			}
		}
		_, err = p.review.Checkpoint(c)
		p.review.StartTurn(session, turn)
	}
	if !p.add(j) {
		return fmt.Errorf("review %s: %w", p.given, os.ErrClosed)
	}
	select {
	case <-j.done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("review %s: make a checkpoint: %w", p.given, context.Cause(ctx))
	}
}

// Told is what a tool call says of a file.
type Told struct {
	Path string
	// Before and After are its texts, if the tool call has them. They count only
	// if nothing else is known, and if After is what the file is.
	Before, After *string
	missed        bool // it happened before it was known what the files are
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
// What changed is the author's.
func (p *Project) Scan(author review.Author) {
	p.add(&job{author: author, scan: true})
}

// TurnEnded is a Scan after the last thing that a turn did.
func (p *Project) TurnEnded(author review.Author) {
	p.add(&job{author: author, scan: true, then: func(*tree.Snapshot) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.running[author.Session].Turn == author.Turn {
			delete(p.running, author.Session)
			p.started = slices.DeleteFunc(p.started, func(s string) bool { return s == author.Session })
		}
	}})
}

// Running returns the session that was prompted last of those whose turns have
// not ended.
func (p *Project) Running() (author review.Author, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.started) == 0 {
		return author, false
	}
	return p.running[p.started[len(p.started)-1]], true
}
