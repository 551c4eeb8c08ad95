package reviews

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/project"
	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// settleLimit is how long a question waits for looks at the disk.
const settleLimit = 2 * time.Second

// Operations are what Lua says and asks about files under review, by name.
func (r *Reviews) Operations() map[string]wire.Operation {
	return map[string]wire.Operation{
		"review.open": wire.Takes(func(id string, op openOp) error {
			return r.take(id, func() (any, error) { return r.openNow(op.Root) })
		}).Ends(opened{}),
		"review.files": listed(r, r.files, func(op filesOp) error {
			if !op.Open {
				r.adopt(op.Cwd)
				return nil
			}
			_, err := r.openNow(cmp.Or(op.Root, op.Cwd))
			if errors.As(err, new(*store.LockedError)) {
				return nil // another program reviews the folder: the answer says so
			}
			return err
		}),
		"review.hunks": listed(r, r.hunks, func(op hunksOp) error { r.adopt(op.Cwd); return nil }),
		"review.turn": listed(r, func(op turnOp) (turnFiles, error) {
			p, err := r.one(op.place)
			if err != nil {
				return turnFiles{}, err
			}
			files := turnFiles{Paths: []string{}}
			for _, name := range p.Review().TurnFiles(r.key(p, op.place)) {
				files.Paths = append(files.Paths, p.Path(name))
			}
			return files, nil
		}, func(op turnOp) error { r.adopt(op.Cwd); return nil }),
		"review.checkpoints": wire.Takes(func(id string, op checkpointsOp) error {
			return r.take(id, func() (any, error) {
				r.adopt(op.Cwd)
				return r.checkpoints(op)
			})
		}).Ends(checkpointsList{}),

		"review.base":   asked(r, (*Folder).base),
		"review.blame":  asked(r, (*Folder).blame),
		"review.change": asked(r, (*Folder).change),
		"review.program": asked(r, func(p *Folder, op programOp) (programOf, error) {
			agent, session := p.Program(op.PID)
			return programOf{agent, session}, nil
		}),
		"review.process": asked(r, func(p *Folder, op processOp) (processOf, error) {
			return processOf{p.Process(op.Agent, string(op.Session))}, nil
		}),
		"review.prompted": long(r, (*Folder).prompted),
		"review.accept":   decided(r, (*Folder).accept),
		"review.reject":   decided(r, (*Folder).reject),
		"review.undo":     decided(r, (*Folder).undo),
		"review.restore":  decided(r, (*Folder).restore),

		"review.hold": told(r, func(op holdOp) error {
			p := r.of(op.Path)
			if p == nil { // the review has gone to another program
				r.host.Push(wire.ItemOf(Release{op.Path}))
				return nil
			}
			return p.hold(p.Name(op.Path), op)
		}),
		"review.release": told(r, func(op releaseOp) error {
			if p := r.of(op.Path); p != nil {
				p.mu.Lock()
				delete(p.ticks, p.Name(op.Path))
				p.mu.Unlock()
				p.Release(op.Path)
			}
			return nil
		}),
		"review.edited": told(r, func(op editedOp) error {
			if p := r.of(op.Path); p != nil {
				p.userEdited(p.Name(op.Path), op)
			}
			return nil
		}),
		"review.changed": wire.Takes(func(id string, op changedOp) error {
			a := r.authorOf(op) // now: the turn may end before the rest is done
			return r.take(id, func() (any, error) { return nil, r.changed(a, op) })
		}),
		"review.wrote": told(r, r.wrote),
		"review.applied": told(r, func(op appliedOp) error {
			for _, p := range r.all() {
				p.wasApplied(op)
			}
			return nil
		}),
		"review.barrier": told(r, func(op barrierOp) error { r.passed(op.ID); return nil }),
	}
}

// told makes an operation that nobody waits for.
func told[T any](r *Reviews, do func(op T) error) wire.Operation {
	return wire.Takes(func(id string, op T) error {
		return r.take(id, func() (any, error) { return nil, do(op) })
	})
}

// asked is a question about one review.
func asked[T placed, R any](r *Reviews, do func(p *Folder, op T) (R, error)) wire.Operation {
	var result R
	return wire.Takes(func(id string, op T) error {
		return r.take(id, func() (any, error) {
			r.adopt(op.where().Cwd)
			p, err := r.one(op.where())
			if err != nil {
				return nil, err
			}
			return do(p, op)
		})
	}).Ends(result)
}

