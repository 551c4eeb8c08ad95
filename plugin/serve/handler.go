package serve

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/elsewhere"
	"github.com/hermes-nvim/hermes/internal/jx"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/turns"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// handler takes updates of sessions by their text, of which Neovim gets most as
// it is. It reports notifications that do not decode, because a notification has
// no error answer.
type handler struct {
	acp.Handler
	client *Client
	agent  turns.Agent
}

// Handler is what a connection to the agent hands its messages to.
func (k *Client) Handler(agent turns.Agent) acp.Handler {
	return handler{acp.ClientSide(k), k, agent}
}

// HandleRequest keeps what the types do not: the order of the fields of a form.
func (h handler) HandleRequest(ctx context.Context, method string, params json.RawMessage) (acp.Appender, error) {
	switch method {
	case acp.MethodElicitationCreate:
		ctx = context.WithValue(ctx, formKey{}, fieldsOf(params))
	case elsewhere.MethodTurn, elsewhere.MethodToolCall:
		switch {
		case !setup.Is(h.client.Command.Quirks.Elsewhere):
		case method == elsewhere.MethodTurn:
			return h.turnElsewhere(ctx, params)
		default: // requests come after the updates before them
			return acp.Raw("{}"), nil
		}
	}
	return h.Handler.HandleRequest(ctx, method, params)
}

// HandleNotification takes updates, and notifications that the user of an agent
// is active elsewhere.
func (h handler) HandleNotification(ctx context.Context, method string, params json.RawMessage) (err error) {
	switch {
	case method == acp.MethodSessionUpdate:
		err = h.updates(ctx, params)
	case method == elsewhere.MethodAttention && setup.Is(h.client.Command.Quirks.Elsewhere):
		if err = h.client.Editor.Room(ctx); err == nil {
			err = h.attentionElsewhere(params)
		}
	default:
		err = h.Handler.HandleNotification(ctx, method, params)
	}
	var bad *acp.Error
	if errors.As(err, &bad) {
		h.client.Editor.Log.Warn("notification refused", "agent", h.client.Agent, "method", method, "error", err)
		o := new(wire.Object).Str("agent", h.client.Agent).Str("method", method).Str("kind", wire.ErrorAgent.String()).
			Num("code", int64(bad.Code)).Str("message", bad.Message)
		h.client.Editor.Push(o.Item(events.RequestFailed))
	}
	return err
}

// updates gives a session/update to Neovim; it waits while Neovim is behind. The connection
// holds updates of a new session until its opening is answered (rpc.WithOpened).
func (h handler) updates(ctx context.Context, params []byte) error {
	list, missing := wire.Pieces(params)
	for piece := range list {
		u, err := readUpdate(piece, missing)
		if err != nil {
			return err
		}
		if err := h.client.Editor.Room(ctx); err != nil {
			return err
		}
		s, err := h.client.Session(u.session)
		if err != nil {
			h.client.Editor.Log.Warn("update of a session nobody opened", "agent", h.client.Agent, "session", u.session)
			s = h.client.NewSession(h.agent, u.session, nil)
		}
		s.update(u)
	}
	return nil
}

// The user of some agents types prompts elsewhere, such as in a terminal. Only the quirk
// lets an agent say so; see package elsewhere.

// turnElsewhere begins the turn of a prompt that the user has typed elsewhere. It
// returns once the agent has been sent the prompt, with the checkpoint made before. If
// the user cancels the turn earlier, the agent gets only the error.
func (h handler) turnElsewhere(ctx context.Context, params json.RawMessage) (acp.Appender, error) {
	var p elsewhere.Turn
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, acp.InvalidParams(elsewhere.MethodTurn, err)
	}
	s, err := h.client.Session(p.Session)
	if err != nil {
		return nil, &acp.Error{Code: acp.ErrorCodeResourceNotFound, Message: elsewhere.MethodTurn + ": " + err.Error()}
	}
	meta := new(wire.Object).Object("hermes", new(wire.Object).Str("turn", p.ID)).JSON()
	request := &acp.PromptRequest{SessionID: p.Session, Prompt: []acp.ContentBlock{acp.NewTextContent(p.Prompt)}, Meta: meta}
	text := request.AppendJSON(nil)
	t := turns.NewTurn("elsewhere-"+rand.Text(), jx.New(text), text, request)
	s.Prompt(t)
	select {
	case <-t.Sent():
	case <-t.Told():
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case <-t.Sent():
		return acp.Raw("{}"), nil
	default:
		return nil, &acp.Error{Code: acp.ErrorCodeRequestCancelled, Message: elsewhere.MethodTurn + ": the turn was cancelled"}
	}
}

// attentionElsewhere shows whether the agent waits for the user elsewhere.
func (h handler) attentionElsewhere(params json.RawMessage) error {
	var p elsewhere.Attention
	if err := json.Unmarshal(params, &p); err != nil {
		return acp.InvalidParams(elsewhere.MethodAttention, err)
	}
	s, err := h.client.Session(p.Session)
	if err != nil {
		return &acp.Error{Code: acp.ErrorCodeResourceNotFound, Message: elsewhere.MethodAttention + ": " + err.Error()}
	}
	s.WaitsElsewhere(p.Waiting)
	if p.Waiting {
		s.Push(events.AttentionNeeded, new(wire.Object).Str("message", p.Message))
	}
	return nil
}
