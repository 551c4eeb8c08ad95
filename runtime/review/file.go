package review

import (
	"io/fs"
	"slices"

	"github.com/hermes-nvim/hermes/internal/review/store"
)

// Kind says what is at a path.
type Kind uint8

// The kinds of files. An empty file is not an absent one.
const (
	Absent Kind = iota
	Regular
	Link
	Other // what has no text that could be kept: a folder, a named pipe, a file that is too large
)

// State is everything about a file that can be reviewed.
type State struct {
	Kind   Kind
	Text   string      // of a regular file: its bytes
	Mode   fs.FileMode // of a regular file: its permission bits
	Target string      // of a link; of what is Other: what it is, such as "a folder"
}

// plain returns the state without what its kind does not have.
func (s State) plain() State {
	switch s.Kind {
	case Regular:
		return State{Kind: Regular, Text: s.Text, Mode: s.Mode.Perm()}
	case Link:
		return State{Kind: Link, Target: s.Target}
	case Other:
		return State{Kind: Other, Target: s.Target}
	}
	return State{}
}

// fingerprint names a state.
type fingerprint struct {
	Kind   Kind        `json:"kind,omitempty"`
	Text   Hash        `json:"text,omitzero"`
	Mode   fs.FileMode `json:"mode,omitempty"`
	Target string      `json:"target,omitempty"`
}

func fingerprintOf(s State) fingerprint {
	f := fingerprint{Kind: s.Kind, Mode: s.Mode, Target: s.Target}
	if s.Kind == Regular {
		f.Text = store.HashOf([]byte(s.Text))
	}
	return f
}

// node is what is at a path, without its contents.
type node struct {
	kind   Kind
	target string
}

// A file is a value like a weave: methods return a new one.
type file struct {
	text    weave
	node    attribute[node]
	mode    attribute[fs.FileMode]
	from    string   // an agent moved it here from that path, or
	to      string   // from here to that one
	last    ChangeID // the last change of an agent
	forgot  ChangeID // up to this change, lines that were removed may be forgotten
	version uint64   // counts changes of any kind
	away    []away   // earlier states, oldest first
}

func fileOf(s State) file {
	f := file{node: attribute[node]{base: node{s.Kind, s.Target}}, mode: attribute[fs.FileMode]{base: s.Mode}}
	if s.Kind == Regular {
		f.text = weaveOf(s.Text)
	}
	return f
}

func (f file) current() State {
	return stateOf(f.node.now(), f.mode.now(), f.text.sum.current, f.text.current)
}

func (f file) base() State {
	return stateOf(f.node.agreed(), f.mode.agreed(), f.text.sum.base, f.text.base)
}

// stateOf believes the lines: a file with lines exists.
func stateOf(n node, mode fs.FileMode, lines int, text func() string) State {
	switch {
	case n.kind == Link || n.kind == Other:
		return State{Kind: n.kind, Target: n.target}
	case n.kind == Regular || lines > 0:
		return State{Kind: Regular, Text: text(), Mode: mode}
	}
	return State{}
}

// write returns the file in another state.
func (f file) write(to State, who writer) file {
	became := f.node.now() != node{to.Kind, to.Target}
	f.node = f.node.set(node{to.Kind, to.Target}, who)
	if to.Kind == Regular {
		if f.node.agreed().kind == Regular && f.node.base.kind == Regular {
			f.mode = f.mode.set(to.Mode, who)
		} else {
			f.mode = attribute[fs.FileMode]{base: to.Mode} // part of being created
		}
		f.text = f.text.write(to.Text, who)
	} else {
		f.text = f.text.write("", who)
		if became && who.by == 0 { // with the file goes what an agent did to its mode
			f.mode = attribute[fs.FileMode]{base: f.mode.agreed()}
		}
	}
	return f
}

// HunkKind says what a hunk is about.
type HunkKind string

// The kinds of hunks. A file that an agent created or deleted has a hunk of
// that kind only if it has no lines; otherwise its lines decide.
const (
	Text    HunkKind = "text"
	Created HunkKind = "created"
	Deleted HunkKind = "deleted"
	Linked  HunkKind = "link" // became a link, or one to another target
	Mode    HunkKind = "mode"
	// Replaced is a file that became something which has no text, see Other.
	Replaced HunkKind = "replaced"
)

// hunks returns the pending changes of the file, and the file in which each has
// its number.
func (f file) hunks(session func(ChangeID) string, next func() uint64) ([]rawHunk, file) {
	runs, w := f.text.runs(session, next)
	f.text = w
	var out []rawHunk
	if s := f.node.open(); s != nil && s.to != f.node.agreed() {
		kind := Created
		switch {
		case s.to.kind == Other:
			kind = Replaced
		case s.to.kind == Link:
			kind = Linked
		case s.to.kind == Absent:
			kind = Deleted
		case f.node.agreed().kind == Link:
			kind = Linked
		}
		exists := kind == Created && f.text.sum.base > 0 || kind == Deleted && f.text.sum.current > 0 // by its lines
		if kind == Linked || kind == Replaced || len(runs) == 0 && !exists {
			f.node, s = f.node.numbered(next)
			if kind == Linked || kind == Replaced { // its lines came or went with it
				runs = slices.DeleteFunc(runs, func(r *run) bool { return len(r.changes) == 1 && r.changes[0] == s.fact.by })
			}
			out = append(out, rawHunk{kind: kind, run: lineless(s.hunk, s.fact, session)})
		}
	}
	if s := f.mode.open(); s != nil && s.to != f.mode.agreed() && f.kind(f.node.now(), f.text.sum.current) == Regular {
		f.mode, s = f.mode.numbered(next)
		out = append(out, rawHunk{kind: Mode, run: lineless(s.hunk, s.fact, session)})
	}
	for _, r := range runs {
		out = append(out, rawHunk{kind: Text, run: r})
	}
	return out, f
}

