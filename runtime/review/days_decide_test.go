package review

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// decideSome accepts or rejects something, and may undo it.
func (w *days) decideSome() error {
	if err := w.catchUp(); err != nil {
		return err
	}
	accept := w.rand.IntN(2) == 0
	s, c := w.choose()
	w.note("accept %v %+v", accept, s)
	was := [2]*paper{w.files[0].copy(), w.files[1].copy()}
	var act uint32
	var err error
	if accept {
		act, err = w.Accept(s)
		for i, p := range w.files {
			p.decide(c[i], true)
		}
	} else {
		var plan *Plan
		if plan, err = w.Reject(s, true); err == nil || errors.Is(err, ErrOther) {
			if plan != nil {
				act = plan.Decision
			}
			err = w.apply(plan, err)
		}
		for i, p := range w.files {
			w.changed(i, func() { p.decide(c[i], false) })
		}
	}
	if err != nil && !errors.Is(err, ErrNothing) {
		return err
	}
	for _, p := range w.files {
		p.part = p.part || s.Hunk != 0
	}
	if err := w.check(); err != nil || act == 0 || w.rand.IntN(3) > 0 {
		return err
	}
	w.note("undo")
	plan, err := w.Undo(act)
	if err = w.apply(plan, err); err != nil && !errors.Is(err, ErrNothing) {
		return err
	}
	for i := range w.files {
		w.changed(i, func() { *w.files[i] = *was[i].copy() })
	}
	return w.check()
}

// changed changes a file as the judge says, unless it would become what has no text,
// which nobody can bring back. An agent that made it a file of text again may have that
// taken back with its lines.
func (w *days) changed(i int, f func()) {
	before := w.files[i].copy()
	f()
	other := before.thing.base.kind == Other || slices.ContainsFunc(before.thing.deeds, func(d traitDeed[node]) bool { return d.to.kind == Other })
	if now := w.files[i].now(); now.Kind == Other && now != before.now() || other && slices.Contains(w.refused, w.path(i)) {
		w.note("%s stays %+v", w.path(i), before.now())
		w.files[i] = before
	}
}

// apply carries a plan out. Files that cannot be brought back stay.
func (w *days) apply(plan *Plan, err error) error {
	w.refused = nil
	if plan != nil && err == nil {
		for _, r := range plan.Refused {
			w.refused = append(w.refused, r.Path)
		}
		err = plan.Apply(func(Change) error { return nil })
	} else if errors.Is(err, ErrOther) { // nothing else was to be done
		w.refused = w.Paths()
	}
	if errors.Is(err, ErrOther) {
		return nil
	}
	return err
}

// stash gives a file what its base is, as git stash does, and then what it was.
func (w *days) stash(path string, p *paper) error {
	if err := w.catchUp(); err != nil {
		return err
	}
	base, _, known := w.Known(path)
	if !known || base == p.now() || base.Kind != Regular && base.Kind != Absent {
		return nil
	}
	w.note("%s is stashed: %+v", path, base)
	if err := w.Synced(path, base, w.tick()); err != nil {
		return err
	}
	for _, h := range w.Hunks(path) {
		// A line that one agent added and another deleted was never in the base.
		if h.Kind != Text || !slices.Equal(h.Old, h.New) {
			return fmt.Errorf("%s has hunk %+v without what agents have changed", path, h)
		}
	}
	if w.rand.IntN(2) == 0 {
		r, err := Open(w.store, Options{})
		if err != nil {
			return err
		}
		w.Review = r
	}
	w.note("and comes back: %+v", p.now())
	return w.catchUp()
}

// commit is what review.settle = "commit" does, after a commit of all hunks of a file
// but perhaps one.
func (w *days) commit(path string, p *paper) error {
	if err := w.catchUp(); err != nil {
		return err
	}
	now := p.now()
	if now.Kind != Regular || p.part || len(p.thing.deeds) > 0 {
		return nil
	}
	hunks := slices.DeleteFunc(w.Hunks(path), func(h Hunk) bool { return h.Kind != Text })
	if len(hunks) == 0 {
		return nil
	}
	out := w.rand.IntN(len(hunks) + 1)
	lines := split(now.Text)
	if out < len(hunks) {
		h := hunks[out]
		lines = slices.Concat(lines[:h.Current.Start], h.Old, lines[h.Current.End:])
	}
	w.note("%s is committed without hunk %d: %q", path, out, lines)
	if err := w.AcceptCommitted(path, strings.Join(lines, "")); err != nil {
		return err
	}
	left := w.Hunks(path)
	linesOf := func(h Hunk) []string { return slices.Concat(h.Old, h.New, h.Others) }
	for i, h := range hunks {
		stays := slices.ContainsFunc(left, func(l Hunk) bool { // perhaps as a part of another
			there := linesOf(l)
			return !slices.ContainsFunc(linesOf(h), func(line string) bool { return !slices.Contains(there, line) })
		})
		switch {
		case i == out && !stays && !slices.Equal(h.Old, h.New):
			return fmt.Errorf("hunk %d was not committed, and is accepted", h.ID)
		case out == len(hunks) && stays:
			return fmt.Errorf("hunk %d was committed, and is pending", h.ID)
		case !stays:
			p.decide(p.hunk(h), true)
		}
	}
	return w.check()
}

// checkpoint makes one, or goes back to one.
func (w *days) checkpoint() error {
	if err := w.catchUp(); err != nil {
		return err
	}
	if len(w.points) == 0 || w.rand.IntN(2) == 0 {
		c, err := w.Checkpoint(Checkpoint{Name: "now"})
		w.points[c.ID] = w.deeds
		w.note("checkpoint %s", c.ID)
		return err
	}
	var ids []string
	for _, c := range w.Checkpoints() {
		if _, ours := w.points[c.ID]; ours {
			ids = append(ids, c.ID)
		}
	}
	id, session := ids[w.rand.IntN(len(ids))], ""
	if w.rand.IntN(2) == 0 {
		session = fmt.Sprint(2 + w.rand.IntN(sessions))
	}
	w.note("restore %s of %q", id, session)
	plan, err := w.Restore(id, RestoreOptions{Session: session})
	if err = w.apply(plan, err); err != nil && !errors.Is(err, ErrNothing) {
		return err
	}
	later := func(d deed) bool {
		return d.how != 0 && d.at > w.points[id] && (session == "" || session == fmt.Sprint(d.by))
	}
	for i, p := range w.files {
		w.changed(i, func() {
			some := slices.ContainsFunc(p.thing.deeds, func(d traitDeed[node]) bool { return later(d.deed) })
			for k := range p.lines {
				l := &p.lines[k]
				some = some || !l.gone && (later(l.add) || later(l.del))
				l.gone = l.gone || later(l.add)
				if later(l.del) {
					l.del = deed{}
				}
			}
			p.mode = p.mode.each(func(d traitDeed[fs.FileMode]) int {
				if later(d.deed) {
					return 0
				}
				return d.how
			})
			p.thing = p.thing.each(func(d traitDeed[node]) int {
				if later(d.deed) {
					return p.needed(d, 0)
				}
				return d.how
			})
			if some {
				p.exists()
			}
		})
	}
	return w.check()
}
