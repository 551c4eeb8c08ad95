package host

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/jx"
	"github.com/hermes-nvim/hermes/internal/machine"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/say"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/history"
	"github.com/hermes-nvim/hermes/runtime/review/calls"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// session is one conversation. Prompts run one after the other.
type session struct {
	conn *connection
	id   acp.SessionID

	mu        sync.Mutex
	state     machine.Machine[sessionEvent, sessionState]
	turn      *turn          // the one that runs
	queued    []*turn        // those that wait for it
	running   sync.WaitGroup // turns between begin and their last event
	ended     error          // why no turn can begin any more
	seq       int64
	replay    bool          // session/load has not been answered yet
	asked     int           // permission and elicitation requests that wait
	elsewhere bool          // the agent waits for the user elsewhere, which counts as one more
	roots     []string      // absolute folders the agent may read and write
	last      chan struct{} // closed when the last request other than a prompt is answered; nil before one
	heard     atomic.Uint64 // counts what the agent said

	calls    *history.State // tool calls of the turn
	looks    calls.Calls    // what reviews know of them
	approved approvals      // commands the user has allowed in it

	opened  bool // the services know it; on first use of them
	openErr error
}

// turn is one prompt.
type turn struct {
	id     string
	params *acp.PromptRequest
	blocks []wire.Part     // of the prompt, as Lua gets them; nil once it did
	after  <-chan struct{} // the request that came before it is answered; nil: none; set by begin
	force  bool            // it goes out as it is, whatever the agent has announced
	now    bool            // it cancels the turn that runs

	calling bool          // the agent is being asked; under session.mu
	dropped chan struct{} // closed when it was cancelled before that
	sent    chan struct{} // closed when the prompt is on its way: what is sent from then on comes after it
	over    chan struct{} // closed when the agent is done with it
	stop    sync.Mutex    // held while the agent is told of a cancel
	told    chan struct{} // closed when Neovim knows, too
}

func newTurn(id string, params *acp.PromptRequest, blocks []wire.Part) *turn {
	return &turn{
		id: id, params: params, blocks: blocks,
		dropped: make(chan struct{}), sent: make(chan struct{}), over: make(chan struct{}), told: make(chan struct{}),
	}
}

// blocksOf are the content blocks of a prompt as Lua gets them. The prompt is
// what d has decoded of text; see received.
func blocksOf(d *jx.Dec, text []byte, p *acp.PromptRequest) []wire.Part {
	if list, ok := wire.Elements(text, "prompt", d.Odd()); ok && !d.Forgave() {
		return list
	}
	list := make([]wire.Part, 0, len(p.Prompt))
	for _, b := range p.Prompt {
		list = append(list, wire.ForLua(acp.AppendContentBlock(nil, b)))
	}
	return list
}

func newSession(c *connection, id acp.SessionID) *session {
	return &session{conn: c, id: id, state: machine.New(sessionStates, sessionIdle), calls: history.New(id, callLimits)}
}

// push sends an event with what every event of a session carries. Number and
// place in the queue are given under one lock, so seq is the order of arrival.
func (s *session) push(name string, o *wire.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pushLocked(name, o)
}

func (s *session) pushLocked(name string, o *wire.Object) {
	s.seq++
	o.Str("agent", s.conn.name).Str("sessionId", string(s.id)).Num("seq", s.seq).Flag("replay", s.replay)
	if s.turn != nil {
		o.Str("promptId", s.turn.id)
	}
	s.conn.host.Push(o.Item(name))
}

// prompt runs t, after the turns that came before it and once the agent can be
// spoken to.
func (s *session) prompt(t *turn) {
	if err := t.fit(s.conn); err != nil {
		s.conn.host.Fail(t.id, err)
		return
	}
	s.mu.Lock()
	switch {
	case s.ended != nil:
		err := s.ended
		s.mu.Unlock()
		s.conn.host.Fail(t.id, err)
	case s.turn != nil || !s.conn.ready():
		s.queued = append(s.queued, t)
		s.mu.Unlock()
		if t.now {
			s.sendNow(t.id) // unless it has been sent meanwhile
		}
		s.pushQueue()
	default:
		s.turn = t
		s.running.Add(1)
		s.mu.Unlock()
		s.begin(t)
	}
}

// resume begins the turn that waited for the connection.
func (s *session) resume() {
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

func (s *session) pushQueue() {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]string, len(s.queued))
	for i, t := range s.queued {
		ids[i] = t.id
	}
	s.pushLocked(events.QueueChanged, new(wire.Object).Strs("items", ids))
}

