package httpstream

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/envelope"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
)

const (
	bodyTimeout       = time.Minute     // for a client to send its message
	initTimeout       = 2 * time.Minute // for the agent to answer initialize
	unknownConnection = "unknown " + headerConnection
	statusGone        = 499 // the client left; nobody sees it
)

// Server is an http.Handler that hands each connection to Handle. Nothing is
// handled until the guard has passed the request and it is a well-formed
// initialize request.
//
// The http.Server it runs in should have a ReadHeaderTimeout and no
// WriteTimeout, which would end the streams.
type Server struct {
	Guard access.Guard
	// Handle owns the connection it gets and returns when it is over. Its
	// context ends with Shutdown.
	Handle func(ctx context.Context, t transport.Transport)
	// Admit, when set, may refuse a connection, which is answered with 503;
	// release is called at its end.
	Admit func() (release func(), err error)
	// Logger gets refusals and their reasons; nil: nothing is logged.
	Logger *slog.Logger

	// MaxBody bounds a message of the client in bytes: transport.DefaultMaxMessage.
	MaxBody int64
	// MaxQueued bounds the bytes that wait for a client to read them; beyond it
	// the agent's writes wait. Default 64 MiB.
	MaxQueued int
	// Stall is how long a client may read nothing while something waits for it.
	// Default 60 s.
	Stall time.Duration
	// Abandon is how long a connection survives while the client has no open
	// stream and sends nothing. Default 5 minutes.
	Abandon time.Duration

	mu      sync.Mutex
	conns   map[string]*serverConn
	closing bool
	running sync.WaitGroup
	kept    atomic.Int64 // bytes of sent events, for clients that come back
	base    context.Context
	stop    context.CancelFunc
}

func (s *Server) maxBody() int64         { return cmp.Or(s.MaxBody, transport.DefaultMaxMessage) }
func (s *Server) maxQueued() int         { return cmp.Or(s.MaxQueued, 64<<20) }
func (s *Server) stall() time.Duration   { return cmp.Or(s.Stall, time.Minute) }
func (s *Server) abandon() time.Duration { return cmp.Or(s.Abandon, 5*time.Minute) }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Guard.Wrap(http.HandlerFunc(s.route), s.refused).ServeHTTP(w, r)
}

func (s *Server) refused(r *http.Request, why *access.Refusal) {
	s.warn("request refused", "remote", r.RemoteAddr, "reason", why.Reason)
}

func (s *Server) warn(msg string, args ...any) {
	if s.Logger != nil {
		s.Logger.Warn(msg, args...)
	}
}

func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	// The TCP connection may still have the deadline of an earlier stream.
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(initTimeout + s.stall()))
	connection, session, err := ids(r)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	case r.Method == http.MethodPost:
		s.post(w, r, connection, session)
	case r.Method == http.MethodGet:
		s.get(w, r, connection, session)
	case r.Method == http.MethodDelete:
		s.delete(w, connection)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	}
}

// ids reads the headers that name the connection and the session.
func ids(r *http.Request) (connection, session string, err error) {
	for name, at := range map[string]*string{headerConnection: &connection, headerSession: &session} {
		switch values := r.Header.Values(name); {
		case len(values) == 0:
		case len(values) > 1 || !sound(values[0]):
			return "", "", fmt.Errorf("bad %s: one value of 1 to %d visible ASCII characters is expected", name, maxID)
		default:
			*at = values[0]
		}
	}
	return connection, session, nil
}

