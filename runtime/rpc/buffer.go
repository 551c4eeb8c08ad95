package rpc

import "sync"

// buffer holds the text of one message while it is on its way.
type buffer struct{ b []byte }

// Sizes of buffers in bytes.
const (
	newBufferSize = 1 << 10
	maxSmall      = 8 << 10  // larger ones are never held by a message that is not
	maxPooled     = 64 << 10 // the largest that is kept for reuse
)

var (
	smallBuffers = sync.Pool{New: func() any { return &buffer{b: make([]byte, 0, newBufferSize)} }}
	largeBuffers sync.Pool
)

func newBuffer() *buffer { return smallBuffers.Get().(*buffer) }

// largeBuffer returns a large buffer if one is free.
func largeBuffer() *buffer {
	if b, ok := largeBuffers.Get().(*buffer); ok {
		return b
	}
	return newBuffer()
}

func (b *buffer) isLarge() bool { return cap(b.b) > maxSmall }

// fitting returns the text of b in a buffer that may wait for long: b itself, or
// a small one when b is large and its text is not.
func (b *buffer) fitting(r *recycled) *buffer {
	if !b.isLarge() || len(b.b) > maxSmall {
		return b
	}
	small := r.get()
	small.b = append(small.b[:0], b.b...)
	return small
}

// free gives the buffer back; nobody may look at its text afterwards.
func (b *buffer) free() {
	switch {
	case b == nil || cap(b.b) > maxPooled:
	case b.isLarge():
		b.b = b.b[:0]
		largeBuffers.Put(b)
	default:
		b.b = b.b[:0]
		smallBuffers.Put(b)
	}
}

// recycled hands the small buffers of handled notifications back to the reader,
// many at a time. That is cheaper than the pool, which keeps them with the
// processor that freed them.
type recycled struct {
	mu   sync.Mutex
	back []*buffer
	mine []*buffer // the reader's
}

// maxRecycled is how many are kept for the reader; the pool gets the rest.
const maxRecycled = 128

// get returns an empty small buffer. Only the reading goroutine calls it.
func (r *recycled) get() *buffer {
	if len(r.mine) == 0 {
		r.mu.Lock()
		r.mine, r.back = r.back, r.mine
		r.mu.Unlock()
	}
	if n := len(r.mine); n > 0 {
		b := r.mine[n-1]
		r.mine = r.mine[:n-1]
		return b
	}
	return newBuffer()
}

// unused takes back what get returned. Only the reading goroutine calls it.
func (r *recycled) unused(b *buffer) { r.mine = append(r.mine, b) }

// put takes the buffers of the notifications among steps.
func (r *recycled) put(steps []step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range steps {
		b := steps[i].buf
		if b == nil {
			continue
		}
		if len(r.back) < maxRecycled && !b.isLarge() {
			r.back = append(r.back, b)
		} else {
			b.free()
		}
	}
}
