package rpc

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
)

// request is one request of the peer that is not answered yet.
type request struct {
	id      []byte // raw, echoed as it came
	key     acp.RequestID
	method  string
	params  []byte
	mended  bool // see frame
	session string
	buf     *buffer
	lane    *lane // in which it waits or waited; only the reader uses it
	after   []func()
	wait    <-chan struct{} // an initialize that runs; nil: none
	before  <-chan struct{} // of a prompt: closed when the one before it is answered; nil: none
	over    chan struct{}   // of a prompt: closed when it is answered
	ctx     requestContext
}

// inbound holds the unanswered requests of the peer.
type inbound struct {
	mu        sync.Mutex
	requests  map[acp.RequestID]*request // but those with a null id
	prompts   map[string]*request        // the newest unanswered prompt of each session
	open      int
	questions int
}

func (in *inbound) init() {
	in.requests, in.prompts = map[acp.RequestID]*request{}, map[string]*request{}
}

var (
	errReused    = errors.New("id of a request that is not answered yet")
	errRequests  = errors.New("too many unanswered requests")
	errQuestions = errors.New("too many unanswered questions to the user")
)

func (in *inbound) add(req *request, lim *Limits) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.requests[req.key] != nil:
		return errReused
	case in.open >= lim.Requests:
		return errRequests
	case isQuestion(req.method) && in.questions >= lim.Questions:
		return errQuestions
	}
	if !req.key.IsNull() {
		in.requests[req.key] = req
	}
	in.open++
	if isQuestion(req.method) {
		in.questions++
	}
	if req.method == acp.MethodSessionPrompt {
		if before := in.prompts[req.session]; before != nil {
			req.before = before.over
		}
		req.over = make(chan struct{})
		in.prompts[req.session] = req
	}
	return nil
}

func (in *inbound) remove(req *request) {
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.requests, req.key)
	in.open--
	if isQuestion(req.method) {
		in.questions--
	}
}

// answered is called once the answer to a request is queued.
func (in *inbound) answered(req *request) {
	if req.over == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.prompts[req.session] == req {
		delete(in.prompts, req.session)
	}
	close(req.over)
}

// isQuestion reports whether a method asks the user.
func isQuestion(method string) bool {
	return method == acp.MethodSessionRequestPermission || method == acp.MethodElicitationCreate
}

// errHalf says what was mended.
var errHalf = errors.New("half a surrogate pair (such as \\ud83d without \\ude00) is not a character; send both halves, or \\ufffd")

// lasts reports whether the text of a method stays on the disk or becomes part of a
// command. Nobody would notice the characters that were replaced in it.
func lasts(method string) bool {
	return method == acp.MethodFsWriteTextFile || method == acp.MethodTerminalCreate
}

// cancel ends the context of a request and returns it, if it is still
// unanswered.
func (in *inbound) cancel(key acp.RequestID) *request {
	in.mu.Lock()
	defer in.mu.Unlock()
	req := in.requests[key]
	if req != nil {
		req.ctx.end(ErrRequestCancelled)
	}
	return req
}

// cancelPrompts ends the contexts of the prompts of a session.
func (in *inbound) cancelPrompts(session string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, req := range in.requests {
		if req.method == acp.MethodSessionPrompt && req.session == session {
			req.ctx.end(ErrSessionCancelled)
		}
	}
}

// endQuestions ends the contexts of the questions of a session.
func (in *inbound) endQuestions(session string, cause error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, req := range in.requests {
		if isQuestion(req.method) && req.session == session {
			req.ctx.end(cause)
		}
	}
}

// request registers a request and starts it behind the notifications of its
// session.
func (c *Conn) request(f *frame, buf *buffer) (kept bool) {
	req := &request{
		id: f.ID, key: f.key, method: c.intern(f.Method), params: params(f), mended: f.mended,
		session: string(f.SessionID), buf: buf,
	}
	req.ctx.c, req.ctx.req = c, req
	if err := c.in.add(req, &c.lim); err != nil {
		if err == errReused {
			// An answer with its id would look like the answer to the first.
			c.fault(FaultDuplicate, err, buf.b)
			c.refuse(nil, acp.ErrorCodeInvalidRequest, fmt.Sprintf("invalid request: %v", err))
			return false
		}
		c.fault(FaultRefused, fmt.Errorf("%s: %w", req.method, err), buf.b)
		c.refuse(f.ID, acp.ErrorCodeRequestCancelled, err.Error())
		return false
	}
	if c.opts.Handshake {
		var err error
		if req.wait, err = c.hand.admit(req); err != nil {
			c.in.remove(req)
			id := f.ID
			if err == errNullID {
				id = nil
			}
			c.fault(FaultRefused, err, buf.b)
			c.refuse(id, acp.ErrorCodeInvalidRequest, "invalid request: "+err.Error())
			return false
		}
	}
	if isQuestion(req.method) && c.calls.cancelled(req.session) {
		req.ctx.end(ErrSessionCancelled) // the agent asked before it read session/cancel
	}
	c.flow.add(cap(buf.b))
	if l := c.laneOf(f.SessionID); l.busy() {
		req.lane = l
		c.push(l, step{req: req})
	} else {
		c.work.add()
		go c.serve(req)
	}
	return true
}

