// Package serve puts an agent that talks over stdin and stdout behind remote
// transports. Each connection has one process. It starts when an authorized
// client sends its first message, and stops when the connection ends.
package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/internal/envelope"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/socket"
)

const (
	// stall is how long either side of a connection may go without reading.
	stall = time.Minute
	// shutdown is how long connections may take to end cleanly.
	shutdown = 10 * time.Second
)

// Server is an agent behind listeners. Its fields must not change while it
// serves.
type Server struct {
	// Command starts the agent.
	Command launch.Command
	// Guard says who may connect over HTTP. Its token also applies to TCP.
	// Sockets need none, because they are for one user.
	Guard access.Guard
	// TLS, when set, encrypts TCP and HTTP.
	TLS *tls.Config
	// MaxConnections bounds the agents that run at the same time; default 64.
	MaxConnections int
	// Idle ends a connection after this long without traffic. 0: never.
	Idle time.Duration
	// Logger gets connections, refusals, and the agents' standard error; nil:
	// nothing is logged.
	Logger *slog.Logger

	maxMessage int // 0: what the transports allow

	mu      sync.Mutex
	open    int
	last    int
	closing bool
	running sync.WaitGroup
}

// Serve accepts connections on listeners until ctx ends, which is not an error,
// or one of them fails. It closes them and returns when every agent has
// stopped. Call it once.
func (s *Server) Serve(ctx context.Context, listeners ...*Listener) error {
	if s.Logger == nil {
		s.Logger = slog.New(slog.DiscardHandler)
	}
	for _, l := range listeners {
		if s.Guard.Token.IsZero() && l.Addr().Network() != "unix" {
			for _, l := range listeners {
				l.Close()
			}
			return fmt.Errorf("%s: Guard.Token is missing: without one every client would be refused", l)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() {
			err := s.serve(ctx, l)
			if err != nil {
				err = fmt.Errorf("%s: %w", l, err)
			}
			cancel() // a failed one ends the others
			errs <- err
		}()
	}
	var all error
	for range listeners {
		all = errors.Join(all, <-errs)
	}
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.running.Wait()
	return all
}

func (s *Server) serve(ctx context.Context, l *Listener) error {
	if l.http {
		return s.serveHTTP(ctx, l)
	}
	sockets := &socket.Server{Handle: s.handle, Admit: s.admit, Token: s.Guard.Token, TLS: s.TLS, Logger: s.Logger}
	return sockets.Serve(ctx, l.Listener)
}

// admit counts connections.
func (s *Server) admit() (release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if limit := cmp.Or(s.MaxConnections, 64); s.open >= limit {
		return nil, fmt.Errorf("too many connections: the limit is %d", limit)
	}
	if s.closing {
		return nil, errors.New("the server is shutting down")
	}
	s.open++
	s.running.Add(1)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open--
		s.running.Done()
	}, nil
}

// handle runs an agent for one connection.
func (s *Server) handle(ctx context.Context, client transport.Transport) {
	s.mu.Lock()
	s.last++
	log := s.Logger.With("connection", s.last)
	s.mu.Unlock()
	cmd := s.Command
	cmd.OnStderr = func(line string) { log.Info("agent", "stderr", line) }
	p, err := launch.Start(ctx, cmd)
	if err != nil {
		log.Error("the agent did not start", "error", err)
		refuse(client, err)
		client.Close()
		return
	}
	log.Info("connected", "pid", p.PID())
	began := time.Now()
	s.bound(p.Transport())
	s.bound(client)
	agent := &messages{&end{p.Transport(), "agent", log}}
	err = transport.Pipe(ctx, &end{client, "client", log}, agent, transport.PipeLimits{Stall: stall, Idle: s.Idle})
	log.Info("disconnected", "after", time.Since(began).Round(time.Millisecond), "why", why(err))
}

// bound sets the limit of a message.
func (s *Server) bound(t transport.Transport) {
	if l, ok := t.(transport.Limiter); ok && s.maxMessage > 0 {
		l.SetMaxMessage(s.maxMessage)
	}
}

// why says in words how a connection ended.
func why(err error) string {
	var pipe *transport.PipeEnd
	switch {
	case errors.Is(err, context.Canceled):
		return "the server is shutting down"
	case !errors.As(err, &pipe):
		return err.Error()
	case !pipe.First:
		return "agent: " + pipe.Err.Error()
	case transport.Clean(err):
		return "the client left"
	}
	return "client: " + pipe.Err.Error()
}

// refuse answers the first message of a client with the reason why there is no
// agent.
func refuse(client transport.Transport, reason error) {
	late := time.AfterFunc(shutdown, func() { client.Close() })
	defer late.Stop()
	msg, err := client.Read(nil)
	if err != nil {
		return
	}
	if e, err := envelope.Parse(msg); err == nil && e.IsRequest() {
		client.Write(envelope.Failure(e.ID, reason.Error(), nil))
	}
}

// end is a transport whose messages above the limit are logged, and which is closed with the
// reason in words.
type end struct {
	transport.Transport
	name string
	log  *slog.Logger
}

func (e *end) Read(buf []byte) ([]byte, error) {
	msg, err := e.Transport.Read(buf)
	if big := (*transport.TooLargeError)(nil); errors.As(err, &big) {
		e.log.Warn(e.name+": "+big.Error(), "begin", string(big.Head[:min(len(big.Head), 200)]))
	}
	return msg, err
}

// CloseWith implements transport.Explainer.
func (e *end) CloseWith(err error) error {
	if t, ok := e.Transport.(transport.Explainer); ok {
		return t.CloseWith(&reason{err})
	}
	return e.Close()
}

// reason says in words how a connection ended.
type reason struct{ error }

func (r *reason) Error() string { return why(r.error) }

func (r *reason) Unwrap() error { return r.error }

// messages is the transport of an agent without lines that are not messages,
// such as banners.
type messages struct{ *end }

func (m *messages) Read(buf []byte) ([]byte, error) {
	for {
		msg, err := m.end.Read(buf)
		if err != nil || len(msg) > 0 && (msg[0] == '{' || msg[0] == '[') {
			return msg, err
		}
		m.log.Warn("agent: not a message", "stdout", string(msg[:min(len(msg), 200)]))
		buf = msg
	}
}

// Listener is where a server can be reached.
type Listener struct {
	net.Listener
	http bool
	path string // of the endpoint
	url  string
}

// String returns the address clients use.
func (l *Listener) String() string { return l.url }
