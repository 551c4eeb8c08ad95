package project

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/tree"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// An agent of the protocol that runs in a shim is heard twice: the protocol says which
// turn and which tool call runs, and the shim which bytes change. Reports of the shim
// join the turn.

const (
	maxSpans = 100                    // tool calls, and turns, of a session that are remembered
	maxJoins = 200                    // sessions of which that is remembered
	lateness = 500 * time.Millisecond // of the time in a report: when a file was closed is noticed afterwards
)

// span is the time in which a turn or a tool call ran. Reports come late, so those that
// have ended count, too.
type span struct {
	id       string
	from, to time.Time // to is zero while it runs
}

// of returns the place of what ran at a time, or had just ended if nothing did; -1 if
// that is not one alone.
func of(spans []span, at time.Time) int {
	for _, late := range []time.Duration{0, lateness} {
		had := func(s span) bool { return !at.Before(s.from) && (s.to.IsZero() || !at.After(s.to.Add(late))) }
		if i := slices.IndexFunc(spans, had); i >= 0 {
			if slices.ContainsFunc(spans[i+1:], had) {
				return -1
			}
			return i
		}
	}
	return -1
}

// begin adds what runs from a time on.
func begin(spans []span, id string, at time.Time) []span {
	spans = append(spans, span{id: id, from: at.Truncate(time.Millisecond)}) // as reports say it
	return spans[max(0, len(spans)-maxSpans):]
}

// running returns the place of what has not ended, -1 if it does not run.
func running(spans []span, id string) int {
	return slices.IndexFunc(spans, func(s span) bool { return s.id == id && s.to.IsZero() })
}

// joining is what is known of a session that reports may join.
type joining struct {
	turn  string // the last one
	turns []span // as far as the protocol says when they run
	calls []span
	used  time.Time // last
}

// joinedLocked returns what is known of a session, and begins to know it. p.mu is held.
func (p *Project) joinedLocked(session string) *joining {
	j := p.joined[session]
	if j == nil {
		if len(p.joined) >= maxJoins {
			delete(p.joined, p.idlestLocked())
		}
		j = new(joining)
		p.joined[session] = j
	}
	j.used = time.Now()
	return j
}

// idlestLocked returns the session that was used longest ago, one whose turn runs only
// if all do. p.mu is held.
func (p *Project) idlestLocked() string {
	busy := func(session string) int {
		if _, runs := p.running[session]; runs {
			return 1
		}
		return 0
	}
	return slices.MinFunc(slices.Collect(maps.Keys(p.joined)), func(a, b string) int {
		return cmp.Or(busy(a)-busy(b), p.joined[a].used.Compare(p.joined[b].used))
	})
}

// Called notes that a tool call of a session runs, or has ended.
func (p *Project) Called(session, call string, at time.Time, ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	j := p.joinedLocked(session)
	i := running(j.calls, call)
	switch {
	case ended && i >= 0:
		j.calls[i].to = at
	case !ended && i < 0:
		j.calls = begin(j.calls, call, at)
	}
}

// join says in which turn and tool call a reported change belongs. A report without a
// session belongs to the only turn that its agent ran then.
func (p *Project) join(author review.Author, r feed.Report) review.Author {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := r.At
	if at.IsZero() {
		at = time.Now()
	}
	if r.Agent != "" && r.Author.Session == "" {
		var sessions []string
		var turns []span
		for session, j := range p.joined {
			if strings.HasPrefix(session, r.Agent+"/") {
				for _, t := range j.turns {
					sessions, turns = append(sessions, session), append(turns, t)
				}
			}
		}
		if i := of(turns, at); i >= 0 {
			author.Session = sessions[i]
		}
	}
	j := p.joined[author.Session]
	if j == nil || author.Turn != "" {
		return author
	}
	j.used = time.Now()
	author.Turn = j.turn
	if i := of(j.turns, at); i >= 0 {
		author.Turn = j.turns[i].id
	}
	if author.ToolCall != "" {
		return author
	}
	if i := of(j.calls, at); i >= 0 {
		author.ToolCall = j.calls[i].id
	}
	return author
}

// Checkpoint makes a checkpoint of a prompt to a program whose turns nobody reports.
// The next reports of the session belong to that turn. Checkpoint returns when the
// checkpoint is made, or when ctx ends; then it is made later.
func (p *Project) Checkpoint(ctx context.Context, session, turn, name string) error {
	var err error
	j := &job{user: true, scan: true, done: make(chan struct{})}
	if running, busy := p.Running(); busy {
		j.user, j.author = false, running
	}
	j.then = func(now *tree.Snapshot) { err = p.checkpoint(session, turn, name, now) }
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

// checkpoint records a checkpoint of what a snapshot has, nil if there is none.
func (p *Project) checkpoint(session, turn, name string, now *tree.Snapshot) error {
	p.mu.Lock()
	p.joinedLocked(session).turn = turn
	p.mu.Unlock()
	c := review.Checkpoint{Name: title(name), Session: session, Turn: turn}
	if now != nil {
		var err error
		if c.Tree, err = now.Save(p.store); err != nil {
			p.log.Warn("the checkpoint has no snapshot", "error", err)
		}
	}
	_, err := p.review.Checkpoint(c)
	p.review.StartTurn(session, turn)
	return err
}
