package httpstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/envelope"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
)

const (
	attempts   = 6 // to open a stream, or to continue one that was cut
	firstPause = 100 * time.Millisecond
	longPause  = 3 * time.Second
	quiet      = 50 * time.Millisecond // without an event, a replay is over
	beginning  = "0"                   // the id before the first event's
)

// How streams end.
var (
	errCut    = fmt.Errorf("the event stream was cut off: %w", io.ErrUnexpectedEOF)
	errOver   = fmt.Errorf("the event stream of the session ended: %w", io.EOF)
	errClosed = errors.New("the session was closed")
	errMissed = errors.New("the event stream lacks its first events")
)

// stream is one event stream of a connection.
type stream struct {
	c       *client
	session string // "" for the stream of the connection
	attach  bool   // the session may not exist yet, so refusals are temporary
	first   bool   // the first stream of its session on this connection: it begins with event 1
	ctx     context.Context
	stop    context.CancelCauseFunc
	opened  chan struct{} // closed when the first attempt is through
	done    chan struct{} // closed at the end
	lastID  string
	retry   time.Duration
	mark    atomic.Int64 // changes with each event
	gap     bool         // it ended where events of it may be missing; set before done
}

// open returns the stream of a session, starting it when there is none.
func (c *client) open(session string, attach bool) *stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.streams[session]
	if s != nil {
		return s
	}
	s = &stream{c: c, session: session, attach: attach, first: !c.streamed[session], opened: make(chan struct{}), done: make(chan struct{})}
	s.ctx, s.stop = context.WithCancelCause(c.ctx)
	if c.ctx.Err() != nil {
		close(s.opened)
		close(s.done)
		return s
	}
	c.streams[session] = s
	c.run.Go(s.run)
	return s
}

// run keeps the stream open until it ends for good.
func (s *stream) run() {
	c := s.c
	defer close(s.done)
	err := s.receive()
	s.stop(nil)
	c.mu.Lock()
	if c.streams[s.session] == s {
		delete(c.streams, s.session)
	}
	if s.lastID != "" {
		c.streamed[s.session] = true
	}
	c.mu.Unlock()
	s.isOpen()
	switch {
	case c.ctx.Err() != nil:
	case s.session != "" && !s.gap:
		c.failSession(s.session, lost(err))
	case s.session != "":
		c.cancel(err) // so that the session is loaded on the next one
	default:
		c.ending()
		s.awaitOthers()
		c.cancel(err)
	}
}

func (s *stream) isOpen() {
	select {
	case <-s.opened:
	default:
		close(s.opened)
	}
}

// awaitOthers lets the streams of sessions end cleanly: their messages came
// before the end of the connection.
func (s *stream) awaitOthers() {
	s.c.mu.Lock()
	var others []*stream
	for _, o := range s.c.streams {
		others = append(others, o)
	}
	s.c.mu.Unlock()
	late := time.After(2 * orderly)
	for _, o := range others {
		select {
		case <-o.done:
		case <-late:
			return
		case <-s.c.ctx.Done():
			return
		}
	}
}

// receive opens the stream and reads it, and retries while that can help. Without
// numbered events it cannot continue a stream that was cut: that ends the
// connection, or the calls that wait for the stream of a session. With numbered
// events a server that refuses to continue leaves a gap. It returns why it ended.
func (s *stream) receive() error {
	ended := error(nil) // how the last attempt that opened the stream ended
	for failed := 0; ; {
		mark := s.mark.Load()
		opened, err := s.once()
		s.isOpen() // or cannot be opened now
		var status *access.StatusError
		refused := errors.As(err, &status)
		switch {
		case s.ctx.Err() != nil:
			return context.Cause(s.ctx)
		case opened:
			if ended = err; s.lastID == "" && s.session == "" {
				return err
			}
			if s.lastID == "" {
				s.c.failSession(s.session, lost(err))
			}
			if s.mark.Load() != mark {
				failed = 0
			}
		case ended != nil && refused && status.Status == http.StatusNotFound:
			s.gap = s.lastID != "" && ended != io.EOF
			return ended // the connection is over, maybe in order
		case refused && status.Status == http.StatusConflict && s.first && s.lastID == "" && failed > 0:
			s.lastID = beginning // the server still knows an earlier attempt
		case refused && !passing(status.Status) && !(ended != nil && status.Status/100 == 5) && !(s.attach && ended == nil && status.Status/100 == 4):
			s.gap = s.lastID != "" && ended != nil
			return err
		}
		if failed++; failed >= attempts {
			s.gap = s.lastID != "" && ended != nil
			return err
		}
		pause := min(firstPause<<(failed-1), longPause)
		if s.retry > 0 && opened {
			pause = s.retry
		}
		select {
		case <-time.After(pause):
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		}
	}
}

// lost says why the answers on a session's stream are lost.
func lost(err error) error {
	if err == io.EOF {
		return errOver
	}
	return err
}

// passing reports whether retrying makes sense.
func passing(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusBadGateway ||
		status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
}