// errExit is the error of a handler that ended its goroutine.
var errExit = errors.New("internal error")

// serve runs the handler of a request and answers it.
func (c *Conn) serve(req *request) {
	defer c.work.done()
	answer := newBuffer()
	answer.b = append(answer.b, `{"jsonrpc":"2.0","id":`...)
	answer.b = append(answer.b, req.id...)
	head, err := len(answer.b), errExit
	defer func() { c.respond(req, answer, head, err) }()
	err = c.handleRequest(req, answer)
}

// respond sends the result that follows head in answer, or err. It sends nothing if the handler
// failed because the connection ends, so that the caller gets a *ClosedError.
func (c *Conn) respond(req *request, answer *buffer, head int, err error) {
	if err == nil && c.opts.Handshake {
		err = c.checkNullID(req, answer.b[head:])
	}
	if err == nil {
		if err = c.lim.sendable(answer.b, head+len(`,"result":`)); err != nil {
			err = fmt.Errorf("%s: answer: %w", req.method, err)
		}
	}
	if c.opts.Handshake && req.method == acp.MethodInitialize {
		var result []byte // read before the answer is queued, so that the next request is in time
		if err == nil {
			result = answer.b[head+len(`,"result":`):]
		}
		defer c.hand.end(result)() // those that wait are answered after it
	}
	silent := err != nil && c.cutOff(req, err)
	if err != nil && !silent {
		answer.b = append(answer.b[:head], `,"error":`...)
		answer.b = c.errorFor(req, err).AppendJSON(answer.b)
	}
	answer.b = append(answer.b, '}')

	req.ctx.end(context.Canceled)
	n := cap(req.buf.b)
	c.in.remove(req)
	if silent {
		answer.free()
	} else if !c.writeNow(answer) {
		c.out.put(context.Background(), c.writeDone, outgoing{buf: answer})
	}
	c.runAfter(req)
	c.in.answered(req)
	req.buf.free()
	c.flow.sub(n)
}

func (c *Conn) runAfter(req *request) {
	var err error
	defer func() {
		if err != nil {
			c.fault(FaultHandler, err, req.buf.b)
		}
	}()
	defer recovered(req.method, &err)
	for _, f := range req.after {
		f()
	}
}

// handleRequest appends the result to the answer.
func (c *Conn) handleRequest(req *request, answer *buffer) (err error) {
	defer recovered(req.method, &err)
	if req.ctx.ended() == ErrRequestCancelled {
		return ErrRequestCancelled
	}
	if req.wait != nil {
		select {
		case <-req.wait:
		case <-req.ctx.Done():
			return context.Cause(&req.ctx)
		}
		if c.hand.agreed() == 0 {
			if err := c.Err(); err != nil {
				return err
			}
			return &acp.Error{Code: acp.ErrorCodeInvalidRequest, Message: "invalid request: " + req.method + ": initialize failed"}
		}
	}
	if c.h == nil {
		return acp.MethodNotFound(req.method)
	}
	if req.mended && lasts(req.method) {
		return acp.InvalidParams(req.method, errHalf)
	}
	var result acp.Appender
	if isQuestion(req.method) && req.ctx.ended() == ErrSessionCancelled {
		err = ErrSessionCancelled // nobody is asked any more
	} else {
		result, err = c.h.HandleRequest(&req.ctx, req.method, req.params)
	}
	if cancelled := c.ifCancelled(req, err); cancelled != nil {
		result, err = cancelled, nil
	}
	if err != nil {
		return err
	}
	answer.b = append(answer.b, `,"result":`...)
	if result == nil {
		answer.b = append(answer.b, "null"...)
	} else {
		answer.b = result.AppendJSON(answer.b)
	}
	return nil
}

