package reviews

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/review/patch"
	"github.com/hermes-nvim/hermes/internal/review/project"
	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/review"
)

const (
	maxTries   = 5                // of a decision about a buffer that the user is changing
	applyLimit = 20 * time.Second // for Lua to change a buffer
	MaxDiff    = 64 << 10         // bytes, of a file in a preview
	maxDiffs   = 1 << 20          // of all its files

	ProgressPeriod = 2 * time.Second // of a decision about many files
)

// apply is a change of a held buffer that Lua is to make.
type apply struct {
	name     string        // of the file
	result   chan error    // capacity 1
	recorded chan struct{} // closed when the review knows what became of it
}

// selection is what a decision is about.
func (p *Folder) selection(s selected) review.Selection {
	return review.Selection{Hunk: s.Hunk, Path: p.named(s.Path), Session: p.reviews.key(p, s.place), Turn: s.Turn, Version: s.Version}
}

func (p *Folder) reject(op rejectOp) (decisionMade, error) {
	s := p.selection(op.selected)
	return p.carryOut(func(only string) (*review.Plan, error) {
		once := s
		if only != "" {
			once.Path = only
		}
		plan, err := p.Reject(once, op.Force)
		if err == nil && s.Decision == 0 {
			s.Decision = plan.Decision
			p.decided(plan.Decision)
		}
		return plan, err
	})
}

func (p *Folder) undo(op undoOp) (decisionMade, error) {
	p.mu.Lock()
	if n := len(p.last); op.Decision == 0 && n > 0 {
		op.Decision = p.last[n-1]
	}
	p.last = slices.DeleteFunc(p.last, func(d uint32) bool { return d == op.Decision })
	p.mu.Unlock()
	made, err := p.carryOut(func(string) (*review.Plan, error) { return p.Undo(op.Decision) })
	made.Decision = op.Decision
	return made, err
}

func (p *Folder) accept(op acceptOp) (decisionMade, error) {
	before := make(map[string]int)
	for _, f := range p.Review().Files() {
		before[f.Path] = f.Hunks
	}
	decision, err := p.Review().Accept(p.selection(op.selected))
	if decision == 0 {
		return decisionMade{}, err
	}
	if err != nil {
		p.reviews.host.Log.Error("accept", "error", err)
	}
	p.decided(decision)
	for _, f := range p.Review().Files() {
		if before[f.Path] == f.Hunks {
			delete(before, f.Path)
		}
	}
	files := []outcome{}
	for name := range before {
		files = append(files, outcome{Path: p.Path(name)})
	}
	slices.SortFunc(files, func(a, b outcome) int { return strings.Compare(a.Path, b.Path) })
	return made(decision, files), nil
}

// made is the answer to a decision.
func made(decision uint32, files []outcome) decisionMade {
	slices.SortStableFunc(files, func(a, b outcome) int {
		failed := func(o outcome) int {
			if o.Error != nil {
				return 0
			}
			return 1
		}
		return failed(a) - failed(b)
	})
	failed := 0
	for _, o := range files {
		if o.Error != nil {
			failed++
		}
	}
	n := min(len(files), PageFiles)
	return decisionMade{Decision: decision, Files: files[:n], Total: len(files), Failed: failed, More: len(files) - n}
}

func (p *Folder) decided(decision uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last = append(p.last, decision); len(p.last) > maxChanges {
		p.last = slices.Delete(p.last, 0, 1)
	}
}

// carryOut makes a plan and applies it. Files that have changed meanwhile are
// planned again.
func (p *Folder) carryOut(plan func(only string) (*review.Plan, error)) (decisionMade, error) {
	todo, err := plan("")
	if err != nil {
		return decisionMade{}, err
	}
	files := []outcome{}
	done := p.progress(todo)
	for i, c := range todo.Changes {
		done(i)
		err := p.applyOne(todo, c)
		for try := 1; try < maxTries && errors.Is(err, review.ErrStale); try++ {
			again, failed := plan(c.Path)
			if len(todo.Changes) == 1 && errors.As(failed, new(*review.ChangedError)) {
				return decisionMade{}, failed // nothing has been done
			}
			if failed != nil {
				err = failed
				break
			}
			if i := slices.IndexFunc(again.Changes, func(o review.Change) bool { return o.Path == c.Path }); i >= 0 {
				err = p.applyOne(again, again.Changes[i])
			}
		}
		o := outcome{Path: p.Path(c.Path)}
		if err != nil {
			text := err.Error()
			o.Error = &text
		}
		files = append(files, o)
	}
	return made(todo.Decision, append(files, p.refused(todo)...)), nil
}

