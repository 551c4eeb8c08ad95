package review

import (
	"fmt"
	"maps"
	"slices"
)

// Range is lines Start to End, exclusive, from 0.
type Range struct{ Start, End int }

// Hunk is a pending change that is decided as one.
type Hunk struct {
	ID      uint64   // the same as long as anything of the hunk is pending
	Version ChangeID // grows when an agent changes the hunk, and not when the user does
	Path    string
	Kind    HunkKind
	Session string
	Authors []Author // of its changes, oldest first
	Base    Range    // lines of the base that it replaces, of a hunk of kind Text
	Current Range    // by these of the current text
	Old     []string // lines that are deleted, with the user's among them
	New     []string // lines that are there instead, with the user's among them
	Others  []string // lines of other sessions that it deleted, and that the base never had
	User    []int    // lines of the current text that the user wrote into it or changed at its edge
	Was, Is string   // of another kind than Text: what the file was and is
}

// File is what the list of changed files shows.
type File struct {
	Path           string
	Base, Current  Kind
	Hunks          int
	Added, Removed int      // lines
	Sessions       []string // whose changes are pending
	From, To       string   // if an agent moved it
}

// pendingOf returns the hunks of a file, which are numbered once and kept.
func (r *Review) pendingOf(f *tracked) []rawHunk {
	if f.hunks == nil || f.version != f.file.version {
		before := f.hunks
		f.hunks, f.file = f.file.hunks(r.session, r.nextHunk)
		if f.hunks == nil {
			f.hunks = []rawHunk{}
		}
		f.version = f.file.version
		f.numberVersions(before)
	}
	return f.hunks
}

// numberVersions gives the hunks their versions: a hunk that was there before keeps its
// own, unless an agent has changed it.
func (f *tracked) numberVersions(before []rawHunk) {
	had := make(map[uint64]*run, len(before))
	for _, h := range before {
		had[h.id] = h.run
	}
	users := f.newest == f.numbered
	for _, h := range f.hunks {
		h.version = max(f.newest, f.last)
		if was := had[h.id]; was != nil && (users || was.facts == h.facts) {
			h.version = was.version
		}
	}
	f.numbered = f.newest
}

// Hunks returns the pending changes of a file, in order.
func (r *Review) Hunks(path string) []Hunk {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.files[path]
	if f == nil {
		return nil
	}
	var out []Hunk
	for _, h := range r.pendingOf(f) {
		to := Hunk{
			ID: h.id, Version: h.version, Path: path, Kind: h.kind, Session: h.session,
			Base: Range{h.base0, h.base1}, Current: Range{h.current0, h.current1},
			Old: slices.Clone(h.old), New: slices.Clone(h.new), Others: slices.Clone(h.others), User: slices.Clone(h.user),
		}
		if h.kind != Text {
			to.Was, to.Is = f.base().describe(h.kind), f.current().describe(h.kind)
		}
		for _, id := range h.changes {
			to.Authors = append(to.Authors, r.authors[id])
		}
		out = append(out, to)
	}
	return out
}

// Files returns the files with pending changes, sorted by path.
func (r *Review) Files() []File {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []File
	for _, path := range slices.Sorted(maps.Keys(r.files)) {
		f := r.files[path]
		hunks := r.pendingOf(f)
		if len(hunks) == 0 {
			continue
		}
		to := File{Path: path, Base: f.kind(f.node.agreed(), f.text.sum.base), Current: f.kind(f.node.now(), f.text.sum.current), Hunks: len(hunks), From: f.from, To: f.to}
		for _, h := range hunks {
			to.Added += len(h.new)
			to.Removed += len(h.old)
			if !slices.Contains(to.Sessions, h.session) {
				to.Sessions = append(to.Sessions, h.session)
			}
		}
		slices.Sort(to.Sessions)
		out = append(out, to)
	}
	return out
}

// Deleted reports whether it is pending that an agent has deleted a file.
func (r *Review) Deleted(path string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.files[path]
	if f == nil || f.current().Kind != Absent {
		return false
	}
	s := f.node.open()
	return s != nil && s.to.kind == Absent
}

// describe says what a file is, as far as a hunk of a kind is about it.
func (s State) describe(k HunkKind) string {
	switch {
	case k == Mode:
		return fmt.Sprintf("mode %o", s.Mode.Perm())
	case s.Kind == Absent:
		return "no file"
	case s.Kind == Link:
		return "a link to " + s.Target
	case s.Kind == Other:
		return s.Target
	case s.Text == "":
		return "an empty file"
	case opaque(s.Text):
		return "a binary file"
	}
	return "text"
}

func (f file) kind(n node, lines int) Kind {
	if n.kind == Absent && lines > 0 {
		return Regular
	}
	return n.kind
}

// Blame says which change lines of the current text are from. Lines that are
// not in any Blame belong to the base or the user.
type Blame struct {
	Range
	Author  Author
	Pending bool // not yet accepted
}

// Blame returns the lines of a file that agents wrote, in order.
func (r *Review) Blame(path string) []Blame {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.files[path]
	if f == nil {
		return nil
	}
	var out []Blame
	n := 0
	var last fact
	for _, b := range f.text.blocks {
		if b.marked == 0 {
			n += b.current
			continue
		}
		for _, l := range b.lines {
			if !l.inCurrent() {
				continue
			}
			if by := l.marks().add; by.state == pending || by.state == accepted {
				if k := len(out) - 1; k >= 0 && out[k].End == n && last.by == by.by && last.state == by.state {
					out[k].End++
				} else {
					out = append(out, Blame{Range{n, n + 1}, r.authors[by.by], by.state == pending})
				}
				last = by
			}
			n++
		}
	}
	return out
}

// Lines returns how many lines an Edited event added and removed.
func (e Event) Lines() (added, removed int) {
	for _, s := range diff(split(e.Before.Text), split(e.After.Text)) {
		added, removed = added+s.b1-s.b0, removed+s.a1-s.a0
	}
	return added, removed
}

// Lines returns how many lines the plan adds to the file and removes from it.
func (c Change) Lines() (added, removed int) {
	for _, e := range c.Edits {
		added, removed = added+len(e.Lines), removed+e.End-e.Start
	}
	return added, removed
}
