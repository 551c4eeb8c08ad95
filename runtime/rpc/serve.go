package rpc

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// Serve runs an agent of version 1 over t, usually transport.Stdio(), until the
// client hangs up, which is not an error, or ctx ends: the error is its cause then,
// usually context.Canceled, and no fault. Handlers that run then are ended as Conn.Close
// says. The function makes the agent from the client that it serves, which it must not call
// yet. Use Connect and Conn.Wait for an agent of another version, or of several.
func Serve(ctx context.Context, t transport.Transport, agent func(acp.Client) acp.AgentHandler, opts Options) error {
	return Connect(t, func(c *Conn) acp.Handler { return acp.AgentSide(agent(acp.Client{Conn: c})) }, opts).Wait(ctx)
}

// Wait returns when the connection has ended, and ends it when ctx does. The
// error is why: nil if the peer hung up or Close was called, the cause of ctx,
// or otherwise a *ClosedError. Handlers must not call it.
func (c *Conn) Wait(ctx context.Context) error {
	select {
	case <-c.done:
	case <-ctx.Done():
		return errors.Join(context.Cause(ctx), c.Close())
	}
	if c.cause == io.EOF || c.cause == ErrClosed {
		return nil
	}
	return c.Err()
}

// Agent is an initialized connection to an agent of version 1.
type Agent struct {
	*Conn
	acp.Agent
	// Initialized is what the agent answered: what it can do, and how users sign
	// in.
	Initialized *acp.InitializeResponse
}

// Open makes a connection to the agent behind t, with h to answer its requests,
// and initializes it. A nil request announces nothing; its protocol version is
// set by Open. When the agent speaks no version 1 the error is a *VersionError.
// Open closes t when it fails. Use ClientVersions for other versions.
//
// See https://agentclientprotocol.com/protocol/initialization.
func Open(ctx context.Context, t transport.Transport, h acp.ClientHandler, request *acp.InitializeRequest, opts Options) (*Agent, error) {
	conn := NewConn(t, acp.ClientSide(h), opts)
	a := &Agent{Conn: conn, Agent: acp.Agent{Conn: conn}}
	r := *cmp.Or(request, new(acp.InitializeRequest))
	r.ProtocolVersion = acp.ProtocolVersionNumber
	var err error
	if a.Initialized, err = a.Initialize(ctx, &r); err != nil {
		var refused *acp.Error
		if errors.As(err, &refused) && refused.Code == acp.ErrorCodeUnsupportedProtocolVersion {
			err = &VersionError{Offered: []int{1}, Agent: supported(refused), Err: err}
		}
	} else if v := a.Initialized.ProtocolVersion; v != r.ProtocolVersion {
		err = &VersionError{Offered: []int{1}, Agent: []int{int(v)}}
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return a, nil
}
