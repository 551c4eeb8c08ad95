package httpstream

import (
	"net/http"
	"strconv"
	"time"
)

const (
	keepBytes   = 256 << 10        // of sent events that a stream keeps for a client that comes back,
	keepFew     = 32 << 10         // or this many if the streams of a server
	keepAll     = 32 << 20         // keep more than this in all
	batchBytes  = 64 << 10         // sent before a flush
	idleBytes   = 4 << 10          // of buffer kept while there is nothing to send
	keepAlive   = 15 * time.Second // between comments on an idle stream
	overhead    = 64               // bytes that a queued event counts in addition to its text
	takeOverFor = 5 * time.Second  // for a stale receiver to let go
)

// event is one message on a stream.
type event struct {
	msg   []byte
	after *mailbox // what this event waits for, with upTo; nil: nothing
	upTo  uint64
}

// mailbox is one stream of a connection: a queue with at most one receiver.
// The connection's lock guards it.
type mailbox struct {
	c        *serverConn
	events   []event // events[:next] were sent
	next     int
	first    uint64 // number of events[0]; numbers start at 1
	kept     int    // bytes of events[:next], with overhead
	receiver *receiver
	wake     chan struct{} // holds one
}

// receiver is a GET request that serves a mailbox.
type receiver struct {
	stop chan struct{} // closed when another one takes over
	gone chan struct{} // closed when this one let go
}

func (c *serverConn) newMailbox() *mailbox {
	return &mailbox{c: c, first: 1, wake: make(chan struct{}, 1)}
}

// sent is the number of the last event that was sent.
func (m *mailbox) sent() uint64 { return m.first + uint64(m.next) - 1 }

// last is the number of the last event.
func (m *mailbox) last() uint64 { return m.first + uint64(len(m.events)) - 1 }

func (m *mailbox) waiting() bool { return m.next < len(m.events) }

func (m *mailbox) push(e event) {
	m.events = append(m.events, e)
	m.c.queued += len(e.msg) + overhead
	m.signal()
}

func (m *mailbox) signal() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// seek makes the event after number id the next one; false if it is no longer
// kept.
func (m *mailbox) seek(id uint64) bool {
	if id+1 < m.first || id > m.last() {
		return false
	}
	if id > m.sent() { // sent, though it did not look so from here
		m.advance(int(id - m.sent()))
		return true
	}
	to := int(id + 1 - m.first)
	for _, e := range m.events[to:m.next] {
		m.keep(-len(e.msg) - overhead)
		m.c.queued += len(e.msg) + overhead
	}
	m.next = to
	return true
}

// advance records that n events were sent.
func (m *mailbox) advance(n int) {
	for _, e := range m.events[m.next : m.next+n] {
		m.keep(len(e.msg) + overhead)
		m.c.queued -= len(e.msg) + overhead
	}
	m.next += n
	limit := keepBytes
	if m.c.s.kept.Load() > keepAll {
		limit = keepFew
	}
	drop := 0
	for ; drop < m.next && m.kept > limit; drop++ {
		m.keep(-len(m.events[drop].msg) - overhead)
	}
	if drop > 0 {
		rest := copy(m.events, m.events[drop:])
		clear(m.events[rest:])
		m.events, m.next, m.first = m.events[:rest], m.next-drop, m.first+uint64(drop)
	}
	m.c.progressed()
}

// keep counts the bytes of sent events that are kept. The server no longer
// counts the bytes of a finished connection.
func (m *mailbox) keep(n int) {
	m.kept += n
	if !m.c.over {
		m.c.s.kept.Add(int64(n))
	}
}

// batch returns the events to send now. An event that waits for another stream
// ends the batch before it.
func (m *mailbox) batch() (events []event, held *event) {
	size := 0
	for i := m.next; i < len(m.events); i++ {
		e := &m.events[i]
		if e.after != nil && e.after.sent() < e.upTo {
			held = e
			break
		}
		events = append(events, *e)
		if size += len(e.msg); size >= batchBytes {
			break
		}
	}
	return events, held
}

// serve sends the events of m as they come until the client is gone, another
// receiver takes over, or the connection has nothing more to send.
func (m *mailbox) serve(w http.ResponseWriter, r *http.Request, me *receiver) {
	c := m.c
	defer c.release(m, me)
	out := http.NewResponseController(w)
	h := w.Header()
	h.Set("Content-Type", typeEvents)
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	c.mu.Lock()
	h.Set(headerLastEvent, strconv.FormatUint(m.sent(), 10))
	c.mu.Unlock()
	w.WriteHeader(http.StatusOK)
	if out.Flush() != nil {
		return
	}
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	var buf []byte
	var seen uint64        // how far the stream that an event waits for has come
	var patience time.Time // how long it waits for the next step
	for {
		c.mu.Lock()
		events, held := m.batch()
		number := m.sent()
		if held == nil {
			patience = time.Time{}
		} else if n := held.after.sent(); patience.IsZero() || n != seen {
			seen, patience = n, time.Now().Add(replayWait)
		}
		over := c.finished && !m.waiting()
		progress := c.progress
		c.mu.Unlock()
		if len(events) > 0 {
			buf = buf[:0]
			for i, e := range events {
				buf = appendEvent(buf, number+uint64(i)+1, e.msg)
			}
			if !c.s.send(w, out, buf) {
				return
			}
			c.mu.Lock()
			if m.receiver == me {
				m.advance(len(events))
			}
			c.mu.Unlock()
			continue
		}
		if over {
			return
		}
		if cap(buf) > idleBytes {
			buf = nil
		}
		var late <-chan time.Time
		if held == nil {
			progress = nil
		} else {
			late = time.After(time.Until(patience))
		}
		select {
		case <-m.wake:
		case <-progress:
		case <-late:
			c.mu.Lock()
			m.events[m.next].after = nil
			c.mu.Unlock()
		case <-alive.C:
			if !c.s.send(w, out, []byte(":\n\n")) {
				return
			}
		case <-me.stop:
			return
		case <-r.Context().Done():
			return
		case <-c.ctx.Done():
			return
		}
	}
}

// send writes b in pieces, each of which must be taken in time.
func (s *Server) send(w http.ResponseWriter, out *http.ResponseController, b []byte) bool {
	for len(b) > 0 {
		n := min(len(b), batchBytes)
		out.SetWriteDeadline(time.Now().Add(s.stall()))
		if _, err := w.Write(b[:n]); err != nil || out.Flush() != nil {
			return false
		}
		b = b[n:]
	}
	return true
}

// appendEvent appends msg as an event. Line breaks in JSON text can only be
// white space between tokens.
func appendEvent(b []byte, number uint64, msg []byte) []byte {
	b = append(b, "id: "...)
	b = strconv.AppendUint(b, number, 10)
	b = append(b, "\ndata: "...)
	at := len(b)
	b = append(b, msg...)
	for i, c := range b[at:] {
		if c == '\n' || c == '\r' {
			b[at+i] = ' '
		}
	}
	return append(b, "\n\n"...)
}
