package websocket

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/envelope"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
)

// firstMessage is how long a client may take to send initialize.
const firstMessage = 30 * time.Second

// Server is an http.Handler that hands each connection to Handle. Nothing is
// handled before the guard let the request pass and the first message is an
// initialize request; another first message closes the connection with 1002.
type Server struct {
	Guard access.Guard
	// Handle owns the connection it gets and returns when it is over. Its context
	// is that of the request, and also ends with Shutdown.
	Handle func(ctx context.Context, t transport.Transport)
	// Admit, when set, may refuse a connection, which is answered with 503;
	// release is called at its end.
	Admit func() (release func(), err error)
	// MaxMessage is the message limit in bytes; 0 means
	// transport.DefaultMaxMessage.
	MaxMessage int
	// Logger gets what was refused and why; nil: nothing is logged.
	Logger *slog.Logger

	mu      sync.Mutex
	open    map[*serverConn]context.CancelFunc
	closing bool
	running sync.WaitGroup
}

var errShutdown = errors.New("the server is shutting down")

// Upgrade reports whether the request asks for a WebSocket.
func Upgrade(r *http.Request) bool {
	for _, v := range r.Header.Values("Upgrade") {
		if bytes.EqualFold([]byte(v), []byte("websocket")) {
			return true
		}
	}
	return false
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Guard.Wrap(http.HandlerFunc(s.accept), s.refused).ServeHTTP(w, r)
}

func (s *Server) refused(r *http.Request, why *access.Refusal) {
	s.log(r, why.Reason)
}

func (s *Server) log(r *http.Request, reason string) {
	if s.Logger != nil {
		s.Logger.Warn("websocket refused", "remote", r.RemoteAddr, "reason", reason)
	}
}

func (s *Server) accept(w http.ResponseWriter, r *http.Request) {
	leave, err := s.enter()
	if err != nil {
		s.log(r, err.Error())
		w.Header().Set("Retry-After", "5")
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer leave()
	w.Header().Set("Acp-Connection-Id", rand.Text())
	below := &hijacked{ResponseWriter: w}
	ws, err := websocket.Accept(below, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // the guard checked the origin
	if err != nil {
		s.log(r, err.Error())
		return
	}
	c := &serverConn{conn: newConn(ws, below.conn, websocket.StatusGoingAway, pingEvery)}
	if s.MaxMessage > 0 {
		c.max = s.MaxMessage
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer s.keep(c, cancel)()
	stop := context.AfterFunc(ctx, func() { c.Close() })
	timer := time.AfterFunc(firstMessage, func() { c.Close() })
	err = c.begin()
	timer.Stop()
	stop()
	if err != nil || ctx.Err() != nil {
		c.Close()
		return
	}
	s.Handle(ctx, c)
}

// enter admits a connection, unless there are too many or the server shuts down.
func (s *Server) enter() (leave func(), err error) {
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return nil, errShutdown
	}
	s.running.Add(1) // before Shutdown waits
	s.mu.Unlock()
	release := func() {}
	if s.Admit != nil {
		if release, err = s.Admit(); err != nil {
			s.running.Done()
			return nil, err
		}
	}
	return func() {
		release()
		s.running.Done()
	}, nil
}

// keep lets Shutdown find a connection until forget is called.
func (s *Server) keep(c *serverConn, end context.CancelFunc) (forget func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[*serverConn]context.CancelFunc{}
	}
	s.open[c] = end
	if s.closing {
		c.shut.Store(true)
		end()
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, c)
	}
}

// Shutdown refuses new connections, ends the contexts of open ones, and waits until they
// are over: their clients see a closing frame that says why. If ctx ends first they are
// cut off. http.Server.Shutdown knows nothing of them, so call it afterwards.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closing = true
	for c, end := range s.open {
		c.shut.Store(true)
		end()
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		s.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	for c := range s.open {
		go c.Close()
	}
	s.mu.Unlock()
	<-done
	return ctx.Err()
}

// hijacked keeps the connection that is taken over.
type hijacked struct {
	http.ResponseWriter
	conn net.Conn
}

// Hijack implements http.Hijacker.
func (h *hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	h.conn = conn
	return conn, rw, err
}

// serverConn begins with a message that was read before, and answers a second
// initialize itself.
type serverConn struct {
	*conn
	first []byte
	shut  atomic.Bool // by Shutdown
}

// Close is conn.Close.
func (c *serverConn) Close() error {
	if c.shut.Load() {
		return c.CloseWith(errShutdown) // unless there is another reason
	}
	return c.conn.Close()
}

// begin reads the first message.
func (c *serverConn) begin() error {
	msg, err := c.conn.Read(nil)
	if err != nil {
		return err
	}
	e, err := envelope.Parse(msg)
	if err != nil || string(e.Method) != acp.MethodInitialize || e.Key() == "" {
		c.status.Store(int32(websocket.StatusProtocolError))
		c.because(errNotInitialize)
		return errNotInitialize
	}
	c.first = msg
	return nil
}

// Read is conn.Read.
func (c *serverConn) Read(buf []byte) ([]byte, error) {
	if c.first != nil {
		buf = append(buf[:0], c.first...)
		c.first = nil
		if len(buf) > c.max {
			return buf[:0], &transport.TooLargeError{Limit: c.max, Head: bytes.Clone(buf[:min(len(buf), headSize)])}
		}
		return buf, nil
	}
	for {
		msg, err := c.conn.Read(buf)
		if err != nil || !bytes.Contains(msg, []byte(`"initialize"`)) {
			return msg, err
		}
		e, bad := envelope.Parse(msg)
		if bad != nil || string(e.Method) != acp.MethodInitialize || e.ID == nil {
			return msg, nil
		}
		if err := c.Write(refusal(e.ID)); err != nil {
			return msg[:0], err
		}
		buf = msg
	}
}
