package reviews

import (
	"context"
	"errors"
	"time"

	"github.com/hermes-nvim/hermes/internal/pathname"

	"github.com/hermes-nvim/hermes/internal/review/project"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// A file is under one review, also if sessions work in a folder and in one below
// it: a session in a folder whose files an open review has shares that review, and
// a review leaves out the folders of those that were open before it. Changes of a
// session in such a folder go to the review that has it.

// around returns the review that has the files of a folder, or nil. r.mu is held.
func (r *Reviews) around(root string) *Folder {
	if p := r.projects[root]; p != nil {
		return p
	}
	for given, p := range r.projects {
		if _, in := pathname.Below(given, root); in && p.covers(root) {
			return p
		}
	}
	return nil
}

// covers reports whether a review has the files of a folder, as far as that is
// known already.
func (p *Folder) covers(folder string) bool {
	select {
	case <-p.Ready:
		return p.err == nil && p.Covers(folder) || p.reporter() != nil && project.Scans(p.Given)
	default:
		return project.Scans(p.Given)
	}
}

// foldersBelow lists the folders under review that are in another one.
func (r *Reviews) foldersBelow(root string) (folders []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for given := range r.projects {
		if _, in := pathname.Below(root, given); in {
			folders = append(folders, given)
		}
	}
	return folders
}

// parts are the reviews of a folder and of those in it.
func (p *Folder) parts() []*Folder {
	return append([]*Folder{p}, p.reviews.below(p.Given)...)
}

// at returns the review that a path below the folder belongs to.
func (p *Folder) at(path string) *Folder {
	best := p
	for _, q := range p.parts() {
		if _, in := pathname.Below(q.Given, path); in && len(q.Given) > len(best.Given) {
			best = q
		}
	}
	return best
}

// Prompt begins a turn in all parts. See project.Project.
func (p *Folder) Prompt(ctx context.Context, session, turn, name string) error {
	var errs []error
	for _, q := range p.parts() {
		errs = append(errs, q.Project.Prompt(ctx, session, turn, name))
	}
	return errors.Join(errs...)
}

// Called is for all parts. See project.Project.
func (p *Folder) Called(session, call string, at time.Time, ended bool) {
	for _, q := range p.parts() {
		q.Project.Called(session, call, at, ended)
	}
}

// TurnEnded ends a turn in all parts. See project.Project.
func (p *Folder) TurnEnded(a review.Author) {
	for _, q := range p.parts() {
		q.Project.TurnEnded(a)
	}
}

// Scan looks at the files of all parts. See project.Project.
func (p *Folder) Scan(a review.Author) {
	for _, q := range p.parts() {
		q.Project.Scan(a)
	}
}

// Expect is for files of any part. See project.Project.
func (p *Folder) Expect(paths ...string) {
	for _, path := range paths {
		p.at(path).Project.Expect(path)
	}
}

// Look is for files of any part. See project.Project.
func (p *Folder) Look(a review.Author, files ...project.Told) {
	for _, f := range files {
		p.at(f.Path).Project.Look(a, f)
	}
}

// Write is project.Project.Write for a file of any part. If another program has the review,
// Write reports to it. The review is open, or was not opened.
func (p *Folder) Write(a review.Author, path, text string, write func() error) error {
	if to := p.reporter(); to != nil {
		return to.write(a, path, write)
	} else if p.err != nil {
		return write()
	}
	return p.at(path).Project.Write(a, path, text, write)
}
