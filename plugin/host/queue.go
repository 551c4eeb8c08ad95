package host

import (
	"cmp"
	"context"
	"sync"
	"time"
)

// Limits of one delivery to Neovim. The screen is redrawn between two
// deliveries, so they also bound how long it stands still.
const (
	batchItems  = 256
	batchBytes  = 64 << 10
	batchPeriod = 8 * time.Millisecond
	queueBytes  = 4 << 20
)

// item is one message to Lua: what it is and its payload, a JSON object.
type item struct {
	kind string
	json []byte
	lost lost // what is missing already
	max  int  // what it may cost; 0 means maxCost
	cost int  // about what it costs, and not less
}

// fitted makes the item small enough for Neovim. What that leaves out is told
// by its member truncated.
func (it item) fitted() item {
	if limit := cmp.Or(it.max, maxCost); it.cost > limit {
		var missing lost
		it.json, missing = shrink(it.json, limit)
		it.lost.add(missing)
		it.cost = costOf(it.json)
	}
	if it.lost != (lost{}) {
		it.json = append(append(it.json[:len(it.json)-1], `,"truncated":`...), it.lost.object().json()...)
		it.json = append(it.json, '}')
		it.cost += costOfMore
	}
	return it
}

// kinds of items; lua/hermes/rpc.lua has a function for each.
const (
	kindHello    = "hello"
	kindEvent    = "event"
	kindAsk      = "ask"
	kindWithdraw = "withdraw"
	kindDone     = "done"
	kindNotice   = "notice"
)

// What ends everything.
var (
	errQueueClosed error = &opError{Kind: errorDisconnected, Message: "Neovim has ended"}
	errHostStopped error = &opError{Kind: errorDisconnected, Message: "the host was stopped"}
)

// queue holds what Neovim has not been given yet, in order. Whoever brings
// agent traffic waits for room first, which stops the reading from the agent;
// answers to Neovim's own calls are pushed without waiting.
type queue struct {
	max int

	mu     sync.Mutex
	items  []item
	bytes  int
	closed bool
	filled chan struct{} // capacity 1: something to deliver
	spaced chan struct{} // closed and replaced when space appears

	pushed, handled uint64        // items so far
	moved           chan struct{} // closed and replaced when handled grows
}

func newQueue(maxBytes int) *queue {
	return &queue{max: maxBytes, filled: make(chan struct{}, 1), spaced: make(chan struct{}), moved: make(chan struct{})}
}

// room waits until the queue is not full. What a caller then pushes may
// overfill it by one item.
func (q *queue) room(ctx context.Context) error {
	for {
		q.mu.Lock()
		if q.closed {
			q.mu.Unlock()
			return errQueueClosed
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

// push appends it at once, full or not, and never waits. It returns the
// item's number, for delivered.
func (q *queue) push(it item) (n uint64) {
	it = it.fitted()
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.add(it)
	}
	return q.pushed
}

// delivered waits until Neovim has handled item n.
func (q *queue) delivered(ctx context.Context, n uint64) error {
	for {
		q.mu.Lock()
		done, closed, handled := q.handled >= n, q.closed, q.moved
		q.mu.Unlock()
		switch {
		case done:
			return nil
		case closed:
			return errQueueClosed
		}
		select {
		case <-handled:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (q *queue) add(it item) {
	q.pushed++
	q.items = append(q.items, it)
	q.bytes += len(it.json)
	select {
	case q.filled <- struct{}{}:
	default:
	}
}

// take returns the next batch: at most batchItems, batchBytes and maxCost, but
// at least one item. It also reports whether more waits.
func (q *queue) take() (batch []item, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, size, cost := 0, 0, 0
	for ; n < len(q.items) && n < batchItems; n++ {
		it := q.items[n]
		if n > 0 && (size+len(it.json) > batchBytes || cost+it.cost > maxCost) {
			break
		}
		size += len(it.json)
		cost += it.cost
	}
	batch = q.items[:n:n]
	if q.items = q.items[n:]; len(q.items) == 0 {
		q.items = nil
	}
	if q.bytes -= size; n > 0 {
		close(q.spaced)
		q.spaced = make(chan struct{})
	}
	return batch, len(q.items) > 0
}

// close drops what is left and releases everybody who waits.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.closed, q.items, q.bytes = true, nil, 0
	close(q.spaced)
	close(q.moved)
	close(q.filled)
}

// run gives batches to deliver until the queue closes, never two at a time: the
// first at once, and while more waits than fits into a batch the next one as
// soon as Neovim has answered. Neovim draws the screen in between. What trickles
// in is collected for batchPeriod. No lock is held while deliver waits for
// Neovim.
func (q *queue) run(deliver func([]item)) {
	var last time.Time
	backlog := false
	for range q.filled {
		for {
			if wait := time.Until(last.Add(batchPeriod)); wait > 0 && !backlog {
				time.Sleep(wait)
			}
			var batch []item
			batch, backlog = q.take()
			if len(batch) == 0 {
				break
			}
			last = time.Now()
			deliver(batch)
			q.settle(len(batch))
		}
	}
}

// settle counts n items as handled.
func (q *queue) settle(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.handled += uint64(n); !q.closed {
		close(q.moved)
		q.moved = make(chan struct{})
	}
}
