package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/jx"
	"github.com/hermes-nvim/hermes/plugin/announced"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/serve"
	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/turns"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// Request is a call of an agent, or a notification to it.
type Request struct {
	Agent  string          `json:"agent"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
	Force  bool            `json:"force,omitempty"` // whatever the agent has announced
	Steer  turns.Steering  `json:"steer,omitempty"` // of a prompt: how it corrects the turn that runs
}

// Read decodes p. The params alias the text: they may be large, and are read once more, by
// their type.
func (p *Request) Read(text string) error {
	d := jx.New([]byte(text))
	if d.Obj() {
		for name, more := d.Next(); more; name, more = d.Next() {
			switch string(name) {
			case "agent":
				p.Agent = d.Str()
			case "method":
				p.Method = d.Str()
			case "params":
				p.Params = d.Token()
			case "force":
				p.Force = d.Bool()
			case "steer":
				p.Steer = turns.Steering(d.Str())
			default:
				return wire.Unknown("argument", string(name))
			}
		}
	}
	p.Params = jx.Params(p.Params)
	if err := d.Close(); err != nil {
		return wire.Invalid("bad arguments: %v", err)
	}
	return nil
}

// Request carries out any agent method. Some change what the host remembers.
func (a *Agents) Request(id string, p Request) error {
	c, err := a.connection(p.Agent)
	if err != nil {
		return err
	}
	r, err := newRequest(id, p.Method, p.Params)
	if err != nil {
		return err
	}
	if !p.Steer.Valid() {
		return wire.Invalid("%s: there is no way %q to steer", p.Method, p.Steer)
	}
	if r.force = p.Force; r.prompt != nil {
		r.prompt.Force, r.prompt.Steering = p.Force, p.Steer
	}
	c = c.pool.forRequest(r.method, r.session)
	r.conn = c
	if s, err := c.session(r.session); err == nil && r.prompt != nil {
		s.Prompt(r.prompt)
		return nil
	}
	c.whenReady(func(err error) {
		if err != nil {
			a.Fail(id, err)
			return
		}
		r.begin()
	})
	return nil
}

// Notify sends a notification.
func (a *Agents) Notify(id string, p Request) error {
	c, err := a.connection(p.Agent)
	if err != nil {
		return err
	}
	if session, _ := acp.SessionOf(p.Params); session != "" {
		c = c.pool.forRequest(p.Method, acp.SessionID(session))
	}
	c.whenReady(func(err error) {
		if err != nil {
			a.Fail(id, err)
			return
		}
		a.Start(func() {
			if err := c.wire.Notify(c.ctx, p.Method, acp.Raw(p.Params)); err != nil {
				a.Fail(id, cmp.Or(c.Why(), err))
				return
			}
			a.Done(id, nil)
		})
	})
	return nil
}

// request is one call of an agent method for Neovim.
type request struct {
	id      string
	conn    *connection
	method  string
	text    []byte // of the params
	params  acp.Appender
	session acp.SessionID // of the params or, once there is one, of the answer
	prompt  *turns.Turn   // nil unless it is one
	force   bool          // whatever the agent has announced
	over    bool          // finished when its session was opened

	after  <-chan struct{} // the request it has to wait for is answered; nil: none
	before chan struct{}   // closed when this one is answered; nil: nobody waits
}

// newRequest checks params by the schema, so that a mistake is named here and
// not by the agent.
func newRequest(id, name string, params []byte) (*request, error) {
	r := &request{id: id, method: name, text: params, params: acp.Raw(params)}
	d := jx.New(params)
	if m, known := methods[name]; known {
		v := m.params()
		if err := acp.Read(d, v); err != nil {
			return nil, wire.Invalid("%s: %v", name, err)
		}
		r.params = v
	} else if d.Peek() != '{' && !d.Null() {
		return nil, wire.Invalid("%s: params must be an object", name)
	}
	if p, ok := r.params.(acp.SessionParams); ok {
		r.session = acp.SessionID(p.Session())
	}
	if p, ok := r.params.(*acp.PromptRequest); ok {
		r.prompt = turns.NewTurn(id, d, params, p)
	}
	return r, nil
}

// member returns the text of a member of the params, nil when there is none.
func (r *request) member(name string) []byte {
	start, end := wire.Lookup(r.text, name)
	return r.text[start:end]
}

// roots are the folders that the params name for a session, the working folder
// first. It is empty when they name none.
func (r *request) roots() []string {
	var p struct {
		Cwd  string   `json:"cwd"`
		More []string `json:"additionalDirectories"`
	}
	if err := json.Unmarshal(r.text, &p); err != nil {
		r.conn.agents.Log.Debug("folders of a session", "method", r.method, "error", err) // an extension has others
	}
	return append([]string{p.Cwd}, p.More...)
}

func (r *request) begin() {
	c := r.conn
	if err := r.fit(); err != nil {
		if s, unknown := c.session(r.session); unknown == nil && r.method == acp.MethodSessionClose {
			r.forget(s)
			return
		}
		c.agents.Fail(r.id, err)
		if len(c.open()) == 0 { // forRequest may have claimed it
			c.pool.unclaim(c)
		}
		return
	}
	if m := announced.TerminalLogin(r.params, c.said()); m != nil && !r.force {
		m.Run(c.agents.Editor, r.id, c.name, &c.cmd, announced.MayLogIn(&c.cmd, c.mayRunElsewhere()))
		return
	}
	switch r.method {
	case acp.MethodSessionPrompt:
		s, err := c.session(r.session)
		if err != nil {
			c.agents.Fail(r.id, err)
			return
		}
		s.Prompt(r.prompt)
		return
	case acp.MethodSessionLoad, acp.MethodSessionResume:
		// The agent may send updates before its answer.
		s := c.addSession(r.session, r.roots())
		s.Replays(r.method == acp.MethodSessionLoad)
	}
	r.lineUp()
	c.agents.Start(r.run)
}

// fit checks that the agent takes the request, and makes of the params what it does take.
func (r *request) fit() (err error) {
	switch r.method {
	case acp.MethodSessionNew, acp.MethodSessionLoad, acp.MethodSessionResume, announced.MethodFork:
		if r.force {
			break
		}
		if err := setup.Confined(r.conn.name, r.conn.cmd.Box, r.roots()); err != nil {
			return err
		}
	}
	if a := r.conn.announced(r.force); a != nil {
		r.params, err = a.Fit(r.method, r.params)
	}
	return err
}

// forget closes a session here, because the agent cannot: what it is at work on is
// cancelled, and what the session holds is freed.
func (r *request) forget(s *serve.Session) {
	c := r.conn
	s.Cancel()
	c.removeSession(s.ID())
	o := r.stamp(new(wire.Object)).Str("reason", fmt.Sprintf("agent %q cannot close sessions and may keep it", c.name))
	c.agents.Push(o.Item(events.Reply(r.method)))
	c.agents.Done(r.id, nil)
}

// lineUp puts the request behind the earlier ones it depends on: requests of
// one session go one after the other and before later prompts; requests
// without a session wait for a login.
func (r *request) lineUp() {
	c := r.conn
	if s, err := c.session(r.session); err == nil {
		r.before = make(chan struct{})
		r.after = s.LineUp(r.before)
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
	ctx := c.ctx
	if r.method == acp.MethodSessionNew || r.method == announced.MethodFork {
		ctx = rpc.WithOpened(ctx, r.opened)
	}
	var raw acp.Raw
	err := c.call(ctx, r.method, r.params, &raw)
	if r.over {
		return
	}
	r.finish(raw, err)
}

// opened finishes a request that opens a session before the updates that the
// agent has sent for it go to Neovim.
func (r *request) opened(_ context.Context, _ acp.SessionID, result json.RawMessage) {
	r.over = true
	r.finish(result, nil)
}

// finish ends the operation with the answer or the error of the call.
func (r *request) finish(result []byte, err error) {
	if m, known := methods[r.method]; known && err == nil {
		if len(result) == 0 || string(result) == "null" {
			result = []byte("{}")
		}
		if err = m.read(&result); err != nil && r.leftToUpdate(result) {
			err = nil
		} else if err != nil {
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
	case acp.MethodSessionNew:
		c.pool.unclaim(c)
	case acp.MethodSessionLoad, acp.MethodSessionResume:
		c.removeSession(r.session)
	}
	c.agents.Fail(r.id, err)
}

// succeeded fires the event of the answer, then ends the operation.
func (r *request) succeeded(result []byte) {
	c := r.conn
	var origin acp.SessionID // of a fork
	switch r.method {
	case acp.MethodSessionNew, announced.MethodFork:
		id, _ := acp.SessionOf(result)
		if id == "" {
			r.failed(badAnswer(r.method, errors.New("it names no session")))
			return
		}
		if c.pool.taken(c, acp.SessionID(id)) {
			r.failed(&wire.Error{Kind: wire.ErrorAgent, Message: fmt.Sprintf("%s: two processes of the agent have a session %q", r.method, id)})
			return
		}
		roots := r.roots()
		if origin, err := c.session(r.session); err == nil && roots[0] == "" { // a fork of it
			roots = origin.Roots
		}
		if r.method == announced.MethodFork {
			origin = r.session
		}
		r.session = acp.SessionID(id)
		c.addSession(r.session, roots)
	case acp.MethodSessionLoad, acp.MethodSessionResume:
		if s, err := c.session(r.session); err == nil {
			s.Replays(false)
		}
	case acp.MethodSessionClose, acp.MethodSessionDelete:
		c.removeSession(r.session)
	case methodSetModel:
		o := new(wire.Object).Raw("modelId", r.member("modelId"))
		c.agents.Push(r.stampSession(o).Item(events.ModelUpdated))
	}
	if name := events.Reply(r.method); name != "" {
		c.agents.Push(r.stamp(wire.From(objectOr(result))).Item(name))
	} else if r.method == announced.MethodFork {
		c.agents.Push(r.stamp(wire.From(objectOr(result))).Str("forkedFrom", string(origin)).Item(events.SessionForked))
	}
	c.agents.Done(r.id, result)
}

// stamp adds what the event of an answer repeats of the request. The result
// that the caller gets is the agent's, as it is.
func (r *request) stamp(o *wire.Object) *wire.Object {
	params := events.ReplyParams(r.method)
	if r.method == announced.MethodFork {
		params = events.ReplyParams(acp.MethodSessionNew)
	}
	for _, name := range params {
		o.Raw(name, r.member(name))
	}
	return r.stampSession(o).Str("opId", r.id)
}

func (r *request) stampSession(o *wire.Object) *wire.Object {
	return o.Optional("sessionId", string(r.session)).Str("agent", r.conn.name)
}

// objectOr wraps a result that is not an object, which only an extension may
// give.
func objectOr(result []byte) []byte {
	if len(result) > 0 && result[0] == '{' {
		return result
	}
	return new(wire.Object).Raw("value", result).JSON()
}
