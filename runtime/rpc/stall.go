package rpc

import (
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/runtime/transport"
)

// watchdog notices a peer that stopped reading, or stopped inside a message.
type watchdog struct {
	mu      sync.Mutex
	timer   *time.Timer
	stopped bool

	in, out  mark
	reported bool
}

// mark is a number that should change, and since when it has not.
type mark struct {
	n     uint64
	since time.Time
}

// still returns for how long the number has been n.
func (m *mark) still(n uint64) time.Duration {
	if n != m.n || m.since.IsZero() {
		m.n, m.since = n, time.Now()
	}
	return time.Since(m.since)
}

func (w *watchdog) start(c *Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(c.lim.Stall/4, func() { w.tick(c) })
}

func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.timer.Stop()
}

func (w *watchdog) tick(c *Conn) {
	writing := c.out.writing.Load() // numbers the writes, 0 between them
	progress, _ := c.t.(transport.Progress)
	if writing != 0 {
		if progress != nil {
			writing += progress.Sent()
		}
		if d := w.out.still(writing); d >= c.lim.Stall {
			c.end(&StalledError{Write: true, For: d.Round(time.Millisecond)})
			return
		}
	}
	if progress != nil {
		n, inside := progress.Received()
		d := w.in.still(n)
		if stalled := inside && d >= c.lim.Stall; stalled != w.reported {
			w.reported = stalled
			if stalled {
				c.fault(FaultStalled, &StalledError{For: d.Round(time.Millisecond)}, nil)
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.stopped {
		w.timer.Reset(c.lim.Stall / 4)
	}
}
