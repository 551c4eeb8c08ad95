package feed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/internal/review/store"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/socket"
)

const (
	maxConnections = 32
	maxTries       = 100              // to listen in a folder that the end of others removes
	maxProducers   = 256              // whose position is remembered
	answerTime     = 10 * time.Second // that a producer has to take an answer
)

// Path returns where the socket of a project is whose store is in a directory. It
// is there, unless the address would be too long for the system.
func Path(dir string) string {
	dir = filepath.Clean(dir)
	if path := filepath.Join(dir, "feed.sock"); len(path) <= socket.MaxPath {
		return path
	}
	name := store.HashOf([]byte(dir)).String()[:32] + ".sock"
	return filepath.Join(socket.Folder(fmt.Sprintf("hermes-%d", os.Getuid()), name, os.TempDir()), name)
}

// Program is one that asks for the review.
type Program struct {
	Name string
	PID  int
}

// Position is how far the reports of a producer have been handled.
type Position struct {
	Producer string `json:"producer"`
	Seq      uint64 `json:"seq"`
}

// Server takes reports. Its fields must not change once it serves.
type Server struct {
	// Handle gets the reports one at a time, and the reports of a connection in
	// order. A producer that sends requests waits for it. Its error is the answer
	// to the producer.
	Handle func(ctx context.Context, r Report) error
	// Ask decides about a change that waits to be allowed, and may take its time:
	// several questions may be open, and other reports are handled meanwhile. Its
	// error denies the change. If it allows the change, Handle gets the report, too,
	// before the answer. ctx ends when whoever asks is gone. Nil denies everything.
	Ask func(ctx context.Context, r Report) error
	// Yield gives up the review to a program that asks for it. Its error says why not. then
	// is called after the answer that grants the review. A nil Yield refuses all.
	Yield func(to Program) (then func(), err error)
	// Positions are the positions of an earlier Server, so that producers that
	// connect again report nothing twice.
	Positions []Position
	// Logger gets what was refused and why; nil: nothing is logged.
	Logger *slog.Logger

	handling sync.Mutex

	mu      sync.Mutex
	seen    []Position // the one that was used last is last
	conns   int
	flushes int64                      // so far
	late    map[*peer]map[int64]func() // what they are asked for, and what is done when it is there
}

// Listen makes a socket that only this user can reach. See [socket.ListenUnix]. Its
// folder goes with the last socket in it.
func Listen(path string) (net.Listener, error) {
	for try := 1; ; try++ {
		l, err := socket.ListenUnix(path)
		if err == nil {
			return listener{l, filepath.Dir(path)}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) || try == maxTries {
			return nil, err
		}
	}
}

type listener struct {
	net.Listener
	folder string
}

func (l listener) Close() error {
	err := l.Listener.Close()
	os.Remove(l.folder) // fails unless it is empty
	return err
}

// Serve takes reports from a listener of Listen until ctx ends, which is not an
// error. It closes the listener and returns when all connections are closed.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	s.mu.Lock()
	s.seen = slices.Clone(s.Positions)
	s.mu.Unlock()
	server := &socket.Server{Handle: s.connection, Admit: s.admit, Logger: s.Logger}
	return server.Serve(ctx, l)
}

// Handled returns how far the reports of each producer have been handled.
func (s *Server) Handled() []Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// Flush waits until the producers that want to be asked have reported all that they know. It
// waits for none that ends meanwhile. Its error is that of ctx.
func (s *Server) Flush(ctx context.Context) error {
	s.mu.Lock()
	s.flushes++
	n := s.flushes
	var asked sync.WaitGroup
	var peers []*peer
	for t, waits := range s.late {
		asked.Add(1)
		waits[n] = asked.Done
		peers = append(peers, t)
	}
	s.mu.Unlock()
	for _, t := range peers {
		go func() {
			if err := s.write(t, wireMessage{Version: "2.0", Method: flush, Params: wireFlush{n}}); err != nil {
				t.Close() // and then it ends
			}
		}()
	}
	done := make(chan struct{})
	go func() {
		asked.Wait()
		close(done)
	}()
	defer func() {
		for _, t := range peers {
			s.flushed(t, n)
		}
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// flushed notes that a producer has reported what a flush asked for. With the number 0 it wants
// to be asked.
func (s *Server) flushed(t *peer, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.late == nil {
		s.late = make(map[*peer]map[int64]func())
	}
	waits := s.late[t]
	if waits == nil && n == 0 {
		s.late[t] = make(map[int64]func())
	}
	if done := waits[n]; done != nil {
		delete(waits, n)
		done()
	}
}

// ended notes that nothing comes from a producer any more.
func (s *Server) ended(t *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, done := range s.late[t] {
		done()
	}
	delete(s.late, t)
}

func (s *Server) admit() (release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == maxConnections {
		return nil, fmt.Errorf("%d programs are connected already", maxConnections)
	}
	s.conns++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.conns--
	}, nil
}

// peer is a connection of a producer. It is read while questions of it wait, so that
// its end is seen.
type peer struct {
	transport.Transport
	writing   sync.Mutex
	questions sync.WaitGroup
}

// connection serves one producer.
func (s *Server) connection(ctx context.Context, connected transport.Transport) {
	t := &peer{Transport: connected}
	defer s.ended(t)
	defer t.questions.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { t.Close() })
	defer stop()
	defer t.Close()
	connected.(transport.Limiter).SetMaxMessage(MaxMessage)
	var buf []byte
	for {
		line, err := t.Read(buf)
		var large *transport.TooLargeError
		switch {
		case errors.As(err, &large) && large.Head != nil:
			err = s.answer(t, nil, nil, &Error{Code: codeInvalid, Message: fmt.Sprintf("the message has more than %d bytes", MaxMessage)})
		case err != nil:
			if m, bad := decode(line); bad == nil && m.id == nil { // whole, without a line end
				s.take(ctx, t, line)
			}
			return
		default:
			err = s.take(ctx, t, line)
		}
		if err != nil {
			return
		}
		if buf = line; cap(buf) > 1<<20 {
			buf = nil
		}
	}
}