// once makes one GET request and reads its stream.
func (s *stream) once() (opened bool, err error) {
	c := s.c
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	late := time.AfterFunc(headerTimeout, func() { cancel(nil) })
	more := []string{"Accept", typeEvents}
	if s.lastID != "" {
		more = append(more, headerLastEvent, s.lastID)
	}
	answer, err := c.request(ctx, http.MethodGet, s.session, nil, more...)
	if !late.Stop() && s.ctx.Err() == nil {
		err = errors.Join(err, fmt.Errorf("GET: no answer for %v", headerTimeout))
	}
	if answer != nil {
		defer answer.Body.Close()
	}
	if err != nil {
		return false, err
	}
	if answer.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(answer.Body, maxErrorBody))
		return false, statusError(http.MethodGet, answer.StatusCode, body)
	}
	if kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type")); err != nil || kind != typeEvents {
		return false, fmt.Errorf("GET: the answer is %.100q, not an event stream", answer.Header.Get("Content-Type"))
	}
	if s.lastID == "" { // a server that numbers its events says where the stream begins
		s.lastID = answer.Header.Get(headerLastEvent)
		if s.first && s.lastID != "" && s.lastID != beginning { // the events sent to a failed attempt are lost
			s.lastID = beginning
			return false, errMissed
		}
	}
	s.isOpen()
	in := newEvents(answer.Body, c.max)
	in.lastID = s.lastID
	life := &life{least: c.silence, silent: func() { cancel(errSilent) }}
	in.each = life.heard
	for {
		life.listen()
		msg, err := in.next(nil)
		life.stop() // the time that a message takes is not the server's
		s.retry = in.retry
		var big *transport.TooLargeError
		switch {
		case err == nil:
			s.take(msg)
		case errors.As(err, &big) && big.Head != nil:
			c.deliver(arrival{err: big})
		case err == io.EOF:
			return true, io.EOF
		default:
			if errors.Is(context.Cause(ctx), errSilent) {
				err = errSilent
			}
			return true, fmt.Errorf("%w (%w)", errCut, err)
		}
		s.lastID = in.lastID
		s.mark.Add(1)
	}
}

// errSilent is why a stream is cut whose server is gone without a word.
var errSilent = errors.New("the server has sent no more signs of life")

// life notices the silence of a server that sends comments while it has nothing to say, at regular
// times that only it knows. Without them silence means nothing.
type life struct {
	least   time.Duration // of silence
	silent  func()
	timer   *time.Timer
	last    time.Time     // when there was a sign of life, or listening began
	longest time.Duration // between two of these so far
}

const (
	minSilence  = time.Minute
	missedSigns = 4 // so many in a row are silence
)

func (l *life) limit() time.Duration { return max(l.least, missedSigns*l.longest) }

func (l *life) listen() {
	l.last = time.Now()
	if l.timer != nil {
		l.timer.Reset(l.limit())
	}
}

func (l *life) heard(comment bool) {
	now := time.Now()
	l.longest, l.last = max(l.longest, now.Sub(l.last)), now
	switch {
	case l.timer != nil:
		l.timer.Reset(l.limit())
	case comment:
		l.timer = time.AfterFunc(l.limit(), l.silent)
	}
}

func (l *life) stop() {
	if l.timer != nil {
		l.timer.Stop()
	}
}

// take handles one message.
func (s *stream) take(msg []byte) {
	c := s.c
	e, err := envelope.Parse(msg)
	if err != nil {
		if e = envelope.Beginning(msg); e.Method == nil && e.Answers {
			c.settled(e.Key())
		}
		c.deliver(arrival{msg: msg}) // the reader reports it
		return
	}
	key := e.Key()
	switch {
	case e.IsRequest():
		c.mu.Lock()
		c.asked[key] = s.session
		c.mu.Unlock()
	case e.IsAnswer():
		w, known := c.settled(key)
		if id := e.NewSession(); sound(id) {
			o := c.open(id, false)
			if o != s {
				select { // the next messages of the session must not be missed
				case <-o.opened:
				case <-c.ctx.Done():
				}
			}
		}
		if known && (w.method == acp.MethodSessionClose || w.method == acp.MethodSessionDelete) && e.Error == nil {
			defer c.end(w.session)
		}
		if known && w.method == acp.MethodSessionLoad && w.session != s.session && e.Error == nil {
			c.run.Go(func() {
				c.awaitReplay(w.session)
				c.deliver(arrival{msg: msg})
			})
			return
		}
	}
	c.deliver(arrival{msg: msg})
}

// end ends the stream of a session that was closed.
func (c *client) end(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.streams[session]; s != nil && session != "" {
		s.stop(errClosed)
	}
}

// awaitReplay waits until the stream of a session that was loaded is open and
// quiet: the updates of the replay come before the answer to session/load, but
// on another stream.
func (c *client) awaitReplay(session string) {
	s := c.open(session, true)
	late := time.After(replayWait)
	select {
	case <-s.opened:
	case <-s.done:
		return
	case <-late:
		return
	case <-c.ctx.Done():
		return
	}
	for mark := s.mark.Load(); ; mark = s.mark.Load() {
		select {
		case <-time.After(quiet):
		case <-s.done:
			return
		case <-c.ctx.Done():
			return
		}
		if s.mark.Load() == mark {
			return
		}
	}
}
