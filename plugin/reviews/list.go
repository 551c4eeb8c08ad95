package reviews

import (
	"cmp"
	"slices"

	"github.com/hermes-nvim/hermes/runtime/review"
)

// A list may be longer than what Neovim takes at a time, so it comes in pages. Its
// totals cover all pages.
const (
	PageFiles = 1000
	PageHunks = 500
	pageBytes = 2 << 20 // of the lines of hunks
)

// folders are the reviews that a question is about, sorted.
func (r *Reviews) folders(at place) ([]*Folder, error) {
	all := r.all()
	if at.Root != "" || at.Path != "" {
		p, err := r.where(at)
		if err != nil {
			return nil, err
		}
		all = nil
		if p != nil {
			all = []*Folder{p}
		}
	}
	slices.SortFunc(all, func(a, b *Folder) int { return cmp.Compare(a.Root(), b.Root()) })
	return all, nil
}

func (r *Reviews) checkpoints(op checkpointsOp) (list checkpointsList, err error) {
	all, err := r.folders(op.place)
	list.Checkpoints = []checkpointJSON{}
	for _, p := range all {
		for _, c := range p.Review().Checkpoints() {
			agent, id := r.splitKey(c.Session)
			list.Checkpoints = append(list.Checkpoints, checkpointJSON{c.ID, c.Name, agent, id, c.Turn, stamped(c.At), p.Root()})
		}
	}
	return list, err
}

func (r *Reviews) files(op filesOp) (filesList, error) {
	all, err := r.folders(op.place)
	if err != nil {
		return filesList{}, err
	}
	files := []fileJSON{}
	names := map[string]string{} // of sessions: what was asked first
	total, hunks, added, removed, unseen := 0, 0, 0, 0, 0
	for _, p := range all {
		unseen += len(p.Unseen())
		key := r.key(p, op.place)
		partial, listed := make(map[string]bool), make(map[string]bool)
		for _, u := range p.Unrecorded() {
			partial[u.Session] = true
		}
		for _, f := range p.Review().Files() {
			if key != "" && !slices.Contains(f.Sessions, key) {
				continue
			}
			if total >= op.From && len(files) < PageFiles {
				one := p.file(f)
				one.Partial = slices.ContainsFunc(f.Sessions, func(s string) bool { return partial[s] })
				files = append(files, one)
				for _, session := range f.Sessions {
					listed[session] = true
				}
			}
			total, hunks, added, removed = total+1, hunks+f.Hunks, added+f.Added, removed+f.Removed
		}
		for _, c := range p.Review().Checkpoints() {
			if _, id := r.splitKey(c.Session); listed[c.Session] && names[id] == "" && c.Name != "" {
				names[id] = c.Name
			}
		}
	}
	return filesList{files, total - min(total, op.From+len(files)), total, hunks, added, removed, names, r.elsewhere(), unseen}, nil
}

func (r *Reviews) hunks(op hunksOp) (hunksList, error) {
	all, err := r.folders(op.place)
	if err != nil {
		return hunksList{}, err
	}
	hunks := []hunkJSON{}
	total, size := 0, 0
	full := false
	add := func(p *Folder, h review.Hunk) {
		if total >= op.From && !full {
			for _, l := range slices.Concat(h.Old, h.New) {
				size += len(l)
			}
			if full = len(hunks) == PageHunks || size > pageBytes && len(hunks) > 0; !full {
				hunks = append(hunks, p.hunks([]review.Hunk{h}, true)...)
			}
		}
		total++
	}
	for _, p := range all {
		names := []string{p.Name(op.Path)}
		if op.Path == "" {
			names = nil
			for _, f := range p.Review().Files() {
				names = append(names, f.Path)
			}
		}
		for _, name := range names {
			for _, h := range p.Review().Hunks(name) {
				add(p, h)
			}
		}
	}
	return hunksList{hunks, total - min(total, op.From+len(hunks)), total}, nil
}
