package host

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hermes-nvim/hermes/acp"
)

type requestOp struct {
	Agent  string          `json:"agent"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// methodSetModel is in no schema any more, yet many agents offer models by it:
// params {sessionId, modelId}, for agents that announce models with a session.
const methodSetModel = "session/set_model"

// methodFork is not part of the stable protocol: params {sessionId, cwd,
// mcpServers}; the answer names the new session.
const methodFork = "session/fork"

// request carries out any agent method. Some change what the host remembers.
func (h *Host) request(id string, p requestOp) error {
	c, err := h.connection(p.Agent)
	if err != nil {
		return err
	}
	if len(p.Params) == 0 {
		p.Params = json.RawMessage("{}")
	}
	r := &request{id: id, method: p.Method}
	if err := r.prepare(p.Params); err != nil {
		return err
	}
	c = c.forRequest(r.method, r.fields.SessionID)
	r.conn = c
	if s, err := c.session(r.fields.SessionID); err == nil && r.method == acp.MethodSessionPrompt {
		s.prompt(newTurn(id, r.params.(*acp.PromptRequest)))
		return nil
	}
	c.whenReady(func(err error) {
		if err != nil {
			h.fail(id, err)
			return
		}
		r.begin()
	})
	return nil
}

func (h *Host) notify(id string, p requestOp) error {
	c, err := h.connection(p.Agent)
	if err != nil {
		return err
	}
	if len(p.Params) == 0 {
		p.Params = json.RawMessage("{}")
	}
	if session, _ := acp.SessionOf(p.Params); session != "" {
		c = c.forRequest(p.Method, acp.SessionID(session))
	}
	c.whenReady(func(err error) {
		if err != nil {
			h.fail(id, err)
			return
		}
		h.start(func() {
			if err := c.wire.Notify(c.ctx, p.Method, acp.Raw(p.Params)); err != nil {
				h.fail(id, cmp.Or(c.why(), err))
				return
			}
			h.done(id, nil)
		})
	})
	return nil
}

// request is one call of an agent method for Neovim.
type request struct {
	id     string
	conn   *connection
	method string
	params acp.Appender
	fields requestFields

	after  <-chan struct{} // the request it has to wait for is answered; nil: none
	before chan struct{}   // closed when this one is answered; nil: nobody waits
}

// requestFields are the members of requests that the host looks at.
type requestFields struct {
	SessionID   acp.SessionID `json:"sessionId"`
	Cwd         string        `json:"cwd"`
	Directories []string      `json:"additionalDirectories"`
	raw         map[string]json.RawMessage
}

// prepare checks params by the schema, so that a mistake is named here and
// not by the agent.
func (r *request) prepare(params json.RawMessage) error {
	m, known := methods[r.method]
	if !known {
		r.params = acp.Raw(params)
	} else {
		v := m.params()
		if err := v.UnmarshalJSON(params); err != nil {
			return invalid("%s: %v", r.method, err)
		}
		r.params = v
	}
	if err := json.Unmarshal(params, &r.fields.raw); err != nil {
		return invalid("%s: params must be an object: %v", r.method, err)
	}
	if err := json.Unmarshal(params, &r.fields); err != nil && known {
		return invalid("%s: %v", r.method, err)
	}
	return nil
}

func (r *request) begin() {
	c := r.conn
	switch r.method {
	case acp.MethodSessionPrompt:
		s, err := c.session(r.fields.SessionID)
		if err != nil {
			c.host.fail(r.id, err)
			return
		}
		s.prompt(newTurn(r.id, r.params.(*acp.PromptRequest)))
		return
	case acp.MethodSessionNew, methodFork:
		c.changeOpening(1)
	case acp.MethodSessionLoad, acp.MethodSessionResume:
		// The agent may send updates before its answer.
		s := c.addSession(r.fields.SessionID, r.fields)
		s.setReplay(r.method == acp.MethodSessionLoad)
	}
	r.lineUp()
	c.host.start(r.run)
}

// lineUp puts the request behind the earlier ones it depends on: requests of
// one session go one after the other and before later prompts; requests
// without a session wait for a login.
func (r *request) lineUp() {
	c := r.conn
	if s, err := c.session(r.fields.SessionID); err == nil {
		r.before = make(chan struct{})
		s.mu.Lock()
		r.after, s.last = s.last, r.before
		s.mu.Unlock()
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r.after = c.login
	if r.method == acp.MethodAuthenticate || r.method == acp.MethodLogout {
		r.before = make(chan struct{})
		c.login = r.before
	}
}

func (r *request) run() {
	c := r.conn
	if r.before != nil {
		defer close(r.before)
	}
	if r.after != nil {
		select {
		case <-r.after:
		case <-c.ctx.Done():
		}
	}
	var raw acp.Raw
	err := c.call(c.ctx, r.method, r.params, &raw)
	result := []byte(raw)
	if m, known := methods[r.method]; known && err == nil {
		v := m.result()
		if len(result) == 0 || string(result) == "null" {
			result = []byte("{}")
		}
		if err = v.UnmarshalJSON(result); err == nil {
			result = v.AppendJSON(nil)
		} else if r.leftToUpdate(result) {
			err = nil
		} else {
			err = badAnswer(r.method, err)
		}
	}
	if err != nil {
		r.failed(err)
		return
	}
	r.succeeded(result)
}

// leftToUpdate reports an answer to session/set_config_option without the list
// that belongs into it. Some agents only send that list as an update.
func (r *request) leftToUpdate(result []byte) bool {
	var v struct {
		Options *json.RawMessage `json:"configOptions"`
	}
	return r.method == acp.MethodSessionSetConfigOption && json.Unmarshal(result, &v) == nil && v.Options == nil
}

func (r *request) failed(err error) {
	c := r.conn
	switch r.method {
	case methodFork:
		c.changeOpening(-1)
	case acp.MethodSessionNew:
		c.changeOpening(-1)
		c.unclaim()
	case acp.MethodSessionLoad, acp.MethodSessionResume:
		c.removeSession(r.fields.SessionID)
	}
	c.host.fail(r.id, err)
}

// succeeded fires the event of the answer, then ends the operation, then lets
// the updates go that waited for both.
func (r *request) succeeded(result []byte) {
	c := r.conn
	var opened *session
	switch r.method {
	case acp.MethodSessionNew, methodFork:
		id, _ := acp.SessionOf(result)
		if id == "" {
			r.failed(badAnswer(r.method, errors.New("it names no session")))
			return
		}
		if c.taken(acp.SessionID(id)) {
			r.failed(&opError{Kind: "agent", Message: fmt.Sprintf("%s: two processes of the agent have a session %q", r.method, id)})
			return
		}
		if origin, err := c.session(r.fields.SessionID); err == nil && r.fields.Cwd == "" { // a fork of it
			r.fields.Cwd, r.fields.Directories = origin.roots[0], origin.roots[1:]
		}
		r.fields.SessionID = acp.SessionID(id)
		opened = c.openSession(r.fields.SessionID, r.fields)
	case acp.MethodSessionLoad, acp.MethodSessionResume:
		if s, err := c.session(r.fields.SessionID); err == nil {
			s.setReplay(false)
		}
	case acp.MethodSessionClose, acp.MethodSessionDelete:
		c.removeSession(r.fields.SessionID)
	case methodSetModel:
		o := new(object).raw("modelId", r.fields.raw["modelId"])
		c.host.queue.push(event(eventModelUpdated, r.stampSession(o)))
	}
	method := r.method
	if method == methodFork {
		method = acp.MethodSessionNew // a session was created
	}
	if name := replyEvent(method); name != "" {
		c.host.queue.push(event(name, r.stamp(method, from(objectOr(result)))))
	}
	c.host.done(r.id, result)
	if opened != nil {
		c.release(opened)
		c.changeOpening(-1)
	}
}

// stamp adds what the event of an answer repeats of the request. The result
// that the caller gets is the agent's, as it is.
func (r *request) stamp(method string, o *object) *object {
	for _, name := range replyParams(method) {
		o.raw(name, r.fields.raw[name])
	}
	return r.stampSession(o).str("opId", r.id)
}

func (r *request) stampSession(o *object) *object {
	return o.optional("sessionId", string(r.fields.SessionID)).str("agent", r.conn.name)
}

// objectOr wraps a result that is not an object, which only an extension may
// give.
func objectOr(result []byte) []byte {
	if len(result) > 0 && result[0] == '{' {
		return result
	}
	return new(object).raw("value", result).json()
}

// changeOpening counts the session/new calls without an answer.
func (c *connection) changeOpening(delta int) {
	c.mu.Lock()
	c.opening += delta
	none := c.opening == 0
	close(c.known)
	c.known = make(chan struct{})
	c.mu.Unlock()
	if none {
		c.releaseEarly()
	}
}

// addSession makes id known. openSession does so for updates that wait.
func (c *connection) addSession(id acp.SessionID, f requestFields) *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.sessions[id]; s != nil {
		return s
	}
	s := newSession(c, id)
	s.roots = append([]string{f.Cwd}, f.Directories...)
	if c.sessions != nil {
		c.sessions[id] = s
	}
	close(c.known)
	c.known = make(chan struct{})
	return s
}

func (c *connection) openSession(id acp.SessionID, f requestFields) *session {
	c.mu.Lock()
	if c.early[id] == nil {
		c.early[id] = []update{} // later updates line up, too
	}
	c.mu.Unlock()
	return c.addSession(id, f)
}

func (c *connection) removeSession(id acp.SessionID) {
	c.mu.Lock()
	s := c.sessions[id]
	delete(c.sessions, id)
	last := len(c.sessions) == 0
	c.mu.Unlock()
	if s != nil {
		c.host.asks.cancelSession(c.name, string(id))
		s.abort(&opError{Kind: "closed", Message: fmt.Sprintf("session %q was closed", id)})
		c.host.endRules(id)
	}
	if last { // a session that was forked shares the process
		c.unclaim()
	}
}

func (s *session) setReplay(on bool) {
	s.mu.Lock()
	s.replay = on
	s.mu.Unlock()
}

// plain is a generated message without its type.
type plain interface {
	json.Unmarshaler
	acp.Appender
}

// method makes the messages of one agent method.
type method struct {
	params, result func() plain
}

func pair[P, R any, PP message[P], PR message[R]]() method {
	return method{
		params: func() plain { return PP(new(P)) },
		result: func() plain { return PR(new(R)) },
	}
}

// methods are the agent methods Neovim may call; initialize is ours alone.
var methods = map[string]method{
	acp.MethodAuthenticate:           pair[acp.AuthenticateRequest, acp.AuthenticateResponse](),
	acp.MethodLogout:                 pair[acp.LogoutRequest, acp.LogoutResponse](),
	acp.MethodSessionNew:             pair[acp.NewSessionRequest, acp.NewSessionResponse](),
	acp.MethodSessionLoad:            pair[acp.LoadSessionRequest, acp.LoadSessionResponse](),
	acp.MethodSessionResume:          pair[acp.ResumeSessionRequest, acp.ResumeSessionResponse](),
	acp.MethodSessionList:            pair[acp.ListSessionsRequest, acp.ListSessionsResponse](),
	acp.MethodSessionClose:           pair[acp.CloseSessionRequest, acp.CloseSessionResponse](),
	acp.MethodSessionDelete:          pair[acp.DeleteSessionRequest, acp.DeleteSessionResponse](),
	acp.MethodSessionPrompt:          pair[acp.PromptRequest, acp.PromptResponse](),
	acp.MethodSessionSetMode:         pair[acp.SetSessionModeRequest, acp.SetSessionModeResponse](),
	acp.MethodSessionSetConfigOption: pair[acp.SetSessionConfigOptionRequest, acp.SetSessionConfigOptionResponse](),
}