func (s *Server) find(w http.ResponseWriter, connection string) *serverConn {
	if connection == "" {
		http.Error(w, "missing "+headerConnection, http.StatusBadRequest)
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.conns[connection]
	if c == nil {
		http.Error(w, unknownConnection, http.StatusNotFound)
	}
	return c
}

func (s *Server) post(w http.ResponseWriter, r *http.Request, connection, session string) {
	msg, status, why := s.body(w, r)
	if status != 0 {
		http.Error(w, why, status)
		return
	}
	e, err := envelope.Parse(msg)
	switch {
	case errors.Is(err, envelope.ErrBatch):
		writeJSON(w, http.StatusBadRequest, []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request","data":"JSON-RPC batches are not supported"}}`))
		return
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	case string(e.Method) == "" && e.ID == nil || len(e.ID) > maxID+2:
		http.Error(w, "not a JSON-RPC message, or its id is too long", http.StatusBadRequest)
		return
	case string(e.Method) == acp.MethodInitialize && connection != "":
		http.Error(w, "the connection is initialized", http.StatusBadRequest)
		return
	case string(e.Method) == acp.MethodInitialize && e.Key() == "":
		http.Error(w, "initialize without an id", http.StatusBadRequest)
		return
	case string(e.Method) == acp.MethodInitialize:
		s.initialize(w, r, msg, &e)
		return
	}
	c := s.find(w, connection)
	if c == nil {
		return
	}
	c.enter()
	defer c.leave()
	if status, why := c.forward(r.Context(), msg, &e, session); status != http.StatusAccepted {
		http.Error(w, why, status)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// body reads the message of a POST, or returns the status of the refusal.
func (s *Server) body(w http.ResponseWriter, r *http.Request) (msg []byte, status int, why string) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if charset := params["charset"]; err != nil || kind != typeJSON || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return nil, http.StatusUnsupportedMediaType, "Content-Type is not " + typeJSON
	}
	if r.Header.Get("Content-Encoding") != "" {
		return nil, http.StatusUnsupportedMediaType, "Content-Encoding is not supported"
	}
	tooLarge := fmt.Sprintf("the message is above the limit of %d bytes", s.maxBody())
	if r.ContentLength > s.maxBody() {
		return nil, http.StatusRequestEntityTooLarge, tooLarge
	}
	in := http.NewResponseController(w)
	in.SetReadDeadline(time.Now().Add(bodyTimeout))
	msg, err = io.ReadAll(http.MaxBytesReader(w, r.Body, s.maxBody()))
	in.SetReadDeadline(time.Time{})
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		return nil, http.StatusRequestEntityTooLarge, tooLarge
	case err != nil:
		return nil, http.StatusBadRequest, "the message did not arrive"
	}
	return msg, 0, ""
}

// initialize starts a connection and passes on the agent's answer.
func (s *Server) initialize(w http.ResponseWriter, r *http.Request, msg []byte, e *envelope.Envelope) {
	c, err := s.start(e.Key())
	if err != nil {
		s.warn("connection refused", "remote", r.RemoteAddr, "reason", err)
		w.Header().Set("Retry-After", "5")
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer c.leave()
	ctx, cancel := context.WithTimeout(r.Context(), initTimeout)
	defer cancel()
	err = c.post(ctx, msg)
	if err == nil {
		select {
		case <-c.answered:
			w.Header().Set(headerConnection, c.id)
			writeJSON(w, http.StatusOK, c.init)
			return
		case <-ctx.Done():
			err = ctx.Err()
		case <-c.ctx.Done():
			err = transport.ErrClosed
		}
	}
	c.abort(errEnded)
	select {
	case <-c.answered: // the last thing it did
		writeJSON(w, http.StatusOK, c.init)
		return
	default:
	}
	switch {
	case r.Context().Err() != nil:
		w.WriteHeader(statusGone)
	case errors.Is(err, context.DeadlineExceeded):
		writeJSON(w, http.StatusGatewayTimeout, envelope.Failure(e.ID, "Initialize failed", "the agent did not answer in time"))
	default:
		writeJSON(w, http.StatusInternalServerError, envelope.Failure(e.ID, "Initialize failed", "the agent ended before it answered"))
	}
}

// start creates a connection and passes it to Handle.
func (s *Server) start(initKey string) (*serverConn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return nil, errors.New("the server is shutting down")
	}
	release := func() {}
	if s.Admit != nil {
		var err error
		if release, err = s.Admit(); err != nil {
			return nil, err
		}
	}
	if s.conns == nil {
		s.conns = map[string]*serverConn{}
		s.base, s.stop = context.WithCancel(context.Background())
	}
	c := newServerConn(s, rand.Text(), initKey)
	s.conns[c.id] = c
	s.running.Go(func() {
		defer release()
		s.Handle(s.base, c)
		c.Close()
		<-c.ctx.Done()
	})
	return c, nil
}

func (s *Server) forget(c *serverConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c.id)
}

