package turns

import (
	"context"
	"slices"
	"time"

	"github.com/hermes-nvim/hermes/internal/steering"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// Steering says what becomes of a prompt that corrects the turn that runs. Where no turn runs,
// every prompt begins one.
type Steering string

// The ways to steer. The zero value waits as any prompt does.
const (
	SteerOrQueue  Steering = "queue"           // goes into the turn; where that is impossible, it is the next
	SteerOrCancel Steering = "cancel_fallback" // goes into the turn; where that is impossible, it cancels the turn and is the next
	SteerCancel   Steering = "cancel"          // cancels the turn and is the next
)

// Valid reports whether there is such a way, or none.
func (s Steering) Valid() bool {
	switch s {
	case "", SteerOrQueue, SteerOrCancel, SteerCancel:
		return true
	}
	return false
}

// outcome is what became of a prompt that steers, as results and PromptSteered show it.
type outcome string

const (
	injected  outcome = "injected"  // it is in the turn that ran
	queued    outcome = "queued"    // it is the next
	restarted outcome = "restarted" // it is the next, and the turn was cancelled for it
	started   outcome = "started"   // nothing ran
)

// answerTime bounds how long the end of a turn waits for the answer to a message that was sent
// into it. Agents answer within milliseconds.
const answerTime = 5 * time.Second

// errUnanswered ends the wait for such an answer.
var errUnanswered = &wire.Error{Kind: wire.ErrorTimeout, Message: "the turn ended, and the agent has not said whether it took the message; it is not sent again"}

// messages are those on their way into one turn. The turns are locked for them.
type messages struct {
	list   []*Turn       // not sent yet
	out    *Turn         // sent and not answered
	closed bool          // the agent did not take one, and gets no more
	sender chan struct{} // closed when sendMessages returns; nil while it does not run
}

// steer adds t to the turn that runs, or makes it the next prompt. The turns are locked. It
// returns a function to call without the lock.
//
// A message is sent into a turn once. It goes out again, as a prompt, only if the agent has said
// that it did not take it. The turn does not end before its messages are answered, so none
// reaches a later turn or a later connection.
func (s *Turns) steer(t *Turn) (then func()) {
	r := s.turn
	m := &r.messages
	waits := m.sender != nil || len(m.list) > 0 // a message before it, for what becomes of that
	if t.Steering == SteerCancel || !waits && !s.takesMessages(r) {
		return s.next(t, "")
	}
	t.after = s.last
	m.list = append(m.list, t)
	if !waits {
		m.sender = make(chan struct{})
		s.editor.Start(func() { s.sendMessages(r) })
	}
	return func() {}
}

// takesMessages reports whether a message for the turn r can go to the agent. The turns are
// locked.
func (s *Turns) takesMessages(r *Turn) bool {
	switch {
	case s.turn != r, r.isOver(), s.ended != nil, s.state.State() == cancelling:
		return false
	case r.messages.closed, len(s.queued) > 0 && s.queued[0].Steering != "":
		return false // nothing overtakes one that was not taken
	}
	return s.agent.Steers()
}

// next makes t the next prompt, behind those that steered before it unless it cancels, and says
// what became of it. The turns are locked. It returns a function to call without the lock.
func (s *Turns) next(t *Turn, reason string) (then func()) {
	at := 0
	for t.Steering != SteerCancel && at < len(s.queued) && s.queued[at].Steering != "" {
		at++
	}
	s.queued = slices.Insert(slices.Clone(s.queued), at, t)
	if t.Steering == SteerOrQueue || s.turn == nil || s.turn.isOver() || s.state.State() == cancelling {
		s.pushOutcome(t, queued, reason)
		return s.pushQueue
	}
	stop := s.stopTurn()
	s.pushOutcome(t, restarted, reason)
	return func() {
		stop()
		s.pushQueue()
	}
}

// pushOutcome says what became of t. The turns are locked.
func (s *Turns) pushOutcome(t *Turn, o outcome, reason string) {
	t.outcome = o
	s.pushLocked(events.PromptSteered, new(wire.Object).Str("steerId", t.ID).Str("outcome", string(o)).Optional("reason", reason))
}

// sendMessages sends the messages for the turn r, one after the other, until none is left or one
// was not taken.
func (s *Turns) sendMessages(r *Turn) {
	ctx, cancel := context.WithCancelCause(s.agent.Context())
	defer cancel(nil)
	s.editor.Start(func() { boundAnswer(ctx, cancel, r) })
	select { // earlier, the agent would know of no turn
	case <-r.sent:
	case <-r.over:
	}
	for {
		t, after := s.takeMessage(r)
		switch {
		case after != nil:
			select {
			case <-after:
			case <-r.over:
			}
		case t != nil:
			result, err := s.agent.Steer(ctx, t.Params)
			if err != nil && ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			s.answered(r, t, result, err)
		default:
			return
		}
	}
}

// boundAnswer ends ctx when an answer to a message for the turn r has no time any more.
func boundAnswer(ctx context.Context, cancel context.CancelCauseFunc, r *Turn) {
	select {
	case <-r.over:
	case <-ctx.Done():
		return
	}
	if r.broke != nil { // or the message would wait for the next connection
		cancel(&BrokenError{Method: steering.Method, Cause: r.broke})
		return
	}
	select {
	case <-time.After(answerTime):
		cancel(errUnanswered)
	case <-ctx.Done():
	}
}

// takeMessage returns the message for the turn r that goes out now, or what the first one has to
// wait for. It returns neither when sendMessages is to end. What is left then becomes the next
// prompts, or, at the end of the turn, is for endMessages.
func (s *Turns) takeMessage(r *Turn) (t *Turn, after <-chan struct{}) {
	s.mu.Lock()
	m := &r.messages
	if len(m.list) > 0 && s.takesMessages(r) {
		defer s.mu.Unlock()
		if t = m.list[0]; !isClosed(t.after) {
			return nil, t.after
		}
		m.list, m.out = m.list[1:], t
		return t, nil
	}
	var then []func()
	if !r.isOver() {
		then = s.nextAll(m)
	}
	close(m.sender)
	m.sender = nil
	s.mu.Unlock()
	for _, f := range then {
		f()
	}
	return nil, nil
}

// nextAll makes the messages that were not sent the next prompts. The turns are locked.
func (s *Turns) nextAll(m *messages) (then []func()) {
	for _, t := range m.list {
		then = append(then, s.next(t, ""))
	}
	m.list = nil
	return then
}

// answered does with the message t for the turn r what the agent's answer asks for.
func (s *Turns) answered(r, t *Turn, result steering.Result, err error) {
	s.mu.Lock()
	r.messages.out = nil
	r.messages.closed = err != nil || !result.Taken()
	if err == nil && !result.Taken() {
		err = s.ended
	}
	then := func() { s.editor.Fail(t.ID, err) }
	switch {
	case err != nil:
	case result.Taken():
		s.pushOutcome(t, injected, result.Reason)
		s.pushBlocks(t, "steer")
		then = func() { s.editor.Done(t.ID, new(wire.Object).Str("outcome", string(injected)).JSON()) }
	case t.unwanted:
		then = func() { s.editor.Done(t.ID, t.cancelled()) }
	default:
		then = s.next(t, result.Reason)
	}
	s.mu.Unlock()
	then()
}

// endMessages waits for the answers to the messages for the turn r, which is over. Those that were
// not sent become the next prompts; it returns them instead if the connection broke.
func (s *Turns) endMessages(r *Turn) (left []*Turn) {
	s.mu.Lock()
	sender := r.messages.sender
	s.mu.Unlock()
	if sender != nil {
		<-sender
	}
	s.mu.Lock()
	if r.broke != nil {
		left, r.messages.list = r.messages.list, nil
	}
	then := s.nextAll(&r.messages)
	s.mu.Unlock()
	for _, f := range then {
		f()
	}
	return left
}

// dropMessages takes what was not sent out of the turn that runs. What was sent does not become a
// prompt any more. The turns are locked.
func (s *Turns) dropMessages() (dropped []*Turn) {
	if s.turn == nil {
		return nil
	}
	m := &s.turn.messages
	if m.out != nil {
		m.out.unwanted = true
	}
	dropped, m.list = m.list, nil
	return dropped
}

// isClosed reports whether c is closed; nil counts as closed.
func isClosed(c <-chan struct{}) bool {
	if c == nil {
		return true
	}
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// isOver reports whether the agent is done with the turn.
func (t *Turn) isOver() bool { return isClosed(t.over) }
