package rpc

import (
	"sync"
	"sync/atomic"
)

// DefaultBudget is what NewBudget(0) allows, in bytes.
const DefaultBudget = 256 << 20

// Budget bounds, for all connections that share it, the bytes that have been
// read and not yet handled. While they are above it, a connection with more
// than one such message stops reading until handlers of any of them catch up,
// in the way and with the exceptions of Limits.Bytes; so each connection can
// always hold one message, and no connection stands still because of others.
// A connection returns the bytes that it holds when its handlers have returned,
// even after its end. A Budget is safe for concurrent use.
type Budget struct {
	limit int64
	used  atomic.Int64

	watched atomic.Bool // somebody is waiting
	mu      sync.Mutex
	waiting map[*flow]struct{}
}

// NewBudget returns a budget of so many bytes, 0 means DefaultBudget.
func NewBudget(bytes int64) *Budget {
	if bytes == 0 {
		bytes = DefaultBudget
	}
	return &Budget{limit: bytes, waiting: map[*flow]struct{}{}}
}

// Used returns how many bytes wait to be handled.
func (b *Budget) Used() int64 { return b.used.Load() }

// over reports whether times the budget is exceeded. A nil budget never is.
func (b *Budget) over(times int) bool { return b != nil && b.used.Load() > b.limit*int64(times) }

func (b *Budget) add(n int) {
	if b != nil {
		b.used.Add(int64(n))
	}
}

func (b *Budget) sub(n int) {
	if b == nil {
		return
	}
	b.used.Add(-int64(n))
	if !b.watched.Load() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for f := range b.waiting {
		f.signal()
	}
}

// watch makes every sub signal f, until unwatch.
func (b *Budget) watch(f *flow) { b.setWaiting(f, true) }

func (b *Budget) unwatch(f *flow) { b.setWaiting(f, false) }

func (b *Budget) setWaiting(f *flow, waits bool) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if waits {
		b.waiting[f] = struct{}{}
	} else {
		delete(b.waiting, f)
	}
	b.watched.Store(len(b.waiting) > 0)
}