// forward passes a message of the client on and returns the status to answer.
func (c *serverConn) forward(ctx context.Context, msg []byte, e *envelope.Envelope, header string) (int, string) {
	session := e.Session()
	about, known := aboutSession(string(e.Method))
	key := e.Key()
	c.mu.Lock()
	if e.IsAnswer() {
		session = c.asked[key]
		about = session != ""
	}
	_, pending := c.routes[key]
	var why string
	switch {
	case header == "" && (about || session != ""):
		why = "missing " + headerSession
	case header != "" && session != "" && header != session:
		why = headerSession + " is not the session of the message"
	case session == "" && !known && !e.IsAnswer():
		session = header // an extension; the header says where it belongs
	case pending && e.IsRequest():
		why = "the id is that of a pending request"
	}
	if why != "" {
		c.mu.Unlock()
		return http.StatusBadRequest, why
	}
	if e.IsAnswer() {
		delete(c.asked, key)
	}
	if e.IsRequest() && key != "" {
		if len(c.routes) >= maxPending {
			c.mu.Unlock()
			return http.StatusTooManyRequests, fmt.Sprintf("more than %d unanswered requests", maxPending)
		}
		c.routes[key] = answeredOn(e, session)
		if string(e.Method) == acp.MethodSessionLoad {
			c.replays[key] = session
		}
	}
	c.mu.Unlock()
	err := c.post(ctx, msg)
	if err == nil {
		return http.StatusAccepted, ""
	}
	c.mu.Lock()
	delete(c.routes, key)
	delete(c.replays, key)
	c.mu.Unlock()
	if ctx.Err() != nil {
		return statusGone, "the client left"
	}
	return http.StatusNotFound, unknownConnection
}

func (s *Server) get(w http.ResponseWriter, r *http.Request, connection, session string) {
	if !acceptsEvents(r) {
		http.Error(w, "Accept does not include "+typeEvents, http.StatusNotAcceptable)
		return
	}
	c := s.find(w, connection)
	if c == nil {
		return
	}
	var after *uint64
	if last := r.Header.Get(headerLastEvent); last != "" {
		n, err := strconv.ParseUint(last, 10, 63)
		if err != nil {
			http.Error(w, "bad Last-Event-ID", http.StatusBadRequest)
			return
		}
		after = &n
	}
	c.enter()
	defer c.leave()
	m, me, status, why := c.acquire(session, after)
	if m == nil {
		http.Error(w, why, status)
		return
	}
	m.serve(w, r, me)
}

func acceptsEvents(r *http.Request) bool {
	for _, value := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(value, ",") {
			if kind, _, _ := strings.Cut(part, ";"); strings.EqualFold(strings.TrimSpace(kind), typeEvents) {
				return true
			}
		}
	}
	return false
}

func (s *Server) delete(w http.ResponseWriter, connection string) {
	if c := s.find(w, connection); c != nil {
		s.forget(c)
		c.abort(errEnded)
		w.WriteHeader(http.StatusAccepted)
	}
}

// Shutdown refuses new connections, ends the contexts of open ones, and waits
// until they are over. If ctx ends first they are cut off.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closing = true
	if s.stop != nil {
		s.stop()
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
	for _, c := range s.conns {
		c.abort(transport.ErrClosed)
	}
	s.mu.Unlock()
	<-done
	return ctx.Err()
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", typeJSON)
	w.WriteHeader(status)
	w.Write(body)
}
