package rpc

import "sync"

// gauge counts running goroutines and tells when there are none.
type gauge struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed while n is 0 and somebody has asked
}

func (g *gauge) add() {
	g.mu.Lock()
	g.n++
	g.mu.Unlock()
}

func (g *gauge) done() {
	g.mu.Lock()
	g.n--
	if g.n == 0 && g.none != nil {
		close(g.none)
		g.none = nil
	}
	g.mu.Unlock()
}

// idle returns a channel that is closed when nothing runs.
func (g *gauge) idle() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	ch := make(chan struct{})
	if g.n == 0 {
		close(ch)
		return ch
	}
	if g.none == nil {
		g.none = ch
	}
	return g.none
}
