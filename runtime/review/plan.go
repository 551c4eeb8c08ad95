package review

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// Selection is which pending changes a decision is about: those that match every
// member that is set. The zero Selection is everything.
type Selection struct {
	Hunk    uint64
	Path    string
	Session string
	Turn    string
	// Version, if set, is the version of the hunk, or the highest version of the
	// selected hunks. If one of them has a higher version now, the error is a
	// *ChangedError, and nothing is decided.
	Version ChangeID
	// Decision, if set, is the one that this goes on with: a file of it had changed, and is
	// decided once more.
	Decision uint32

	moved [2]string // both names of a file that an agent has moved
}

// whole returns the selection with all of a move, if it is about a part of one: its hunk, or
// one of the names.
func (r *Review) whole(s Selection) Selection {
	for _, path := range r.chosen(s) {
		f := r.files[path]
		if s.Path == "" && (s.Hunk == 0 || !slices.ContainsFunc(r.pendingOf(f), func(h rawHunk) bool { return h.id == s.Hunk })) {
			continue
		}
		for _, m := range [][2]string{{f.from, path}, {path, f.to}} {
			if r.isMove(m[0], m[1]) {
				s.Hunk, s.moved = 0, m
			}
		}
		break
	}
	return s
}

// isMove reports whether it is pending that an agent has moved a file.
func (r *Review) isMove(from, to string) bool {
	f, t := r.files[from], r.files[to]
	return f != nil && t != nil && f.to == to && t.from == from &&
		f.current().Kind != Regular && f.base().Kind == Regular && t.base().Kind == Absent && t.current().Kind == Regular
}

// unchanged returns a *ChangedError if a selection has a hunk that is newer than it says.
func (r *Review) unchanged(s Selection, c choice) error {
	if s.Version == 0 {
		return nil
	}
	for _, path := range r.chosen(s) {
		for _, h := range r.pendingOf(r.files[path]) {
			if h.version > s.Version && (s.Hunk == 0 || s.Hunk == h.id) && slices.ContainsFunc(h.changes, c.change) {
				return &ChangedError{path, h.id}
			}
		}
	}
	return nil
}

func (r *Review) choice(s Selection) choice {
	return choice{s.Hunk, func(id ChangeID) bool {
		a, ok := r.authors[id]
		return ok && (s.Session == "" || a.Session == s.Session) && (s.Turn == "" || a.Turn == s.Turn)
	}}
}

// chosen returns the paths of files that a selection is about, sorted.
func (r *Review) chosen(s Selection) []string {
	if s.moved[0] != "" {
		return s.moved[:]
	}
	if s.Path != "" {
		if r.files[s.Path] == nil {
			return nil
		}
		return []string{s.Path}
	}
	return slices.Sorted(maps.Keys(r.files))
}

// holds reports whether a file has something pending that a selection is about.
func (r *Review) holds(f *tracked, s Selection, c choice) bool {
	if s.Hunk != 0 {
		return slices.ContainsFunc(r.pendingOf(f), func(h rawHunk) bool { return h.id == s.Hunk && slices.ContainsFunc(h.changes, c.change) })
	}
	if f.node.holds(c.change) || f.mode.holds(c.change) {
		return true
	}
	for _, b := range f.text.blocks {
		if b.marked == 0 {
			continue
		}
		for _, l := range b.lines {
			if l.open() != nil && (l.m.add.state == pending && c.change(l.m.add.by) || l.m.del.state == pending && c.change(l.m.del.by)) {
				return true
			}
		}
	}
	return false
}

// Accept makes pending changes part of the base. It returns the number of the
// decision, for Undo.
func (r *Review) Accept(s Selection) (decision uint32, err error) {
	err = r.locked(func() error {
		c := r.choice(s)
		if err := r.unchanged(s, c); err != nil {
			return err
		}
		s := r.whole(s)
		c = r.choice(s)
		var errs []error
		for _, path := range r.chosen(s) {
			f := r.files[path]
			if !r.holds(f, s, c) {
				continue
			}
			if decision == 0 {
				r.acts++
				decision = r.acts
			}
			r.decided(path, f, f.decide(c, accepted, decision))
			errs = append(errs, r.save(path, f))
		}
		if decision == 0 {
			return ErrNothing
		}
		return errors.Join(errs...)
	})
	return decision, err
}

func (r *Review) decided(path string, f *tracked, now file) {
	now.away = nil // the user has decided since
	r.set(path, f, now)
	r.pendingOf(f)
	r.tell(Event{Kind: Updated, Path: path})
}

