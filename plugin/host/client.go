package host

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/ask"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/elsewhere"
)

// client is what an agent sees: it hands every message to Neovim and does
// itself what Neovim leaves to it.
type client struct {
	acp.UnimplementedClientHandler
	conn *connection
}

// handler takes updates of sessions by their text, of which Neovim gets most as
// it is. It reports notifications that do not decode, because the peer cannot be
// told about them.
type handler struct {
	acp.Handler
	conn *connection
}

// HandleRequest keeps what the types do not: the order of the fields of a form.
func (h handler) HandleRequest(ctx context.Context, method string, params json.RawMessage) (acp.Appender, error) {
	if method == acp.MethodElicitationCreate {
		ctx = context.WithValue(ctx, formKey{}, fieldsOf(params))
	}
	return h.Handler.HandleRequest(ctx, method, params)
}

func (h handler) HandleNotification(ctx context.Context, method string, params json.RawMessage) (err error) {
	if method == acp.MethodSessionUpdate {
		err = h.conn.updates(ctx, params)
	} else {
		err = h.Handler.HandleNotification(ctx, method, params)
	}
	var bad *acp.Error
	if errors.As(err, &bad) {
		h.conn.host.Log.Warn("notification refused", "agent", h.conn.name, "method", method, "error", err)
		o := new(wire.Object).Str("agent", h.conn.name).Str("method", method).Str("kind", wire.ErrorAgent.String()).
			Num("code", int64(bad.Code)).Str("message", bad.Message)
		h.conn.host.Push(o.Item(events.RequestFailed))
	}
	return err
}

// CompleteElicitation tells Neovim that a URL elicitation is over.
func (k *client) CompleteElicitation(ctx context.Context, n *acp.CompleteElicitationNotification) error {
	k.conn.host.Push(wire.From(n.AppendJSON(nil)).Str("agent", k.conn.name).Item(events.Notification(acp.MethodElicitationComplete)))
	return nil
}

// ExtNotification passes on what the protocol does not know.
func (k *client) ExtNotification(ctx context.Context, method string, params json.RawMessage) error {
	if err := k.conn.host.Room(ctx); err != nil {
		return err
	}
	if method == elsewhere.MethodAttention && setup.Is(k.conn.cmd.Quirks.Elsewhere) {
		return k.conn.attentionElsewhere(params)
	}
	o := new(wire.Object).Str("agent", k.conn.name).Str("method", method).Raw("params", params)
	k.conn.host.Push(o.Item(events.ExtNotification))
	return nil
}

// question makes the question for a request of the protocol.
func (k *client) question(method string, id acp.SessionID, params acp.Appender) ask.Question {
	return ask.Question{
		Event: events.Request(method, ""), Method: method, Session: id,
		Data: wire.From(params.AppendJSON(nil)),
	}
}

// ask puts q to Neovim and waits for the answer.
func (k *client) ask(ctx context.Context, q ask.Question) (ask.Answer, error) {
	c := k.conn
	if !q.IsWhole() && !q.MayBeCut() {
		return ask.Answer{}, &acp.Error{Code: acp.ErrorCodeInvalidParams, Message: q.Method + ": too large for the editor"}
	}
	var s *session
	if !q.Alone {
		var err error
		if s, err = c.session(q.Session); err != nil {
			return ask.Answer{}, &acp.Error{Code: acp.ErrorCodeInvalidParams, Message: q.Method + ": " + err.Error()}
		}
		if q.User && s.cancelling() {
			return ask.Answer{Cancelled: true, By: "cancel"}, nil
		}
	}
	if s == nil {
		return c.host.asks.Put(ctx, c.name, nil, q)
	}
	return c.host.asks.Put(ctx, c.name, s.waits, q)
}

// message is a generated message.
type message[T any] interface {
	*T
	json.Unmarshaler
	acp.Appender
}

// answered asks q and decodes the answer. When Neovim leaves the answer to
// the host, or its answer cannot be used, byDefault gives it.
func answered[T any, P message[T]](ctx context.Context, k *client, q ask.Question, byDefault func(context.Context) (P, error)) (P, error) {
	v, err := k.ask(ctx, q)
	switch {
	case err != nil:
		return nil, err
	case v.Cancelled:
		return nil, &acp.Error{Code: acp.ErrorCodeRequestCancelled, Message: q.Method + ": cancelled by the user"}
	case v.Error != nil:
		return nil, v.Error
	case v.Default:
		return byDefault(ctx)
	}
	r := P(new(T))
	if len(v.Result) == 0 || string(v.Result) == "null" {
		v.Result = json.RawMessage("{}")
	}
	if err := r.UnmarshalJSON(v.Result); err != nil {
		k.conn.host.Notice("error", "the answer to %s from %s is not valid: %v", q.Event, v.By, err)
		return nil, &acp.Error{Code: acp.ErrorCodeInternalError, Message: q.Method + ": the client's answer is not valid"}
	}
	return r, nil
}

// ExtRequest puts a method outside the protocol to Neovim.
func (k *client) ExtRequest(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if setup.Is(k.conn.cmd.Quirks.Elsewhere) {
		switch method {
		case elsewhere.MethodTurn:
			return k.conn.turnElsewhere(ctx, params)
		case elsewhere.MethodToolCall: // requests come after the updates before them
			return json.RawMessage("{}"), nil
		}
	}
	q := ask.Question{
		Event: events.ExtRequest, Method: method, Alone: true,
		Data: new(wire.Object).Str("method", method).Raw("params", params),
	}
	v, err := k.ask(ctx, q)
	switch {
	case err != nil:
		return nil, err
	case v.Cancelled:
		return nil, &acp.Error{Code: acp.ErrorCodeRequestCancelled, Message: method + ": cancelled"}
	case v.Error != nil:
		return nil, v.Error
	case v.Default:
		return nil, acp.MethodNotFound(method)
	case len(v.Result) == 0:
		return json.RawMessage("null"), nil
	}
	return v.Result, nil
}
