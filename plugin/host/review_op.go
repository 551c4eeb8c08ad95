package host

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/project"
	"github.com/hermes-nvim/hermes/runtime/review/store"
)

// settleLimit is how long a question waits for looks at the disk.
const settleLimit = 2 * time.Second

// reviewOp is what Lua says or asks about files under review.
type reviewOp struct {
	Do   string `json:"do"`
	Root string `json:"root"`
	Cwd  string `json:"cwd"`
	Path string `json:"path"`

	// Of a buffer.
	Text     *string    `json:"text"`
	Before   *string    `json:"before"`
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

	// Of a decision.
	Hunk       uint64   `json:"hunk"`
	Turn       string   `json:"turn"`
	Force      bool     `json:"force"`
	Decision   uint32   `json:"decision"`
	Checkpoint string   `json:"checkpoint"`
	Paths      []string `json:"paths"`
	Everything bool     `json:"everything"`
	Preview    bool     `json:"preview"`

	Change review.ChangeID `json:"change"`

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

// review takes what Lua says, in order. id is empty if no answer is expected.
func (h *Host) review(id string, op reviewOp) error {
	if !h.reviews.isOn() {
		if id != "" {
			return &opError{Kind: errorInvalid, Message: "the review is off; setup{review = true} turns it on"}
		}
		return nil
	}
	answer := func() {
		result, err := h.reviews.do(id, op)
		switch {
		case errors.Is(err, errLater):
		case id == "" && err != nil:
			h.log.Warn("review", "do", op.Do, "path", op.Path, "error", err)
		case id == "":
		case err != nil:
			h.fail(id, reviewError(err))
		default:
			h.reviewDone(id, result)
		}
	}
	if op.Do != "files" && op.Do != "hunks" && op.Do != "turn" {
		h.reviews.post(answer)
		return nil
	}
	h.reviews.post(func() {
		h.start(func() {
			h.reviews.settle()
			h.reviews.post(answer)
		})
	})
	return nil
}

// settle waits until it is known what agents have changed so far. A question
// about that may come right after the end of a turn.
func (r *reviews) settle() {
	ctx, cancel := context.WithTimeout(r.host.ctx, settleLimit)
	defer cancel()
	waited := false
	for _, p := range r.all() {
		if p.Settled() {
			continue
		}
		waited = true
		if err := p.Wait(ctx); err != nil {
			r.host.log.Warn("the answer may lack the newest changes", "error", err)
		}
	}
	if waited {
		r.barrier(true) // for buffers that follow the disk
	}
}

func (h *Host) reviewDone(id string, result any) {
	o := new(object).str("id", id)
	if result == nil {
		result = struct{}{}
	}
	it := o.raw("result", mustJSON(result)).item(kindDone)
	it.max = maxWrite
	h.queue.push(it)
}

// errLater says that the answer comes later.
var errLater = errors.New("later")

// reviewError is the error that Lua gets.
func reviewError(err error) error {
	var touched *review.TouchedError
	var op *opError
	switch {
	case errors.As(err, &op):
		return err
	case errors.As(err, &touched):
		return &opError{Kind: errorTouched, Message: err.Error(), Data: mustJSON(map[string]any{
			"path": touched.Path, "hunk": touched.Hunk, "lines": touched.Lines,
		})}
	case errors.Is(err, review.ErrNothing):
		return &opError{Kind: errorNothing, Message: err.Error()}
	}
	return &opError{Kind: errorInvalid, Message: err.Error()}
}

// where finds the review that an operation is about; nil if there is none.
func (r *reviews) where(op reviewOp) (*reviewed, error) {
	switch {
	case op.Root != "":
		real, _ := filepath.EvalSymlinks(op.Root)
		for _, p := range r.all() {
			if p.given == filepath.Clean(op.Root) || p.Root() == real {
				return p, nil
			}
		}
		return nil, invalid("no review of %s is open", op.Root)
	case op.Path != "":
		return r.of(op.Path), nil
	case op.Session != "":
		for _, c := range r.host.all() {
			if s, err := r.host.session(c.name, op.Session); err == nil && (op.Agent == "" || op.Agent == c.name) {
				if p := r.open(s.root()); p.is() {
					return p, nil
				}
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

// adopt opens the review of a folder that has one from before.
func (r *reviews) adopt(cwd string) {
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
		r.open(real).is()
	}
}

// key is how a review names the session of an operation; empty for any.
func (r *reviews) key(p *reviewed, op reviewOp) string {
	if op.Session == "" {
		return ""
	}
	if op.Agent != "" {
		return sessionKey(op.Agent, op.Session)
	}
	for _, f := range p.Review().Files() {
		for _, key := range f.Sessions {
			if strings.HasSuffix(key, "/"+string(op.Session)) {
				return key
			}
		}
	}
	for _, c := range r.host.all() {
		if _, err := r.host.session(c.name, op.Session); err == nil {
			return sessionKey(c.name, op.Session)
		}
	}
	return "/" + string(op.Session)
}

// do does an operation. It runs on the goroutine of the reviews.
func (r *reviews) do(id string, op reviewOp) (any, error) {
	if id != "" {
		r.adopt(op.Cwd)
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
		return nil, nil
	}
	if p == nil {
		return nil, &opError{Kind: errorNothing, Message: "nothing is under review here"}
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
			return nil, &opError{Kind: errorNothing, Message: "the file is not under review"}
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
			return nil, &opError{Kind: errorNothing, Message: "the texts of that change are not kept any more"}
		}
		return map[string]any{
			"path": p.Path(e.Path), "before": stateOf(e.Before), "after": stateOf(e.After), "author": p.author(e.Author),
		}, nil
	case "accept", "reject", "undo", "restore":
		r.host.start(func() { p.decide(id, name, op) })
		return nil, errLater
	case "forget":
		return nil, p.Review().Forget(op.Checkpoint)
	default:
		return nil, invalid("review: there is no %q", op.Do)
	}
	return nil, nil
}

// list answers questions about all reviews, or about one file.
func (r *reviews) list(op reviewOp) (any, error) {
	all := r.all()
	if op.Root != "" || op.Path != "" {
		p, err := r.where(op)
		if err != nil {
			return nil, err
		}
		all = nil
		if p != nil {
			all = []*reviewed{p}
		}
	}
	slices.SortFunc(all, func(a, b *reviewed) int { return cmp.Compare(a.Root(), b.Root()) })
	switch op.Do {
	case "files":
		files := []fileJSON{}
		for _, p := range all {
			key := r.key(p, op)
			for _, f := range p.Review().Files() {
				if key == "" || slices.Contains(f.Sessions, key) {
					files = append(files, p.file(f))
				}
			}
		}
		return map[string]any{"files": files}, nil
	case "hunks":
		hunks := []hunkJSON{}
		for _, p := range all {
			names := []string{p.Name(op.Path)}
			if op.Path == "" {
				names = nil
				for _, f := range p.Review().Files() {
					names = append(names, f.Path)
				}
			}
			for _, name := range names {
				hunks = append(hunks, p.hunks(p.Review().Hunks(name), true)...)
			}
		}
		return map[string]any{"hunks": hunks}, nil
	}
	type point struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Agent   string `json:"agent,omitempty"`
		Session string `json:"sessionId,omitempty"`
		Turn    string `json:"turn,omitempty"`
		At      string `json:"at"`
		Root    string `json:"root"`
	}
	points := []point{}
	for _, p := range all {
		for _, c := range p.Review().Checkpoints() {
			agent, id := r.splitKey(c.Session)
			points = append(points, point{c.ID, c.Name, agent, id, c.Turn, stamped(c.At), p.Root()})
		}
	}
	return map[string]any{"checkpoints": points}, nil
}

func (p *reviewed) hold(name string, op reviewOp) error {
	if op.Text == nil {
		return invalid("review: hold needs a text")
	}
	p.mu.Lock()
	p.ticks[name] = op.Tick
	delete(p.pushed, name)
	p.mu.Unlock()
	err := p.Hold(op.Path, project.Text{Text: *op.Text, Undo: op.Undo, Reloaded: op.Reloaded})
	p.touch(name)
	return err
}

// userEdited takes the user's edits of a buffer. If they do not fit, the whole
// text is asked for.
func (p *reviewed) userEdited(name string, op reviewOp) {
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
			p.reviews.host.log.Warn("an edit does not fit", "error", err)
			p.reviews.host.queue.push(new(object).str("path", p.Path(name)).flag("again", true).item(kindHold))
			break
		}
	}
	p.touch(name)
}

