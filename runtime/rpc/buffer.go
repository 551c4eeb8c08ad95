package rpc

import "sync"

// buffer holds the text of one message while it is on its way.
type buffer struct{ b []byte }

// maxPooled is the largest buffer kept for reuse, in bytes.
const maxPooled = 64 << 10

var buffers = sync.Pool{New: func() any { return &buffer{b: make([]byte, 0, 1024)} }}

func newBuffer() *buffer { return buffers.Get().(*buffer) }

// free gives the buffer back; nobody may look at its text afterwards.
func (b *buffer) free() {
	if b != nil && cap(b.b) <= maxPooled {
		b.b = b.b[:0]
		buffers.Put(b)
	}
}

// recycled hands the buffers of handled notifications back to the reader, many
// at a time. That is cheaper than the pool, which keeps them with the processor
// that freed them.
type recycled struct {
	mu   sync.Mutex
	back []*buffer
	mine []*buffer // the reader's
}

// What is kept for the reader; the pool gets the rest.
const (
	maxRecycled      = 128
	maxRecycledBytes = 8 << 10 // of one buffer
)

// get returns an empty buffer. Only the reading goroutine calls it.
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

// put takes the buffers of the notifications among steps.
func (r *recycled) put(steps []step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range steps {
		b := steps[i].buf
		if b == nil {
			continue
		}
		if len(r.back) < maxRecycled && cap(b.b) <= maxRecycledBytes {
			r.back = append(r.back, b)
		} else {
			b.free()
		}
	}
}
