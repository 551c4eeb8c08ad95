package rpc

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/hermes-nvim/hermes/acp"
)

// Middleware stands between a connection and the program that uses it: logs, traces,
// metrics, rules of its own. Each member may be nil. Members are called once for each
// connection that has the Middleware, before the first message is read.
//
// A call that this side gives up is also $/cancel_request on the wire. The connection
// sends and handles it by itself, so only Tap sees it.
type Middleware struct {
	// Receive wraps what handles the peer's requests and notifications. Embed next to
	// pass on what you do not change:
	//
	//	type counted struct{ acp.Handler }
	//
	// The wrapper sees what the peer will see: a prompt that gave up because of
	// session/cancel has ended in the stop reason cancelled, without an error, and a
	// question in the outcome cancelled. The connection stays on the side of the
	// handler inside. The context that the
	// wrapper passes on must descend from the one it was given.
	Receive func(next acp.Handler) acp.Handler
	// Send wraps the requests and notifications of this side, whatever makes them: the
	// methods of acp.Agent and acp.Client, Conn.Call, Conn.Start and Conn.Notify. A
	// call must return when its context ends, and passes on a context that descends
	// from the one it was given.
	Send func(next acp.Caller) acp.Caller
	// Tap sees every message as it is on the wire, with the side that sent it, lines
	// that are not messages included. It may not keep the bytes. Calls for one sender
	// come one at a time and in order, and hold the connection up.
	Tap func(from acp.Side, message []byte)
}

// through wraps what the connection receives and sends. The first Middleware is the
// outermost: it is the first to see what comes in, and what the program sends.
func (c *Conn) through(middleware []Middleware) {
	ours, theirs := acp.SideClient, acp.SideAgent
	if c.opts.Server {
		ours, theirs = theirs, ours
	}
	if tap := c.opts.Tap; tap != nil {
		c.taps = append(c.taps, tap)
	}
	var receive acp.Handler = inside{c.h, c}
	var send acp.Caller = wireCaller{c}
	for i := len(middleware) - 1; i >= 0; i-- {
		m := &middleware[i]
		if m.Receive != nil {
			receive = m.Receive(receive)
			c.h = receive
		}
		if m.Send != nil {
			send = m.Send(send)
			c.send = send
		}
	}
	for i := range middleware {
		if tap := middleware[i].Tap; tap != nil {
			c.taps = append(c.taps, func(d Direction, message []byte) {
				from := theirs
				if d == Outbound {
					from = ours
				}
				tap(from, message)
			})
		}
	}
}

// tap shows a message to everybody who looks at the wire.
func (c *Conn) tap(d Direction, message []byte) {
	for _, tap := range c.taps {
		tap(d, message)
	}
}

// inside is the program's handler as Middleware sees it.
type inside struct {
	h acp.Handler // may be nil
	c *Conn
}

func (i inside) Side() acp.Side {
	if i.h == nil {
		return 0
	}
	return i.h.Side()
}

func (i inside) HandleRequest(ctx context.Context, method string, params json.RawMessage) (acp.Appender, error) {
	if i.h == nil {
		return nil, acp.MethodNotFound(method)
	}
	result, err := i.h.HandleRequest(ctx, method, params)
	if req, _ := ctx.Value(handlerKey{i.c}).(*request); req != nil {
		if cancelled := i.c.ifCancelled(req, err); cancelled != nil {
			return cancelled, nil
		}
	}
	return result, err
}

func (i inside) HandleNotification(ctx context.Context, method string, params json.RawMessage) error {
	if i.h == nil {
		return acp.MethodNotFound(method)
	}
	err := i.h.HandleNotification(ctx, method, params)
	if i.c.handledHere(method, err) {
		return nil
	}
	return err
}

// handledHere reports whether err only says that the handler has no method for a
// notification which the connection has acted on: session/cancel of version 1, which
// ends the contexts of prompts. In version 2 a prompt is over when it is accepted,
// and only the handler can stop the work.
func (c *Conn) handledHere(method string, err error) bool {
	return err != nil && method == acp.MethodSessionCancel && c.opts.Server && c.hand.agreed() < 2 &&
		errors.Is(err, &acp.Error{Code: acp.ErrorCodeMethodNotFound})
}

// wireCaller is where what this side sends leaves the Middleware.
type wireCaller struct{ c *Conn }

func (w wireCaller) Notify(ctx context.Context, method string, params acp.Appender) error {
	return w.c.notifyPeer(ctx, method, params)
}

func (w wireCaller) Call(ctx context.Context, method string, params acp.Appender, result json.Unmarshaler) error {
	if s, _ := ctx.Value(startingKey(w)).(*starting); s != nil && s.method == method {
		return s.call(ctx, params, result)
	}
	return w.c.callPeer(ctx, method, params, result)
}
