package agents

import (
	"context"
	"errors"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/steering"
	"github.com/hermes-nvim/hermes/plugin/announced"
	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/turns"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// call sends a request to the agent.
func (c *connection) call(ctx context.Context, method string, params acp.Appender, raw *acp.Raw) error {
	return c.failure(method, c.wire.Call(ctx, method, params, raw))
}

// failure returns the error of a request to the agent. It names the agent's end
// when that is the reason.
func (c *connection) failure(method string, err error) error {
	var answered *acp.Error
	if err == nil || errors.As(err, &answered) {
		return c.needsLogin(err)
	}
	if why := c.Left(); why != nil {
		return why
	}
	if why := c.Why(); why != nil {
		return &turns.BrokenError{Method: method, Cause: why}
	}
	var closed *rpc.ClosedError
	if errors.As(err, &closed) && !errors.Is(err, rpc.ErrClosed) {
		return &turns.BrokenError{Method: method, Cause: cause(err)}
	}
	return err
}

// announced is what the agent says it can do, nil when that does not matter.
func (c *connection) announced(force bool) *announced.Agent {
	if force || setup.Is(c.cmd.Quirks.Unannounced) {
		return nil
	}
	_, answer := c.wire.Agent()
	init, ok := answer.(*acp.InitializeResponse)
	if !ok {
		return nil
	}
	can := init.AgentCapabilities
	if can == nil {
		can = new(acp.AgentCapabilities)
	}
	return &announced.Agent{AgentCapabilities: can, Name: c.name, Here: !c.cmd.RunsElsewhere(), Notice: c.agents.Notice}
}

// needsLogin adds the ways out to an error that asks for a login.
func (c *connection) needsLogin(err error) error {
	return announced.NeedsLogin(err, c.name, &c.cmd, c.said())
}

// said returns the agent's answer to initialize, as JSON.
func (c *connection) said() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.init
}

func badAnswer(method string, err error) error {
	return &wire.Error{Kind: wire.ErrorAgent, Message: method + ": the agent's answer is not valid", Cause: err}
}

// The methods that the turns of a session need.

// Name is the name of the agent.
func (c *connection) Name() string { return c.name }

// Context ends with the connection.
func (c *connection) Context() context.Context { return c.ctx }

// Timeouts are the timeouts of the configuration.
func (c *connection) Timeouts() *setup.Timeouts { return &c.agents.Config().Timeouts }

// Fit makes a prompt one that the agent takes.
func (c *connection) Fit(t *turns.Turn) error {
	if a := c.announced(t.Force); a != nil {
		return a.FitPrompt(t)
	}
	return nil
}

// Prompt sends a prompt and waits for the answer.
func (c *connection) Prompt(p *acp.PromptRequest, sent func()) (*acp.PromptResponse, error) {
	var raw acp.Raw
	call, err := c.wire.Start(c.ctx, acp.MethodSessionPrompt, p)
	if err == nil {
		sent()
		err = call.Wait(c.ctx, &raw)
	}
	if err := c.failure(acp.MethodSessionPrompt, err); err != nil {
		return nil, err
	}
	r := new(acp.PromptResponse)
	if err := r.UnmarshalJSON(raw); err != nil {
		return nil, badAnswer(acp.MethodSessionPrompt, err)
	}
	return r, nil
}

// Steers reports whether the agent takes messages into a turn that runs.
func (c *connection) Steers() bool {
	_, answer := c.wire.Agent()
	init, ok := answer.(*acp.InitializeResponse)
	return ok && steering.Announced(init)
}

// Steer sends a message into the turn that runs and waits for the answer.
func (c *connection) Steer(ctx context.Context, p *acp.PromptRequest) (steering.Result, error) {
	var raw acp.Raw
	failed := c.wire.Call(ctx, steering.Method, steering.Request{PromptRequest: p}, &raw)
	result, err := steering.Read(raw, failed)
	switch {
	case err == nil:
		return result, nil
	case failed == nil:
		return result, &wire.Error{Kind: wire.ErrorAgent, Message: err.Error()}
	}
	return result, c.failure(steering.Method, failed)
}

// Cancel sends a cancel. It does not wait for a connection: a turn ends with the one that breaks,
// and the next one is made after that.
func (c *connection) Cancel(id acp.SessionID) error {
	now, cancel := context.WithCancel(c.ctx)
	cancel()
	return c.wire.Notify(now, acp.MethodSessionCancel, &acp.CancelNotification{SessionID: id})
}
