package rpc

import "sync/atomic"

// flow accounts for what has been read and not yet handled, and stops the
// reading while that is too much.
type flow struct {
	lim    *Limits
	budget *Budget // shared with other connections; may be nil

	messages, bytes atomic.Int64
	waiters         atomic.Int64  // handlers that wait for an answer of the peer
	ended           atomic.Bool   // the connection ends: nothing stops the reading
	stopped         atomic.Bool   // the reader waits for changed
	changed         chan struct{} // holds one
}

func (f *flow) init(lim *Limits, b *Budget) {
	f.lim, f.budget = lim, b
	f.changed = make(chan struct{}, 1)
}

// add counts a message that was read, sub one that was handled.
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

// enter counts a handler that waits for an answer of the peer, leave one that
// does so no longer.
func (f *flow) enter() {
	f.waiters.Add(1)
	f.signal()
}

func (f *flow) leave() { f.waiters.Add(-1) }

// end lets the reader go on for good.
func (f *flow) end() {
	f.ended.Store(true)
	f.signal()
}

func (f *flow) signal() {
	if f.stopped.Load() {
		select {
		case f.changed <- struct{}{}:
		default:
		}
	}
}

// exceeds reports whether what waits is more than so many times the limits.
func (f *flow) exceeds(times int) bool {
	n, m := f.messages.Load(), int64(times)
	return n > 1 && (n > m*int64(f.lim.Messages) || f.bytes.Load() > m*int64(f.lim.Bytes) || f.budget.over(times))
}

// wait returns when the reader may go on. Before it stops the reading it calls
// relieve, which lets handlers have what is held. It calls giveUp when handlers wait for
// answers that cannot be read any more, because they may be behind what would
// exceed the limits: those handlers have to end, so that they make room.
func (f *flow) wait(relieve func(), giveUp func(messages, bytes int)) {
	if !f.exceeds(1) {
		return
	}
	relieve()
	f.stopped.Store(true)
	defer f.stopped.Store(false)
	f.budget.watch(f)
	defer f.budget.unwatch(f)
	for f.exceeds(1) && !f.ended.Load() {
		if f.waiters.Load() > 0 {
			if !f.exceeds(f.lim.Ahead) {
				return
			}
			giveUp(int(f.messages.Load()), int(f.bytes.Load()))
		}
		<-f.changed
	}
}