// progress returns a function that shows the user from time to time how many files of a
// plan are done.
func (p *Folder) progress(plan *review.Plan) func(files int) {
	told := time.Now()
	return func(files int) {
		if time.Since(told) > ProgressPeriod {
			told = time.Now()
			p.reviews.host.Notice("info", "%d of %d files done in %s", files, len(plan.Changes), p.Given)
		}
	}
}

// refused are the files that a plan leaves out.
func (p *Folder) refused(plan *review.Plan) (files []outcome) {
	for _, r := range plan.Refused {
		text := r.Err.Error()
		files = append(files, outcome{Path: p.Path(r.Path), Error: &text})
	}
	return files
}

// applyOne applies what a plan does to one file.
func (p *Folder) applyOne(plan *review.Plan, change review.Change) error {
	var waits *apply
	err := p.ApplyOne(plan, change, func(c review.Change) error {
		var err error
		waits, err = p.inBuffer(c)
		return err
	})
	if waits != nil {
		close(waits.recorded)
	} else { // a buffer without its file may have one again
		p.reviews.host.Push(wire.ItemOf(Hold{Path: p.Path(change.Path)}))
	}
	if unstored := (*store.Error)(nil); errors.As(err, &unstored) { // the user knows already
		p.reviews.host.Log.Error("store a decision", "error", err)
		return nil
	}
	return err
}

// inBuffer has Lua make a change in a held buffer.
func (p *Folder) inBuffer(c review.Change) (*apply, error) {
	a := &apply{name: c.Path, result: make(chan error, 1), recorded: make(chan struct{})}
	id := p.reviews.applied.Add(1)
	p.mu.Lock()
	tick := p.ticks[c.Path]
	p.applies[id] = a
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.applies, id)
	}()
	message := Apply{ID: id, Path: p.Path(c.Path), Tick: tick}
	switch {
	case c.After.Kind == review.Absent:
		message.Delete = true
	case c.Before.Kind == review.Link:
		return a, errors.New("it is a link now; close its buffer first")
	case c.Before.Kind == review.Other:
		return a, errors.New("it is not a file with lines now; close its buffer first")
	case c.After.Kind == review.Link:
		return a, errors.New("it would be a link again; close its buffer first")
	case c.After.Kind == review.Other:
		return a, errors.New("it would again not be a file with lines; close its buffer first")
	case c.Before.Kind == review.Absent:
		message.Text = &c.After.Text
	default:
		for _, e := range c.Edits {
			message.Edits = append(message.Edits, editJSON{Start: e.Start, End: e.End, Lines: slices.Concat([]string{}, e.Lines)})
		}
	}
	if c.After.Mode != c.Before.Mode && c.After.Kind == review.Regular && c.Before.Kind == review.Regular {
		message.Mode = uint32(c.After.Mode)
	}
	h := p.reviews.host
	h.Push(wire.ItemOf(message).Whole())
	select {
	case err := <-a.result:
		return a, err
	case <-time.After(applyLimit):
		return a, errors.New("the editor does not answer")
	case <-h.Context.Done():
		return a, context.Cause(h.Context)
	}
}

// wasApplied takes Lua's answer. It finds the request by the id, because the
// path may lead elsewhere by now. The next messages of Lua are handled once the
// review knows of it, so that the user's next edit comes after it.
func (p *Folder) wasApplied(op appliedOp) {
	p.mu.Lock()
	a := p.applies[op.ID]
	if a != nil {
		delete(p.applies, op.ID)
		p.ticks[a.name] = op.Tick
	}
	p.mu.Unlock()
	if a == nil {
		if name := p.Name(op.Path); op.OK && p.Held(name) { // too late
			p.reviews.host.Push(wire.ItemOf(Hold{Path: p.Path(name), Again: true}))
		}
		return
	}
	switch {
	case op.OK:
		a.result <- nil
	case op.Stale:
		a.result <- review.ErrStale
	default:
		a.result <- errors.New(op.Error)
	}
	<-a.recorded
}