type rawHunk struct {
	kind HunkKind
	*run
}

// lineless is a hunk without lines.
func lineless(id uint64, f fact, session func(ChangeID) string) *run {
	return &run{id: id, session: session(f.by), changes: []ChangeID{f.by}, facts: summed(0, f)}
}

// numbered returns the attribute with a number for its open step, and the step.
func (a attribute[T]) numbered(next func() uint64) (attribute[T], *step[T]) {
	if a.open().hunk == 0 {
		a.steps = slices.Clone(a.steps)
		a.open().hunk = next()
	}
	return a, a.open()
}

// decide accepts or rejects what of the pending facts a choice has.
func (f file) decide(c choice, to state, act uint32) file {
	if s := f.node.open(); s != nil && c.hunk != 0 && s.hunk == c.hunk {
		by := s.fact.by
		c = choice{change: func(id ChangeID) bool { return id == by }} // with its lines
	}
	f.text = f.text.decide(c.line, to, act)
	f.node = f.node.decide(func(s step[node]) bool { return c.fact(s.fact, s.hunk) }, to, act)
	f.mode = f.mode.decide(func(s step[fs.FileMode]) bool { return c.fact(s.fact, s.hunk) }, to, act)
	return f.agree(to, act, c.hunk != 0)
}

// A choice is which facts are decided.
type choice struct {
	hunk   uint64 // or 0
	change func(ChangeID) bool
}

func (c choice) fact(f fact, hunk uint64) bool {
	return (c.hunk == 0 || c.hunk == hunk) && c.change(f.by)
}

func (c choice) line(l line) (add, del bool) {
	m := l.marks()
	if c.hunk != 0 { // one fact of a line is in the hunk, the other perhaps in another
		open := m.hunk == c.hunk && c.change(l.open().by)
		return open && m.del.state != pending, open
	}
	return c.change(m.add.by), c.change(m.del.by)
}

// agree decides whether the file exists as its lines were decided. The steps
// change in the name of the decision, so that undoing it undoes them too.
//
// A file that was created or deleted has no hunk of its own while it has hunks of
// lines, so the last of these decides it. Nothing else that is left follows from
// lines: a link has a hunk of its own, and who decides about a session or a turn
// decides nothing of another.
func (f file) agree(to state, act uint32, hunk bool) file {
	lines := f.text.sum
	last := hunk && f.text.openLines() == 0 && lines.marked > 0
	was := f.node.agreed().kind
	f.node = f.node.each(func(s step[node]) fact {
		switch {
		case s.fact == fact{s.fact.by, rejected, act} && s.to.kind == Regular && lines.base > 0: // the user's lines need it
			return fact{s.fact.by, accepted, act}
		case s.fact.state != pending:
		case s.to.kind == Regular && lines.base > 0, s.to.kind == Absent && was == Regular && lines.base == 0 && last && to == accepted:
			return fact{s.fact.by, accepted, act}
		case s.to.kind == Absent && lines.current > 0, s.to.kind == Regular && was == Absent && lines.current == 0 && last && to == rejected:
			return fact{s.fact.by, rejected, act}
		}
		return s.fact
	})
	return f
}

func (f file) undo(act uint32, session func(ChangeID) string) file {
	f.text, f.node, f.mode = f.text.undo(act, session), f.node.undo(act), f.mode.undo(act)
	return f
}

func (f file) revert(change func(ChangeID) bool, act uint32) file {
	f.text, f.node, f.mode = f.text.revert(change, act), f.node.revert(change, act), f.mode.revert(change, act)
	if !f.decidedBy(act) {
		return f // nothing of it was taken back, so nothing follows from that
	}
	return f.agree(rejected, act, false)
}

// openLines returns how many lines are pending.
func (w weave) openLines() int { return w.count(func(l line) bool { return l.open() != nil }) }

// added returns how many lines of the current text agents have added.
func (w weave) added() int {
	return w.count(func(l line) bool { return l.inCurrent() && l.marks().add.state == pending })
}

// count counts lines that have marks.
func (w weave) count(has func(line) bool) (n int) {
	for _, b := range w.blocks {
		if b.marked == 0 {
			continue
		}
		for _, l := range b.lines {
			if l.m != nil && has(l) {
				n++
			}
		}
	}
	return n
}

func (f file) pending() bool {
	return f.text.openLines() > 0 || f.node.open() != nil || f.mode.open() != nil
}
