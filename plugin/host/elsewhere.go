package host

import (
	"context"
	"crypto/rand"
	"encoding/json"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/jx"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/elsewhere"
)

// The user of some agents types prompts elsewhere, such as in a terminal. Only the quirk
// lets an agent say so; see package elsewhere.

// turnElsewhere begins the turn of a prompt that the user has typed elsewhere. It
// returns once the agent has been sent the prompt, with the checkpoint made before. If
// the user cancels the turn earlier, the agent hears of it by the error alone.
func (c *connection) turnElsewhere(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	var p elsewhere.Turn
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, acp.InvalidParams(elsewhere.MethodTurn, err)
	}
	s, err := c.session(p.Session)
	if err != nil {
		return nil, &acp.Error{Code: acp.ErrorCodeResourceNotFound, Message: elsewhere.MethodTurn + ": " + err.Error()}
	}
	meta := new(wire.Object).Object("hermes", new(wire.Object).Str("turn", p.ID)).JSON()
	request := &acp.PromptRequest{SessionID: p.Session, Prompt: []acp.ContentBlock{acp.NewTextContent(p.Prompt)}, Meta: meta}
	text := request.AppendJSON(nil)
	t := newTurn("elsewhere-"+rand.Text(), request, blocksOf(jx.New(text), text, request))
	s.prompt(t)
	select {
	case <-t.sent:
	case <-t.told:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case <-t.sent:
		return json.RawMessage("{}"), nil
	default:
		return nil, &acp.Error{Code: acp.ErrorCodeRequestCancelled, Message: elsewhere.MethodTurn + ": the turn was cancelled"}
	}
}

// attentionElsewhere shows whether the agent waits for the user elsewhere.
func (c *connection) attentionElsewhere(params json.RawMessage) error {
	var p elsewhere.Attention
	if err := json.Unmarshal(params, &p); err != nil {
		return acp.InvalidParams(elsewhere.MethodAttention, err)
	}
	s, err := c.session(p.Session)
	if err != nil {
		return &acp.Error{Code: acp.ErrorCodeResourceNotFound, Message: elsewhere.MethodAttention + ": " + err.Error()}
	}
	s.mu.Lock()
	was := s.elsewhere
	s.elsewhere = p.Waiting
	s.mu.Unlock()
	switch {
	case p.Waiting && !was:
		s.waits(1)
	case !p.Waiting && was:
		s.waits(-1)
	}
	if p.Waiting {
		s.push(events.AttentionNeeded, new(wire.Object).Str("message", p.Message))
	}
	return nil
}
