package project

import (
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// A change that happened while no editor had the project is reported when one has.
// The files are then what they became, so that only the reports say what they were.

// isMissed reports whether a report is about such a change.
func (p *Project) isMissed(r feed.Report) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !r.At.IsZero() && (p.opened.IsZero() || r.At.Before(p.opened))
}

// missed returns what a report says of the files. Of several changes of a file, the
// first says what it was, and the last what it is.
func (p *Project) missed(r feed.Report) (told []Told) {
	before, ok := p.textOf(r.Before)
	after, whole := p.textOf(r.After)
	add := func(path string, before, after *string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if first, again := p.earliest[path]; again {
			before = first
		} else {
			p.earliest[path] = before
		}
		told = append(told, Told{Path: path, Before: before, After: after, missed: true})
	}
	switch {
	case r.Kind == feed.Remove && ok:
		add(r.Path, before, nil)
	case r.Kind == feed.Write && ok && whole:
		add(r.Path, before, after)
	case r.Kind == feed.Rename && whole:
		add(r.From, after, nil)
		if r.Before == nil || ok {
			add(r.Path, before, after)
		}
	case r.Kind == feed.Rename:
		return toldOf([]string{r.From, r.Path})
	default:
		return toldOf([]string{r.Path})
	}
	return told
}

// replay records a missed change of a file that is still what it became. It reports
// false if it is not, or if something is pending in it.
func (p *Project) replay(author review.Author, name string, told Told, now review.State) bool {
	state := func(text *string) review.State {
		if text == nil {
			return review.State{}
		}
		s := review.State{Kind: review.Regular, Text: *text, Mode: now.Mode}
		if now.Kind != review.Regular {
			s.Mode = 0o644
		}
		return s
	}
	before := state(told.Before)
	base, current, tracked := p.review.Known(name)
	if now != state(told.After) || before == now || tracked && (base != current || current != now) {
		return false
	}
	if tracked {
		p.failed("record a change", name, p.review.Wrote(name, before, false))
	}
	p.failed("record a change", name, p.review.Changed(author, name, &before, now))
	return true
}
