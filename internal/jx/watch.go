package jx

import "sync/atomic"

// Watch is for tests that count how often a text is read and written. Its
// functions must not keep what they get.
type Watch struct {
	Read    func(text []byte) // before each pass over a text
	Written func(text []byte) // with each object, everything written so far
}

var watching atomic.Pointer[Watch]

// Start makes w see everything that the program reads and writes, until the
// returned function is called. Only one Watch is active at a time.
func (w *Watch) Start() (stop func()) {
	watching.Store(w)
	return func() { watching.Store(nil) }
}

func reads(text []byte) {
	if w := watching.Load(); w != nil {
		w.Read(text)
	}
}

func written(text []byte) {
	if w := watching.Load(); w != nil {
		w.Written(text)
	}
}
