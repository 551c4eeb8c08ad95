package host

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/redial"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// said passes a line on that is not part of the protocol.
func (c *connection) said(stream, line string) {
	if c.host.Room(c.ctx) == nil {
		c.host.Push(new(wire.Object).Str("agent", c.name).Str("stream", stream).Str("line", line).Item(events.AgentStderr))
	}
}

// fault tells the user what is wrong with an agent's messages; the first of a
// kind is shown, all are events.
func (c *connection) fault(f rpc.Fault) {
	line := strings.ToValidUTF8(string(f.Line), "\ufffd")
	switch f.Kind {
	case rpc.FaultNoise:
		c.said("stdout", line)
		return
	case rpc.FaultParse, rpc.FaultInvalid, rpc.FaultTooLarge:
	default:
		return // the log has it
	}
	if c.left() != nil {
		return // the agent was stopped inside a message
	}
	c.mu.Lock()
	first := c.faults[f.Kind] == 0
	c.faults[f.Kind]++
	c.mu.Unlock()
	message := fmt.Sprintf("agent %q sent a bad message: %v", c.name, f.Err)
	if first {
		c.host.Notice("error", "%s", message)
	}
	if c.host.Room(c.ctx) == nil {
		c.host.Push(new(wire.Object).Str("agent", c.name).Str("kind", wire.ErrorWire.String()).
			Str("message", message).Item(events.RequestFailed))
	}
}

// cause is why the agent is gone if err says that, otherwise err.
func cause(err error) error {
	var restarts *launch.RestartError
	var gaveUp *redial.GaveUpError
	var closed *rpc.ClosedError
	switch {
	case errors.As(err, &restarts):
		return restarts
	case errors.As(err, &gaveUp):
		return gaveUp
	case !errors.As(err, &closed) || errors.Is(err, rpc.ErrClosed):
		return err
	case errors.Is(err, io.EOF):
		return &rpc.ClosedError{Cause: io.EOF}
	}
	return cause(closed.Cause) // the end of a client holds that of its connection
}

// stderr is what the agent has last said aside from the protocol.
func (c *connection) stderr() string {
	proc := c.proc.Load()
	if proc == nil {
		return ""
	}
	return strings.TrimSpace(proc.Stderr())
}

// hint is what the agent has last said aside from the protocol, nil for
// nothing.
func (c *connection) hint() error {
	proc := c.proc.Load()
	if proc == nil || proc.Said() == "" {
		return nil
	}
	return errors.New(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '\ufffd'
		}
		return r
	}, proc.Said()))
}

func exitOf(err error) *launch.ExitError {
	var exit *launch.ExitError
	if errors.As(err, &exit) {
		return exit
	}
	return nil
}

// disconnected is the data of the event.
func (c *connection) disconnected(err error) *wire.Object {
	o := new(wire.Object).Str("agent", c.name).Str("reason", err.Error())
	if exit := exitOf(err); exit != nil {
		if exit.Signal != "" {
			o.Str("signal", exit.Signal)
		} else {
			o.Num("code", int64(exit.Code))
		}
	}
	tail := c.stderr()
	if tail == "" {
		return o.Strs("stderr_tail", nil)
	}
	return o.Strs("stderr_tail", strings.Split(tail, "\n"))
}
