package shim

import (
	"cmp"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hermes-nvim/hermes/internal/shim/journal"
)

// maxHeld is how many changes are kept back at most.
const maxHeld = 4096

// pause is how long the recorder sleeps when it has written everything, so that it
// is woken once for many changes: waking it costs the supervisor time.
const pause = 2 * time.Millisecond

// change is an event whose contents may still have to be read.
type change struct {
	journal.Event
	before, after *content
	written       chan struct{} // is closed when all events before are in the journal
	kept          chan error    // says whether this event is in the journal
}

// recorder turns changes into the events of a journal, in order.
type recorder struct {
	journal *journal.Writer
	settle  time.Duration // see Config
	in      chan *change
	first   chan *change // go before those in in
	done    chan struct{}

	held  []held             // changes that are not in the journal yet
	fault string             // that the journal does not say yet
	said  bool               // lost was called
	lost  func(fault string) // is called with the first
	// broken says that a content or an event could not be written, and none since.
	broken atomic.Bool
}

type held struct {
	journal.Event
	until time.Time // zero: need not wait
}

// startRecorder starts a recorder, which calls lost once, when something could not be
// written for the first time. Closing in ends it, and done follows.
func startRecorder(j *journal.Writer, settle time.Duration, lost func(fault string)) *recorder {
	r := &recorder{journal: j, settle: settle, lost: lost, in: make(chan *change, 128), first: make(chan *change), done: make(chan struct{})}
	go r.run()
	return r
}

// sync waits until everything that was sent before is in the journal.
func (r *recorder) sync() {
	written := make(chan struct{})
	r.in <- &change{written: written}
	<-written
}

// keep puts a change that is about to happen into the journal, at once. If keep
// fails, the change must not happen.
func (r *recorder) keep(c *change) error {
	c.kept = make(chan error, 1)
	r.first <- c
	return <-c.kept
}

func (r *recorder) run() {
	defer close(r.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case c, ok := <-r.in:
			switch {
			case !ok:
				r.release(true)
				r.flush()
				return
			case c.written != nil:
				r.release(true)
				r.flush()
				close(c.written)
				continue
			}
			r.take(c)
		case c := <-r.first:
			r.takeFirst(c)
		case <-timer.C:
		}
		r.release(false)
		if len(r.in) == 0 {
			r.flush()
			r.rest()
		}
		if len(r.held) > 0 {
			timer.Reset(time.Until(r.held[0].until))
		}
	}
}

// rest lasts for a pause, in which only what cannot wait is written.
func (r *recorder) rest() {
	over := time.NewTimer(pause)
	defer over.Stop()
	for {
		select {
		case c := <-r.first:
			r.takeFirst(c)
		case <-over.C:
			return
		}
	}
}

func (r *recorder) flush() {
	r.failed(r.journal.Flush())
	if r.fault == "" {
		return
	}
	// The journal gets a note about the failed writes as soon as it can be
	// written.
	r.journal.Add(journal.Event{Time: time.Now(), Phase: journal.Post, Op: journal.Unseen, Text: "the journal could not be written: " + r.fault})
	if r.journal.Flush() == nil {
		r.fault = ""
	}
}

func (r *recorder) failed(err error) {
	if err == nil {
		return
	}
	r.broken.Store(true)
	r.fault = err.Error()
	if !r.said {
		r.said = true
		r.lost(r.fault)
	}
}

// take keeps the contents of a change and puts it where it belongs.
func (r *recorder) take(c *change) {
	if c.Phase == journal.Post && c.Op == journal.Write && c.before.same(c.after) {
		return // opened, but not changed
	}
	e, unread, err := r.event(c)
	if err != nil {
		r.failed(err)
	} else {
		r.broken.Store(false)
	}
	if unread != nil {
		r.held = append(r.held, held{Event: journal.Event{Time: c.Time, Phase: journal.Post, Op: journal.Unseen, PID: c.PID, Text: unread.Error()}})
	}
	if e.Phase != journal.Post {
		r.failed(r.journal.Add(e))
		return
	}
	h := held{Event: e}
	switch {
	case e.Op == journal.Write && e.Before != nil && e.Before.Absent:
		h.until = time.Now().Add(r.settle)
	case e.Op == journal.Rename:
		r.join(&h)
	}
	r.held = append(r.held, h)
}

// takeFirst writes an event before anything else.
func (r *recorder) takeFirst(c *change) {
	e, unread, err := r.event(c)
	if err == nil {
		err = r.journal.Add(e)
	}
	if err == nil {
		err = r.journal.Flush()
	}
	r.failed(err)
	c.kept <- errors.Join(unread, err)
}

// event keeps the contents of a change and returns its event for the journal. unread is
// why a content could not be read, and err why one could not be stored.
func (r *recorder) event(c *change) (e journal.Event, unread, err error) {
	var before, after error
	e = c.Event
	e.Before, before = c.before.keep(r.journal.Store)
	e.After, after = c.after.keep(r.journal.Store)
	return e, cmp.Or(c.before.unread(), c.after.unread()), errors.Join(before, after)
}

// join makes a rename of a file that was just written a write.
func (r *recorder) join(h *held) {
	var first *held
	var last *journal.Version
	for i := range r.held {
		switch w := &r.held[i]; {
		case w.Path != h.From && w.From != h.From:
		case w.Op != journal.Write:
			return
		default:
			if last = w.After; first == nil {
				first = w
			}
		}
	}
	if first == nil || first.until.IsZero() {
		return
	}
	r.held = slices.DeleteFunc(r.held, func(w held) bool { return w.Path == h.From })
	h.Op, h.From, h.After = journal.Write, "", last
	if h.Before == nil {
		h.Before = &journal.Version{Absent: true}
	}
	if h.Before.Absent {
		h.until = time.Now().Add(r.settle)
	}
}

// release writes the changes that need not wait any more, or all.
func (r *recorder) release(all bool) {
	n := 0
	for n < len(r.held) && (all || len(r.held)-n > maxHeld || !time.Now().Before(r.held[n].until)) {
		r.failed(r.journal.Add(r.held[n].Event))
		n++
	}
	r.held = slices.Delete(r.held, 0, n)
}