// long is one that takes its time: what Lua says next does not wait for it.
func long[T placed, R any](r *Reviews, do func(p *Folder, op T) (R, error)) wire.Operation {
	var result R
	return wire.Takes(func(id string, op T) error {
		return r.take(id, func() (any, error) {
			r.adopt(op.where().Cwd)
			p, err := r.one(op.where())
			if err != nil {
				return nil, err
			}
			r.host.Start(func() {
				result, err := do(p, op)
				r.answer(id, result, err)
			})
			return nil, errLater
		})
	}).Ends(result)
}

// decided is a decision. Those of one review are carried out one after the other.
func decided[T placed, R any](r *Reviews, do func(p *Folder, op T) (R, error)) wire.Operation {
	return long(r, func(p *Folder, op T) (R, error) {
		p.deciding.Lock()
		defer p.deciding.Unlock()
		return do(p, op)
	})
}

// listed is a question about what agents have changed so far. open opens the review.
func listed[T, R any](r *Reviews, do func(op T) (R, error), open func(op T) error) wire.Operation {
	var result R
	return wire.Takes(func(id string, op T) error {
		return r.take(id, func() (any, error) {
			if err := open(op); err != nil {
				return nil, err
			}
			r.host.Start(func() {
				r.settle()
				r.Post(func() {
					result, err := do(op)
					r.answer(id, result, err)
				})
			})
			return nil, errLater
		})
	}).Ends(result)
}

// take does what Lua says in order, on the goroutine of the reviews. id is empty if no answer
// is expected.
func (r *Reviews) take(id string, do func() (any, error)) error {
	if !r.IsOn() {
		if id != "" {
			return &wire.Error{Kind: wire.ErrorInvalid, Message: "the review is off; setup{review = true} turns it on"}
		}
		return nil
	}
	r.Post(func() {
		result, err := do()
		r.answer(id, result, err)
	})
	return nil
}

func (r *Reviews) answer(id string, result any, err error) {
	switch {
	case errors.Is(err, errLater):
	case id == "" && err != nil:
		r.host.Log.Warn("review", "error", err)
	case id == "":
	case err != nil:
		r.host.Fail(id, reviewError(err))
	default:
		r.host.done(id, result)
	}
}

// settle waits until it is known what agents have changed so far. A question
// about that may come right after the end of a turn.
func (r *Reviews) settle() {
	ctx, cancel := context.WithTimeout(r.host.Context, settleLimit)
	defer cancel()
	waited := false
	for _, p := range r.all() {
		if err := p.Replayed(ctx); err != nil {
			r.host.Log.Warn("the answer may lack changes from before", "error", err)
		}
		if p.Settled() {
			continue
		}
		waited = true
		if err := p.Wait(ctx); err != nil {
			r.host.Log.Warn("the answer may lack the newest changes", "error", err)
		}
	}
	if waited {
		r.barrier(r.host.Context, true, drawLimit) // for buffers that follow the disk
	}
}

// errLater says that the answer comes later.
var errLater = errors.New("later")

// reviewError is the error that Lua gets.
func reviewError(err error) error {
	var touched *review.TouchedError
	var changed *review.ChangedError
	var op *wire.Error
	switch {
	case errors.As(err, &op):
		return err
	case errors.As(err, &touched):
		return &wire.Error{Kind: wire.ErrorTouched, Message: err.Error(), Data: wire.Encode(map[string]any{
			"path": touched.Path, "hunk": touched.Hunk, "lines": touched.Lines,
		})}
	case errors.As(err, &changed):
		return &wire.Error{Kind: wire.ErrorChanged, Message: err.Error(), Data: wire.Encode(map[string]any{
			"path": changed.Path, "hunk": changed.Hunk,
		})}
	case errors.Is(err, review.ErrNothing):
		return &wire.Error{Kind: wire.ErrorNothing, Message: err.Error()}
	}
	return &wire.Error{Kind: wire.ErrorInvalid, Message: err.Error()}
}

