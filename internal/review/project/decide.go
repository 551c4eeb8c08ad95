package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
	"github.com/hermes-nvim/hermes/internal/review/tree"
	"github.com/hermes-nvim/hermes/internal/review/watch"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// Reject plans to take pending changes back, as review.Reject does, after a look
// at what the files are, and a question to other programs. Carry it out with Apply.
func (p *Project) Reject(s review.Selection, force bool) (*review.Plan, error) {
	p.heard()
	for _, f := range p.review.Files() {
		if (s.Path == "" || s.Path == f.Path) && (s.Session == "" || slices.Contains(f.Sessions, s.Session)) {
			p.refresh(f.Path)
		}
	}
	return p.review.Reject(s, force)
}

// Undo plans to undo a decision, as review.Undo does, after a look at what the
// files are. Carry it out with Apply.
func (p *Project) Undo(decision uint32) (*review.Plan, error) {
	p.heard()
	plan, err := p.review.Undo(decision)
	if err != nil {
		return nil, err
	}
	for _, c := range plan.Changes {
		p.refresh(c.Path)
	}
	return p.review.Undo(decision)
}

// refresh looks at a file that no editor has.
func (p *Project) refresh(name string) {
	if p.Held(name) {
		return
	}
	j := &job{user: true}
	if author, running := p.Running(); running {
		j.user, j.author = false, author
	}
	p.look(p.ctx, j, j.author, name, Told{})
	p.tellUnseen(j)
}

// RestoreOptions say what Restore goes back on.
type RestoreOptions struct {
	Session string   // only what this session changed; "" means any
	Paths   []string // names in the review; nil means all
	// Everything restores the bytes that the files had, also where the user has
	// changed them since, and of files that are not under review.
	Everything bool
}

var errNoSnapshot = errors.New("it has no snapshot")

// Restore plans to go back to a checkpoint, as review.Restore does. Carry it out
// with Apply.
func (p *Project) Restore(ctx context.Context, id string, opts RestoreOptions) (*review.Plan, error) {
	points := p.review.Checkpoints()
	i := slices.IndexFunc(points, func(c review.Checkpoint) bool { return c.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("restore checkpoint %s: %w", id, review.ErrNoCheckpoint)
	}
	p.heard()
	now, err := p.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	o := review.RestoreOptions{Session: opts.Session, Paths: opts.Paths}
	if now != nil {
		if o.Tree, err = now.Save(p.store); err != nil {
			return nil, fmt.Errorf("restore checkpoint %s: %w", id, err)
		}
	}
	if opts.Everything {
		if points[i].Tree.IsZero() || now == nil {
			return nil, fmt.Errorf("restore checkpoint %s: %w", id, errNoSnapshot)
		}
		if o.Then, err = tree.Load(p.store, points[i].Tree); err != nil {
			return nil, fmt.Errorf("restore checkpoint %s: %w", id, err)
		}
		o.Now = now
	}
	return p.review.Restore(id, o)
}

// snapshot looks at all files and returns what they are.
func (p *Project) snapshot(ctx context.Context) (now *tree.Snapshot, err error) {
	j := &job{user: true, scan: true, done: make(chan struct{}), then: func(s *tree.Snapshot) { now = s }}
	if author, running := p.Running(); running {
		j.user, j.author = false, author
	}
	if !p.add(j) {
		return nil, fmt.Errorf("review %s: %w", p.given, os.ErrClosed)
	}
	select {
	case <-j.done:
		return now, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("review %s: %w", p.given, context.Cause(ctx))
	}
}

// Apply carries out a plan. Files that an editor has in a buffer are given to
// editor, which makes them what the plan says; others are written to the disk. A
// file that is not what the plan was made for fails with review.ErrStale.
func (p *Project) Apply(plan *review.Plan, editor func(review.Change) error) error {
	if err := plan.Begin(); err != nil {
		return err
	}
	var errs []error
	for _, c := range plan.Changes {
		errs = append(errs, p.ApplyOne(plan, c, editor))
	}
	for _, refused := range plan.Refused {
		errs = append(errs, refused.Err)
	}
	return errors.Join(errs...)
}

// ApplyOne is Apply for one file of a plan that has begun. A look at the file meanwhile
// leaves it alone, because the review does not know of the decision yet.
func (p *Project) ApplyOne(plan *review.Plan, c review.Change, editor func(review.Change) error) error {
	p.mu.Lock()
	p.writing[c.Path]++
	p.mu.Unlock()
	err := p.applyTo(plan, c, editor)
	p.written(c.Path)
	p.addNotice(watch.Notice{Paths: []string{p.Path(c.Path)}}) // what was left alone meanwhile
	return err
}

func (p *Project) applyTo(plan *review.Plan, c review.Change, editor func(review.Change) error) error {
	put := p.put
	p.attributing.Lock() // no editor begins to hold a file between the write and its record
	if editor != nil && p.Held(c.Path) {
		p.attributing.Unlock()
		put = editor
	} else {
		defer p.attributing.Unlock()
	}
	return plan.ApplyOne(c, func(c review.Change) error {
		err := put(c)
		if err == nil && c.After.Kind == review.Absent {
			p.removeFolders(c.Path)
		}
		return err
	})
}

// put writes a file.
func (p *Project) put(c review.Change) error {
	now, err := p.readAny(c.Path)
	if err != nil {
		return err
	}
	if now != c.Before {
		return review.ErrStale
	}
	if err := p.write(c); err != nil {
		return atomicfile.Reason(err)
	}
	p.note(c.Path, c.After)
	return nil
}

func (p *Project) write(c review.Change) error {
	top, name, err := p.open(c.Path)
	if err != nil {
		return err
	}
	defer top.Close()
	name = filepath.ToSlash(name)
	if c.After.Kind != review.Absent {
		if err := p.makeFolders(top, name); err != nil {
			return err
		}
	}
	dir, err := top.OpenRoot(path.Dir(name))
	if err != nil {
		return err
	}
	defer dir.Close()
	name = path.Base(name)
	if c.Before.Kind == review.Other && c.After.Kind != review.Absent {
		// Only a folder must go first. One that is not empty stays.
		if info, err := dir.Lstat(name); err == nil && info.IsDir() {
			if err := dir.Remove(name); err != nil {
				return err
			}
		}
	}
	switch c.After.Kind {
	case review.Absent:
		return dir.Remove(name)
	case review.Link:
		temp := fmt.Sprintf(".hermes-%016x.tmp", rand.Uint64()) // as atomicfile's, which no snapshot has
		if err := dir.Symlink(c.After.Target, temp); err != nil {
			return err
		}
		if err := dir.Rename(temp, name); err != nil {
			return errors.Join(err, dir.Remove(temp))
		}
		return nil
	}
	var old fs.FileInfo
	if c.Before.Kind == review.Regular {
		if old, err = dir.Lstat(name); err != nil {
			return err
		}
	}
	if err := atomicfile.Replace(dir, name, c.After.Text, old, c.After.Mode, nil); err != nil {
		return err
	}
	if old != nil && old.Mode().Perm() == c.After.Mode {
		return nil
	}
	return dir.Chmod(name, c.After.Mode)
}
