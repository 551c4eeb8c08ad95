package rpc

import (
	"fmt"

	"github.com/hermes-nvim/hermes/acp"
)

// read parses messages and sorts them into lanes. It is the goroutine that owns
// the transport's reading side.
func (c *Conn) read() {
	buf := c.used.get()
	f := new(frame)
	for {
		c.flow.wait(c.relieve, c.giveUp)
		msg, err := c.t.Read(buf.b[:0])
		if big, ok := err.(*TooLargeError); ok {
			c.tooLarge(big)
			continue
		}
		if len(msg) > 0 {
			buf.b = msg
			c.tap(Inbound, msg)
			c.count.received.Add(1)
			c.notice(msg)
			text, large := buf.fitting(&c.used), buf.isLarge() // what is kept belongs to others
			switch kept := c.receive(f, text, err != nil); {
			case text == buf && kept && large:
				buf = largeBuffer()
			case text == buf && kept:
				buf = c.used.get()
			case text != buf && !kept:
				c.used.unused(text)
			}
		}
		if err != nil {
			buf.free()
			c.hangUp(err)
			close(c.readDone)
			return
		}
	}
}

// relieve releases what is held, so that the connection never waits for it.
func (c *Conn) relieve() { c.releaseAll(false) }

// giveUp fails the calls that handlers wait in.
func (c *Conn) giveUp(messages, bytes int) {
	for _, k := range c.calls.takeHandlers() {
		err := &BacklogError{Method: k.method, Messages: messages, Bytes: bytes}
		c.fault(FaultBacklog, err, nil)
		if k.opening != nil {
			c.endOpening()
		}
		k.deliver(reply{local: err})
	}
}

// notice reports a large message.
func (c *Conn) notice(msg []byte) {
	if len(msg) > c.lim.Notice {
		c.fault(FaultLarge, fmt.Errorf("message of %d bytes", len(msg)), msg)
	}
}

// hangUp puts the failure of each pending call behind what came before it.
func (c *Conn) hangUp(cause error) {
	c.end(cause)
	<-c.ending
	c.parked = c.calls.takeAll(c.cause)
	for _, k := range c.parked {
		c.answer(k, reply{local: k.closed(c.cause)}, nil)
	}
}

// receive handles one message and reports whether it kept buf. The last line
// before the end of the stream may be cut: it is not answered then.
func (c *Conn) receive(f *frame, buf *buffer, last bool) (kept bool) {
	msg := buf.b
	if err := f.parse(msg, &c.lim); err != nil {
		c.unreadable(f, msg, err, last)
		return false
	}
	if f.Problem == "" && !f.Version && c.opts.Server {
		f.Problem = `"jsonrpc":"2.0" is missing`
	}
	switch {
	case f.Problem != "":
		c.malformed(f, msg)
		return false
	case f.Method == nil:
		return c.response(f, buf)
	case f.ID == nil:
		return c.notification(f, buf)
	}
	return c.request(f, buf)
}

// unreadable deals with a line that is not JSON. If its beginning shows that it is a request, the
// request is refused. If it shows an answer, the call that it answers fails.
func (c *Conn) unreadable(f *frame, msg []byte, err error, last bool) {
	kind := FaultParse
	if msg[0] != '{' {
		kind = FaultNoise
	}
	c.fault(kind, err, msg)
	switch why := "parse error: " + err.Error(); {
	case last:
	case f.Method == nil && f.Answers:
		if k := c.claimed(f); k != nil {
			c.answer(k, reply{local: fmt.Errorf("%s: answer: %w", k.method, err)}, nil)
		}
	case f.Method != nil && f.ID != nil:
		c.refuse(f.ID, acp.ErrorCodeParseError, why)
	case c.opts.Server:
		c.refuse(nil, acp.ErrorCodeParseError, why)
	}
}

// malformed deals with JSON that is not a message, such as a batch. No version of
// the protocol uses batches, so an array gets one error and its elements are
// ignored. Whatever looks like an answer is not answered; otherwise two peers
// could go on forever.
func (c *Conn) malformed(f *frame, msg []byte) {
	err := &MalformedError{Reason: f.Problem}
	isAnswer := f.Method == nil && (f.Result != nil || f.Error != nil || f.ID != nil)
	var k *Call
	if isAnswer {
		if k = c.claimed(f); k != nil {
			err.Method = k.method
		}
	}
	kind := FaultInvalid
	if msg[0] != '{' && msg[0] != '[' {
		kind = FaultNoise
	}
	c.fault(kind, err, msg)
	switch {
	case k != nil:
		c.answer(k, reply{local: err}, nil)
	case !isAnswer && (f.Method != nil || msg[0] == '[' || c.opts.Server):
		c.refuse(f.ID, acp.ErrorCodeInvalidRequest, "invalid request: "+f.Problem)
	}
}

// claimed takes out the call a malformed answer belongs to, if any.
func (c *Conn) claimed(f *frame) *Call {
	n, ok := number(f)
	if !ok {
		return nil
	}
	k, _ := c.calls.claim(n)
	return k
}

