package codex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
)

// Result says how a turn ended. Either FinalText or Err explains it.
type Result struct {
	FinalText   string
	Err         error
	Interrupted bool // by Interrupt, the context, the deadline or the quiet
	Items       []Item
	Tools       int    // completed commands, file changes and tool calls
	LastRetry   string // the last error after which codex tried again
	TurnID      string
	ThreadID    string
}

// Failure is the error of a turn that codex has ended as failed.
type Failure struct{ appserver.TurnError }

func (e *Failure) Error() string { return "codex: " + Redact(e.Message) }

// The errors of turns that were stopped. ErrDeadline and ErrQuiet are wrapped in
// errors that say more.
var (
	ErrInterrupted = errors.New("codex: interrupted")
	ErrDeadline    = errors.New("codex: the turn took too long")
	ErrQuiet       = errors.New("codex: nothing happened for too long")
	ErrBusy        = errors.New("codex: a turn is running")
	ErrNoAnswer    = errors.New("codex: the turn ended without an answer")
)

// turn is a running turn.
type turn struct {
	id    string        // set before begun is closed, and changed by rename, under Session.order and Session.mu
	open  bool          // its notifications are handled, under Session.order
	told  bool          // one of them was, under Session.order
	early []func()      // those from before, under Session.order
	begun chan struct{} // closed when they have been handled
	named chan string   // gets the id that codex says when the turn starts
	other chan struct{} // gets an element when the turn has another id
	ended context.Context
	end   context.CancelFunc
	stop  chan struct{} // has an element once the turn is to stop
	done  chan *appserver.Turn
	over  chan struct{} // closed when another turn may run

	heard  chan struct{} // of a turn of another client: closed when the text is known
	text   string        // its prompt, once heard
	result *Result       // its end, once over

	mu      sync.Mutex
	call    context.Context // of RunTurn or Follow
	items   []Item
	started map[string]*appserver.ThreadItem
	tools   int
	running map[string]bool // tools that run
	asking  int             // questions to the user
	last    time.Time       // when something happened
	retry   string
}