// diffOf is the diff of a change, or as many of its lines as there is room for.
func diffOf(c review.Change, room int) (diff string, cut bool) {
	var b strings.Builder
	if err := patch.Change(&b, c); err != nil {
		return "", true
	}
	if diff = b.String(); len(diff) <= room {
		return diff, false
	}
	return diff[:1+strings.LastIndexByte(diff[:room], '\n')], true
}

var errOther = &wire.Error{Kind: wire.ErrorChanged, Message: "going back would change something else now than was shown; look at it again"}

func (p *Folder) restore(op restoreOp) (restored, error) {
	opts := project.RestoreOptions{Session: p.reviews.key(p, op.place), Everything: op.Everything}
	for _, path := range op.Paths {
		opts.Paths = append(opts.Paths, p.Name(path))
	}
	plan, err := p.Restore(p.reviews.host.Context, op.Checkpoint, opts)
	if op.Shown != "" && errors.Is(err, review.ErrNothing) {
		err = errOther
	}
	if err != nil {
		return restored{}, err
	}
	if op.Preview {
		files := []outcome{}
		room := maxDiffs
		for _, c := range plan.Changes {
			added, removed := c.Lines()
			diff, cut := diffOf(c, min(room, MaxDiff))
			room -= len(diff)
			files = append(files, outcome{
				Path: p.Path(c.Path), Before: kindNames[c.Before.Kind], After: kindNames[c.After.Kind],
				Added: added, Removed: removed, Diff: diff, Cut: cut, Incomplete: c.Incomplete,
			})
		}
		return restored{Files: files, Shown: plan.Sum()}, nil
	}
	if op.Shown != "" && op.Shown != plan.Sum() {
		return restored{}, errOther
	}
	if err := plan.Begin(); err != nil {
		return restored{}, err
	}
	p.decided(plan.Decision)
	points := p.Review().Checkpoints()
	files := []outcome{}
	done := p.progress(plan)
	for i, c := range plan.Changes {
		done(i)
		o := outcome{Path: p.Path(c.Path), Incomplete: c.Incomplete}
		if err := p.applyOne(plan, c); err != nil {
			text := err.Error()
			o.Error = &text
		}
		files = append(files, o)
	}
	files = append(files, p.refused(plan)...)
	return restored{Decision: plan.Decision, Checkpoint: points[len(points)-1].ID, Files: files}, nil
}

// settles reports whether something other than a decision accepts changes.
func (r *Reviews) settles(by string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.settleBy, by)
}

// Asked notes that a tool call is asked about.
func (p *Folder) Asked(by review.Author) { p.approved.asked(by) }

// Approve notes diffs that the user has allowed.
func (p *Folder) Approve(by review.Author, content []acp.ToolCallContent) {
	if p.reviews.settles(settleApproval) {
		p.approved.add(by, content, p.Name)
	}
}

// CallGoesOn notes how far a tool call is.
func (p *Folder) CallGoesOn(by review.Author, begins, ended bool) {
	p.approved.callGoesOn(by, begins, ended)
}

// settleApproved accepts what the changes of a file have done as the user has approved it.
func (p *Folder) settleApproved(name string) {
	approved := p.approved.of(name)
	if len(approved) == 0 {
		return
	}
	var changes []review.Event
	p.mu.Lock()
	for _, e := range p.changes {
		if e.Path == name {
			changes = append(changes, e)
		}
	}
	p.mu.Unlock()
	for _, a := range approved {
		for _, e := range changes {
			text, fits := applied(e.Before, a.diff)
			if !fits {
				continue
			}
			accepted, err := p.Review().AcceptApproved(name, e.Change, a.by, e.Before, text)
			if err != nil {
				p.reviews.host.Log.Error("accept what was approved", "file", name, "error", err)
			}
			if accepted {
				p.approved.forget(func(o *approvedDiff) bool { return o == a })
				break
			}
		}
	}
}
