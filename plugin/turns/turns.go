// Package turns runs the turns of a session: one prompt after the other, the queue of those
// that wait, how they end, and the state of the session as Neovim sees it.
package turns

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/machine"
	"github.com/hermes-nvim/hermes/internal/steering"
	"github.com/hermes-nvim/hermes/plugin/ask"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/say"
	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// Agent is what turns need of the connection to an agent.
type Agent interface {
	Name() string
	Context() context.Context // ends with the connection
	Ready() bool              // whether nothing waits for the connection
	Why() error               // for what reason it ends or has ended; nil for one that goes on
	Left() error              // Why, if the user has ended it
	Timeouts() *setup.Timeouts

	// Fit makes a prompt one that the agent takes.
	Fit(t *Turn) error
	// Prompt sends a prompt and waits for the answer. It calls sent when the prompt is on its way.
	Prompt(p *acp.PromptRequest, sent func()) (*acp.PromptResponse, error)
	// Steers reports whether the agent takes messages into a turn that runs.
	Steers() bool
	// Steer sends one and waits for the answer. An error says that nobody knows whether the agent
	// has it.
	Steer(ctx context.Context, p *acp.PromptRequest) (steering.Result, error)
	// Cancel sends a cancel. It waits neither for the end of the turn nor for a connection.
	Cancel(id acp.SessionID) error
}

// Work is what goes along with the turns of a session.
type Work interface {
	// Before makes the checkpoint of a turn. It may wait, but not once the turn is dropped.
	Before(t *Turn)
	// After looks at what the turn has left.
	After()
	// Begin drops what held for a turn before this one; nil: none runs. The turns wait for it.
	Begin(t *Turn)
}

// BrokenError says that the connection ended while a call waited for its answer.
type BrokenError struct {
	Method string
	Cause  error
}

func (e *BrokenError) Error() string { return e.Method + ": " + e.Cause.Error() }
func (e *BrokenError) Unwrap() error { return e.Cause }

func broken(err error) bool {
	var e *BrokenError
	return errors.As(err, &e)
}

// Turns are the turns of one session. Its methods may be called at the same
// time.
type Turns struct {
	editor *say.Editor
	asks   *ask.Asks
	agent  Agent
	work   Work
	id     acp.SessionID

	mu        sync.Mutex
	state     machine.Machine[event, state]
	turn      *Turn          // the one that runs
	queued    []*Turn        // those that wait for it
	running   sync.WaitGroup // turns between begin and their last event
	ended     error          // why no turn can begin any more
	seq       int64
	replay    bool          // session/load has not been answered yet
	asked     int           // permission and elicitation requests that wait
	elsewhere bool          // the agent waits for the user elsewhere, which counts as one more
	last      chan struct{} // closed when the last request other than a prompt is answered; nil before one
	heard     atomic.Uint64 // counts messages of the agent
}

// New makes the turns of a session that has had none.
func New(editor *say.Editor, asks *ask.Asks, agent Agent, work Work, id acp.SessionID) *Turns {
	return &Turns{editor: editor, asks: asks, agent: agent, work: work, id: id, state: machine.New(states, idle)}
}

// ID is the id of the session.
func (s *Turns) ID() acp.SessionID { return s.id }

// Agent is the name of the session's agent.
func (s *Turns) Agent() string { return s.agent.Name() }

// Push sends an event with what every event of a session carries. Number and
// place in the queue are given under one lock, so seq is the order of arrival.
func (s *Turns) Push(name string, o *wire.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pushLocked(name, o)
}

func (s *Turns) pushLocked(name string, o *wire.Object) {
	s.seq++
	o.Str("agent", s.agent.Name()).Str("sessionId", string(s.id)).Num("seq", s.seq).Flag("replay", s.replay)
	if s.turn != nil {
		o.Str("promptId", s.turn.ID)
	}
	s.editor.Push(o.Item(name))
}

// Now is the turn that runs, nil for none.
func (s *Turns) Now() *Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn
}

// Works reports whether a turn runs, and not a replay of old ones.
func (s *Turns) Works() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.replay && s.turn != nil
}

// Prompt runs t, after the turns that came before it and once the agent can be
// spoken to; or it steers the turn that runs, as t says.
func (s *Turns) Prompt(t *Turn) {
	if err := s.agent.Fit(t); err != nil {
		s.editor.Fail(t.ID, err)
		return
	}
	s.mu.Lock()
	switch {
	case s.ended != nil:
		err := s.ended
		s.mu.Unlock()
		s.editor.Fail(t.ID, err)
	case s.turn != nil && t.Steering != "":
		then := s.steer(t)
		s.mu.Unlock()
		then()
	case s.turn != nil || !s.agent.Ready():
		then := s.pushQueue
		if t.Steering != "" {
			then = s.next(t, "")
		} else {
			s.queued = append(s.queued, t)
		}
		s.mu.Unlock()
		then()
	default:
		s.turn = t
		s.running.Add(1)
		if t.Steering != "" {
			s.pushOutcome(t, started, "")
		}
		s.mu.Unlock()
		s.begin(t)
	}
}

// Resume begins the turn that waited for the connection.
func (s *Turns) Resume() {
	s.mu.Lock()
	if s.turn != nil || len(s.queued) == 0 {
		s.mu.Unlock()
		return
	}
	t := s.queued[0]
	s.turn, s.queued = t, s.queued[1:]
	s.running.Add(1)
	s.mu.Unlock()
	s.pushQueue()
	s.begin(t)
}

