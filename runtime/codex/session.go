package codex

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
)

// Session is one thread of Codex. Its methods may be called concurrently; one turn
// runs at a time.
type Session struct {
	opts   Options
	server *Server
	own    bool          // the server belongs to this session
	start  chan struct{} // held by the goroutine that opens the thread
	turns  chan struct{} // held by the turn

	order sync.Mutex // notifications are handled one after the other

	mu       sync.Mutex
	settings Settings
	applied  Settings // what the thread has
	thread   string
	model    string // that the app-server chose
	link     *link  // the run of the process that has opened the thread
	finished bool   // a turn has ended, so that the thread is on the disk
	turn     *turn
	stop     bool // an interrupt came while no turn ran
	closed   bool
}

// NewSession returns a session that has not started. Without a server it gets one
// of its own, which it closes.
func NewSession(server *Server, opts Options) *Session {
	s := &Session{opts: opts, server: server, thread: opts.Thread, finished: opts.Thread != "", settings: opts.Settings, start: make(chan struct{}, 1), turns: make(chan struct{}, 1)}
	if server == nil {
		s.server, s.own = NewServer(ServerOptions{}), true
	}
	return s
}

// Thread returns the id of the thread, empty before it is started.
func (s *Session) Thread() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.thread
}

// Settings returns the settings of the next turn. The model is the one that codex
// has chosen when none is set.
func (s *Session) Settings() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	set := s.settings
	if set.Model == "" {
		set.Model = s.model
	}
	return set
}

// Configure changes the settings, from the next turn on.
func (s *Session) Configure(change func(*Settings)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.settings)
}

// EnsureStarted starts the app-server unless it runs, and opens the thread unless
// it is open. Concurrent calls do it once.
func (s *Session) EnsureStarted(ctx context.Context) error {
	_, err := s.ensure(ctx)
	return err
}

func (s *Session) ensure(ctx context.Context) (*link, error) {
	select {
	case s.start <- struct{}{}:
		defer func() { <-s.start }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	l, err := s.server.running(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	thread, open, closed, finished, set := s.thread, s.link == l, s.closed, s.finished, s.settings
	s.mu.Unlock()
	switch {
	case closed:
		return nil, ErrClosed
	case open:
		return l, nil
	}
	model := ""
	if thread != "" {
		s.server.join(thread, s)
		r, err := l.agent.ThreadResume(ctx, &appserver.ThreadResumeParams{
			ThreadID: thread, Cwd: some(s.opts.Dir), ApprovalPolicy: set.Profile.policy(), Sandbox: acp.Some(set.Profile.sandbox()),
			Model: some(set.Model), Config: s.opts.Config, ExcludeTurns: acp.Some(true),
		})
		switch {
		case err == nil:
			model = r.Model
		case finished || !unsaved(err):
			return nil, redacted(err)
		default:
			s.server.leave(thread, s)
			thread = "" // no turn has ended: there is nothing to resume
		}
	}
	if thread == "" {
		r, err := l.agent.ThreadStart(ctx, &appserver.ThreadStartParams{
			Cwd: some(s.opts.Dir), ApprovalPolicy: set.Profile.policy(), Sandbox: acp.Some(set.Profile.sandbox()),
			Model: some(set.Model), Config: s.opts.Config,
		})
		if err != nil {
			return nil, redacted(err)
		}
		thread, model = r.Thread.ID, r.Model
	}
	set.Effort = "" // only turns can set it
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	s.thread, s.model, s.link, s.applied = thread, model, l, set
	s.server.join(thread, s)
	return l, nil
}

// unsaved reports whether a thread cannot be resumed because it is not on the disk.
func unsaved(err error) bool {
	var answer *acp.Error
	return errors.As(err, &answer) && strings.Contains(answer.Message, "no rollout found")
}

// Interrupt stops the running turn. Without one it stops the next turn before it
// begins. It returns at once and may be called any number of times.
func (s *Session) Interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn == nil {
		s.stop = true
		return
	}
	s.turn.interrupt()
}

// ErrNoTurn is what Steer returns when no turn runs.
var ErrNoTurn = errors.New("codex: no turn is running")

// Steer adds a message to the running turn.
func (s *Session) Steer(ctx context.Context, input ...appserver.UserInput) error {
	s.mu.Lock()
	t, l, thread := s.turn, s.link, s.thread
	s.mu.Unlock()
	if t == nil {
		return ErrNoTurn
	}
	if err := t.awaitID(ctx); err != nil {
		return err
	}
	_, err := l.agent.TurnSteer(ctx, &appserver.TurnSteerParams{ThreadID: thread, ExpectedTurnID: t.id, Input: input})
	return err
}

// Idle waits until no turn runs.
func (s *Session) Idle(ctx context.Context) error {
	select {
	case s.turns <- struct{}{}:
		<-s.turns
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close interrupts the turn and gives the thread up. A server of its own ends:
// its input first, then it is terminated, then killed. Close may be called more
// than once.
func (s *Session) Close() error {
	s.mu.Lock()
	s.closed = true
	if s.turn != nil {
		s.turn.interrupt()
	}
	thread := s.thread
	s.mu.Unlock()
	if s.own {
		return s.server.Close()
	}
	s.turns <- struct{}{} // the turn has ended
	<-s.turns
	s.server.leave(thread, s)
	return nil
}

// note handles a notification about the thread. The notifications of a turn whose
// id is not known yet wait for it; those of other turns are ignored.
func (s *Session) note(ctx context.Context, turn string, note any) {
	s.order.Lock()
	defer s.order.Unlock()
	s.mu.Lock()
	t := s.turn
	s.mu.Unlock()
	switch {
	case turn == "":
		s.tell(ctx, note)
	case t == nil:
	case t.id == "":
		t.early = append(t.early, func() { s.noteOf(ctx, t, turn, note) })
	default:
		s.noteOf(ctx, t, turn, note)
	}
}

func (s *Session) noteOf(ctx context.Context, t *turn, turn string, note any) {
	if turn != t.id {
		return
	}
	t.note(note)
	s.tell(ctx, note)
	if end, ok := note.(*appserver.TurnCompletedNotification); ok {
		t.complete(&end.Turn)
	}
}

func (s *Session) tell(ctx context.Context, note any) {
	if s.opts.OnNote != nil {
		s.opts.OnNote(ctx, note)
	}
}

// running returns the turn with that id; an empty id is the turn that runs.
func (s *Session) running(ctx context.Context, id string) *turn {
	s.mu.Lock()
	t := s.turn
	s.mu.Unlock()
	if t == nil || t.awaitID(ctx) != nil || id != "" && t.id != id {
		return nil
	}
	return t
}