// tooLarge deals with a message above the limit, going by its beginning.
func (c *Conn) tooLarge(big *TooLargeError) {
	c.fault(FaultTooLarge, big, big.Head)
	f := new(frame)
	f.parse(big.Head, &c.lim) // as far as it goes
	switch {
	case f.Method != nil && f.ID == nil: // a notification, or its id comes later
	case f.Method != nil:
		c.refuse(f.ID, acp.ErrorCodeInvalidRequest, big.Error())
	case f.ID != nil && f.Answers:
		if k := c.claimed(f); k != nil {
			c.answer(k, reply{local: fmt.Errorf("%s: answer: %w", k.method, big)}, nil)
		}
	case c.opts.Server:
		c.refuse(nil, acp.ErrorCodeInvalidRequest, big.Error())
	}
}

// response hands an answer to the call it belongs to.
func (c *Conn) response(f *frame, buf *buffer) (kept bool) {
	n, ok := number(f)
	if !ok {
		c.fault(FaultUnknownResponse, fmt.Errorf("answer with the unknown id %.40s", f.ID), buf.b)
		return false
	}
	k, kind := c.calls.claim(n)
	if k == nil {
		c.fault(kind, fmt.Errorf("%s with the id %d", kind, n), buf.b)
		return false
	}
	if k.first != nil && f.Result != nil {
		k.first.answered(f.Result)
	}
	if k.method == acp.MethodInitialize && f.Result != nil {
		c.version, _ = protocolVersion(f.Result)
	}
	// In version 2 the answer only says that the prompt was accepted.
	if k.method == acp.MethodSessionPrompt && c.version < 2 && !c.calls.prompts(k.session) {
		c.in.endQuestions(k.session, ErrTurnEnded) // those that were read before it
	}
	c.answer(k, reply{buf: buf, result: f.Result, err: f.Error}, f.SessionID)
	if f.Result != nil && (k.method == acp.MethodSessionClose || k.method == acp.MethodSessionDelete) {
		c.forget(k.session)
	}
	return true
}

// number returns the id of an answer as one of ours.
func number(f *frame) (int64, bool) {
	if f.ID == nil || f.ID[0] == '"' || f.ID[0] == 'n' {
		return 0, false
	}
	if n, ok := smallInt(f.ID); ok {
		return n, true
	}
	return smallInt(f.key.AppendJSON(nil)) // 1.0 is 1
}

// answer delivers r behind the notifications of the session the call was about
// and of the one its result names, such as a new one. Calls of notification
// handlers do not wait, their own lane may stand still for them.
func (c *Conn) answer(k *Call, r reply, named []byte) {
	if k.opening != nil {
		if r.result != nil && len(named) > 0 {
			c.open(k.opening, named, r.result)
		} else {
			c.endOpening()
		}
	}
	if k.from == inNotification {
		k.deliver(r)
		return
	}
	k.waiting = r
	s := step{call: k}
	l := c.laneFor([]byte(k.session))
	if len(named) > 0 && string(named) != k.session {
		s.next = c.laneFor(named)
		c.release(s.next)
	}
	if !l.busy() {
		if l, s.next = s.next, nil; l == nil || !l.busy() {
			k.deliver(r)
			return
		}
	}
	c.push(l, s)
}

// notification puts a notification into its lane.
func (c *Conn) notification(f *frame, buf *buffer) (kept bool) {
	s := step{buf: buf, method: c.intern(f.Method), params: params(f)}
	if s.method == acp.MethodCancelRequest {
		// Not the typed message, which does not take 7.0 for an integer.
		if raw, found := acp.Extra(s.params).Get("requestId"); found {
			if id, ok := requestID(raw, c.lim.ID); ok {
				if req := c.in.cancel(id); req != nil && req.lane != nil {
					c.serveHeld(req.lane, req)
				}
			}
		}
		return false
	}
	if c.opts.Handshake && c.hand.agreed() == 0 {
		c.fault(FaultRefused, fmt.Errorf("%s: %w", s.method, errNotInitialized), buf.b)
		return false
	}
	if s.method == acp.MethodSessionCancel {
		c.in.cancelPrompts(string(f.SessionID))
		c.flow.add(cap(buf.b))
		c.work.add()
		go c.notifyNow(s)
		return true
	}
	c.flow.add(cap(buf.b))
	c.push(c.laneOf(f.SessionID), s)
	return true
}

func (c *Conn) notifyNow(s step) {
	defer c.work.done()
	c.notify(&s)
	s.buf.free()
}

// params returns the params as handlers get them: absent and null are an
// object without members.
func params(f *frame) []byte {
	if f.Params == nil || f.Params[0] == 'n' {
		return []byte("{}")
	}
	return f.Params
}

// Bounds on the method names that are kept.
const (
	maxMethods = 256
	maxMethod  = 128 // bytes
)

// intern returns the method name without making a string for each message.
func (c *Conn) intern(method []byte) string {
	if s, ok := c.methods[string(method)]; ok {
		return s
	}
	s := string(method)
	if len(c.methods) < maxMethods && len(s) <= maxMethod {
		c.methods[s] = s
	}
	return s
}