// ifCancelled returns the answer to a prompt of version 1 or a question whose handler
// gave up with err because of session/cancel, nil for everything else. The protocol
// wants no error then.
func (c *Conn) ifCancelled(req *request, err error) acp.Appender {
	if req.ctx.ended() != ErrSessionCancelled || !errors.Is(err, context.Canceled) && !errors.Is(err, ErrSessionCancelled) && !c.isEnd(err) {
		return nil
	}
	switch {
	case req.method == acp.MethodSessionPrompt && c.hand.agreed() < 2:
		return &acp.PromptResponse{StopReason: acp.StopReasonCancelled}
	case req.method == acp.MethodSessionRequestPermission: // version 2 writes both questions' answers the same way
		return &acp.RequestPermissionResponse{Outcome: &acp.RequestPermissionOutcomeCancelled{}}
	case req.method == acp.MethodElicitationCreate:
		return &acp.CreateElicitationResponse{Variant: &acp.CreateElicitationResponseCancel{}}
	}
	return nil
}

// cutOff reports whether a handler failed with err because the connection ends, and not because
// the peer has cancelled its request or for a reason of its own.
func (c *Conn) cutOff(req *request, err error) bool {
	return c.isEnd(err) || c.Err() != nil && req.ctx.ended() == nil && errors.Is(err, context.Canceled)
}

// isEnd reports whether err says that this connection has ended.
func (c *Conn) isEnd(err error) bool {
	var closed *ClosedError
	return c.Err() != nil && errors.As(err, &closed) && errors.Is(closed, c.cause)
}

// errorFor returns what the peer gets to see of a handler's error.
func (c *Conn) errorFor(req *request, err error) *acp.Error {
	var panicked *PanicError
	var theirs *acp.Error
	switch {
	case errors.As(err, &panicked):
		c.fault(FaultHandler, err, req.buf.b)
		return &acp.Error{Code: acp.ErrorCodeInternalError, Message: "internal error"}
	case errors.As(err, &theirs):
		return c.sendableError(req, theirs)
	case errors.Is(err, ErrRequestCancelled), errors.Is(err, context.Canceled) && req.ctx.Err() != nil:
		return &acp.Error{Code: acp.ErrorCodeRequestCancelled, Message: "request cancelled"}
	}
	return acp.ToError(err)
}

// refuse answers a message that reaches no handler. A nil id becomes null. The
// answer is dropped when the peer does not read what is queued.
func (c *Conn) refuse(id []byte, code acp.ErrorCode, message string) {
	if id == nil {
		id = []byte("null")
	}
	buf := newBuffer()
	buf.b = append(buf.b, `{"jsonrpc":"2.0","id":`...)
	buf.b = append(buf.b, id...)
	buf.b = append(buf.b, `,"error":`...)
	buf.b = (&acp.Error{Code: code, Message: message}).AppendJSON(buf.b)
	buf.b = append(buf.b, '}')
	if !c.out.offer(outgoing{buf: buf}) {
		c.fault(FaultUnanswered, errors.New(message), nil)
	}
}

// AfterResponse arranges that f runs once the answer to the request being
// handled is queued, which is when notifications that must follow it can be
// sent. ctx is the handler's context, which has ended by then; f runs on the
// handler's goroutine. AfterResponse reports whether ctx belongs to a request;
// f is dropped when not.
func AfterResponse(ctx context.Context, f func()) bool {
	req, _ := ctx.Value(requestKey{}).(*request)
	if req == nil {
		return false
	}
	req.after = append(req.after, f)
	return true
}

// PromptBefore returns a channel that is closed once the session/prompt before the one being
// handled has been answered, in the order in which those of one session have arrived; nil if
// there is none. Handlers of requests run beside each other, so they cannot know that order
// by themselves. ctx is the handler's context.
func PromptBefore(ctx context.Context) <-chan struct{} {
	req, _ := ctx.Value(requestKey{}).(*request)
	if req == nil {
		return nil
	}
	return req.before
}

// RequestID returns the id of the request being handled, for messages that refer to
// it, such as an elicitation for a request without a session. ctx is the handler's
// context. RequestID reports whether ctx belongs to a request.
func RequestID(ctx context.Context) (acp.RequestID, bool) {
	req, _ := ctx.Value(requestKey{}).(*request)
	if req == nil {
		return acp.RequestID{}, false
	}
	return req.key, true
}
