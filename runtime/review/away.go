package review

import (
	"slices"

	"github.com/hermes-nvim/hermes/runtime/review/store"
)

// The disk can go back to an earlier text and come back, as with git stash and
// checkout. What agents had changed is gone then, which is the user's doing. It is
// theirs again when the text comes back, so it is remembered as it was.

// maxAway is how many earlier states a file remembers.
const maxAway = 3

// away is a file whose pending changes the user has taken away outside of the editor.
type away struct {
	file  file
	after State // what it was instead
}

// outside returns the file in a state that the user has given it outside of the
// editor.
func (f file) outside(to State) file {
	for i, a := range slices.Backward(f.away) {
		if back, ok := a.returned(f, to); ok {
			back.away = slices.Delete(slices.Clone(f.away), i, i+1)
			return back
		}
	}
	now := f.write(to, writer{})
	if now.openFacts() < f.openFacts() {
		was := f
		was.away = nil
		now.away = append(slices.Clone(f.away[max(0, len(f.away)+1-maxAway):]), away{was, to})
	}
	return now
}

// returned returns what was away if a state has it: exactly, or with what has changed
// meanwhile.
func (a away) returned(f file, to State) (file, bool) {
	then, now := a.file.current(), f.current()
	hidden := (now.Kind == Link || now.Kind == Other) && f.text.openLines() > 0
	still := now == a.after && f.last == a.file.last // and what is pending now is pending in a.file
	if (f.base() != now || hidden) && !still {
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
}

// saveAway stores what was away.
func (r *Review) saveAway(f *tracked) (out []savedAway, err error) {
	for _, a := range f.away {
		s := savedAway{File: r.encodeFile("", &tracked{file: a.file}), After: fingerprintOf(a.after)}
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

// loadAway reads it again. What cannot be read is forgotten.
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
		out = append(out, away{f.file, after})
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
func (s savedAway) hashes() []store.Hash { return []store.Hash{s.File.Text, s.After.Text} }
