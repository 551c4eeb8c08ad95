package serve

import (
	"context"
	"encoding/json"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/ask"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/wire"
)

// question makes the question for a request of the protocol.
func (k *Client) question(method string, id acp.SessionID, params acp.Appender) ask.Question {
	return ask.Question{
		Event: events.Request(method, ""), Method: method, Session: id,
		Data: wire.From(params.AppendJSON(nil)),
	}
}

// ask puts q to Neovim and waits for the answer.
func (k *Client) ask(ctx context.Context, q ask.Question) (ask.Answer, error) {
	if !q.IsWhole() && !q.MayBeCut() {
		return ask.Answer{}, &acp.Error{Code: acp.ErrorCodeInvalidParams, Message: q.Method + ": too large for the editor"}
	}
	var waits func(delta int)
	if !q.Alone {
		s, err := k.Session(q.Session)
		if err != nil {
			return ask.Answer{}, &acp.Error{Code: acp.ErrorCodeInvalidParams, Message: q.Method + ": " + err.Error()}
		}
		if q.User && s.Cancelling() {
			return ask.Answer{Cancelled: true, By: "cancel"}, nil
		}
		waits = s.Waits
	}
	return k.Asks.Put(ctx, k.Agent, waits, q)
}

// message is a generated message.
type message[T any] interface {
	*T
	json.Unmarshaler
	acp.Appender
}

// answered asks q and decodes the answer. When Neovim leaves the answer to
// the host, or its answer cannot be used, byDefault gives it.
func answered[T any, P message[T]](ctx context.Context, k *Client, q ask.Question, byDefault func(context.Context) (P, error)) (P, error) {
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
		k.Editor.Notice("error", "the answer to %s from %s is not valid: %v", q.Event, v.By, err)
		return nil, &acp.Error{Code: acp.ErrorCodeInternalError, Message: q.Method + ": the client's answer is not valid"}
	}
	return r, nil
}
