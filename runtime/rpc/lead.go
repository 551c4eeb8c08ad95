package rpc

import (
	"sync/atomic"
	"time"
)

// lead lets the reading goroutine handle a request itself when nothing is ahead
// of it, so that a quick answer costs no change of goroutines. It leads until it
// is relieved: the handler calls the peer, or is not done after a moment, and
// another goroutine reads on.
type lead struct {
	req   atomic.Pointer[request] // what the reading goroutine handles; nil while it reads
	timer *time.Timer
	armed atomic.Bool
	last  *request       // that ran when the timer fired last; the timer's
	slow  map[string]int // by method: how many requests get a goroutine of their own; the reader's
}

const (
	leadFor  = time.Millisecond // until relieved; twice that at most
	leadFast = leadFor / 10     // a handler that takes longer is slow
	leadSkip = 16               // requests after a slow one of their method that are not tried
	maxSlow  = 256              // methods that are remembered
)

func (c *Conn) startLead() {
	l := &c.lead
	l.slow = map[string]int{}
	l.armed.Store(true)
	l.timer = time.AfterFunc(leadFor, c.tickLead)
}

// leads reports whether the reader is to handle a request itself. The handlers
// of a method that was slow lately get goroutines.
func (l *lead) leads(req *request) bool {
	if len(req.method) > maxMethod || req.wait != nil {
		return false
	}
	switch n := l.slow[req.method]; n {
	case 0:
		return true
	case 1:
		delete(l.slow, req.method)
	default:
		l.slow[req.method] = n - 1
	}
	return false
}

// wasSlow remembers a method. Who reads, or is about to, calls it.
func (l *lead) wasSlow(method string) {
	if len(l.slow) >= maxSlow {
		clear(l.slow)
	}
	l.slow[method] = leadSkip
}

// serveHere handles req on the reading goroutine and reports whether that is
// still the one to read.
func (c *Conn) serveHere(req *request) (reads bool) {
	l := &c.lead
	l.req.Store(req)
	if !l.armed.Load() && l.armed.CompareAndSwap(false, true) {
		l.timer.Reset(leadFor)
	}
	returned := false
	defer func() {
		if !returned { // the handler ended the goroutine
			c.relieve(req)
		}
	}()
	began := time.Now()
	c.serve(req)
	returned = true
	if !l.req.CompareAndSwap(req, nil) {
		return false
	}
	if time.Since(began) > leadFast {
		l.wasSlow(req.method)
	}
	return true
}

// relieve lets another goroutine read if the one that handles req was to.
func (c *Conn) relieve(req *request) {
	if c.lead.req.CompareAndSwap(req, nil) {
		c.lead.wasSlow(req.method)
		go c.read()
	}
}

// tickLead relieves the reader from a request that it had at the last tick, and
// stops the ticking when it has none.
func (c *Conn) tickLead() {
	l := &c.lead
	req := l.req.Load()
	same := req == l.last
	l.last = req
	switch {
	case req == nil:
		l.armed.Store(false)
		if l.req.Load() == nil || !l.armed.CompareAndSwap(false, true) {
			return // the next request arms the timer
		}
	case same:
		c.relieve(req)
	}
	l.timer.Reset(leadFor)
}
