package rpc

import "sync/atomic"

// flow accounts for what has been read and not yet handled, and holds the
// reader back when that is too much.
type flow struct {
	messages, bytes atomic.Int64
	waiters         atomic.Int64 // handlers that wait for an answer of the peer
	held            atomic.Bool  // the reader waits on room
	opened          atomic.Bool  // the connection ends; nobody is held back
	room            chan struct{}
	budget          *Budget // shared with other connections; may be nil
}

func (f *flow) init(b *Budget) {
	f.room = make(chan struct{}, 1)
	f.budget = b
}

func (f *flow) add(n int) {
	f.messages.Add(1)
	f.bytes.Add(int64(n))
	f.budget.add(n)
}

func (f *flow) sub(n int) {
	f.messages.Add(-1)
	f.bytes.Add(-int64(n))
	f.budget.sub(n)
	f.signal()
}

func (f *flow) enter() {
	f.waiters.Add(1)
	f.signal()
}

func (f *flow) leave() { f.waiters.Add(-1) }

func (f *flow) open() {
	f.opened.Store(true)
	f.signal()
}

func (f *flow) signal() {
	if f.held.Load() {
		select {
		case f.room <- struct{}{}:
		default:
		}
	}
}

// over reports whether what waits exceeds times the limits.
func (f *flow) over(lim *Limits, times int) bool {
	n := f.messages.Load()
	return n > 1 && (n > int64(lim.Messages)*int64(times) || f.bytes.Load() > int64(lim.Bytes)*int64(times) || f.budget.over(times))
}

// admit returns when the reader may go on.
func (c *Conn) admit() {
	f := &c.flow
	if !f.over(&c.lim, 1) {
		return
	}
	f.held.Store(true)
	defer f.held.Store(false)
	defer f.budget.hold(f)()
	for f.over(&c.lim, 1) && !f.opened.Load() {
		if f.waiters.Load() > 0 {
			if !f.over(&c.lim, c.lim.Ahead) {
				return
			}
			// Answers that handlers wait for may be behind what cannot be read
			// any more: let the handlers go, so that they make room.
			for _, k := range c.calls.takeHandlers() {
				err := &BacklogError{Method: k.method, Messages: int(f.messages.Load()), Bytes: int(f.bytes.Load())}
				c.fault(FaultBacklog, err, nil)
				k.deliver(reply{local: err})
			}
		}
		<-f.room
	}
}
