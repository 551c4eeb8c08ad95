package runtime

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

	mark     uint64
	since    time.Time
	reported bool
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
	if began := c.out.writing.Load(); began != 0 {
		if d := time.Since(c.out.born) - time.Duration(began); d >= c.lim.Stall {
			c.end(&StalledError{Write: true, For: d.Round(time.Millisecond)})
			return
		}
	}
	if p, ok := c.t.(transport.Progress); ok {
		mark, inside := p.Partial()
		switch {
		case !inside || mark != w.mark || w.since.IsZero():
			w.mark, w.since, w.reported = mark, time.Now(), false
		case !w.reported && time.Since(w.since) >= c.lim.Stall:
			w.reported = true
			c.fault(FaultStalled, &StalledError{For: time.Since(w.since).Round(time.Millisecond)}, nil)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.stopped {
		w.timer.Reset(c.lim.Stall / 4)
	}
}
