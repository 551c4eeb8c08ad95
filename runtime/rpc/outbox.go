package rpc

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
)

// Limits of one write, so that an urgent message never waits long.
const (
	batchMessages = 256
	batchBytes    = 128 << 10
)

var errOutboxClosed = errors.New("outbox closed")

// outgoing is one encoded message that waits to be written.
type outgoing struct {
	buf     *buffer
	id      int64  // of a request of ours, otherwise 0
	session string // of a request of ours
	urgent  bool
}

// outbox is the bounded queue between those who send and the goroutine that
// writes.
type outbox struct {
	mu       sync.Mutex
	queue    []outgoing // queue[head:] waits
	head     int
	bytes    int
	maxCount int
	maxBytes int
	idle     bool          // the writer waits on wake
	wake     chan struct{} // holds one
	room     chan struct{} // closed when there is room; nil when nobody waits
	closing  bool          // nothing more comes in
	aborted  bool          // what is queued is not written any more

	writes  uint64        // so far; of who writes
	writing atomic.Uint64 // number of the current write; 0: none
}

func (o *outbox) init(lim *Limits) {
	o.maxCount, o.maxBytes = lim.QueueMessages, lim.QueueBytes
	o.wake = make(chan struct{}, 1)
}

// put queues m, waiting for room until ctx or the connection ends.
func (o *outbox) put(ctx context.Context, ending <-chan struct{}, m outgoing) error {
	for {
		room, err := o.try(m, true)
		if room == nil {
			return err
		}
		select {
		case <-room:
		case <-ctx.Done():
			m.buf.free()
			return ctx.Err()
		case <-ending:
			m.buf.free()
			return errOutboxClosed
		}
	}
}

// offer queues m when there is room for it.
func (o *outbox) offer(m outgoing) bool {
	room, err := o.try(m, false)
	return room == nil && err == nil
}

func (o *outbox) try(m outgoing, wait bool) (room <-chan struct{}, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(o.queue) - o.head
	switch {
	case o.closing:
		m.buf.free()
		return nil, errOutboxClosed
	case n > 0 && (n >= o.maxCount || o.bytes+len(m.buf.b) > o.maxBytes):
		if !wait {
			m.buf.free()
			return nil, errOutboxClosed
		}
		if o.room == nil {
			o.room = make(chan struct{})
		}
		return o.room, nil
	}
	o.queue = append(o.queue, m)
	o.added(m)
	return nil, nil
}

// added accounts for a queued message. The lock is held.
func (o *outbox) added(m outgoing) {
	o.bytes += len(m.buf.b)
	if o.idle {
		o.idle = false
		o.wake <- struct{}{}
	}
}

// urgent queues m before everything but the requests it is about and earlier
// urgent messages. It never waits; when the peer reads nothing for so long that the queue is twice full,
// m is dropped.
func (o *outbox) urgent(m outgoing, about func(*outgoing) bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closing {
		m.buf.free()
		return errOutboxClosed
	}
	if len(o.queue)-o.head >= 2*o.maxCount {
		m.buf.free()
		return nil
	}
	m.urgent = true
	at := o.head
	for i := len(o.queue) - 1; i >= o.head; i-- {
		if about(&o.queue[i]) {
			at = i + 1
			break
		}
	}
	for at < len(o.queue) && o.queue[at].urgent {
		at++
	}
	o.queue = slices.Insert(o.queue, at, m)
	o.added(m)
	return nil
}

// take moves the next messages to batch, waiting for the first; false at the end.
func (o *outbox) take(batch []outgoing) ([]outgoing, bool) {
	o.mu.Lock()
	for len(o.queue) == o.head {
		if o.closing {
			o.mu.Unlock()
			return batch, false
		}
		o.idle = true
		o.mu.Unlock()
		<-o.wake
		o.mu.Lock()
	}
	defer o.mu.Unlock()
	if o.aborted {
		return batch, false
	}
	size := 0
	for len(batch) < batchMessages && o.head < len(o.queue) {
		n := len(o.queue[o.head].buf.b)
		if len(batch) > 0 && size+n > batchBytes {
			break
		}
		size += n
		batch = append(batch, o.queue[o.head])
		o.queue[o.head] = outgoing{}
		o.head++
	}
	o.bytes -= size
	if o.head == len(o.queue) {
		o.queue, o.head = o.queue[:0], 0
	} else if o.head > len(o.queue)/2 {
		n := copy(o.queue, o.queue[o.head:])
		clear(o.queue[n:])
		o.queue, o.head = o.queue[:n], 0
	}
	if o.room != nil {
		close(o.room)
		o.room = nil
	}
	return batch, true
}

// claim lets the caller write in the writer's place, when that one waits and
// nothing is queued. Release ends it.
func (o *outbox) claim() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.idle || o.closing || len(o.queue) > o.head {
		return false
	}
	o.idle = false
	return true
}

func (o *outbox) release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.idle = !o.closing && len(o.queue) == o.head; !o.idle {
		o.wake <- struct{}{}
	}
}

// finish lets the writer end once the queue is empty.
func (o *outbox) finish() { o.shut(false) }

// abort lets the writer end now.
func (o *outbox) abort() { o.shut(true) }

func (o *outbox) shut(abort bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closing = true
	o.aborted = o.aborted || abort
	if o.idle {
		o.idle = false
		o.wake <- struct{}{}
	}
	if o.room != nil {
		close(o.room)
		o.room = nil
	}
}
