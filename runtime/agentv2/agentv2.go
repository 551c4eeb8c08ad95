// Package agentv2 serves an agent that is written for version 1 of the protocol to
// clients of version 2 too. It does for agents what package servicesv2 does for clients:
// one program, both versions, by negotiation.
//
// See https://agentclientprotocol.com/protocol/v2/prompt-lifecycle.
package agentv2

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/acp/v2"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// Serve is rpc.Serve for clients of version 1 and of version 2.
func Serve(ctx context.Context, t transport.Transport, agent func(acp.Client) acp.AgentHandler, opts rpc.Options) error {
	return rpc.Connect(t, func(c *rpc.Conn) acp.Handler { return New(c, agent) }, opts).Wait(ctx)
}

// New returns the handler of a connection, for rpc.Connect. The agent is made once and
// sees version 1, whatever the client speaks. With a client of version 2
//
//   - Prompt runs after the prompt was accepted. Its context ends with session/cancel, and
//     the connection reports the work and its end, unless the work fails because the
//     connection ends. A second prompt of a session that is at work is refused.
//   - chunks without a MessageID get one, new for each message.
//   - modes are a config option of the category mode, and SetSessionMode is called when
//     the user chooses one.
//   - session/resume with a replay is LoadSession. CloseSession is not needed: work is
//     cancelled in any case.
//   - files and terminals of the client do not exist: the capabilities are empty, and the
//     calls fail with method not found.
//
// Features that version 1 lacks, such as background work, are not sent.
func New(c *rpc.Conn, agent func(acp.Client) acp.AgentHandler) *rpc.AgentVersions {
	b := &bridge{conn: c, sessions: map[acp.SessionID]*session{}}
	b.one = agent(acp.Client{Conn: b})
	b.versions = rpc.NewAgentVersions(
		rpc.AgentVersion{Protocol: acp.V1, Handler: acp.AgentSide(b.one)},
		rpc.AgentVersion{Protocol: v2.V2, Handler: v2.AgentSide(&two{bridge: b})},
	)
	return b.versions
}

// bridge is the client as the agent sees it: an acp.Caller of version 1.
type bridge struct {
	conn     *rpc.Conn
	one      acp.AgentHandler
	versions *rpc.AgentVersions

	mu       sync.Mutex
	sessions map[acp.SessionID]*session
}

// session is what version 2 needs to know of a session.
type session struct {
	work sync.Mutex              // not mu, because a cancel does not wait for room in the queue
	stop context.CancelCauseFunc // of the prompt that runs; nil: none

	mu       sync.Mutex
	kind     string // of the chunks that are being sent
	message  v2.MessageID
	messages int // made so far
	options  []acp.SessionConfigOption
	modes    *acp.SessionModeState
}

func (b *bridge) session(id acp.SessionID) *session {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.sessions[id]
	if s == nil {
		s = new(session)
		b.sessions[id] = s
	}
	return s
}

func (b *bridge) forget(id acp.SessionID) {
	s := b.session(id)
	s.cancel()
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.sessions, id)
}

// newer reports whether the client speaks version 2.
func (b *bridge) newer() bool {
	v := b.versions.Agreed()
	return v != nil && v.Version() == v2.V2.Version()
}

// Notify implements acp.Caller.
func (b *bridge) Notify(ctx context.Context, method string, params acp.Appender) error {
	if method != acp.MethodSessionUpdate || !b.newer() {
		return b.conn.Notify(ctx, method, params)
	}
	n, ok := params.(*acp.SessionNotification)
	if !ok {
		n = new(acp.SessionNotification)
		if err := n.UnmarshalJSON(params.AppendJSON(nil)); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
	}
	if n == nil || n.Update == nil {
		return b.conn.Notify(ctx, method, params) // which says what is wrong
	}
	s := b.session(n.SessionID)
	s.mu.Lock() // messages get their ids in the order in which they are sent
	defer s.mu.Unlock()
	update, err := s.update(n.Update)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return b.conn.Notify(ctx, method, &v2.UpdateSessionNotification{SessionID: v2.SessionID(n.SessionID), Update: update, Meta: n.Meta})
}

// Call implements acp.Caller.
func (b *bridge) Call(ctx context.Context, method string, params acp.Appender, result json.Unmarshaler) error {
	if !b.newer() {
		return b.conn.Call(ctx, method, params, result)
	}
	switch method {
	case acp.MethodSessionRequestPermission:
		return b.ask(ctx, params, result)
	case acp.MethodFsReadTextFile, acp.MethodFsWriteTextFile, acp.MethodTerminalCreate, acp.MethodTerminalOutput,
		acp.MethodTerminalWaitForExit, acp.MethodTerminalKill, acp.MethodTerminalRelease:
		return acp.MethodNotFound(method)
	}
	return b.conn.Call(ctx, method, params, result)
}

// ask passes on a request for permission.
func (b *bridge) ask(ctx context.Context, params acp.Appender, result json.Unmarshaler) error {
	var p acp.RequestPermissionRequest
	if err := p.UnmarshalJSON(params.AppendJSON(nil)); err != nil {
		return fmt.Errorf("%s: %w", acp.MethodSessionRequestPermission, err)
	}
	call, err := toolCall(&p.ToolCall)
	if err != nil {
		return fmt.Errorf("%s: %w", acp.MethodSessionRequestPermission, err)
	}
	req := &v2.RequestPermissionRequest{
		SessionID: v2.SessionID(p.SessionID), Title: p.ToolCall.Title.Or("Permission"), Meta: p.Meta, Extra: p.Extra,
		Subject: v2.NewToolCallPermissionSubject(*call),
	}
	for _, o := range p.Options {
		req.Options = append(req.Options, v2.PermissionOption{
			OptionID: v2.PermissionOptionID(o.OptionID), Name: o.Name, Kind: v2.PermissionOptionKind(o.Kind), Meta: o.Meta, Extra: o.Extra,
		})
	}
	client := v2.Client{Conn: b.conn}
	report := func(u v2.SessionUpdate) {
		client.SessionUpdate(ctx, &v2.UpdateSessionNotification{SessionID: req.SessionID, Update: u})
	}
	report(&v2.RequiresActionStateUpdate{})
	answer, err := client.RequestPermission(ctx, req)
	if b.cutOff(err) {
		return err
	}
	report(&v2.RunningStateUpdate{})
	if err != nil {
		return err
	}
	var older acp.RequestPermissionResponse
	if o, ok := answer.Outcome.(*v2.SelectedPermissionOutcome); ok {
		older.Outcome = acp.NewSelectedPermissionOutcome(acp.PermissionOptionID(o.OptionID))
	} else {
		older.Outcome = &acp.RequestPermissionOutcomeCancelled{}
	}
	return result.UnmarshalJSON(older.AppendJSON(nil))
}

// cutOff reports whether err says that the connection has ended.
func (b *bridge) cutOff(err error) bool {
	var end, closed *rpc.ClosedError
	return errors.As(b.conn.Err(), &end) && errors.As(err, &closed) && errors.Is(closed, end.Cause)
}
