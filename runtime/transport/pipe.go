package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hermes-nvim/hermes/internal/envelope"
)

// PipeEnd says which end of a Pipe ended it.
type PipeEnd struct {
	First bool  // the first transport, otherwise the second
	Err   error // the error of its Read or Write; io.EOF is a clean end
}

func (e *PipeEnd) Error() string {
	end := "second"
	if e.First {
		end = "first"
	}
	return fmt.Sprintf("the %s end: %v", end, e.Err)
}

func (e *PipeEnd) Unwrap() error { return e.Err }

// PipeLimits bounds a Pipe. Zero means no bound.
type PipeLimits struct {
	// Stall is how long one write may take.
	Stall time.Duration
	// Idle is how long a Pipe may go without a message in either direction.
	Idle time.Duration
}

// Errors that end a Pipe, besides the errors of its ends and of its context.
var (
	ErrStalled = errors.New("the other end does not read")
	ErrIdle    = errors.New("idle for too long")
)

// Pipe copies whole messages between a and b as they are, in both directions,
// until one of them ends, ctx ends or a limit is reached. Messages already read
// are written first. An end that does not read blocks the other. Both are
// closed when Pipe returns, with the reason if they can tell it (see Explainer). The error is
// never nil: a *PipeEnd, or the cause that ended ctx.
//
// A message above the limit of the end that it comes from is dropped. If it is a request, its
// sender gets an error for it, and if it is an answer, the other end does.
func Pipe(ctx context.Context, a, b Transport, limits PipeLimits) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := &pipe{limits: limits, born: time.Now(), cancel: cancel}
	directions := [2]*direction{{from: a, to: b, first: true}, {from: b, to: a}}
	directions[0].back, directions[1].back = directions[1], directions[0]
	ended := make(chan struct{}, 2)
	for _, d := range directions {
		go func() {
			cancel(p.copy(d))
			ended <- struct{}{}
		}()
	}
	if limits != (PipeLimits{}) {
		go p.watch(ctx, directions)
	}
	<-ctx.Done()
	// The end that is gone first: closing an agent's side takes its time.
	closed := make(chan struct{})
	go func() {
		explain(b, context.Cause(ctx))
		close(closed)
	}()
	explain(a, context.Cause(ctx))
	<-closed
	<-ended
	<-ended
	return context.Cause(ctx)
}

type pipe struct {
	limits PipeLimits
	born   time.Time
	last   atomic.Int64 // when a message last passed, in nanoseconds since born
	cancel context.CancelCauseFunc
}

// explain closes an end.
func explain(t Transport, why error) {
	if e, ok := t.(Explainer); ok {
		e.CloseWith(why)
		return
	}
	t.Close()
}

type direction struct {
	from, to Transport
	first    bool
	back     *direction
	turn     sync.Mutex   // to write
	writing  atomic.Int64 // when the current write began; 0: none
}

func (p *pipe) now() int64 { return int64(time.Since(p.born)) + 1 }

func (p *pipe) copy(d *direction) error {
	var buf []byte
	for {
		msg, err := d.from.Read(buf)
		to := d
		if big, ok := err.(*TooLargeError); ok {
			var back bool
			if msg, back = instead(big); back {
				to = d.back
			}
			err = nil
		}
		if len(msg) > 0 {
			if werr := p.write(to, msg); werr != nil {
				return &PipeEnd{First: !to.first, Err: werr}
			}
		}
		if err != nil {
			return &PipeEnd{First: d.first, Err: err}
		}
		if buf = msg; cap(buf) > keepSize {
			buf = nil
		}
	}
}

func (p *pipe) write(d *direction, msg []byte) error {
	d.turn.Lock()
	defer d.turn.Unlock()
	now := p.now()
	p.last.Store(now)
	d.writing.Store(now)
	defer d.writing.Store(0)
	return d.to.Write(msg)
}

// instead returns what takes the place of a message above the limit, going by its beginning: an
// error for who has sent it, if back, or else for who was to get it. It is nil if nobody waits for
// an answer.
func instead(big *TooLargeError) (msg []byte, back bool) {
	e := envelope.Beginning(big.Head)
	if e.ID == nil || e.Method == nil && !e.Answers {
		return nil, false
	}
	return envelope.Failure(e.ID, big.Error(), nil), e.Method != nil
}

// watch ends the pipe when a limit is reached.
func (p *pipe) watch(ctx context.Context, directions [2]*direction) {
	every := p.limits.Stall
	if every == 0 || p.limits.Idle > 0 && p.limits.Idle < every {
		every = p.limits.Idle
	}
	tick := time.NewTicker(max(every/8, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := p.now()
		if p.limits.Idle > 0 && now-p.last.Load() > int64(p.limits.Idle) {
			p.cancel(ErrIdle)
		}
		for _, d := range directions {
			if began := d.writing.Load(); p.limits.Stall > 0 && began > 0 && now-began > int64(p.limits.Stall) {
				p.cancel(&PipeEnd{First: !d.first, Err: ErrStalled})
			}
		}
	}
}

// Clean reports whether err, of a Pipe or a Read, is an orderly end.
func Clean(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, ErrClosed) }