// awaitID waits until the id of the turn is known.
func (t *turn) awaitID(ctx context.Context) error {
	select {
	case <-t.begun:
		return nil
	case <-t.ended.Done():
		return ErrNoTurn
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// givenUp reports whether the turn has been given up: it has ended, or its caller, who
// may be faster than run, wants it to end.
func (t *turn) givenUp() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended.Err() != nil || t.call.Err() != nil
}

// interrupt asks for the end of the turn, and withdraws its questions.
func (t *turn) interrupt() {
	select {
	case t.stop <- struct{}{}:
	default:
	}
}

// RunTurn sends one message and waits for the end of the turn. Only one turn runs
// at a time: another call fails with ErrBusy. The end of ctx interrupts the turn.
func (s *Session) RunTurn(ctx context.Context, input ...appserver.UserInput) *Result {
	return s.runTurn(ctx, func(ctx context.Context, agent appserver.Agent) (string, error) {
		p, taken := s.params(input)
		r, err := agent.TurnStart(ctx, p)
		if err != nil {
			return "", err
		}
		s.mu.Lock()
		taken()
		s.mu.Unlock()
		return r.Turn.ID, nil
	})
}

// Compact has codex summarize the conversation, which makes room in the context. It
// is a turn; see RunTurn. The turn has no text, so the error is ErrNoAnswer if all is
// well.
func (s *Session) Compact(ctx context.Context) *Result {
	return s.runTurn(ctx, func(ctx context.Context, agent appserver.Agent) (string, error) {
		_, err := agent.ThreadCompactStart(ctx, &appserver.ThreadCompactStartParams{ThreadID: s.Thread()})
		return "", err
	})
}

// Review has codex review changes, in a turn; see RunTurn.
func (s *Session) Review(ctx context.Context, target appserver.ReviewTarget) *Result {
	return s.runTurn(ctx, func(ctx context.Context, agent appserver.Agent) (string, error) {
		r, err := agent.ReviewStart(ctx, &appserver.ReviewStartParams{ThreadID: s.Thread(), Target: target})
		if err != nil {
			return "", err
		}
		return r.Turn.ID, nil
	})
}

// starter starts a turn on the open thread. It returns the id of the turn, or "" if
// codex says it only when the turn starts.
type starter func(ctx context.Context, agent appserver.Agent) (id string, err error)

func (s *Session) runTurn(ctx context.Context, start starter) *Result {
	t := newTurn(ctx)
	defer t.end()
	s.mu.Lock()
	switch thread := s.thread; {
	case s.turn != nil:
		s.mu.Unlock()
		return &Result{Err: ErrBusy, ThreadID: thread}
	case s.stop || s.closed:
		s.stop = false
		s.mu.Unlock()
		return &Result{Err: ErrInterrupted, Interrupted: true, ThreadID: thread}
	}
	s.turn = t
	s.mu.Unlock()
	defer s.release(t)

	starting, cancel := context.WithCancel(ctx)
	defer cancel()
	opened := make(chan error, 1)
	var l *link
	go func() {
		var err error
		l, err = s.ensure(starting)
		opened <- err
	}()
	var err error
	select {
	case err = <-opened:
	case <-t.stop:
		cancel()
		<-opened
		err = ErrInterrupted
	}
	if err != nil {
		return &Result{Err: err, Interrupted: errors.Is(err, ErrInterrupted) || ctx.Err() != nil, ThreadID: s.Thread()}
	}
	return s.run(ctx, l, t, start)
}

// newTurn returns a turn that has not begun.
func newTurn(call context.Context) *turn {
	t := &turn{
		call:  call,
		begun: make(chan struct{}), stop: make(chan struct{}, 1), done: make(chan *appserver.Turn, 1), named: make(chan string, 1), other: make(chan struct{}, 1), over: make(chan struct{}),
		started: map[string]*appserver.ThreadItem{}, running: map[string]bool{}, last: time.Now(),
	}
	t.ended, t.end = context.WithCancel(context.Background())
	return t
}

// release lets another turn run.
func (s *Session) release(t *turn) {
	s.mu.Lock()
	if s.turn == t { // a turn of another client may have begun
		s.turn = nil
	}
	s.mu.Unlock()
	close(t.over)
}

// run starts the turn on the open thread, unless start is nil, and waits for its end.
// Without it, it is the turn of another client, which may take as long as it likes.
func (s *Session) run(ctx context.Context, l *link, t *turn, start starter) *Result {
	type answer struct {
		id  string
		err error
	}
	begun := make(chan answer, 1)
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	deadline, quiet := timer(-1, 0), timer(-1, 0)
	if start != nil {
		deadline, quiet = timer(s.opts.Deadline, defaultDeadline), timer(s.opts.Quiet, defaultQuiet)
		go func() {
			id, err := start(calls, l.agent)
			begun <- answer{id, err}
		}()
	}
	stop := func() {
		t.end() // its questions
		_, _ = l.agent.TurnInterrupt(calls, &appserver.TurnInterruptParams{ThreadID: s.Thread(), TurnID: s.idOf(t)})
	}
	defer deadline.Stop()
	defer quiet.Stop()
	var why error // why the turn is to stop; nil: it is not
	var grace <-chan time.Time
	var named <-chan string // nil unless the id is not known yet
	stopped := ctx.Done()
	halt := func(err error) {
		if why != nil {
			return
		}
		why, stopped = err, nil
		grace = time.After(orDefault(s.opts.Grace, defaultGrace))
		if s.idOf(t) != "" {
			go stop()
		}
	}
	for {
		select {
		case a := <-begun:
			if a.err != nil {
				if ended(l.conn.Done()) {
					a.err = l.conn.Err()
				}
				return s.result(t, nil, cmpErr(why, redacted(fmt.Errorf("codex: %w", a.err))), why != nil)
			}
			if a.id == "" {
				named = t.named
				continue
			}
			s.begin(t, a.id)
			if why != nil {
				go stop()
			}
		case id := <-named:
			named = nil
			s.begin(t, id)
			if why != nil {
				go stop()
			}
		case <-t.other:
			if why != nil {
				go stop()
			}
		case turn := <-t.done:
			return s.result(t, turn, why, why != nil)
		case <-t.stop:
			halt(ErrInterrupted)
		case <-stopped:
			halt(ErrInterrupted)
		case <-deadline.C:
			halt(t.blame(ErrDeadline, s.opts.Deadline, defaultDeadline))
		case <-quiet.C:
			if left := t.quietFor(orDefault(s.opts.Quiet, defaultQuiet)); left > 0 {
				quiet.Reset(left)
			} else {
				halt(t.blame(ErrQuiet, s.opts.Quiet, defaultQuiet))
			}
		case <-grace:
			return s.result(t, nil, why, true)
		case <-l.conn.Done():
			select {
			case turn := <-t.done: // the end came just before
				return s.result(t, turn, why, why != nil)
			default:
			}
			return s.result(t, nil, redacted(fmt.Errorf("codex app-server: %w", l.conn.Err())), why != nil)
		}
	}
}

func cmpErr(first, other error) error {
	if first != nil {
		return first
	}
	return other
}

// params returns the params that start a turn, with the settings in which the thread
// differs. The caller calls taken, with s.mu held, once codex has accepted them.
func (s *Session) params(input []appserver.UserInput) (p *appserver.TurnStartParams, taken func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	set, plan := s.settings, s.settings.Profile == ProfilePlan
	effort := cmp.Or(set.Effort, s.effort)
	p = &appserver.TurnStartParams{ThreadID: s.thread, Input: input, ClientUserMessageID: acp.Some(s.mark)}
	if set.Profile != s.applied.Profile {
		p.ApprovalPolicy, p.SandboxPolicy = set.Profile.policy(), set.Profile.sandboxPolicy()
	}
	if set.Model != s.applied.Model {
		p.Model = some(set.Model)
	}
	if e := set.Effort; e != s.applied.Effort && e != "" {
		p.Effort = acp.Some(appserver.ReasoningEffort(e))
	}
	if plan != s.planning {
		setMode(p, plan, cmp.Or(set.Model, s.model), effort)
	}
	return p, func() { s.applied, s.planning, s.effort = set, plan, effort }
}

// begin makes the turn known, and handles what came before it.
func (s *Session) begin(t *turn, id string) {
	s.order.Lock()
	defer s.order.Unlock()
	s.mu.Lock()
	if t.id == "" { // the id of another client's turn is known, and read without a lock
		t.id = id
	}
	s.mu.Unlock()
	t.open = true
	for _, f := range t.early {
		f()
	}
	t.early = nil
	close(t.begun)
}

// rename gives the turn another id than the one of the answer, if that was never heard of and the
// prompt is in the other turn: until 0.169, codex adds a prompt to a turn that still runs. It
// reports whether it did. It is called under Session.order.
func (s *Session) rename(t *turn, id string, note any) bool {
	if t.told || !s.isOurs(note) {
		return false
	}
	s.mu.Lock()
	t.id = id
	s.mu.Unlock()
	select {
	case t.other <- struct{}{}:
	default:
	}
	return true
}

// isOurs reports whether a notification of an unknown turn says that it has the prompt of this
// session: by its mark, or by its start if nobody else can start one.
func (s *Session) isOurs(note any) bool {
	switch n := note.(type) {
	case *appserver.TurnStartedNotification:
		return s.opts.Elsewhere == nil
	case *appserver.ItemStartedNotification:
		m, ok := n.Item.Variant.(*appserver.ThreadItemUserMessage)
		return ok && m.ClientID.V == s.mark
	}
	return false
}

// idOf is the id of a turn, empty if it is not known yet.
func (s *Session) idOf(t *turn) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return t.id
}

