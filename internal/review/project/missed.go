package project

import (
	"encoding/json"
	"io/fs"
	"slices"
	"time"

	"github.com/hermes-nvim/hermes/internal/shim/journal"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/feed"
)

// A change that happened while no editor had the project is reported when one has.
// The files are then what they became, so that only the reports say what they were.

// catchUp records what programs in a shim did to files that are known, in order and
// before anything looks at the disk: what differs from the last known text would be
// taken for the user's, and so for accepted.
func (p *Project) catchUp() {
	var handled []feed.Position
	json.Unmarshal(p.store.Cache(feedCache), &handled)
	seen := make(map[string]uint64)
	for _, at := range handled {
		seen[at.Producer] = at.Seq
	}
	type change struct {
		author review.Author
		name   string
		told   Told
	}
	var changes []change
	caught := make(map[string]uint64)
	known := make(map[string]time.Time)
	for _, name := range p.review.Paths() {
		known[name] = p.review.LastChange(name).Truncate(time.Millisecond) // as reports say it
	}
	for _, dir := range p.journals() {
		err := journal.Reports(dir, func(r feed.Report) {
			caught[r.Producer] = max(caught[r.Producer], r.Seq)
			if r.Seq <= seen[r.Producer] || r.Author.Inferred {
				return
			}
			p.told(r, p.textOf, func(t Told) {
				name := p.Name(t.Path)
				if last, ok := known[name]; ok && r.At.Truncate(time.Millisecond).After(last) {
					author := authorOf(r)
					author.At = r.At
					changes = append(changes, change{author, name, t})
				}
			})
		})
		if err != nil {
			p.log.Warn("a journal is not read", "error", err)
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return a.author.At.Compare(b.author.At) })
	p.attributing.Lock()
	defer p.attributing.Unlock()
	for _, c := range changes {
		_, current, _ := p.review.Known(c.name)
		before, after := c.told.states(current)
		p.failed("record a change", c.name, p.review.Reported(c.author, c.name, before, after))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for name := range known {
		p.redone[name] = true
	}
	p.caught = caught
}

// hasCaughtUp reports whether what a report says is recorded already, by this program or one
// before it. A look for it would give its author what the user does meanwhile.
func (p *Project) hasCaughtUp(r feed.Report, paths []string) bool {
	if r.Seq > 0 {
		p.caughtUp()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return r.Seq > 0 && r.Seq <= p.caught[r.Producer] && !r.Author.Inferred &&
		!slices.ContainsFunc(paths, func(path string) bool { return !p.redone[p.Name(path)] })
}

// told calls f for each file of a report, with the texts that it had before and
// after; nil means no file. It returns false if the report does not have them.
func (p *Project) told(r feed.Report, textOf func(*feed.Version) (*string, bool), f func(Told)) bool {
	before, ok := textOf(r.Before)
	after, whole := textOf(r.After)
	switch {
	case r.Kind == feed.Remove && ok:
		f(Told{Path: r.Path, Before: before, modes: [2]*fs.FileMode{modeOf(r.Before)}})
	case r.Kind == feed.Write && ok && whole:
		f(Told{Path: r.Path, Before: before, After: after, modes: [2]*fs.FileMode{modeOf(r.Before), modeOf(r.After)}})
	case r.Kind == feed.Rename && whole:
		f(Told{Path: r.From, Before: after, modes: [2]*fs.FileMode{modeOf(r.After)}})
		if r.Before == nil || ok {
			f(Told{Path: r.Path, Before: before, After: after, modes: [2]*fs.FileMode{modeOf(r.Before), modeOf(r.After)}})
		}
	default:
		return false
	}
	return true
}

func modeOf(v *feed.Version) *fs.FileMode {
	if v == nil {
		return nil
	}
	return v.Mode
}

// states returns the states of a file before and after. Missing permissions are
// taken from another state of it.
func (t Told) states(like review.State) (before, after review.State) {
	return stateOf(t.Before, t.modes[0], like), stateOf(t.After, t.modes[1], like)
}

// stateOf returns the state of a file with a text, nil if there is none.
func stateOf(text *string, mode *fs.FileMode, like review.State) review.State {
	s := review.State{Kind: review.Regular, Mode: 0o644}
	switch {
	case text == nil:
		return review.State{}
	case mode != nil:
		s.Mode = *mode
	case like.Kind == review.Regular:
		s.Mode = like.Mode
	}
	s.Text = *text
	return s
}

// isMissed reports whether a report is about such a change.
func (p *Project) isMissed(r feed.Report) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !r.At.IsZero() && (p.opened.IsZero() || r.At.Before(p.opened))
}

// missed returns what a report says of the files. If a file has changed several
// times, the first report says what it was, and the last what it is.
func (p *Project) missed(r feed.Report) (told []Told) {
	known := p.told(r, p.textOf, func(t Told) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if first, again := p.earliest[t.Path]; again {
			t.Before, t.modes[0] = first.Before, first.modes[0]
		} else {
			p.earliest[t.Path] = t
		}
		t.missed = true
		told = append(told, t)
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
	p.mu.Lock()
	redone := p.redone[name]
	p.mu.Unlock()
	if redone {
		return false
	}
	before, after := told.states(now)
	base, current, tracked := p.review.Known(name)
	if now != after || before == now || tracked && (base != current || current != now) {
		return false
	}
	p.failed("record a change", name, p.review.Claimed(author, name, before, now))
	return true
}
