package rpc

import "sync"

// running counts goroutines. Unlike a sync.WaitGroup it can be asked for the end
// while more are started.
type running struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed while n is 0 and somebody has asked
}

func (r *running) add() {
	r.mu.Lock()
	r.n++
	r.mu.Unlock()
}

func (r *running) done() {
	r.mu.Lock()
	r.n--
	if r.n == 0 && r.none != nil {
		close(r.none)
		r.none = nil
	}
	r.mu.Unlock()
}

// idle returns a channel that is closed when nothing runs.
func (r *running) idle() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	ch := make(chan struct{})
	if r.n == 0 {
		close(ch)
		return ch
	}
	if r.none == nil {
		r.none = ch
	}
	return r.none
}