// complete notes the end that codex has declared.
func (t *turn) complete(turn *appserver.Turn) {
	t.end()
	select {
	case t.done <- turn:
	default: // declared twice
	}
}

// result is what the caller gets. end is nil when codex has not ended the turn.
func (s *Session) result(t *turn, end *appserver.Turn, why error, stopped bool) *Result {
	t.end()
	s.mu.Lock()
	if end != nil {
		s.finished = true
	}
	r := &Result{ThreadID: s.thread, TurnID: t.id}
	s.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	r.Items, r.Tools, r.LastRetry = t.items, t.tools, t.retry
	switch {
	case why != nil:
		r.Err, r.Interrupted = why, stopped
	case end.Status == appserver.TurnStatusInterrupted:
		r.Err, r.Interrupted = ErrInterrupted, true
	case end.Status == appserver.TurnStatusFailed && end.Error != nil:
		r.Err = &Failure{*end.Error}
	case end.Status != appserver.TurnStatusCompleted:
		r.Err = fmt.Errorf("codex: the turn ended as %s", end.Status)
	default:
		if r.FinalText = finalText(t.items, end.Items); r.FinalText == "" {
			r.Err = ErrNoAnswer
		}
	}
	return r
}

// blame is an error with the reason that codex has given, if any.
func (t *turn) blame(err error, d, def time.Duration) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.retry != "" {
		return fmt.Errorf("%w (%v); codex kept trying: %s", err, orDefault(d, def), Redact(t.retry))
	}
	return fmt.Errorf("%w (%v)", err, orDefault(d, def))
}

// quietFor is how long the turn may still be quiet.
func (t *turn) quietFor(limit time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.running) > 0 || t.asking > 0 {
		return limit
	}
	return limit - time.Since(t.last)
}

// ask notes that a question is open, until the function it returns is called.
func (t *turn) ask() (answered func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asking++
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.asking--
		t.last = time.Now()
	}
}

func orDefault(d, def time.Duration) time.Duration {
	if d == 0 {
		return def
	}
	return d
}

// timer is a timer that never fires when d is negative.
func timer(d, def time.Duration) *time.Timer {
	if d < 0 {
		return time.NewTimer(math.MaxInt64)
	}
	return time.NewTimer(orDefault(d, def))
}
