package runtime

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
