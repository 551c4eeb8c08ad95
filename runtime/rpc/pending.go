package rpc

import (
	"sync"
	"sync/atomic"
)

// origin says where a call was made.
type origin uint8

const (
	outside          origin = iota
	inNotification          // by a notification handler: its lane stands still until the answer
	inRequestHandler        // by a request handler
)

// call is one request to the peer that waits for its answer.
type call struct {
	id      int64
	method  string
	session string
	from    origin
	done    chan reply // holds one
	waiting reply      // in a lane; the reader's until then, the lane's from then on
}

// reply is what a call ends with: the peer's result or error, or a local error.
type reply struct {
	buf    *buffer
	result []byte
	err    []byte
	local  error
}

// deliver ends the call. Only the first reply counts.
func (k *call) deliver(r reply) {
	select {
	case k.done <- r:
	default:
		r.buf.free()
	}
}

func (k *call) closed(cause error) error { return &ClosedError{Method: k.method, Cause: cause} }

// pending holds the calls that wait for an answer.
type pending struct {
	last   atomic.Int64
	mu     sync.Mutex
	calls  map[int64]*call
	gaveUp map[int64]struct{} // recent calls whose answers nobody wants
	forget [1024]int64        // ring of the keys of gaveUp
	given  int
	closed error // cause, once no call can be added
}

func (p *pending) init() {
	p.calls = map[int64]*call{}
	p.gaveUp = map[int64]struct{}{}
}

// newID returns an id that was not used before.
func (p *pending) newID() int64 { return p.last.Add(1) }

// add enters a call that is about to be sent.
func (p *pending) add(k *call) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed != nil {
		return k.closed(p.closed)
	}
	p.calls[k.id] = k
	return nil
}

// remove takes k out and reports whether it was still in.
func (p *pending) remove(k *call) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls[k.id] != k {
		return false
	}
	delete(p.calls, k.id)
	return true
}

// giveUp is remove for a call whose answer may still come.
func (p *pending) giveUp(k *call) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls[k.id] != k {
		return false
	}
	p.abandon(k)
	return true
}

func (p *pending) abandon(k *call) {
	delete(p.calls, k.id)
	slot := &p.forget[p.given%len(p.forget)]
	delete(p.gaveUp, *slot)
	*slot = k.id
	p.given++
	p.gaveUp[k.id] = struct{}{}
}

// claim takes out the call with this id. When there is none, kind says what
// an answer to it is.
func (p *pending) claim(id int64) (k *call, kind FaultKind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k = p.calls[id]; k != nil {
		delete(p.calls, id)
		return k, 0
	}
	if _, ok := p.gaveUp[id]; ok {
		delete(p.gaveUp, id)
		return nil, FaultLate
	}
	if id > 0 && id <= p.last.Load() {
		return nil, FaultDuplicate
	}
	return nil, FaultUnknownResponse
}

// takeAll empties the table for good.
func (p *pending) takeAll(cause error) []*call {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed == nil {
		p.closed = cause
	}
	all := make([]*call, 0, len(p.calls))
	for _, k := range p.calls {
		all = append(all, k)
	}
	clear(p.calls)
	return all
}

// takeHandlers gives up the calls that handlers wait in.
func (p *pending) takeHandlers() []*call {
	p.mu.Lock()
	defer p.mu.Unlock()
	var taken []*call
	for _, k := range p.calls {
		if k.from != outside {
			taken = append(taken, k)
			p.abandon(k)
		}
	}
	return taken
}
