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

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/review/project"
	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// settleLimit is how long a question waits for looks at the disk.
const settleLimit = 2 * time.Second

// Op is what Lua says or asks about files under review.
type Op struct {
	Do   string `json:"do"`
	Root string `json:"root"`
	Cwd  string `json:"cwd"`
	Path string `json:"path"`
	Open bool   `json:"open"` // the review of the folder, unless it is
	PID  int    `json:"pid"`

	// Of a buffer.
	Text     *string    `json:"text"`
	Before   *string    `json:"before"`
	Disk     *string    `json:"disk"` // what a merge has taken from it
	Hold     bool       `json:"hold"` // from now on
	Undo     bool       `json:"undo"`
	Reloaded bool       `json:"reloaded"`
	Tick     int64      `json:"tick"`
	Edits    []editJSON `json:"edits"`
	editJSON

	// Of an agent's change.
	Agent    string        `json:"agent"`
	Session  acp.SessionID `json:"sessionId"`
	ToolCall string        `json:"toolCallId"`
	Source   string        `json:"source"`
	author   review.Author // whose it was when Lua said it

	// Of a decision.
	Hunk       uint64          `json:"hunk"`
	Version    review.ChangeID `json:"version"` // of the hunk as it was shown
	Shown      string          `json:"shown"`   // the sum of the restore that was shown
	Turn       string          `json:"turn"`
	Force      bool            `json:"force"`
	Decision   uint32          `json:"decision"`
	Checkpoint string          `json:"checkpoint"`
	Paths      []string        `json:"paths"`
	Everything bool            `json:"everything"`
	Preview    bool            `json:"preview"`

	Change review.ChangeID `json:"change"`

	// Of a list: how many entries are passed over.
	From int `json:"from"`

	// Of an apply.
	ID    int64  `json:"id"`
	OK    bool   `json:"ok"`
	Stale bool   `json:"stale"`
	Error string `json:"error"`
}

type editJSON struct {
	Start int      `json:"start"`
	End   int      `json:"end"`
	Lines []string `json:"lines"`
	Undo  bool     `json:"undo"`
}

