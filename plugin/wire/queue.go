// Package wire says things to Neovim: it makes items of them that Neovim takes without
// loss and without standing still, and delivers them in order and at a pace. It knows
// nothing of what the items say.
package wire

import (
	"cmp"
	"context"
	"sync"
	"time"
)

// A delivery is to keep Neovim busy for frame: the screen is redrawn between two
// of them. The size of the next delivery, between leastBatch and mostBatch,
// follows from the cost of the last one, in the unit of MaxCost, and the time that
// Neovim took for it.
const (
	frame       = 5 * time.Millisecond
	leastBatch  = MaxCost / 32
	mostBatch   = MaxCost / 2
	batchPeriod = 8 * time.Millisecond
)

// QueueBytes is when a queue for Neovim is full.
const QueueBytes = 4 << 20

// Item is one message to Lua: what it is and its payload, a JSON object.
type Item struct {
	Kind string
	JSON []byte
	Max  int // what it may cost; 0 means MaxCost

	lost Lost // what is missing already
	cost int  // about what it costs, and not less
}

// fitted makes the item small enough for Neovim. Its member truncated says what
// that leaves out.
func (it Item) fitted() Item {
	if limit := cmp.Or(it.Max, MaxCost); it.cost > limit {
		var missing Lost
		it.JSON, missing = shrink(it.JSON, limit, limit)
		it.lost.add(missing)
		it.cost = costOf(it.JSON)
	}
	if it.lost != (Lost{}) {
		it.JSON = append(append(it.JSON[:len(it.JSON)-1], `,"truncated":`...), it.lost.object().JSON()...)
		it.JSON = append(it.JSON, '}')
		it.cost += CostOfMore
	}
	return it
}

// Whole is the item as one that is not cut, whatever it costs: what the user has asked for.
func (it Item) Whole() Item {
	it.Max = max(MaxWrite, 2*it.cost)
	return it
}

// prompt reports whether the item is delivered without waiting for more. The end of
// an operation is, because the user waits for it. Agents cannot cause it on their
// own, so they cannot use it against the pace of events.
func (it Item) prompt() bool { return it.Kind == KindDone }

// Kinds of items; lua/hermes/core/rpc.lua has a function for each. The kind of an event
// is its name.
const (
	KindHello    = "hello"
	KindAsk      = "ask"
	KindWithdraw = "withdraw"
	KindDone     = "done"
	KindLogin    = "login"
	KindNotice   = "notice"
)

// Queue holds the items that Neovim has not got yet, in order. A goroutine with
// agent traffic waits for room first, which stops the reading from the agent;
// answers to Neovim's own calls are pushed without waiting.
type Queue struct {
	max   int
	ended error // what waiting for a closed queue fails with

	mu     sync.Mutex
	items  []Item
	bytes  int
	cost   int
	limit  int // cost of a batch
	closed bool
	prompt bool          // an item waits that is delivered at once
	filled chan struct{} // capacity 1: something to deliver
	full   chan struct{} // capacity 1: a whole batch to deliver, or prompt
	spaced chan struct{} // closed and replaced when space appears

	pushed, handled uint64        // items so far
	moved           chan struct{} // closed and replaced when handled grows
}

// NewQueue returns a queue that is full with so many bytes. Waiting for it fails with
// ended once it is closed.
func NewQueue(maxBytes int, ended error) *Queue {
	return &Queue{max: maxBytes, ended: ended, limit: mostBatch / 4, filled: make(chan struct{}, 1), full: make(chan struct{}, 1), spaced: make(chan struct{}), moved: make(chan struct{})}
}

// Room waits until the queue is not full. The next push of a caller may
// overfill it by one item.
func (q *Queue) Room(ctx context.Context) error {
	for {
		q.mu.Lock()
		if q.closed {
			q.mu.Unlock()
			return q.ended
		}
		if q.bytes < q.max {
			q.mu.Unlock()
			return nil
		}
		spaced := q.spaced
		q.mu.Unlock()
		select {
		case <-spaced:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Push appends it at once, full or not, and never waits. It returns the
// item's number, for delivered.
func (q *Queue) Push(it Item) (n uint64) {
	it = it.fitted()
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.add(it)
	}
	return q.pushed
}

// Delivered waits until Neovim has handled item n.
func (q *Queue) Delivered(ctx context.Context, n uint64) error {
	for {
		q.mu.Lock()
		done, closed, handled := q.handled >= n, q.closed, q.moved
		q.mu.Unlock()
		switch {
		case done:
			return nil
		case closed:
			return q.ended
		}
		select {
		case <-handled:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (q *Queue) add(it Item) {
	q.pushed++
	q.items = append(q.items, it)
	q.bytes += len(it.JSON)
	q.cost += it.cost
	q.prompt = q.prompt || it.prompt()
	wake(q.filled)
	if q.ready() {
		wake(q.full)
	}
}

// ready reports whether there is a reason not to wait for more. q.mu is held.
func (q *Queue) ready() bool { return q.prompt || q.cost >= q.limit }

// wake fills a channel of capacity 1.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Take returns the next batch: as much as the limit allows, but at least one item.
// It also reports whether more waits.
func (q *Queue) Take() (batch []Item, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, size, cost := 0, 0, 0
	for ; n < len(q.items); n++ {
		it := q.items[n]
		if n > 0 && cost+it.cost > q.limit {
			break
		}
		size += len(it.JSON)
		cost += it.cost
	}
	batch = q.items[:n:n]
	if q.items = q.items[n:]; len(q.items) == 0 {
		q.items, q.prompt = nil, false
	}
	q.cost -= cost
	if q.bytes -= size; n > 0 {
		close(q.spaced)
		q.spaced = make(chan struct{})
	}
	return batch, len(q.items) > 0
}

// Close drops what is left and releases everybody who waits.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.closed, q.items, q.bytes, q.cost = true, nil, 0, 0
	close(q.spaced)
	close(q.moved)
	close(q.filled)
}

// Run gives batches to deliver, which returns how long Neovim was busy with one,
// until the queue closes. There are never two at a time: the first at once, and
// while more waits than fits into a batch the next one as soon as Neovim has
// answered. Neovim draws the screen in between. Single items are collected for
// batchPeriod, or until they fill a batch or end an operation. No lock is held
// while deliver waits for Neovim.
func (q *Queue) Run(deliver func([]Item) time.Duration) {
	var last time.Time
	backlog := false
	for range q.filled {
		for {
			if wait := time.Until(last.Add(batchPeriod)); wait > 0 && !backlog {
				q.collect(wait)
			}
			var batch []Item
			batch, backlog = q.Take()
			if len(batch) == 0 {
				break
			}
			last = time.Now()
			q.settle(batch, deliver(batch))
		}
	}
}

// collect waits until the queue is ready, and for at most d.
func (q *Queue) collect(d time.Duration) {
	select { // of an earlier batch
	case <-q.full:
	default:
	}
	q.mu.Lock()
	ready := q.ready()
	q.mu.Unlock()
	if ready {
		return
	}
	select {
	case <-q.full:
	case <-time.After(d):
	}
}

// settle counts the items of a batch as handled. The time that it took decides how
// large the next batch may be, but a single outlier changes that little.
func (q *Queue) settle(batch []Item, took time.Duration) {
	cost := 0
	for _, it := range batch {
		cost += it.cost
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	next := int(float64(cost) * float64(frame) / float64(max(took, 1)))
	q.limit = min(max(next, q.limit/2, leastBatch), 2*q.limit, mostBatch)
	if q.handled += uint64(len(batch)); !q.closed {
		close(q.moved)
		q.moved = make(chan struct{})
	}
}