// changed takes a change of an agent that has reached a buffer.
func (r *reviews) changed(op reviewOp) error {
	a := review.Author{Session: sessionKey(op.Agent, op.Session), ToolCall: op.ToolCall, Source: cmp.Or(op.Source, "disk")}
	a.Inferred = a.Source == "disk"
	var p *reviewed
	if s, err := r.host.session(op.Agent, op.Session); err == nil {
		a.Turn = s.author().Turn
		p = r.of(op.Path)
		if p == nil {
			if p = r.open(s.root()); !p.is() {
				p = nil
			}
		}
	} else {
		p = r.of(op.Path)
	}
	switch {
	case p == nil:
		o := new(object).str("agent", op.Agent).str("sessionId", string(op.Session)).optional("toolCallId", op.ToolCall).
			optional("turn", a.Turn).str("path", op.Path).str("source", a.Source).str("fidelity", map[bool]string{true: "inferred", false: "exact"}[a.Inferred])
		if op.Text != nil && op.Before != nil {
			e := review.Event{Before: review.State{Text: *op.Before}, After: review.State{Text: *op.Text}}
			added, removed := e.Lines()
			o.num("added", int64(added)).num("removed", int64(removed))
		}
		r.host.queue.push(event(eventFileEdited, o))
		return nil
	case op.Text == nil:
		p.Release(op.Path)
		p.Look(a, project.Told{Path: op.Path})
		return nil
	case a.Source != "write" && !p.Held(p.Name(op.Path)):
		// The buffer shows what the disk had, which may be another one by now.
		p.Look(a, project.Told{Path: op.Path, Before: op.Before, After: op.Text})
		return nil
	}
	name := p.Name(op.Path)
	p.mu.Lock()
	p.ticks[name] = op.Tick
	p.mu.Unlock()
	return p.Changed(a, op.Path, op.Before, *op.Text)
}
