package redial

import (
	"encoding/json"
	"errors"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime"
)

// begin notes a call that is about sessions; finish notes how it went.
func (c *Client) begin(method string, params acp.Appender) (finish func(*runtime.Conn, json.Unmarshaler, error)) {
	switch method {
	case acp.MethodSessionNew, acp.MethodSessionLoad, acp.MethodSessionResume,
		acp.MethodSessionClose, acp.MethodSessionDelete, acp.MethodSessionPrompt:
	default:
		return func(*runtime.Conn, json.Unmarshaler, error) {}
	}
	request := params
	if raw, ok := params.(acp.Raw); ok {
		request, _ = acp.V1.DecodeRequest(acp.SideAgent, method, json.RawMessage(raw))
	}
	if p, ok := request.(*acp.PromptRequest); ok {
		c.turn(p.SessionID, 1)
		return func(_ *runtime.Conn, _ json.Unmarshaler, err error) {
			var closed *runtime.ClosedError
			if !errors.As(err, &closed) { // else it is unfinished, and was counted
				c.turn(p.SessionID, -1)
			}
		}
	}
	return func(conn *runtime.Conn, result json.Unmarshaler, err error) {
		if err == nil {
			c.note(request, result)
		}
	}
}

// turn counts the prompts of a session that have no answer.
func (c *Client) turn(id acp.SessionID, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.sessions[id]; s != nil {
		s.turns = max(0, s.turns+n)
	}
}

// note keeps what it takes to take up the session a call was about.
func (c *Client) note(request acp.Appender, result json.Unmarshaler) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch p := request.(type) {
	case *acp.NewSessionRequest:
		var id acp.SessionID
		switch r := result.(type) {
		case *acp.NewSessionResponse:
			id = r.SessionID
		case *acp.Raw:
			text, _ := acp.SessionOf(json.RawMessage(*r))
			id = acp.SessionID(text)
		}
		if id != "" {
			c.sessions[id] = &session{cwd: p.Cwd, servers: p.MCPServers, folders: p.AdditionalDirectories}
		}
	case *acp.LoadSessionRequest:
		c.sessions[p.SessionID] = &session{cwd: p.Cwd, servers: p.MCPServers, folders: p.AdditionalDirectories}
	case *acp.ResumeSessionRequest:
		c.sessions[p.SessionID] = &session{cwd: p.Cwd, servers: p.MCPServers, folders: p.AdditionalDirectories}
	case *acp.CloseSessionRequest:
		delete(c.sessions, p.SessionID)
	case *acp.DeleteSessionRequest:
		delete(c.sessions, p.SessionID)
	}
}
