package project

import (
	"errors"
	"fmt"
	"iter"

	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// keeper is the store as the review sees it. It passes the errors of the store
// to the project.
type keeper struct {
	review.Store
	told func(error)
}

func (k keeper) Put(data []byte) (store.Hash, error) {
	h, err := k.Store.Put(data)
	k.told(err)
	return h, err
}

func (k keeper) Append(record []byte) error {
	err := k.Store.Append(record)
	k.told(err)
	return err
}

func (k keeper) Compact(records iter.Seq[[]byte]) error {
	err := k.Store.Compact(records)
	k.told(err)
	return err
}

// trouble reports once that something cannot be stored.
func (p *Project) trouble(err error) {
	if err == nil || errors.Is(err, store.ErrTooLarge) || errors.Is(err, store.ErrClosed) {
		return
	}
	p.mu.Lock()
	first := !p.troubled
	p.troubled = true
	p.mu.Unlock()
	if first && p.opts.OnTrouble != nil {
		p.opts.OnTrouble(err)
	}
}

// Flush stores what is not stored yet, such as the user's edits, and what could
// not be stored before.
func (p *Project) Flush() error {
	if err := p.review.Flush(); err != nil {
		return fmt.Errorf("review %s: %w", p.given, err)
	}
	p.mu.Lock()
	over := p.troubled
	p.troubled = false
	p.mu.Unlock()
	if over && p.opts.OnTrouble != nil {
		p.opts.OnTrouble(nil)
	}
	return nil
}