// where finds the review that an operation is about; nil if there is none.
func (r *Reviews) where(op place) (*Folder, error) {
	switch {
	case op.Root != "":
		real, _ := filepath.EvalSymlinks(op.Root)
		for _, p := range r.all() {
			if p.Given == filepath.Clean(op.Root) || p.Root() == real {
				return p, nil
			}
		}
		return nil, wire.Invalid("no review of %s is open", op.Root)
	case op.Path != "":
		return r.of(op.Path), nil
	case op.Session != "":
		if s := r.host.session(op.Agent, op.Session); s != nil {
			if p := r.Open(s.Root()); p.IsOpen() {
				return p, nil
			}
		}
	}
	all := r.all()
	if op.Cwd != "" {
		if p := r.of(filepath.Join(op.Cwd, "x")); p != nil {
			return p, nil
		}
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return nil, nil
}

// one is the review that a question is about.
func (r *Reviews) one(at place) (*Folder, error) {
	p, err := r.where(at)
	if p == nil && err == nil {
		err = &wire.Error{Kind: wire.ErrorNothing, Message: "nothing is under review here"}
	}
	return p, err
}

// adopt opens the review of a folder that has one from before, unless one is open.
func (r *Reviews) adopt(cwd string) {
	r.mu.Lock()
	state, any := r.state, len(r.projects) > 0
	r.mu.Unlock()
	if any || cwd == "" {
		return
	}
	real, err := filepath.EvalSymlinks(cwd)
	if err != nil {
		return
	}
	if _, err := os.Stat(store.Dir(state, real)); err == nil {
		r.Open(real).IsOpen()
	}
}

// key is how a review names the session of an operation; empty for any.
func (r *Reviews) key(p *Folder, op place) string {
	if op.Session == "" {
		return ""
	}
	for _, f := range p.Review().Files() {
		for _, key := range f.Sessions {
			if agent, id := r.splitKey(key); id == string(op.Session) && (op.Agent == "" || op.Agent == agent) {
				return key
			}
		}
	}
	if op.Agent != "" {
		return SessionKey(op.Agent, op.Session)
	}
	if s := r.host.session("", op.Session); s != nil {
		return SessionKey(s.Agent(), op.Session)
	}
	return "/" + string(op.Session)
}

// named is the name of a file in the review; empty for none.
func (p *Folder) named(path string) string {
	if path == "" {
		return ""
	}
	return p.Name(path)
}

func (p *Folder) base(op baseOp) (baseStates, error) {
	base, current, known := p.Review().Known(p.named(op.Path))
	if !known {
		return baseStates{}, &wire.Error{Kind: wire.ErrorNothing, Message: "the file is not under review"}
	}
	return baseStates{stateOf(base), stateOf(current)}, nil
}

func (p *Folder) blame(op blameOp) (blameLines, error) {
	list := blameLines{Lines: []blameJSON{}}
	for _, b := range p.Review().Blame(p.named(op.Path)) {
		list.Lines = append(list.Lines, blameJSON{b.Range.Start, b.Range.End, p.author(b.Author), b.Pending})
	}
	return list, nil
}

func (p *Folder) change(op changeOp) (changeStates, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.changes, func(e review.Event) bool { return e.Change == op.Change })
	if i < 0 {
		return changeStates{}, &wire.Error{Kind: wire.ErrorNothing, Message: "the texts of that change are not kept any more"}
	}
	e := p.changes[i]
	return changeStates{p.Path(e.Path), stateOf(e.Before), stateOf(e.After), p.author(e.Author)}, nil
}

// wrote takes a file that the user has written.
func (r *Reviews) wrote(op wroteOp) error {
	for _, p := range r.all() {
		if !filepath.IsAbs(p.Name(op.Path)) || p.Held(p.Name(op.Path)) {
			p.UserSaved(op.Path, op.Before, op.Text)
		}
	}
	if to := r.reporterOf(op.Path); to != nil {
		to.saved(op.Path, op.Before, op.Text)
	}
	return nil
}

func (p *Folder) hold(name string, op holdOp) error {
	p.mu.Lock()
	p.ticks[name] = op.Tick
	p.mu.Unlock()
	err := p.Hold(op.Path, project.Text{Text: op.Text, Undo: op.Undo, Reloaded: op.Reloaded})
	p.mu.Lock()
	delete(p.pushed, name) // after it is held: messages before that had no hunks for the buffer
	p.mu.Unlock()
	p.touch(name)
	return err
}

// userEdited takes the user's edits of a buffer. If they do not fit, the whole
// text is asked for.
func (p *Folder) userEdited(name string, op editedOp) {
	if !p.Held(name) {
		return
	}
	p.mu.Lock()
	p.ticks[name] = op.Tick
	p.mu.Unlock()
	for _, e := range op.Edits {
		if err := p.Review().Edited(name, review.Edit{Start: e.Start, End: e.End, Lines: e.Lines}, e.Undo); err != nil {
			p.reviews.host.Log.Warn("an edit does not fit", "error", err)
			p.reviews.host.Push(wire.ItemOf(Hold{Path: p.Path(name), Again: true}))
			break
		}
	}
	p.touch(name)
}

// authorOf says whose a change is that has reached a buffer.
func (r *Reviews) authorOf(op changedOp) review.Author {
	a := review.Author{Session: SessionKey(op.Agent, op.Session), ToolCall: op.ToolCall, Source: cmp.Or(op.Source, "disk")}
	a.Inferred = a.Source == "disk"
	if s := r.host.session(op.Agent, op.Session); s != nil {
		a.Turn, _ = s.Prompted()
		if a.Source == "write" {
			a.ToolCall = cmp.Or(a.ToolCall, s.CallAbout(op.Path)) // Lua knows the write alone
		}
	}
	return a
}

