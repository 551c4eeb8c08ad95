package review

import (
	"io/fs"
	"slices"
)

// The disk can go back to an earlier text and come back, as with git stash and
// checkout. The agents' changes are gone then, and the user took them away. They
// are the agents' again when the text comes back, so the file is remembered as it
// was.

// maxAway is how many earlier states a file remembers.
const maxAway = 3

// A look can also fall into the middle of a write: programs write in pieces, and empty or
// remove a file before. Changes that are missing then are away as well, until a look sees
// the rest.

// away is a file whose pending changes the user has taken away outside of the editor. It
// is also one of whose changes an agent has left none, or, as far as a look can tell,
// only some.
type away struct {
	file  file
	after State // what it was instead
	then  since
}

// since is what a file is as long as only looks at it have changed it since something
// was taken away.
type since struct {
	State fingerprint `json:"state"`
	Open  int         `json:"open,omitempty"` // how much is pending
	Last  ChangeID    `json:"last,omitempty"` // the last change of an agent
}

func (f file) since() since { return since{fingerprintOf(f.current()), f.openFacts(), f.last} }

// outside returns the file in a state that the user has given it outside of the
// editor.
func (f file) outside(to State) file {
	if len(f.away) == 0 {
		return f.write(to, writer{}).without(f, nil)
	}
	for i, a := range slices.Backward(f.away) {
		if back, ok := a.returned(f, to); ok {
			back.away = slices.Delete(slices.Clone(f.away), i, i+1)
			return back
		}
	}
	was, now, of := f, f.write(to, writer{}), f.since()
	var others []away
	best := -1
	for i, a := range f.away {
		if a.then != of || to.Kind != Regular || !a.partly() {
			continue
		}
		then := a.file
		if a.after.Kind == Absent { // with the file went what an agent did to its mode
			then.mode = attribute[fs.FileMode]{base: then.mode.agreed()}
		}
		if whole := then.write(to, writer{}); whole.text.added() > now.text.added() {
			was, now, best = then, whole, i
		}
	}
	for i, a := range f.away {
		if i == best {
			continue
		}
		if a.then == of {
			a.then = now.since()
		}
		others = append(others, a)
	}
	return now.without(was, others)
}

// without returns the file, of which less is pending than of what it was, with that away.
func (f file) without(was file, others []away) file {
	f.away = others
	if f.openFacts() < was.openFacts() {
		f = f.putAway(was, f.since())
	}
	return f
}

func (f file) putAway(was file, is since) file {
	was.away = nil
	f.away = append(slices.Clone(f.away[max(0, len(f.away)+1-maxAway):]), away{was, f.current(), is})
	return f
}

// changed returns the file in a state that an agent has given it.
func (f file) changed(to State, who writer) file {
	now := f.write(to, who)
	now.last = who.by
	if to.Text != "" {
		now.away = slices.DeleteFunc(slices.Clone(f.away), away.ofAgent)
		if who.seen && now.openFacts() < f.openFacts() {
			return now.putAway(f, now.since())
		}
		return now // what an agent takes back of its own is forgotten
	}
	if f.text.added() > 0 {
		return now.putAway(f, now.since())
	}
	now.away = slices.Clone(f.away)
	for i, a := range now.away {
		if a.ofAgent() && a.then == f.since() { // it was emptied, and is gone now
			now.away[i].then = now.since()
		}
	}
	return now
}

// ofAgent reports whether an agent took the changes away.
func (a away) ofAgent() bool { return a.then.Last != a.file.last }

// partly reports whether what took changes away may have been a part of a write.
func (a away) partly() bool {
	text := func(k Kind) bool { return k == Regular || k == Absent }
	return a.file.current().Kind == Regular && text(a.file.base().Kind) && text(a.after.Kind)
}

// returned returns what was away if a state has it: exactly, or with what has changed
// meanwhile.
func (a away) returned(f file, to State) (file, bool) {
	then, now := a.file.current(), f.current()
	hidden := (now.Kind == Link || now.Kind == Other) && f.text.openLines() > 0
	if (f.base() != now || hidden || a.ofAgent()) && a.then != f.since() {
		return file{}, false // what is pending now would be lost
	}
	if then == to {
		// That there is nothing is what the agent did only if the base was there.
		return a.file, to.Kind != Absent || now == a.file.base()
	}
	if then.Kind != Regular || now.Kind != Regular || a.after.Kind != Regular || to.Kind != Regular || now == a.after {
		return file{}, false
	}
	merged, conflicts := Merge(a.after.Text, now.Text, then.Text)
	if len(conflicts) > 0 || merged != to.Text {
		return file{}, false
	}
	return a.file.write(to, writer{}), true
}

// openFacts returns how much of the file is pending.
func (f file) openFacts() int {
	n := f.text.openLines()
	if f.node.open() != nil {
		n++
	}
	if f.mode.open() != nil {
		n++
	}
	return n
}

// savedAway is what was away, as the journal has it.
type savedAway struct {
	File  *savedFile  `json:"file"`
	After fingerprint `json:"after"`
	Then  since       `json:"then"`
}

// saveAway stores what was away.
func (r *Review) saveAway(f *tracked) (out []savedAway, err error) {
	for _, a := range f.away {
		s := savedAway{File: r.encodeFile("", &tracked{file: a.file}), After: fingerprintOf(a.after), Then: a.then}
		if s.File.Text, err = r.store.Put(a.file.text.all()); err == nil && a.after.Kind == Regular {
			s.After.Text, err = r.store.Put([]byte(a.after.Text))
		}
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// loadAway reads the saved files again. Files that cannot be read are dropped.
func (r *Review) loadAway(saved []savedAway) (out []away) {
	for _, s := range saved {
		text, err := r.store.Get(s.File.Text)
		if err != nil {
			continue
		}
		f, err := decodeFile(s.File, string(text))
		if err != nil {
			continue
		}
		after := State{Kind: s.After.Kind, Mode: s.After.Mode, Target: s.After.Target}
		if after.Kind == Regular {
			if text, err = r.store.Get(s.After.Text); err != nil {
				continue
			}
			after.Text = string(text)
		}
		r.remember(s.File)
		out = append(out, away{f.file, after, s.Then})
	}
	return out
}

// remember takes the authors of a file that was read.
func (r *Review) remember(s *savedFile) {
	for id, a := range s.Authors {
		r.authors[id] = a
		r.changes = max(r.changes, id)
	}
}

// hashes lists the contents that it needs.
func (s savedAway) hashes() []Hash { return []Hash{s.File.Text, s.After.Text} }