// take handles a line. Its error ends the connection.
func (s *Server) take(ctx context.Context, t *peer, line []byte) error {
	m, err := decode(line)
	if err == nil && m.yield != nil {
		return s.yield(t, m.id, *m.yield)
	}
	if err == nil && m.flushed != nil {
		s.flushed(t, *m.flushed)
		if m.id == nil {
			return nil
		}
		return s.answer(t, m.id, struct{}{}, nil)
	}
	if err == nil && m.report == nil {
		return s.answer(t, m.id, map[string]uint64{"seq": s.position(m.resume)}, nil)
	}
	result := map[string]bool{}
	if err == nil && m.report.Phase == Ask {
		id := bytes.Clone(m.id) // of the line, whose memory is used again
		t.questions.Go(func() {
			if err := s.answer(t, id, result, s.ask(ctx, *m.report)); err != nil {
				t.Close()
			}
		})
		return nil
	}
	if err == nil {
		var again bool
		if again, err = s.handle(ctx, *m.report); again {
			result["duplicate"] = true
		}
	}
	if err == nil && m.id == nil {
		return nil
	}
	return s.answer(t, m.id, result, err)
}

// yield gives up the review, unless there is a reason not to.
func (s *Server) yield(t *peer, id json.RawMessage, to Program) error {
	if s.Yield == nil {
		return s.answer(t, id, nil, errors.New("this program keeps the review"))
	}
	then, err := s.Yield(to)
	if answered := s.answer(t, id, struct{}{}, err); err != nil {
		return answered
	}
	then() // whether the other has heard it or not
	return nil
}

// ask decides about a change and passes it on if it is allowed.
func (s *Server) ask(ctx context.Context, r Report) error {
	if s.Ask == nil {
		return errors.New("nobody here is asked about changes")
	}
	if err := s.Ask(ctx, r); err != nil {
		return err
	}
	_, err := s.handle(ctx, r)
	return err
}

// handle passes a report on, unless it was handled before.
func (s *Server) handle(ctx context.Context, r Report) (again bool, err error) {
	s.handling.Lock()
	defer s.handling.Unlock()
	if r.Producer != "" {
		last := s.position(r.Producer)
		if r.Seq <= last {
			return true, nil
		}
		r.Missed = r.Seq > last+1
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if err := s.Handle(ctx, r); err != nil {
		return false, err
	}
	if r.Producer != "" {
		s.advance(r.Producer, r.Seq)
	}
	return false, nil
}

func (s *Server) position(producer string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.seen {
		if p.Producer == producer {
			return p.Seq
		}
	}
	return 0
}

func (s *Server) advance(producer string, seq uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = slices.DeleteFunc(s.seen, func(p Position) bool { return p.Producer == producer })
	if len(s.seen) >= maxProducers {
		s.seen = slices.Delete(s.seen, 0, 1+len(s.seen)-maxProducers)
	}
	s.seen = append(s.seen, Position{producer, seq})
}

// answer sends a result or an error.
func (s *Server) answer(t *peer, id json.RawMessage, result any, err error) error {
	if id == nil {
		id = json.RawMessage("null")
	}
	m := struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result,omitempty"`
		Error   any             `json:"error,omitempty"`
	}{Version: "2.0", ID: id}
	if err == nil {
		m.Result = result
	} else {
		type data struct {
			Pointer string `json:"pointer"`
		}
		failure := struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
			Data    *data  `json:"data,omitempty"`
		}{Code: codeInternal, Message: err.Error()}
		if e := (*Error)(nil); errors.As(err, &e) {
			failure.Code = e.Code
			if e.Pointer != "" {
				failure.Data = &data{e.Pointer}
			}
		}
		m.Error = failure
		if s.Logger != nil {
			s.Logger.Warn("report refused", "reason", failure.Message)
		}
	}
	return s.write(t, m)
}

// write sends a message. A producer that does not read loses its connection.
func (s *Server) write(t *peer, m any) error {
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	t.writing.Lock()
	defer t.writing.Unlock()
	timer := time.AfterFunc(answerTime, func() { t.Close() })
	defer timer.Stop()
	return t.Write(line)
}
