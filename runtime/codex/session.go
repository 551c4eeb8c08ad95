package codex

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
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
	mark   string        // of the messages that this session sends

	order sync.Mutex // notifications are handled one after the other

	mu       sync.Mutex
	settings Settings
	applied  Settings // what the thread has
	planning bool     // the thread is in the plan mode
	thread   string
	model    string // that the app-server chose
	effort   string // that the thread has
	link     *link  // the run of the process that has opened the thread
	finished bool   // a turn has ended, so that the thread is on the disk
	turn     *turn
	foreign  *turn // the last one that another client has begun
	opening  *link // over which the thread is being resumed: turns of others may be running
	stop     bool  // an interrupt came while no turn ran
	closed   bool
}

// NewSession returns a session that has not started. Without a server it gets one
// of its own, which it closes.
func NewSession(server *Server, opts Options) *Session {
	s := &Session{opts: opts, server: server, thread: opts.Thread, finished: opts.Thread != "", settings: opts.Settings, start: make(chan struct{}, 1), mark: rand.Text()}
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
	case set.Profile == ProfilePlan && !l.plans:
		return nil, ErrNoPlan
	case open:
		return l, nil
	}
	model, effort, planning := "", "", false
	var shown Profile // empty: set.Profile
	if thread != "" {
		s.server.join(thread, s)
		p := &appserver.ThreadResumeParams{ThreadID: thread, Config: s.opts.Config, ExcludeTurns: acp.Some(true)}
		if s.opts.Elsewhere == nil { // otherwise another client may have changed them
			p.Cwd, p.Model = some(s.opts.Dir), some(set.Model)
			if set.Profile != ProfileConfigured {
				p.ApprovalPolicy, p.Sandbox = set.Profile.policy(), acp.Some(set.Profile.sandbox())
			}
		}
		r, err := s.resume(ctx, l, p)
		switch {
		case err == nil:
			model, effort, planning = r.Model, string(r.ReasoningEffort.V), inPlan(r.CollaborationMode)
			if s.opts.Elsewhere != nil {
				set.Profile, set.Model = ProfileConfigured, ""
			}
			if shown = set.Profile; planning { // it may be with a wider sandbox, until the next turn
				shown = cmp.Or(shown, ProfilePlan)
			}
			set.Profile = cmp.Or(set.Profile, profileOf(r.Sandbox))
		case finished || !errors.As(err, new(*acp.Error)):
			return nil, redacted(err)
		default:
			s.server.leave(thread, s)
			thread = "" // no turn has ended: there is nothing to resume
		}
	}
	if thread == "" {
		p := &appserver.ThreadStartParams{Cwd: some(s.opts.Dir), Model: some(set.Model), Config: s.opts.Config}
		if set.Profile != ProfileConfigured {
			p.ApprovalPolicy, p.Sandbox = set.Profile.policy(), acp.Some(set.Profile.sandbox())
		}
		r, err := l.agent.ThreadStart(ctx, p)
		if err != nil {
			return nil, redacted(err)
		}
		thread, model, effort, planning = r.Thread.ID, r.Model, string(r.ReasoningEffort.V), false
		set.Profile = cmp.Or(set.Profile, profileOf(r.Sandbox))
		if s.opts.Elsewhere != nil {
			if err := save(ctx, l, thread); err != nil {
				return nil, redacted(err)
			}
		}
	}
	shown = cmp.Or(shown, set.Profile)
	set.Effort = "" // only turns can set it
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	if s.opts.Elsewhere != nil {
		if s.link == nil || s.settings == s.applied { // the user has changed nothing meanwhile
			s.settings.Profile, s.settings.Model = shown, set.Model
		}
		go s.stay(l)
	}
	s.settings.Profile = cmp.Or(s.settings.Profile, shown)
	s.thread, s.model, s.effort, s.planning, s.link, s.applied = thread, model, effort, planning, l, set
	s.server.join(thread, s)
	return l, nil
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
	_, err := l.agent.TurnSteer(ctx, &appserver.TurnSteerParams{ThreadID: thread, ExpectedTurnID: s.idOf(t), Input: input, ClientUserMessageID: acp.Some(s.mark)})
	return err
}

// Idle waits until no turn runs.
func (s *Session) Idle(ctx context.Context) error {
	for {
		s.mu.Lock()
		t := s.turn
		s.mu.Unlock()
		if t == nil {
			return nil
		}
		select {
		case <-t.over:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
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
	_ = s.Idle(context.Background()) // which has no end
	s.server.leave(thread, s)
	return nil
}

// note handles a notification about the thread. Notifications of a turn that has not
// begun here wait until it has; notifications of other turns are ignored.
func (s *Session) note(ctx context.Context, turn string, note any) {
	s.order.Lock()
	defer s.order.Unlock()
	s.handle(ctx, turn, note)
}

// handle is note, under Session.order.
func (s *Session) handle(ctx context.Context, turn string, note any) {
	if turn == "" {
		s.tell(ctx, note)
		return
	}
	_, starts := note.(*appserver.TurnStartedNotification)
	t := s.turnOf(turn, starts)
	switch {
	case t == nil:
	case !t.open:
		if starts && t.id == "" {
			select {
			case t.named <- turn:
			default: // a name waits there already
			}
		}
		t.hear(note)
		t.early = append(t.early, func() { s.handle(ctx, turn, note) })
	case turn == t.id, s.rename(t, turn, note):
		t.told = true
		t.note(note)
		s.tell(ctx, note)
		if end, ok := note.(*appserver.TurnCompletedNotification); ok {
			t.complete(&end.Turn)
		}
	}
}

func (s *Session) tell(ctx context.Context, note any) {
	if s.opts.OnNote != nil {
		s.opts.OnNote(ctx, note)
	}
}

// running returns the turn with that id; an empty id is the turn that runs. Without
// one it leaves the question to the other clients that use the thread.
func (s *Session) running(ctx context.Context, id string) *turn {
	t := s.begunTurn(ctx, id)
	if t == nil && s.opts.Elsewhere != nil {
		<-ctx.Done()
	}
	return t
}

func (s *Session) begunTurn(ctx context.Context, id string) *turn {
	t := s.turnOf(id, false)
	if t == nil {
		return nil
	}
	t.hear(nil)
	if t.awaitID(ctx) != nil || id != "" && s.idOf(t) != id {
		return nil
	}
	return t
}