// changed takes a change of an agent, or of the disk, that has reached a buffer.
func (r *Reviews) changed(a review.Author, op changedOp) error {
	p := r.of(op.Path)
	if s := r.host.session(op.Agent, op.Session); s != nil && p == nil {
		if p = r.Open(s.Root()); !p.IsOpen() {
			p = nil
		}
	}
	if p == nil {
		if op.Hold {
			r.host.Push(wire.ItemOf(Release{op.Path}))
		}
		if op.Agent != "" {
			r.changedElsewhere(a, op)
		}
		if to := r.reporterOf(op.Path); to != nil {
			if op.Text != nil && op.Before != nil && op.Agent != "" {
				to.changed(a, op.Path, *op.Before, *op.Text)
			}
		}
		return nil
	}
	if a.Inferred {
		// Lua knows only a part of the author for which it was asked to look.
		if whole := p.Awaited(op.Path); whole != nil {
			if agent, id := r.splitKey(whole.Session); op.Agent == "" || agent == op.Agent && id == string(op.Session) {
				a = *whole
			}
		}
	}
	user := false
	if a.Inferred && op.Agent == "" { // nobody knows: as whatever a look finds
		var running bool
		a, running = p.Running()
		user = !running
	}
	name := p.Name(op.Path)
	held := p.Held(name)
	switch {
	case held && op.Text != nil && op.Agent == "" && p.Saved(op.Path, op.disk()):
		p.mu.Lock()
		p.ticks[name] = op.Tick
		p.mu.Unlock()
		p.OnDisk(op.Path, op.disk())
		defer p.touch(name)
		return p.Merged(op.Path, *op.Text)
	case op.Text == nil && user:
		p.Release(op.Path)
		return nil
	case op.Text == nil:
		p.Parted(a, op.Path)
		return nil
	case !held && op.Hold:
		return p.holdChanged(a, user, name, op)
	case !held && a.Source != "write":
		// The buffer shows what the disk had, which may be another one by now.
		if !user {
			p.Look(a, project.Told{Path: op.Path, Before: op.Before, After: op.Text})
		}
		return nil
	}
	p.mu.Lock()
	p.ticks[name] = op.Tick
	p.mu.Unlock()
	if a.Source != "write" {
		p.OnDisk(op.Path, op.disk())
	}
	if user {
		defer p.touch(name)
		return p.Hold(op.Path, project.Text{Text: *op.Text, Reloaded: true})
	}
	return p.Changed(a, op.Path, op.Before, *op.Text)
}

// holdChanged takes a change that has reached a buffer, which is held from now on.
func (p *Folder) holdChanged(a review.Author, user bool, name string, op changedOp) error {
	disk := op.disk()
	if a.Source == "write" {
		if err := p.Changed(a, op.Path, op.Before, *op.Text); err != nil {
			return err
		}
	} else if !p.Taken(a, user, project.Told{Path: op.Path, Before: op.Before, After: &disk}) {
		p.reviews.host.Push(wire.ItemOf(Release{p.Path(name)})) // the buffer must look again
		p.reviews.host.Push(wire.ItemOf(Hold{Path: p.Path(name)}))
		return nil
	}
	return p.hold(name, holdOp{Path: op.Path, Text: *op.Text, Tick: op.Tick})
}

// changedElsewhere sends the event of a change of an agent in a file that no
// review has.
func (r *Reviews) changedElsewhere(a review.Author, op changedOp) {
	o := new(wire.Object).Str("agent", op.Agent).Str("sessionId", string(op.Session)).Optional("toolCallId", op.ToolCall).
		Optional("turn", a.Turn).Str("path", op.Path).Str("source", a.Source).Str("fidelity", map[bool]string{true: "inferred", false: "exact"}[a.Inferred])
	if op.Text != nil && op.Before != nil {
		e := review.Event{Before: review.State{Text: *op.Before}, After: review.State{Text: *op.Text}}
		added, removed := e.Lines()
		o.Num("added", int64(added)).Num("removed", int64(removed))
	}
	r.host.Queue.Push(o.Item(events.FileEdited))
}

// prompted makes the checkpoint of a prompt.
func (p *Folder) prompted(op promptedOp) (none, error) {
	ctx, cancel := context.WithTimeout(p.reviews.host.Context, PromptLimit)
	defer cancel()
	return none{}, p.Checkpoint(ctx, SessionKey(op.Agent, op.Session), rand.Text(), op.Text)
}
