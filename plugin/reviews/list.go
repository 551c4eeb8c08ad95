package reviews

import (
	"cmp"
	"slices"

	"github.com/hermes-nvim/hermes/runtime/review"
)

// A list may be longer than what Neovim takes at a time, so it comes in pages. Its
// counts are of everything.
const (
	PageFiles = 1000
	PageHunks = 500
	pageBytes = 2 << 20 // of the lines of hunks
)

// list answers questions about all reviews, or about one file.
func (r *Reviews) list(op Op) (any, error) {
	all := r.all()
	if op.Root != "" || op.Path != "" {
		p, err := r.where(op)
		if err != nil {
			return nil, err
		}
		all = nil
		if p != nil {
			all = []*Folder{p}
		}
	}
	slices.SortFunc(all, func(a, b *Folder) int { return cmp.Compare(a.Root(), b.Root()) })
	switch op.Do {
	case "files":
		return r.listFiles(all, op), nil
	case "hunks":
		return r.listHunks(all, op), nil
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

func (r *Reviews) listFiles(all []*Folder, op Op) map[string]any {
	files := []fileJSON{}
	names := map[string]string{} // of sessions: what was asked first
	total, hunks, added, removed, unseen := 0, 0, 0, 0, 0
	for _, p := range all {
		unseen += len(p.Unseen())
		key := r.key(p, op)
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
	return map[string]any{
		"files": files, "more": total - min(total, op.From+len(files)), "total": total, "hunks": hunks, "added": added, "removed": removed,
		"names": names, "elsewhere": r.elsewhere(), "unseen": unseen,
	}
}

func (r *Reviews) listHunks(all []*Folder, op Op) map[string]any {
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
	return map[string]any{"hunks": hunks, "more": total - min(total, op.From+len(hunks)), "total": total}
}
