package redial

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// session is what is needed to resume a session. It works on the text of the
// messages, which is the same for every version of the protocol.
type session struct {
	setup   acp.Extra // what the params of session/load and session/resume share
	turns   int       // prompts without an answer
	working bool      // whether the agent last reported work (version 2)
	reports int       // how often it did
	cut     bool      // the connection broke while there was work
	opening bool      // session/load or session/resume is not answered yet
}

// begin records a call about sessions, which is made with the context it
// returns; finish records its outcome.
func (c *Client) begin(ctx context.Context, method string, params acp.Appender) (_ context.Context, finish func(error)) {
	switch method {
	case acp.MethodSessionPrompt:
		return ctx, c.beginTurn(sessionOf(params))
	case acp.MethodSessionNew, "session/fork":
		return c.beginSession(ctx, params)
	case acp.MethodSessionLoad, acp.MethodSessionResume:
		if id := sessionOf(params); id != "" {
			return ctx, c.beginOld(id, params)
		}
	case acp.MethodSessionClose, acp.MethodSessionDelete:
		return ctx, func(err error) {
			if err == nil {
				c.forget(sessionOf(params))
			}
		}
	}
	return ctx, func(error) {}
}

// beginTurn counts a prompt. In version 2 its answer begins the work rather
// than ending it, unless the agent has reported otherwise meanwhile.
func (c *Client) beginTurn(id acp.SessionID) (finish func(error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[id]
	if s == nil {
		return func(error) {}
	}
	s.turns++
	reports := s.reports
	return func(err error) {
		var closed *rpc.ClosedError
		if errors.As(err, &closed) {
			return // it is unfinished, and was counted
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		s.turns = max(0, s.turns-1)
		if err == nil && c.protocol.Version() > 1 && s.reports == reports {
			s.working = true
		}
	}
}

// beginSession adds the session that the answer names, before the messages of the
// session are handled.
func (c *Client) beginSession(ctx context.Context, params acp.Appender) (_ context.Context, finish func(error)) {
	var opened acp.SessionID
	ctx = rpc.WithOpened(ctx, func(_ context.Context, id acp.SessionID, _ json.RawMessage) {
		opened = id
		c.mu.Lock()
		defer c.mu.Unlock()
		c.sessions[id] = &session{setup: setup(params)}
	})
	return ctx, func(err error) {
		if err != nil && opened != "" {
			c.forget(opened) // the caller does not know it
		}
	}
}

// beginOld adds a session that is loaded or resumed. Its history comes before the
// answer.
func (c *Client) beginOld(id acp.SessionID, params acp.Appender) (finish func(error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[id]
	if s == nil {
		s = &session{opening: true}
		c.sessions[id] = s
	}
	return func(err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		switch {
		case err == nil:
			s.setup, s.opening = setup(params), false
			c.sessions[id] = s
		case s.opening && c.sessions[id] == s:
			delete(c.sessions, id)
		}
	}
}

// setup returns the needed part of the params that opened a session.
func setup(params acp.Appender) acp.Extra {
	kept := acp.Extra(`{}`)
	if params == nil {
		return kept
	}
	for name, value := range acp.Extra(params.AppendJSON(nil)).All() {
		switch name {
		case "cwd", "additionalDirectories", "mcpServers", "systemPrompt", "_meta":
			kept.Set(name, value) // cannot fail: it was JSON to the peer
		}
	}
	return kept
}

// sessionOf returns the session that params or a result name, "" when there is
// none.
func sessionOf(v acp.Appender) acp.SessionID {
	switch v := v.(type) {
	case nil:
		return ""
	case acp.SessionParams:
		return acp.SessionID(v.Session())
	}
	return acp.SessionID(acp.Raw(v.AppendJSON(nil)).Session())
}

// watch follows what the sessions of version 2 report about their work.
type watch struct {
	acp.Handler
	client *Client
}

// HandleNotification implements acp.Handler.
func (w watch) HandleNotification(ctx context.Context, method string, params json.RawMessage) error {
	if method == acp.MethodSessionUpdate && bytes.Contains(params, []byte(`"state_update"`)) {
		w.client.report(params)
	}
	return w.Handler.HandleNotification(ctx, method, params)
}

// report records whether a session works, even in the background.
func (c *Client) report(params json.RawMessage) {
	var p struct {
		SessionID acp.SessionID `json:"sessionId"`
		Update    struct {
			SessionUpdate string            `json:"sessionUpdate"`
			State         string            `json:"state"`
			Background    []json.RawMessage `json:"background"`
		} `json:"update"`
	}
	if json.Unmarshal(params, &p) != nil || p.Update.SessionUpdate != "state_update" {
		return // the handler reports it
	}
	working := p.Update.State != "idle" || len(p.Update.Background) > 0
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.sessions[p.SessionID]; s != nil {
		s.working = working
		s.reports++
	}
}
