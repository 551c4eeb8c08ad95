package host

import (
	"cmp"
	"context"
	"sync"
	"time"
)

// A delivery is to keep Neovim busy for frame: the screen is redrawn between two
// of them. What Neovim was given, in the unit of maxCost, and the time it took are
// what the size of the next follows from, between leastBatch and mostBatch.
const (
	frame       = 5 * time.Millisecond
	leastBatch  = maxCost / 32
	mostBatch   = maxCost / 2
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
		it.json, missing = shrink(it.json, limit, limit)
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

// prompt reports whether the item is delivered without waiting for more. The end of
// an operation is, because the user waits for it. Agents cannot cause it on their
// own, so they cannot use it against the pace of events.
func (it item) prompt() bool { return it.kind == kindDone }

// Kinds of items; lua/hermes/rpc.lua has a function for each. The kind of an event
// is its name.
const (
	kindHello    = "hello"
	kindAsk      = "ask"
	kindWithdraw = "withdraw"
	kindDone     = "done"
	kindLogin    = "login"
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

func newQueue(maxBytes int) *queue {
	return &queue{max: maxBytes, limit: mostBatch / 4, filled: make(chan struct{}, 1), full: make(chan struct{}, 1), spaced: make(chan struct{}), moved: make(chan struct{})}
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
	q.cost += it.cost
	q.prompt = q.prompt || it.prompt()
	wake(q.filled)
	if q.ready() {
		wake(q.full)
	}
}

// ready reports whether there is a reason not to wait for more. q.mu is held.
func (q *queue) ready() bool { return q.prompt || q.cost >= q.limit }

// wake fills a channel of capacity 1.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// take returns the next batch: as much as the limit allows, but at least one item.
// It also reports whether more waits.
func (q *queue) take() (batch []item, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, size, cost := 0, 0, 0
	for ; n < len(q.items); n++ {
		it := q.items[n]
		if n > 0 && cost+it.cost > q.limit {
			break
		}
		size += len(it.json)
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

// close drops what is left and releases everybody who waits.
func (q *queue) close() {
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

// run gives batches to deliver, which returns how long Neovim was busy with one,
// until the queue closes. There are never two at a time: the first at once, and
// while more waits than fits into a batch the next one as soon as Neovim has
// answered. Neovim draws the screen in between. What trickles in is collected for
// batchPeriod, or until it fills a batch or ends an operation. No lock is held
// while deliver waits for Neovim.
func (q *queue) run(deliver func([]item) time.Duration) {
	var last time.Time
	backlog := false
	for range q.filled {
		for {
			if wait := time.Until(last.Add(batchPeriod)); wait > 0 && !backlog {
				q.collect(wait)
			}
			var batch []item
			batch, backlog = q.take()
			if len(batch) == 0 {
				break
			}
			last = time.Now()
			q.settle(batch, deliver(batch))
		}
	}
}

// collect waits until the queue is ready, and for at most d.
func (q *queue) collect(d time.Duration) {
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

// settle counts the items of a batch as handled. How long that took says how large
// the next batch may be; one that is out of the ordinary changes it little.
func (q *queue) settle(batch []item, took time.Duration) {
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
