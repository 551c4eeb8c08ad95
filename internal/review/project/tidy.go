package project

import (
	"iter"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/internal/review/tree"
)

const (
	maxRecords     = 400              // at least, until the journal is made short
	maxCheckpoints = 200              // the oldest go
	grace          = 10 * time.Minute // for contents that nothing names yet
)

// tidy makes the journal short and removes what nothing needs, now and then: when it has grown
// by as much as was left of it, so that the work for each of many files does not grow.
func (p *Project) tidy() {
	p.mu.Lock()
	due := p.records >= max(maxRecords, p.left)
	if due {
		p.records = 0
	}
	p.mu.Unlock()
	if !due {
		return
	}
	if err := p.Tidy(); err != nil {
		p.log.Warn("tidy", "error", err)
	}
	left := len(p.review.Paths())
	p.mu.Lock()
	p.left = left
	p.mu.Unlock()
}

// Tidy removes the oldest checkpoints above the limits and the contents that
// nothing needs. It is called on its own now and then.
func (p *Project) Tidy() error {
	blobs := tree.NewBlobs(p.store)
	var forget []string
	var ids []string
	var groups []store.Group
	for _, c := range p.review.Checkpoints() {
		g := store.Group{At: c.At, Blobs: func(func(store.Hash) bool) {}}
		if !c.Tree.IsZero() {
			g.Blobs = blobs.Of(c.Tree)
		}
		for range g.Blobs {
		}
		if err := blobs.Err(); err != nil { // nobody can go back to it
			p.log.Warn("a checkpoint is lost", "error", err)
			forget, blobs = append(forget, c.ID), tree.NewBlobs(p.store)
			continue
		}
		ids, groups = append(ids, c.ID), append(groups, g)
	}
	keep, err := p.store.Retain(time.Now(), groups)
	if err != nil {
		return err
	}
	for i, id := range ids {
		if !keep[i] || i < len(ids)-maxCheckpoints {
			forget = append(forget, id)
		}
	}
	if len(forget) > 0 {
		if err := p.review.Forget(forget...); err != nil {
			return err
		}
	}
	if err := p.review.Compact(); err != nil {
		return err
	}
	blobs = tree.NewBlobs(p.store)
	pruned, err := p.store.Prune(p.live(blobs), grace)
	p.log.Debug("pruned", "blobs", pruned.Blobs, "bytes", pruned.Bytes)
	return err
}

// live lists the contents that are needed.
func (p *Project) live(blobs *tree.Blobs) iter.Seq[store.Hash] {
	return func(yield func(store.Hash) bool) {
		for h := range p.review.Blobs() {
			if !yield(h) {
				return
			}
		}
		for _, c := range p.review.Checkpoints() {
			if c.Tree.IsZero() {
				continue
			}
			for h := range blobs.Of(c.Tree) {
				if !yield(h) {
					return
				}
			}
		}
		p.mu.Lock()
		last := p.last
		p.mu.Unlock()
		if last == nil {
			return
		}
		for _, e := range last.Entries {
			if !e.Hash.IsZero() && !yield(e.Hash) {
				return
			}
		}
	}
}