func (s *session) begin(t *turn) {
	s.mu.Lock()
	t.after = s.last
	s.forgetTurn()
	s.mu.Unlock()
	s.on(turnBegins)
	s.push(events.TurnStarted, new(wire.Object))
	for i, b := range t.params.Prompt {
		s.push(events.Prompt(acp.ContentBlockTag(b)), new(wire.Object).Str("source", "client").Part("content", t.blocks[i]))
	}
	t.blocks = nil
	s.conn.host.Start(func() {
		defer s.running.Done()
		s.run(t)
	})
}

func (s *session) run(t *turn) {
	r, err := s.ask(t)
	err = s.verdict(r, err)
	t.stop.Lock() // a cancel that is on its way is not for the next prompt
	close(t.over)
	t.stop.Unlock()
	s.turnOver(s.author())
	h := s.conn.host
	// A command may outlive its turn, so the wait for its end does too.
	h.asks.CancelSession(s.conn.name, string(s.id), rpc.ErrTurnEnded.Error(), acp.MethodTerminalWaitForExit)
	result := r.AppendJSON(nil)
	if err == nil {
		s.push(events.Reply(acp.MethodSessionPrompt), wire.From(result).Str("opId", t.id))
		s.push(events.TurnEnded, new(wire.Object).Str("stopReason", string(r.StopReason)))
	} else {
		s.push(events.TurnEnded, new(wire.Object).Object("error", say.Describe(err)))
	}
	goesOn := s.conn.why() == nil
	s.mu.Lock()
	next, lost := (*turn)(nil), []*turn(nil)
	switch {
	case broken(err): // what it is about may not have been done
		lost, s.queued = s.queued, nil
	case len(s.queued) > 0 && goesOn:
		next, s.queued = s.queued[0], s.queued[1:]
		s.running.Add(1)
	}
	s.turn = next
	s.forgetTurn()
	s.mu.Unlock()
	if next == nil {
		s.on(turnEnds)
	}
	if err != nil {
		h.Fail(t.id, err)
	} else {
		h.Done(t.id, result)
	}
	for _, q := range lost {
		h.Fail(q.id, err)
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

// verdict is how a turn ended that the agent ended with r or err. What the
// user did comes first: of a disconnected agent it makes no difference whether
// it answered, broke off or was never heard, and after a cancel an error is no
// failure, nor an answer that means nothing.
func (s *session) verdict(r *acp.PromptResponse, err error) error {
	switch {
	case err == nil && r.StopReason != acp.StopReasonCancelled:
		return nil
	case s.conn.left() != nil:
		return s.conn.left()
	case err != nil && s.cancelling() && !broken(err):
		return &wire.Error{Kind: wire.ErrorCancelled, Message: "the turn was cancelled", Cause: err}
	}
	return err
}

// ask sends the prompt, unless it was cancelled before, and waits for the end
// of the turn.
func (s *session) ask(t *turn) (*acp.PromptResponse, error) {
	if t.after != nil {
		select {
		case <-t.after:
		case <-t.dropped:
		case <-s.conn.ctx.Done():
		}
	}
	s.checkpoint(t)
	s.mu.Lock()
	t.calling = true
	s.mu.Unlock()
	r := new(acp.PromptResponse)
	select {
	case <-t.dropped:
		r.StopReason = acp.StopReasonCancelled
		return r, nil
	default:
	}
	s.conn.host.Start(func() { s.watchSilence(t) })
	var raw acp.Raw
	call, err := s.conn.wire.Start(s.conn.ctx, acp.MethodSessionPrompt, t.params)
	if err == nil {
		close(t.sent)
		err = call.Wait(s.conn.ctx, &raw)
	}
	if err := s.conn.failure(acp.MethodSessionPrompt, err); err != nil {
		return r, err
	}
	if err := r.UnmarshalJSON(raw); err != nil {
		return r, badAnswer(acp.MethodSessionPrompt, err)
	}
	return r, nil
}

// atWork reports whether the agent has a prompt of the session, and nobody has
// cancelled it.
func (s *session) atWork() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn == nil || s.state.State() == sessionCancelling {
		return false
	}
	select {
	case <-s.turn.over:
		return false
	default:
	}
	select {
	case <-s.turn.sent:
		return true
	default:
		return false
	}
}

// cancel ends the running turn and drops those that wait. It reports whether
// one ran: agents take a cancel that comes when they are idle for the next
// prompt.
func (s *session) cancel() (bool, int) {
	s.mu.Lock()
	dropped := s.queued
	s.queued = nil
	stop := s.stopTurn()
	s.mu.Unlock()
	for _, q := range dropped {
		s.conn.host.Done(q.id, new(wire.Object).Str("stopReason", string(acp.StopReasonCancelled)).JSON())
	}
	if len(dropped) > 0 {
		s.pushQueue()
	}
	return stop(), len(dropped)
}

// stopTurn chooses the running turn, with the session locked. What it returns
// cancels that turn, without the lock, and reports whether there was one.
func (s *session) stopTurn() func() bool {
	t := s.turn
	early := t != nil && !t.calling && s.state.State() != sessionCancelling
	if early {
		close(t.dropped)
	}
	return func() bool {
		if t == nil {
			return false
		}
		s.mu.Lock()
		if s.turn == t {
			s.onLocked(turnCancelled)
		}
		s.mu.Unlock()
		if !early {
			s.conn.host.Start(func() { s.sendCancel(t) })
		}
		return true
	}
}

// sendCancel cancels the turn, once its prompt is on its way, and then gives the
// agent the answers it waits for.
func (s *session) sendCancel(t *turn) {
	c := s.conn
	select {
	case <-t.sent:
	case <-t.over:
		return
	}
	sent, err := s.tellCancel(t)
	if !sent {
		return
	}
	if err != nil {
		c.host.Log.Warn("cancel was not sent", "agent", c.name, "session", s.id, "error", err)
	}
	c.host.asks.CancelSession(c.name, string(s.id), "the turn was cancelled")
	if err != nil {
		return
	}
	limit := c.host.timeouts().Cancel.Or(5 * time.Second)
	select {
	case <-t.over:
	case <-time.After(limit):
		c.host.Notice("warn", "agent %q has not stopped %v after cancel; hermes.disconnect(%q) ends it", c.name, limit, c.name)
	}
}

// tellCancel tells the agent of a cancel, unless the turn is over: agents take a cancel for the
// next prompt then.
func (s *session) tellCancel(t *turn) (sent bool, err error) {
	t.stop.Lock()
	defer t.stop.Unlock()
	select {
	case <-t.over:
		return false, nil
	default:
	}
	return true, s.conn.wire.Notify(s.conn.ctx, acp.MethodSessionCancel, &acp.CancelNotification{SessionID: s.id})
}

// abort ends what the session holds and fails the turns that wait; the
// running one fails by its call.
func (s *session) abort(err error) {
	s.mu.Lock()
	queued := s.queued
	s.queued = nil
	s.opened, s.openErr, s.ended = true, err, err
	s.mu.Unlock()
	for _, t := range queued {
		s.conn.host.Fail(t.id, err)
	}
	s.conn.host.Start(func() { s.conn.services.CloseSession(s.id) })
}

type cancelOp struct {
	Agent     string        `json:"agent"`
	SessionID acp.SessionID `json:"sessionId"`
}

func (h *Host) cancel(id string, p cancelOp) error {
	s, err := h.session(p.Agent, p.SessionID)
	if err != nil {
		return err
	}
	ran, dropped := s.cancel()
	h.Done(id, new(wire.Object).Flag("cancelled", ran).Num("dropped", int64(dropped)).JSON())
	return nil
}

func (h *Host) session(agent string, id acp.SessionID) (*session, error) {
	c, err := h.connection(agent)
	if err != nil {
		return nil, err
	}
	return c.pool.forRequest("", id).session(id)
}

func (c *connection) session(id acp.SessionID) (*session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.sessions[id]; s != nil {
		return s, nil
	}
	return nil, &wire.Error{Kind: wire.ErrorUnknownSession, Message: fmt.Sprintf("agent %q has no session %q", c.name, id)}
}

// call sends a request to the agent.
func (c *connection) call(ctx context.Context, method string, params acp.Appender, raw *acp.Raw) error {
	return c.failure(method, c.wire.Call(ctx, method, params, raw))
}

// failure returns the error of a request to the agent. It names the agent's end
// when that is the reason.
func (c *connection) failure(method string, err error) error {
	var answered *acp.Error
	if err == nil || errors.As(err, &answered) {
		return c.needsLogin(err)
	}
	if why := c.left(); why != nil {
		return why
	}
	if why := c.why(); why != nil {
		return &brokenError{method, why}
	}
	var closed *rpc.ClosedError
	if errors.As(err, &closed) && !errors.Is(err, rpc.ErrClosed) {
		return &brokenError{method, cause(err)}
	}
	return err
}

// brokenError says that the connection ended while a call waited for its answer.
type brokenError struct {
	method string
	cause  error
}

func (e *brokenError) Error() string { return e.method + ": " + e.cause.Error() }
func (e *brokenError) Unwrap() error { return e.cause }

func broken(err error) bool {
	var e *brokenError
	return errors.As(err, &e)
}

func badAnswer(method string, err error) error {
	return &wire.Error{Kind: wire.ErrorAgent, Message: method + ": the agent's answer is not valid", Cause: err}
}
