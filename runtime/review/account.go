package review

import (
	"slices"
	"time"
)

// Looks at the disk and reports from outside come late and in any order: a look may
// see what a report describes a moment later, and two programs report the changes of
// one file over two connections. So the newest of them are kept, with the file as it
// was before each, and put in the order in which they happened. A report that says
// what a file was decides what happened between it and the one before: that is the
// user's.

// maxSteps is how many are kept for a file.
const maxSteps = 8

// account is what was found out about a file since anything else changed it, such as
// an edit or a decision.
type account struct {
	steps   []happened
	version uint64 // of the file after the last step
}

type happened struct {
	at     time.Time
	by     ChangeID // 0: the user
	exact  bool     // before is known
	before State
	after  State
	was    file // before it
}

// precedes reports whether a step is from before another one that is known already.
// The clock of reports may be too coarse to say it.
func (h happened) precedes(s happened) bool {
	if s.at.Equal(h.at) && h.exact && s.exact {
		return s.before == h.after || s.was.current() == h.before
	}
	return s.at.After(h.at)
}

// steps returns what is still valid of the account.
func (f *tracked) steps() []happened {
	if f.account.version != f.file.version {
		return nil
	}
	return f.account.steps
}

// happen puts a step in its place and gives the file what then follows.
func (r *Review) happen(path string, f *tracked, h happened) {
	steps := slices.Clone(f.steps())
	i := len(steps)
	for i > 0 && h.precedes(steps[i-1]) {
		i--
	}
	now := f.file
	if i < len(steps) {
		now = steps[i].was
	}
	steps = slices.Insert(steps, i, h)
	for ; i < len(steps); i++ {
		s := &steps[i]
		s.was = now
		if s.exact && now.current() != s.before {
			now = now.outside(s.before)
		}
		if s.by == 0 {
			now = now.outside(s.after)
			continue
		}
		now = now.changed(s.after, r.writer(s.by))
	}
	r.set(path, f, now)
	f.account = account{steps[max(0, len(steps)-maxSteps):], f.file.version}
}

// writer is the author of a change.
func (r *Review) writer(by ChangeID) writer {
	author := r.authors[by]
	return writer{
		by:   by,
		same: func(id ChangeID) bool { return r.authors[id].Session == author.Session },
		turn: func(id ChangeID) bool { return r.authors[id].Turn == author.Turn },
		seen: author.Inferred,
	}
}

// Reported records a change at author.At whose states before and after it are known
// exactly. If before differs from what the review knew, the difference is the user's.
// The caller must be sure of both texts, because Reject may write them.
func (r *Review) Reported(author Author, path string, before, after State) error {
	before, after = before.plain(), after.plain()
	return r.locked(func() error {
		if author.At.IsZero() {
			author.At = time.Now()
		}
		f := r.files[path]
		if f == nil {
			f = &tracked{file: fileOf(before)}
			r.files[path] = f
		}
		steps := f.steps()
		last := len(steps) - 1
		switch {
		case before == after:
			return nil
		case slices.ContainsFunc(steps, func(s happened) bool {
			return s.exact && s.at.Equal(author.At) && s.before == before && s.after == after
		}):
			return nil
		case f.current() == after && last >= 0 && !steps[last].exact && steps[last].by != 0 && steps[last].was.current() == before:
			return r.changed(author, path, f, after) // known, but perhaps not as well
		}
		f.intents = slices.DeleteFunc(f.intents, func(i intent) bool { return i.after == fingerprintOf(after) })
		r.changes++
		r.authors[r.changes] = author
		r.happen(path, f, happened{at: author.At, by: r.changes, exact: true, before: before, after: after})
		return r.edited(path, f, before, after)
	})
}

// edited records that the last change was made to a file, and adds its events.
func (r *Review) edited(path string, f *tracked, before, after State) error {
	author := r.authors[r.changes]
	r.turn(author.Session).files[path] = true
	r.tell(Event{Kind: Edited, Path: path, Change: r.changes, Author: author, Before: before, After: after})
	f.newest = r.changes
	if author.At.After(f.changed) {
		f.changed = author.At
	}
	r.tell(Event{Kind: Updated, Path: path})
	return r.save(path, f)
}

// Found is Changed for a look that began at a time. A report of what happened before
// it, which comes later, may still say whose that was.
func (r *Review) Found(author Author, path string, before *State, now State, at time.Time) error {
	now = now.plain()
	return r.locked(func() error {
		f, err := r.known(path, before)
		if err != nil {
			return err
		}
		f.intents = slices.DeleteFunc(f.intents, func(i intent) bool { return i.after == fingerprintOf(now) })
		was := f.current()
		if was == now {
			return r.changed(author, path, f, now)
		}
		if author.At.IsZero() {
			author.At = time.Now()
		}
		r.changes++
		r.authors[r.changes] = author
		r.happen(path, f, happened{at: at, by: r.changes, after: now})
		return r.edited(path, f, was, now)
	})
}
