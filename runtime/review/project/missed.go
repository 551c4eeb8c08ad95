package project

import (
	"encoding/json"

	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
	"github.com/hermes-nvim/hermes/runtime/shim"
)

// A change that happened while no editor had the project is reported when one has.
// The files are then what they became, so that only the reports say what they were.

// catchUp records what programs in a shim did to files that are known, in order and
// before anything looks at the disk: what differs from the last known text would be
// taken for the user's, and so for accepted. A change counts if the file was what the
// journal says it was.
func (p *Project) catchUp() {
	var handled []feed.Position
	json.Unmarshal(p.store.Cache(feedCache), &handled)
	seen := make(map[string]uint64)
	for _, at := range handled {
		seen[at.Producer] = at.Seq
	}
	for _, dir := range p.journals() {
		err := shim.Reports(dir, func(r feed.Report) {
			if r.Seq > seen[r.Producer] {
				p.redo(r)
			}
		})
		if err != nil {
			p.log.Warn("a journal is not read", "error", err)
		}
	}
}

// redo records a change of files that are known.
func (p *Project) redo(r feed.Report) {
	p.told(r, func(path string, before, after *string) {
		p.attributing.Lock()
		defer p.attributing.Unlock()
		name := p.Name(path)
		_, current, known := p.review.Known(name)
		was, is := stateOf(before, current), stateOf(after, current)
		if known && current == was && was != is {
			p.failed("record a change", name, p.review.Changed(authorOf(r), name, nil, is))
		}
	})
}

// told calls f with what a report says that each of its files was and is, nil for no
// file. It returns false if the report does not say that.
func (p *Project) told(r feed.Report, f func(path string, before, after *string)) bool {
	before, ok := p.textOf(r.Before)
	after, whole := p.textOf(r.After)
	switch {
	case r.Kind == feed.Remove && ok:
		f(r.Path, before, nil)
	case r.Kind == feed.Write && ok && whole:
		f(r.Path, before, after)
	case r.Kind == feed.Rename && whole:
		f(r.From, after, nil)
		if r.Before == nil || ok {
			f(r.Path, before, after)
		}
	default:
		return false
	}
	return true
}

// stateOf returns the state of a file with a text, nil if there is none. Its mode is
// that of another state of it.
func stateOf(text *string, like review.State) review.State {
	switch {
	case text == nil:
		return review.State{}
	case like.Kind != review.Regular:
		return review.State{Kind: review.Regular, Text: *text, Mode: 0o644}
	}
	return review.State{Kind: review.Regular, Text: *text, Mode: like.Mode}
}

// isMissed reports whether a report is about such a change.
func (p *Project) isMissed(r feed.Report) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !r.At.IsZero() && (p.opened.IsZero() || r.At.Before(p.opened))
}

// missed returns what a report says of the files. Of several changes of a file, the
// first says what it was, and the last what it is.
func (p *Project) missed(r feed.Report) (told []Told) {
	known := p.told(r, func(path string, before, after *string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if first, again := p.earliest[path]; again {
			before = first
		} else {
			p.earliest[path] = before
		}
		told = append(told, Told{Path: path, Before: before, After: after, missed: true})
	})
	switch {
	case known:
		return told
	case r.Kind == feed.Rename:
		return toldOf([]string{r.From, r.Path})
	}
	return toldOf([]string{r.Path})
}

// replay records a missed change of a file that is still what it became. It reports
// false if it is not, or if something is pending in it.
func (p *Project) replay(author review.Author, name string, told Told, now review.State) bool {
	before := stateOf(told.Before, now)
	base, current, tracked := p.review.Known(name)
	if now != stateOf(told.After, now) || before == now || tracked && (base != current || current != now) {
		return false
	}
	if tracked {
		p.failed("record a change", name, p.review.Wrote(name, before, false))
	}
	p.failed("record a change", name, p.review.Changed(author, name, &before, now))
	return true
}
