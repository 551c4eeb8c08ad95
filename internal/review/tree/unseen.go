package tree

import (
	"cmp"
	"slices"
	"strings"
)

// hides reports whether a reason leaves out files that somebody may change. Files that git
// ignores are left out on purpose, special files have no content, and files in a loop are seen
// elsewhere.
func (r Reason) hides() bool { return r == Unreadable || r == TooMany || r == TooDeep }

// After returns the snapshot with the entries of an earlier one for files that this one had to
// leave out: nothing newer is known of them. The files stay left out, so that Compare says
// nothing of them before a later snapshot has them again.
func (s *Snapshot) After(last *Snapshot) *Snapshot {
	if last == nil || !slices.ContainsFunc(s.Left, func(l Left) bool { return l.Reason.hides() }) {
		return s
	}
	var kept []Entry
	for _, e := range last.Entries {
		if _, is := s.Entry(e.Path); is {
			continue
		}
		if why, left := s.LeftOut(e.Path); left && why.hides() {
			kept = append(kept, e)
		}
	}
	if len(kept) == 0 {
		return s
	}
	all := *s
	all.Entries = slices.Concat(s.Entries, kept)
	slices.SortFunc(all.Entries, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
	return &all
}

// Unseen is what Compare cannot say: the paths that may have changed from one snapshot to another
// while one of them leaves them out, sorted. The reason is taken from the new snapshot, or else
// from the old one. An unreadable file with the same status is not among them: a program that may
// not read it cannot change it without changing its status.
func Unseen(old, new *Snapshot) (unseen []Left) {
	for _, l := range new.Left {
		was, again := old.leftAt(l.Path)
		same := again && l.Reason == Unreadable && was == l && l.id != identity{}
		if l.Reason.hides() && !same {
			unseen = append(unseen, l)
		}
	}
	for _, l := range old.Left {
		if _, left := new.LeftOut(l.Path); !left && (l.Reason.hides() || l.Reason == Special) && new.hasOthers(old, l.Path) {
			unseen = append(unseen, l)
		}
	}
	slices.SortFunc(unseen, compareLeft)
	return unseen
}

// leftAt returns what is left out at a path itself.
func (s *Snapshot) leftAt(path string) (Left, bool) {
	i, ok := slices.BinarySearchFunc(s.Left, path, func(l Left, path string) int { return strings.Compare(l.Path, path) })
	if !ok {
		return Left{}, false
	}
	return s.Left[i], true
}

// hasOthers reports whether there are entries at a path, or below it, that another snapshot does
// not have.
func (s *Snapshot) hasOthers(other *Snapshot, path string) bool {
	is := func(e Entry) bool {
		_, there := other.Entry(e.Path)
		return !there
	}
	if e, ok := s.Entry(path); ok {
		return is(e)
	}
	below := path + "/"
	if path == "." {
		below = ""
	}
	first, _ := slices.BinarySearchFunc(s.Entries, below, func(e Entry, path string) int { return strings.Compare(e.Path, path) })
	for _, e := range s.Entries[first:] {
		if !strings.HasPrefix(e.Path, below) {
			break
		}
		if is(e) {
			return true
		}
	}
	return false
}
