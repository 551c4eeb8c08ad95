package transport

import (
	"io"
	"sync"
)

// pairBytes bounds the bytes that one end of a Pair has written and the other
// has not yet read. A single larger message passes if nothing else waits.
const pairBytes = 1 << 20

// Pair returns the two ends of a connection in memory. Writes block while the
// other end does not read, as with a pipe. After one end closes, the other
// reads what was written and then io.EOF.
func Pair() (Transport, Transport) {
	a, b := newQueue(), newQueue()
	return &pairEnd{in: a, out: b}, &pairEnd{in: b, out: a}
}

type pairEnd struct {
	in, out *queue
	max     int
}

// SetMaxMessage implements Limiter.
func (p *pairEnd) SetMaxMessage(n int) { p.max = n }

func (p *pairEnd) Read(buf []byte) ([]byte, error) { return p.in.take(buf[:0], p.max) }

func (p *pairEnd) Write(msg []byte) error { return p.out.put(msg) }

func (p *pairEnd) WriteBatch(msgs [][]byte) error { return p.out.put(msgs...) }

func (p *pairEnd) Close() error {
	p.out.close(false) // first: nothing is written any more when a reader of this end sees the end
	p.in.close(true)
	return nil
}

// queue is one direction: the messages in one buffer, and their sizes.
type queue struct {
	mu       sync.Mutex
	readable sync.Cond
	writable sync.Cond
	data     []byte
	at       int // data[:at] has been read
	sizes    []int
	first    int  // sizes[:first] have been read
	noReader bool // the reading end closed
	noWriter bool // the writing end closed
}

func newQueue() *queue {
	q := new(queue)
	q.readable.L, q.writable.L = &q.mu, &q.mu
	return q
}

func (q *queue) put(msgs ...[]byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range msgs {
		for !q.noReader && !q.noWriter && len(q.sizes) > q.first && len(q.data)-q.at+len(m) > pairBytes {
			q.readable.Signal()
			q.writable.Wait()
		}
		if q.noWriter {
			return ErrClosed
		}
		if q.noReader {
			return io.ErrClosedPipe
		}
		q.data = append(q.data, m...)
		q.sizes = append(q.sizes, len(m))
	}
	q.readable.Signal()
	return nil
}

func (q *queue) take(buf []byte, limit int) ([]byte, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.sizes) == q.first && !q.noReader && !q.noWriter {
		q.readable.Wait()
	}
	if q.noReader {
		return nil, ErrClosed
	}
	if len(q.sizes) == q.first {
		return nil, io.EOF
	}
	n := q.sizes[q.first]
	msg := q.data[q.at : q.at+n]
	q.at += n
	q.first++
	var err error
	if limit > 0 && n > limit {
		err = &TooLargeError{Limit: limit, Head: append([]byte(nil), msg[:min(n, headSize)]...)}
	} else {
		buf = append(buf, msg...)
	}
	if q.first == len(q.sizes) {
		q.data, q.sizes, q.at, q.first = q.data[:0], q.sizes[:0], 0, 0
		if cap(q.data) > 2*pairBytes {
			q.data = nil
		}
		q.writable.Signal()
	} else if q.at > pairBytes/2 {
		q.data = q.data[:copy(q.data, q.data[q.at:])]
		q.sizes = q.sizes[:copy(q.sizes, q.sizes[q.first:])]
		q.at, q.first = 0, 0
		q.writable.Signal()
	}
	return buf, err
}

func (q *queue) close(reader bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if reader {
		q.noReader = true
		q.data, q.sizes, q.at, q.first = nil, nil, 0, 0
	} else {
		q.noWriter = true
	}
	q.readable.Broadcast()
	q.writable.Broadcast()
}
