package host

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/project"
)

// A file is under one review, also if sessions work in a folder and in one below
// it: a session in a folder whose files an open review has shares that review, and
// a review leaves out the folders of those that were open before it. What a session
// does there is for those reviews.

func isBelow(folder, above string) bool {
	return strings.HasPrefix(folder, strings.TrimSuffix(above, string(filepath.Separator))+string(filepath.Separator))
}

// around returns the review that has the files of a folder, or nil. r.mu is held.
func (r *reviews) around(root string) *reviewed {
	if p := r.projects[root]; p != nil {
		return p
	}
	for given, p := range r.projects {
		if isBelow(root, given) && p.covers(root) {
			return p
		}
	}
	return nil
}

// covers reports whether a review has the files of a folder, as far as that is
// known already.
func (p *reviewed) covers(folder string) bool {
	select {
	case <-p.ready:
		return p.err == nil && p.Covers(folder)
	default:
		return project.Scans(p.given)
	}
}

// below lists the folders under review that are in another one.
func (r *reviews) below(root string) (folders []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for given := range r.projects {
		if isBelow(given, root) {
			folders = append(folders, given)
		}
	}
	return folders
}

// parts are the reviews of a folder and of those in it.
func (p *reviewed) parts() []*reviewed {
	parts := []*reviewed{p}
	for _, q := range p.reviews.all() {
		if isBelow(q.given, p.given) {
			parts = append(parts, q)
		}
	}
	return parts
}

// at returns the review that a path below the folder belongs to.
func (p *reviewed) at(path string) *reviewed {
	best := p
	for _, q := range p.parts() {
		if isBelow(path, q.given) && len(q.given) > len(best.given) {
			best = q
		}
	}
	return best
}

// Prompt begins a turn in all parts. See project.Project.
func (p *reviewed) Prompt(ctx context.Context, session, turn, name string) error {
	var errs []error
	for _, q := range p.parts() {
		errs = append(errs, q.Project.Prompt(ctx, session, turn, name))
	}
	return errors.Join(errs...)
}

// TurnEnded ends a turn in all parts. See project.Project.
func (p *reviewed) TurnEnded(a review.Author) {
	for _, q := range p.parts() {
		q.Project.TurnEnded(a)
	}
}

// Scan looks at the files of all parts. See project.Project.
func (p *reviewed) Scan(a review.Author) {
	for _, q := range p.parts() {
		q.Project.Scan(a)
	}
}

// Expect is for files of any part. See project.Project.
func (p *reviewed) Expect(paths ...string) {
	for _, path := range paths {
		p.at(path).Project.Expect(path)
	}
}

// Look is for files of any part. See project.Project.
func (p *reviewed) Look(a review.Author, files ...project.Told) {
	for _, f := range files {
		p.at(f.Path).Project.Look(a, f)
	}
}

// Write is for a file of any part. See project.Project.
func (p *reviewed) Write(a review.Author, path, text string, write func() error) error {
	return p.at(path).Project.Write(a, path, text, write)
}