// LineUp puts a request of the session behind those before it, and prompts behind it. It waits
// for the channel that it gets, nil for none, and closes answered.
func (s *Turns) LineUp(answered chan struct{}) (before <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, s.last = s.last, answered
	return before
}

func (s *Turns) begin(t *Turn) {
	s.mu.Lock()
	t.after = s.last
	s.work.Begin(t)
	s.mu.Unlock()
	s.on(turnBegins)
	s.Push(events.TurnStarted, new(wire.Object))
	s.mu.Lock()
	s.pushBlocks(t, "client")
	s.mu.Unlock()
	s.editor.Start(func() {
		defer s.running.Done()
		s.run(t)
	})
}

// pushBlocks sends the events of what t says, and of how it went to the agent. The turns are
// locked.
func (s *Turns) pushBlocks(t *Turn, source string) {
	for i, b := range t.Params.Prompt {
		s.pushLocked(events.Prompt(acp.ContentBlockTag(b)), new(wire.Object).Str("source", source).Part("content", t.Blocks[i]))
	}
	t.Blocks = nil
}

func (s *Turns) run(t *Turn) {
	r, err := s.ask(t)
	err = s.verdict(r, err)
	if broken(err) {
		t.broke = err
	}
	t.stop.Lock() // a cancel that is on its way is not for the next prompt
	close(t.over)
	t.stop.Unlock()
	s.work.After()
	// A command may outlive its turn, so the wait for its end does too.
	s.asks.CancelSession(s.agent.Name(), string(s.id), rpc.ErrTurnEnded.Error(), acp.MethodTerminalWaitForExit)
	left := s.endMessages(t)
	var result []byte
	if err == nil {
		result = r.AppendJSON(nil)
		s.Push(events.Reply(acp.MethodSessionPrompt), wire.From(result).Str("opId", t.ID))
		s.Push(events.TurnEnded, new(wire.Object).Str("stopReason", string(r.StopReason)))
	} else {
		s.Push(events.TurnEnded, new(wire.Object).Object("error", say.Describe(err)))
	}
	goesOn := s.agent.Why() == nil
	s.mu.Lock()
	next, lost := (*Turn)(nil), []*Turn(nil)
	switch {
	case broken(err): // what it is about may not have been done
		lost, s.queued = slices.Concat(left, s.queued), nil
	case len(s.queued) > 0 && goesOn:
		next, s.queued = s.queued[0], s.queued[1:]
		s.running.Add(1)
	}
	s.turn = next
	s.work.Begin(next)
	s.mu.Unlock()
	if next == nil {
		s.on(turnEnds)
	}
	if err != nil {
		s.editor.Fail(t.ID, err)
	} else {
		if t.outcome != "" {
			result = wire.From(result).Str("outcome", string(t.outcome)).JSON()
		}
		s.editor.Done(t.ID, result)
	}
	for _, q := range lost {
		s.editor.Fail(q.ID, err)
	}
	if len(lost) > 0 {
		s.pushQueue()
	}
	close(t.told)
	if next != nil {
		s.pushQueue()
		s.begin(next)
	}
}

// verdict is how a turn ended that the agent ended with r or err. The user's
// action comes first: if the user disconnected the agent, it makes no
// difference whether the agent answered, broke off or never reacted. After a
// cancel, neither an error nor a meaningless answer is a failure.
func (s *Turns) verdict(r *acp.PromptResponse, err error) error {
	switch left := s.agent.Left(); {
	case err == nil && r.StopReason != acp.StopReasonCancelled:
		return nil
	case left != nil:
		return left
	case err != nil && s.Cancelling() && !broken(err):
		return &wire.Error{Kind: wire.ErrorCancelled, Message: "the turn was cancelled", Cause: err}
	}
	return err
}

// ask sends the prompt, unless it was cancelled before, and waits for the end
// of the turn.
func (s *Turns) ask(t *Turn) (*acp.PromptResponse, error) {
	if t.after != nil {
		select {
		case <-t.after:
		case <-t.dropped:
		case <-s.agent.Context().Done():
		}
	}
	s.work.Before(t)
	s.mu.Lock()
	t.calling = true
	s.mu.Unlock()
	select {
	case <-t.dropped:
		return &acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	default:
	}
	s.editor.Start(func() { s.watchSilence(t) })
	return s.agent.Prompt(t.Params, func() { close(t.sent) })
}

// Abort ends what waits: no turn can begin any more. The one that runs fails by its call.
func (s *Turns) Abort(err error) {
	s.mu.Lock()
	queued := slices.Concat(s.dropMessages(), s.queued)
	s.queued = nil
	s.ended = err
	s.mu.Unlock()
	for _, t := range queued {
		s.editor.Fail(t.ID, err)
	}
}

// Wait waits until Neovim knows the end of every turn.
func (s *Turns) Wait() { s.running.Wait() }

// CutShort waits until Neovim has heard of the end of the turn that was sent over a connection
// that broke. Events of the next connection come after that.
func (s *Turns) CutShort() {
	t := s.Now()
	if t == nil {
		return
	}
	select {
	case <-t.sent:
	default:
		return // it waits for the next connection
	}
	select {
	case <-t.told:
	case <-s.agent.Context().Done():
	}
}
