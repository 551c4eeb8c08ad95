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
}

// maxEarly bounds the sessions that reported before the call that opens them
// was answered.
const maxEarly = 64

// begin records a call about sessions; finish records its outcome.
func (c *Client) begin(method string, params acp.Appender) (finish func(json.Unmarshaler, error)) {
	switch method {
	case acp.MethodSessionPrompt:
		return c.beginTurn(sessionOf(params))
	case acp.MethodSessionNew, acp.MethodSessionLoad, acp.MethodSessionResume, "session/fork":
		return c.beginSession(method, params)
	case acp.MethodSessionClose, acp.MethodSessionDelete:
		return func(_ json.Unmarshaler, err error) {
			if err == nil {
				c.forget(sessionOf(params))
			}
		}
	}
	return func(json.Unmarshaler, error) {}
}

// beginTurn counts a prompt. In version 2 its answer begins the work rather
// than ending it, unless the agent has reported otherwise meanwhile.
func (c *Client) beginTurn(id acp.SessionID) (finish func(json.Unmarshaler, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[id]
	if s == nil {
		return func(json.Unmarshaler, error) {}
	}
	s.turns++
	reports := s.reports
	return func(_ json.Unmarshaler, err error) {
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

func (c *Client) beginSession(method string, params acp.Appender) (finish func(json.Unmarshaler, error)) {
	c.mu.Lock()
	c.opening++
	c.mu.Unlock()
	return func(result json.Unmarshaler, err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if err == nil {
			id := sessionOf(params)
			if method == acp.MethodSessionNew || method == "session/fork" {
				answer, _ := result.(acp.Appender)
				id = sessionOf(answer)
			}
			if id != "" {
				c.sessions[id] = &session{setup: setup(params), working: c.early[id]}
				delete(c.early, id)
			}
		}
		if c.opening--; c.opening == 0 {
			clear(c.early)
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
	} else if c.opening > 0 && len(c.early) < maxEarly {
		c.early[p.SessionID] = working
	}
}