// Take takes what Lua says, in order. id is empty if no answer is expected.
func (r *Reviews) Take(id string, op Op) error {
	if !r.IsOn() {
		if id != "" {
			return &wire.Error{Kind: wire.ErrorInvalid, Message: "the review is off; setup{review = true} turns it on"}
		}
		return nil
	}
	if op.Do == "changed" {
		op.author = r.authorOf(op) // now: the turn may end before the op is done
	}
	answer := func() {
		result, err := r.do(id, op)
		switch {
		case errors.Is(err, errLater):
		case id == "" && err != nil:
			r.host.Log.Warn("review", "do", op.Do, "path", op.Path, "error", err)
		case id == "":
		case err != nil:
			r.host.Fail(id, reviewError(err))
		default:
			r.host.done(id, result)
		}
	}
	if op.Do != "files" && op.Do != "hunks" && op.Do != "turn" {
		r.Post(answer)
		return nil
	}
	r.Post(func() {
		if err := r.adopt(op); err != nil && id != "" {
			r.host.Fail(id, reviewError(err))
			return
		}
		r.host.Start(func() {
			r.settle()
			r.Post(answer)
		})
	})
	return nil
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
func (r *Reviews) where(op Op) (*Folder, error) {
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

// adopt opens the review of a folder that has one from before, and of any folder if
// the operation says so: programs outside then know where to report. That another
// program reviews the folder is not an error: the answer says so.
func (r *Reviews) adopt(op Op) error {
	if op.Open {
		_, err := r.openNow(cmp.Or(op.Root, op.Cwd))
		if errors.As(err, new(*store.LockedError)) {
			return nil
		}
		return err
	}
	r.mu.Lock()
	state, any := r.state, len(r.projects) > 0
	r.mu.Unlock()
	if any || op.Cwd == "" {
		return nil
	}
	real, err := filepath.EvalSymlinks(op.Cwd)
	if err != nil {
		return nil
	}
	if _, err := os.Stat(store.Dir(state, real)); err == nil {
		r.Open(real).IsOpen()
	}
	return nil
}

// key is how a review names the session of an operation; empty for any.
func (r *Reviews) key(p *Folder, op Op) string {
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

// do does an operation. It runs on the goroutine of the reviews.
func (r *Reviews) do(id string, op Op) (any, error) {
	if id != "" {
		if err := r.adopt(op); err != nil {
			return nil, err
		}
	}
	switch op.Do {
	case "open":
		return r.openNow(op.Root)
	case "files", "checkpoints", "hunks":
		return r.list(op)
	case "barrier":
		r.passed(op.ID)
		return nil, nil
	case "changed":
		return nil, r.changed(op)
	case "wrote":
		for _, p := range r.all() {
			if !filepath.IsAbs(p.Name(op.Path)) || p.Held(p.Name(op.Path)) {
				p.UserWrote(op.Path)
			}
		}
		if to := r.reporterOf(op.Path); to != nil {
			to.saved(op.Path, op.Before, op.Text)
		}
		return nil, nil
	case "applied":
		for _, p := range r.all() {
			p.wasApplied(op)
		}
		return nil, nil
	}
	p, err := r.where(op)
	if err != nil {
		return nil, err
	}
	if p == nil && id == "" {
		if op.Do == "hold" { // the review has gone to another program
			r.host.Queue.Push(new(wire.Object).Str("path", op.Path).Item(KindRelease))
		}
		return nil, nil
	}
	if p == nil {
		return nil, &wire.Error{Kind: wire.ErrorNothing, Message: "nothing is under review here"}
	}
	name := ""
	if op.Path != "" {
		name = p.Name(op.Path)
	}
	switch op.Do {
	case "hold":
		return nil, p.hold(name, op)
	case "release":
		p.mu.Lock()
		delete(p.ticks, name)
		p.mu.Unlock()
		p.Release(op.Path)
	case "edited":
		p.userEdited(name, op)
	case "base":
		base, current, known := p.Review().Known(name)
		if !known {
			return nil, &wire.Error{Kind: wire.ErrorNothing, Message: "the file is not under review"}
		}
		return map[string]any{"base": stateOf(base), "current": stateOf(current)}, nil
	case "blame":
		type line struct {
			rangeJSON
			Author  authorJSON `json:"author"`
			Pending bool       `json:"pending"`
		}
		lines := []line{}
		for _, b := range p.Review().Blame(name) {
			lines = append(lines, line{rangeJSON(b.Range), p.author(b.Author), b.Pending})
		}
		return map[string]any{"lines": lines}, nil
	case "turn":
		paths := []string{}
		for _, name := range p.Review().TurnFiles(r.key(p, op)) {
			paths = append(paths, p.Path(name))
		}
		return map[string]any{"paths": paths}, nil
	case "change":
		p.mu.Lock()
		i := slices.IndexFunc(p.changes, func(e review.Event) bool { return e.Change == op.Change })
		var e review.Event
		if i >= 0 {
			e = p.changes[i]
		}
		p.mu.Unlock()
		if i < 0 {
			return nil, &wire.Error{Kind: wire.ErrorNothing, Message: "the texts of that change are not kept any more"}
		}
		return map[string]any{
			"path": p.Path(e.Path), "before": stateOf(e.Before), "after": stateOf(e.After), "author": p.author(e.Author),
		}, nil
	case "accept", "reject", "undo", "restore":
		r.host.Start(func() { p.decide(id, name, op) })
		return nil, errLater
	case "prompted":
		r.host.Start(func() { p.prompted(id, op) })
		return nil, errLater
	case "program":
		agent, session := p.Program(op.PID)
		return map[string]any{"agent": agent, "sessionId": session}, nil
	case "process":
		return map[string]any{"pid": p.Process(op.Agent, string(op.Session))}, nil
	case "forget":
		return nil, p.Review().Forget(op.Checkpoint)
	default:
		return nil, wire.Invalid("review: there is no %q", op.Do)
	}
	return nil, nil
}

func (p *Folder) hold(name string, op Op) error {
	if op.Text == nil {
		return wire.Invalid("review: hold needs a text")
	}
	p.mu.Lock()
	p.ticks[name] = op.Tick
	p.mu.Unlock()
	err := p.Hold(op.Path, project.Text{Text: *op.Text, Undo: op.Undo, Reloaded: op.Reloaded})
	p.mu.Lock()
	delete(p.pushed, name) // after it is held: what was told before had no hunks for the buffer
	p.mu.Unlock()
	p.touch(name)
	return err
}

// userEdited takes the user's edits of a buffer. If they do not fit, the whole
// text is asked for.
func (p *Folder) userEdited(name string, op Op) {
	if !p.Held(name) {
		return
	}
	p.mu.Lock()
	p.ticks[name] = op.Tick
	p.mu.Unlock()
	edits := op.Edits
	if edits == nil {
		edits = []editJSON{op.editJSON}
	}
	for _, e := range edits {
		if err := p.Review().Edited(name, review.Edit{Start: e.Start, End: e.End, Lines: e.Lines}, e.Undo || op.Undo); err != nil {
			p.reviews.host.Log.Warn("an edit does not fit", "error", err)
			p.reviews.host.Queue.Push(new(wire.Object).Str("path", p.Path(name)).Flag("again", true).Item(KindHold))
			break
		}
	}
	p.touch(name)
}

// authorOf says whose a change is that has reached a buffer.
func (r *Reviews) authorOf(op Op) review.Author {
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
func (r *Reviews) changed(op Op) error {
	a, p := op.author, r.of(op.Path)
	if s := r.host.session(op.Agent, op.Session); s != nil && p == nil {
		if p = r.Open(s.Root()); !p.IsOpen() {
			p = nil
		}
	}
	if p == nil {
		if op.Hold {
			r.host.Queue.Push(new(wire.Object).Str("path", op.Path).Item(KindRelease))
		}
		if op.Agent != "" {
			r.changedElsewhere(op)
		}
		if to := r.reporterOf(op.Path); to != nil {
			if op.Text != nil && op.Before != nil && op.Agent != "" {
				to.changed(op.author, op.Path, *op.Before, *op.Text)
			}
		}
		return nil
	}
	if a.Inferred {
		// Lua knows a part of what was known when it was told to look.
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
func (p *Folder) holdChanged(a review.Author, user bool, name string, op Op) error {
	disk := op.disk()
	if a.Source == "write" {
		if err := p.Changed(a, op.Path, op.Before, *op.Text); err != nil {
			return err
		}
	} else if !p.Taken(a, user, project.Told{Path: op.Path, Before: op.Before, After: &disk}) {
		for _, kind := range []string{KindRelease, KindHold} { // the buffer must look again
			p.reviews.host.Queue.Push(new(wire.Object).Str("path", p.Path(name)).Item(kind))
		}
		return nil
	}
	return p.hold(name, op)
}

// disk is what a buffer has taken from the disk.
func (op Op) disk() string {
	if op.Disk != nil {
		return *op.Disk
	}
	return *op.Text
}

// changedElsewhere tells of a change of an agent in a file that no review has.
func (r *Reviews) changedElsewhere(op Op) {
	a := op.author
	o := new(wire.Object).Str("agent", op.Agent).Str("sessionId", string(op.Session)).Optional("toolCallId", op.ToolCall).
		Optional("turn", a.Turn).Str("path", op.Path).Str("source", a.Source).Str("fidelity", map[bool]string{true: "inferred", false: "exact"}[a.Inferred])
	if op.Text != nil && op.Before != nil {
		e := review.Event{Before: review.State{Text: *op.Before}, After: review.State{Text: *op.Text}}
		added, removed := e.Lines()
		o.Num("added", int64(added)).Num("removed", int64(removed))
	}
	r.host.Queue.Push(o.Item(events.FileEdited))
}

// prompted makes the checkpoint of a prompt to a program in a shim, before it is sent
// to the terminal.
func (p *Folder) prompted(id string, op Op) {
	h := p.reviews.host
	ctx, cancel := context.WithTimeout(h.Context, PromptLimit)
	defer cancel()
	text := ""
	if op.Text != nil {
		text = *op.Text
	}
	if err := p.Checkpoint(ctx, SessionKey(op.Agent, op.Session), rand.Text(), text); err != nil {
		h.Fail(id, reviewError(err))
		return
	}
	h.done(id, nil)
}
