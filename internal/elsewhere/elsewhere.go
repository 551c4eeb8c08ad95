// Package elsewhere is for agents that are also prompted elsewhere, such as in a
// terminal of their own. The protocol has no turns that an agent begins, so they
// announce each by a request of Hermes:
//
//	{"method":"_hermes/turn","params":{"sessionId":"…","turn":"…","prompt":"fix it"}}
//
// A client that knows it sends session/prompt with the same text and
// _meta.hermes.turn, and answers the request. Other clients get the updates outside of
// turns.
//
// Before a tool may change something, such an agent asks for an answer that says nothing.
// It is given once the client has taken the tool call in, so that a change right after it
// is known to be of that tool call:
//
//	{"method":"_hermes/tool_call","params":{"sessionId":"…","toolCallId":"…"}}
//
// While such an agent waits for its user there, it notifies the client:
//
//	{"method":"_hermes/attention","params":{"sessionId":"…","waiting":true,"message":"Claude needs your permission"}}
//	{"method":"_hermes/attention","params":{"sessionId":"…","waiting":false}}
package elsewhere

import (
	"context"
	"encoding/json"

	"github.com/hermes-nvim/hermes/acp"
)

// Methods that agents send besides the protocol.
const (
	MethodTurn      = "_hermes/turn"
	MethodToolCall  = "_hermes/tool_call"
	MethodAttention = "_hermes/attention"
)

// Turn is a turn that was begun elsewhere.
type Turn struct {
	Session acp.SessionID `json:"sessionId"`
	ID      string        `json:"turn"`
	Prompt  string        `json:"prompt"`
}

// Announce begins the turn for the client. It returns once the client has sent its
// prompt, or with the reason why there will be none.
func (t Turn) Announce(ctx context.Context, client acp.Caller) error {
	params, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return client.Call(ctx, MethodTurn, acp.Raw(params), new(acp.Raw))
}

// ToolCall is a tool call that is about to happen.
type ToolCall struct {
	Session acp.SessionID  `json:"sessionId"`
	ID      acp.ToolCallID `json:"toolCallId"`
}

// Await returns once the client has taken in the tool call that it was sent before.
func (t ToolCall) Await(ctx context.Context, client acp.Caller) error {
	params, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return client.Call(ctx, MethodToolCall, acp.Raw(params), new(acp.Raw))
}

// Attention says whether the agent waits for its user, and why.
type Attention struct {
	Session acp.SessionID `json:"sessionId"`
	Waiting bool          `json:"waiting"`
	Message string        `json:"message,omitempty"`
}

// Tell sends it to the client.
func (a Attention) Tell(ctx context.Context, client acp.Caller) error {
	params, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return client.Notify(ctx, MethodAttention, acp.Raw(params))
}

// Of returns the turn that a prompt is for, by its _meta; empty for a prompt that
// begins one.
func Of(p *acp.PromptRequest) string {
	var meta struct {
		Hermes struct {
			Turn string `json:"turn"`
		} `json:"hermes"`
	}
	_ = json.Unmarshal(p.Meta, &meta) // what is not of this shape names no turn
	return meta.Hermes.Turn
}
