package codex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// ErrClosed is what a closed Server or Session returns.
var ErrClosed = errors.New("codex: closed")

// ServerOptions configure a Server. The zero value runs codex from PATH.
type ServerOptions struct {
	// Command starts the app-server. An empty Path means codex with the argument
	// app-server, and the whole environment of this process.
	Command launch.Command
	// Dial, if set, connects to an app-server that runs already, and Command is not
	// used. Others may be its clients, too: what is not answered here, because nobody
	// knows the thread or the Server is being closed, stays open for them.
	Dial func(ctx context.Context) (transport.Transport, error)
	// Name, Title and Version are what codex records about this program.
	Name, Title, Version string
	// Login is called when a login has ended; errText is empty when it worked.
	Login func(loginID, errText string)
	// Log gets what is wrong with the traffic, and the app-server's warnings.
	// Nil: nothing is logged.
	Log *slog.Logger
}

// Server is an app-server process. It starts when it is first needed, and again
// when it is needed after it has died. Its methods may be called concurrently.
type Server struct {
	opts  ServerOptions
	start chan struct{} // held by the goroutine that starts the process

	mu       sync.Mutex
	link     *link
	closed   bool
	sessions map[string]*Session // by thread
}

// link is one run of the process.
type link struct {
	conn  *rpc.Conn
	wire  *bare
	agent appserver.Agent
	plans bool // it has the plan mode
}

// NewServer returns a Server that is not yet running.
func NewServer(opts ServerOptions) *Server {
	if opts.Command.Path == "" {
		opts.Command.Path, opts.Command.Args, opts.Command.InheritEnv = "codex", []string{"app-server"}, true
	}
	opts.Name, opts.Title, opts.Version = cmp.Or(opts.Name, "hermes"), cmp.Or(opts.Title, "Hermes"), cmp.Or(opts.Version, "1")
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	return &Server{opts: opts, start: make(chan struct{}, 1), sessions: map[string]*Session{}}
}

// Agent returns the app-server, started and initialized.
func (s *Server) Agent(ctx context.Context) (appserver.Agent, error) {
	l, err := s.running(ctx)
	if err != nil {
		return appserver.Agent{}, err
	}
	return l.agent, nil
}

// running returns the run of the process, and starts it when there is none.
// Concurrent calls start one process.
func (s *Server) running(ctx context.Context) (*link, error) {
	select {
	case s.start <- struct{}{}:
		defer func() { <-s.start }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	l, closed := s.link, s.closed
	s.mu.Unlock()
	if closed {
		return nil, ErrClosed
	}
	if l != nil && !ended(l.conn.Done()) {
		return l, nil
	}
	l, err := s.launch(ctx)
	if err != nil {
		return nil, fmt.Errorf("codex app-server: %w", redacted(err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		go l.conn.Close()
		return nil, ErrClosed
	}
	s.link = l
	return l, nil
}

func ended(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// launch starts the process and shakes hands.
func (s *Server) launch(ctx context.Context) (*link, error) {
	if s.opts.Dial != nil {
		t, err := s.opts.Dial(ctx)
		if err != nil {
			return nil, err
		}
		return s.connect(ctx, t)
	}
	p, err := launch.Start(context.WithoutCancel(ctx), s.opts.Command) // it outlives the call
	if err != nil {
		return nil, err
	}
	return s.connect(ctx, p.Transport())
}

func (s *Server) connect(ctx context.Context, t transport.Transport) (*link, error) {
	l := &link{wire: &bare{Transport: t}}
	l.conn = rpc.NewConn(l.wire, appserver.ClientSide(&handler{server: s}), rpc.Options{
		OnFault: func(f rpc.Fault) { f.Log(s.opts.Log) },
	})
	l.agent = appserver.Agent{Conn: l.conn}
	_, err := l.agent.Initialize(ctx, &appserver.InitializeParams{
		ClientInfo:   appserver.ClientInfo{Name: s.opts.Name, Title: acp.Some(s.opts.Title), Version: s.opts.Version},
		Capabilities: &appserver.InitializeCapabilities{ExperimentalAPI: acp.Some(true)}, // for the plan mode
	})
	if err == nil {
		err = l.agent.Initialized(ctx, &appserver.InitializedNotification{})
	}
	if err == nil {
		l.plans, err = hasPlans(ctx, l.agent)
	}
	if err != nil {
		l.conn.Close()
		return nil, err
	}
	return l, nil
}

// Close ends the process: its input ends, then it is terminated, then killed, each
// after a bounded wait. It may be called more than once.
func (s *Server) Close() error {
	s.mu.Lock()
	l := s.link
	s.closed, s.link = true, nil
	s.mu.Unlock()
	if l != nil {
		l.wire.mute.Store(s.opts.Dial != nil)
		l.conn.Close()
	}
	return nil
}

// join makes a session get the notifications and questions about a thread.
func (s *Server) join(thread string, session *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[thread] = session
}

func (s *Server) leave(thread string, session *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[thread] == session {
		delete(s.sessions, thread)
	}
}

// session returns the session of a thread, nil when the thread is nobody's.
func (s *Server) session(thread string) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[thread]
}