// AcceptCommitted accepts the hunks of a file that a committed text has as the
// current text has them.
func (r *Review) AcceptCommitted(path, text string) error {
	return r.locked(func() error {
		f := r.files[path]
		if f == nil || f.current().Kind != Regular {
			return nil
		}
		r.pendingOf(f)
		runs, w := f.text.runs(r.session, r.nextHunk)
		now := f.file
		now.text = w
		all := choice{change: func(ChangeID) bool { return true }}
		r.acts++
		for _, done := range w.committed(text, runs) {
			all.hunk = done.id
			now = now.decide(all, accepted, r.acts)
		}
		r.decided(path, f, now)
		return r.save(path, f)
	})
}

// Change is what a plan does to a file.
type Change struct {
	Path          string
	Before, After State
	Edits         []Edit // of lines of Before, to be applied from the last to the first
	// Incomplete says that Restore cannot take everything back, because lines
	// that agents deleted since are above Options.Remember.
	Incomplete bool
	version    uint64
	now        file
}

// Plan is what a decision would do to files. Nothing has happened before Apply.
type Plan struct {
	Decision uint32 // for Undo
	Changes  []Change
	Refused  []Refusal // files that stay as they are
	review   *Review
	before   func() error // or nil
}

// Sum stands for what a plan does: one with another Sum does something else, or does it to
// other files.
func (p *Plan) Sum() string {
	sum := sha256.New()
	for _, c := range p.Changes {
		for _, s := range []State{c.Before, c.After} {
			fmt.Fprintf(sum, "%d %d %o %d ", len(c.Path), s.Kind, s.Mode, len(s.Target)+len(s.Text))
			io.WriteString(sum, c.Path+s.Target)
			io.WriteString(sum, s.Text)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// plan returns what f does to the files of a selection that it changes.
func (r *Review) plan(paths []string, f func(path string, f *tracked) (file, bool, error)) (*Plan, error) {
	p := &Plan{review: r, Decision: r.acts}
	for _, path := range paths {
		t := r.files[path]
		now, ok, err := f(path, t)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if err := t.refuse(path, now); err != nil {
			p.Refused = append(p.Refused, Refusal{path, err})
			continue
		}
		c := Change{Path: path, Before: t.current(), After: now.current(), version: t.file.version, now: now}
		old, lines := split(c.Before.Text), split(c.After.Text)
		for _, s := range diff(old, lines) {
			c.Edits = append(c.Edits, Edit{s.a0, s.a1, slices.Clone(lines[s.b0:s.b1])})
		}
		p.Changes = append(p.Changes, c)
	}
	p.order()
	switch {
	case len(p.Changes) > 0:
		return p, nil
	case len(p.Refused) > 0:
		return nil, p.Refused[0].Err
	}
	return nil, ErrNothing
}

// order puts files that come back before files that go, as far as their places are free, so
// that no text is ever missing from the disk. Files in a folder go before the folder, and the
// folder goes before the file that takes its place.
func (p *Plan) order() {
	goes, holds := make(map[string]bool), make(map[string]bool) // and the folders of what goes
	for _, c := range p.Changes {
		if c.After.Kind != Absent {
			continue
		}
		goes[c.Path] = true
		for dir := path.Dir(c.Path); !holds[dir] && len(dir) < len(c.Path); c.Path, dir = dir, path.Dir(dir) {
			holds[dir] = true
		}
	}
	turn := func(c Change) int {
		if c.After.Kind == Absent {
			return 1
		}
		if c.Before.Kind == Other || holds[c.Path] {
			return 2
		}
		for dir := path.Dir(c.Path); len(dir) < len(c.Path) && dir != "."; c.Path, dir = dir, path.Dir(dir) {
			if goes[dir] {
				return 2
			}
		}
		return 0
	}
	slices.SortStableFunc(p.Changes, func(a, b Change) int {
		n := turn(a)
		if n != turn(b) || n != 1 {
			return cmp.Compare(n, turn(b))
		}
		return cmp.Compare(b.Path, a.Path)
	})
}

// ErrOnlyCopy refuses to remove what an agent has moved before the file is back.
var ErrOnlyCopy = errors.New("it is the only copy of the file that was moved here, which could not be brought back")

// Reject plans to take pending changes back. Hunks into which the user has
// written are a *TouchedError, unless force is set; the user's lines stay in any
// case. A file that the agent created is absent again, if nobody else has lines
// in it.
func (r *Review) Reject(s Selection, force bool) (p *Plan, err error) {
	err = r.locked(func() error {
		c := r.choice(s)
		if err := r.unchanged(s, c); err != nil {
			return err
		}
		act := s.Decision
		if act == 0 {
			r.acts++
			act = r.acts
		}
		s := r.whole(s)
		c = r.choice(s)
		p, err = r.plan(r.chosen(s), func(path string, f *tracked) (file, bool, error) {
			if !r.holds(f, s, c) {
				return file{}, false, nil
			}
			for _, h := range r.pendingOf(f) {
				if len(h.user) > 0 && !force && (s.Hunk == 0 || s.Hunk == h.id) && slices.ContainsFunc(h.changes, c.change) {
					return file{}, false, &TouchedError{path, h.id, slices.Clone(h.user)}
				}
			}
			return f.decide(c, rejected, act), true, nil
		})
		if p != nil {
			p.Decision = act
		}
		return err
	})
	return p, err
}

// mixed reports whether a line that is a whole binary file is not alone.
func (w weave) mixed() bool {
	n := w.sum.current
	return n > 1 && slices.ContainsFunc(w.lines(0, n), opaque)
}

// Undo plans to make pending again what a decision accepted or rejected, as far
// as nobody has changed it since.
func (r *Review) Undo(decision uint32) (p *Plan, err error) {
	err = r.locked(func() error {
		p, err = r.plan(r.chosen(Selection{}), func(path string, f *tracked) (file, bool, error) {
			if decision == 0 || !f.decidedBy(decision) {
				return file{}, false, nil
			}
			return f.file.undo(decision, r.session), true, nil
		})
		return err
	})
	return p, err
}

func (f file) decidedBy(act uint32) bool {
	by := func(s fact) bool { return s.act == act && s.state != never }
	return slices.ContainsFunc(f.node.steps, func(s step[node]) bool { return by(s.fact) }) ||
		slices.ContainsFunc(f.mode.steps, func(s step[fs.FileMode]) bool { return by(s.fact) }) ||
		slices.ContainsFunc(f.text.blocks, func(b *block) bool {
			return b.marked > 0 && slices.ContainsFunc(b.lines, func(l line) bool { return l.m != nil && (by(l.m.add) || by(l.m.del)) })
		})
}

// Apply carries the plan out, file by file: write makes a file, or the buffer of
// it, what Change.After says, and then the decision is recorded. If write fails,
// the file stays as it is, pending, and the others go on. write is called
// without a lock, so the user may edit meanwhile; the file then fails with
// ErrStale, and the caller reports with Wrote what it has become. The error includes
// the errors of Refused.
func (p *Plan) Apply(write func(Change) error) error {
	if err := p.Begin(); err != nil {
		return err
	}
	var errs []error
	for _, c := range p.Changes {
		errs = append(errs, p.ApplyOne(c, write))
	}
	for _, r := range p.Refused {
		errs = append(errs, r.Err)
	}
	return errors.Join(errs...)
}

// Begin does what comes before the first file, once: the checkpoint of Restore.
// Apply calls it. Callers of ApplyOne do.
func (p *Plan) Begin() error {
	if p.before == nil {
		return nil
	}
	if err := p.before(); err != nil {
		return err
	}
	p.before = nil
	return nil
}

// ApplyOne is Apply for one of Changes.
func (p *Plan) ApplyOne(c Change, write func(Change) error) error {
	r := p.review
	stale := func() bool {
		f := r.files[c.Path]
		return f == nil || f.file.version != c.version
	}
	r.mu.Lock()
	late := stale()
	only := !late && c.After.Kind == Absent && r.isMove(r.files[c.Path].from, c.Path) && !strings.HasPrefix(c.Path, r.files[c.Path].from+"/")
	r.mu.Unlock()
	if late {
		return fmt.Errorf("change %s: %w", c.Path, ErrStale)
	}
	if only {
		return fmt.Errorf("remove %s: %w", c.Path, ErrOnlyCopy)
	}
	if c.Before != c.After {
		if err := write(c); err != nil {
			return fmt.Errorf("change %s: %w", c.Path, err)
		}
	}
	return r.locked(func() error {
		if stale() {
			return fmt.Errorf("record the change of %s: %w", c.Path, ErrStale)
		}
		f := r.files[c.Path]
		r.decided(c.Path, f, c.now)
		return r.save(c.Path, f)
	})
}
