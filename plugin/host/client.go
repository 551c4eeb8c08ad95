package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/hermes-nvim/hermes/acp"
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
		h.conn.host.log.Warn("notification refused", "agent", h.conn.name, "method", method, "error", err)
		o := new(object).str("agent", h.conn.name).str("method", method).str("kind", errorAgent.String()).
			num("code", int64(bad.Code)).str("message", bad.Message)
		h.conn.host.queue.push(event(eventRequestFailed, o))
	}
	return err
}

// CompleteElicitation tells Neovim that a URL elicitation is over.
func (k *client) CompleteElicitation(ctx context.Context, n *acp.CompleteElicitationNotification) error {
	k.conn.host.queue.push(event(notificationEvent(acp.MethodElicitationComplete), from(n.AppendJSON(nil)).str("agent", k.conn.name)))
	return nil
}

// ExtNotification passes on what the protocol does not know.
func (k *client) ExtNotification(ctx context.Context, method string, params json.RawMessage) error {
	if err := k.conn.host.queue.room(ctx); err != nil {
		return err
	}
	if method == elsewhere.MethodAttention && isTrue(k.conn.cmd.Quirks.Elsewhere) {
		return k.conn.attentionElsewhere(params)
	}
	o := new(object).str("agent", k.conn.name).str("method", method).raw("params", params)
	k.conn.host.queue.push(event(eventExtNotification, o))
	return nil
}

// question is an agent request on its way to Neovim.
type question struct {
	event   string // name of the autocommand
	method  string
	session acp.SessionID
	alone   bool // it belongs to no session
	data    *object
	refused string          // why the default must not serve it; empty for no reason
	user    bool            // a person answers it, so the session is shown as waiting
	max     int             // what it may cost; 0 means maxCost
	asked   func(id string) // told the request id; may be nil
	heard   func(answer)    // told the answer; may be nil
	rebase  rebase          // of a write; nil otherwise
}

// question makes the question for a request of the protocol.
func (k *client) question(method string, id acp.SessionID, params acp.Appender) question {
	return question{
		event: requestEvent(method, ""), method: method, session: id,
		data: from(params.AppendJSON(nil)),
	}
}

// isWhole reports whether Neovim sees all of q.
func (q *question) isWhole() bool {
	return q.data.cost()+costOfMore <= cmp.Or(q.max, maxCost)
}

// mayBeCut reports whether Neovim can answer q without seeing all of it: a
// question for permission by a denial, a write by leaving it to the host.
// Whoever answers another one acts on what it says.
func (q *question) mayBeCut() bool {
	return q.method == acp.MethodSessionRequestPermission || q.method == acp.MethodFsWriteTextFile
}

// ask puts q to Neovim and waits for the answer.
func (k *client) ask(ctx context.Context, q question) (answer, error) {
	c := k.conn
	if !q.isWhole() && !q.mayBeCut() {
		return answer{}, &acp.Error{Code: acp.ErrorCodeInvalidParams, Message: q.method + ": too large for the editor"}
	}
	var s *session
	if !q.alone {
		var err error
		if s, err = c.session(q.session); err != nil {
			return answer{}, &acp.Error{Code: acp.ErrorCodeInvalidParams, Message: q.method + ": " + err.Error()}
		}
		if q.user && s.cancelling() {
			return answer{cancelled: true, By: "cancel"}, nil
		}
	}
	a, err := c.host.asks.add(c.name, string(q.session), q.method)
	if err != nil {
		return answer{}, err
	}
	q.data.str("agent", c.name).str("requestId", a.id)
	a.rebase = q.rebase
	if q.asked != nil {
		q.asked(a.id)
	}
	if s != nil && q.user {
		s.waits(1)
		defer s.waits(-1)
	}
	it := new(object).str("requestId", a.id).str("name", q.event).str("method", q.method).
		str("agent", c.name).optional("refused", q.refused).object("data", q.data).item(kindAsk)
	it.max = q.max
	c.host.queue.push(it)
	v := c.host.asks.wait(ctx, a)
	if q.heard != nil {
		q.heard(v)
	}
	return v, nil
}

// message is a generated message.
type message[T any] interface {
	*T
	json.Unmarshaler
	acp.Appender
}

// answered asks q and decodes the answer. When Neovim leaves the answer to
// the host, or its answer cannot be used, byDefault gives it.
func answered[T any, P message[T]](ctx context.Context, k *client, q question, byDefault func(context.Context) (P, error)) (P, error) {
	v, err := k.ask(ctx, q)
	switch {
	case err != nil:
		return nil, err
	case v.cancelled:
		return nil, &acp.Error{Code: acp.ErrorCodeRequestCancelled, Message: q.method + ": cancelled by the user"}
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
		k.conn.host.notice("error", "the answer to %s from %s is not valid: %v", q.event, v.By, err)
		return nil, &acp.Error{Code: acp.ErrorCodeInternalError, Message: q.method + ": the client's answer is not valid"}
	}
	return r, nil
}

// ExtRequest puts a method outside the protocol to Neovim.
func (k *client) ExtRequest(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if method == elsewhere.MethodTurn && isTrue(k.conn.cmd.Quirks.Elsewhere) {
		return k.conn.turnElsewhere(ctx, params)
	}
	q := question{
		event: eventExtRequest, method: method, alone: true,
		data: new(object).str("method", method).raw("params", params),
	}
	v, err := k.ask(ctx, q)
	switch {
	case err != nil:
		return nil, err
	case v.cancelled:
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
