package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
	"unicode"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/redial"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/pathmap"
)

// politeWait is how long an agent has to end after its input has, and after
// TERM. Neovim kills the host two seconds after it has told it to stop. Where
// there are no keepers, agents that heed neither must be gone by then, because
// nobody would be there to kill them.
const politeWait = 600 * time.Millisecond

// dial starts or reaches the agent and initializes it. The connection is made
// again when it breaks, if the user wants that.
func (c *connection) dial(ctx context.Context) (*redial.Client, error) {
	opts := redial.Options{
		Versions: []rpc.ClientVersion{{
			Protocol: acp.V1, Params: c.initialize(), Handler: handler{acp.ClientSide(&client{conn: c}), c},
		}},
		Conn: rpc.Options{
			// What waits here waits for Neovim, behind the queue.
			Limits:  rpc.Limits{Messages: 2000, Bytes: 8 << 20, NewSession: c.host.timeouts().newSession()},
			Logger:  c.host.log.With("agent", c.name),
			OnFault: c.fault,
			Tap:     c.tap,
		},
		OnEvent: c.redialled,
	}
	paths, err := c.cmd.pathRules()
	if err != nil {
		return nil, err
	}
	dial := c.reach
	if !c.cmd.isRemote() {
		dial = c.launcher()
		// The supervisor makes the pauses, and allows fewer restarts than there are attempts.
		opts.Pause, opts.LongestPause = time.Millisecond, time.Millisecond
	}
	opts.Dial = func(ctx context.Context) (transport.Transport, error) {
		t, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		return pathmap.Wrap(t, paths...), nil
	}
	if !c.host.reconnects(c.cmd) {
		opts.Attempts = -1
	}
	return redial.Connect(ctx, opts)
}

// launcher returns what starts the agent's program, again when it has ended.
func (c *connection) launcher() func(context.Context) (transport.Transport, error) {
	cmd := c.cmd.process()
	cmd.Keeper = c.host.keeper
	cmd.OnStderr = func(line string) { c.said("stderr", line) }
	supervisor := launch.Supervise(cmd, launch.Restarts{})
	return func(context.Context) (transport.Transport, error) {
		proc, err := supervisor.Start(c.ctx) // for as long as the connection is wanted
		if again := (*launch.RestartError)(nil); errors.As(err, &again) {
			return nil, err
		} else if err != nil {
			return nil, c.notStarted(err)
		}
		c.proc.Store(proc)
		c.on(connectionReached, nil)
		return proc.Transport(), nil
	}
}

// notStarted is why the agent's program did not start: what there is to do
// comes first, because screens are narrow.
func (c *connection) notStarted(err error) error {
	e := &opError{Kind: errorStart, Cause: err}
	switch {
	case !errors.Is(err, exec.ErrNotFound):
		e.Message = fmt.Sprintf("agent %q", c.name)
	case c.cmd.Install == "":
		e.Message = fmt.Sprintf("%s is not installed (agent %q)", c.cmd.Command, c.name)
	default:
		e.Message = fmt.Sprintf("%s is not installed: %s (agent %q)", c.cmd.Command, c.cmd.Install, c.name)
	}
	return e
}

// said passes a line on that is not part of the protocol.
func (c *connection) said(stream, line string) {
	if c.host.queue.room(c.ctx) == nil {
		c.host.queue.push(event(eventAgentStderr, new(object).str("agent", c.name).str("stream", stream).str("line", line)))
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
		c.host.notice("error", "%s", message)
	}
	if c.host.queue.room(c.ctx) == nil {
		c.host.queue.push(event(eventRequestFailed, new(object).str("agent", c.name).str("kind", errorWire.String()).
			str("message", message)))
	}
}

// tap shows every message while somebody listens to the traffic.
func (c *connection) tap(d rpc.Direction, msg []byte) {
	seq := c.tapped.Add(1)
	if !c.host.traffic.Load() || c.host.queue.room(c.ctx) != nil {
		return
	}
	shown := msg[:min(len(msg), maxCost)]
	o := new(object).str("agent", c.name).str("direction", d.String()).num("seq", seq).
		str("time", time.Now().UTC().Format(time.RFC3339Nano)).str("message", string(shown))
	o.lost.bytes = len(msg) - len(shown)
	c.host.queue.push(event(eventTrafficMessage, o))
}

// cause is why the agent is gone when that is what err says, else err.
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
func (c *connection) disconnected(err error) *object {
	o := new(object).str("agent", c.name).str("reason", err.Error())
	if exit := exitOf(err); exit != nil {
		if exit.Signal != "" {
			o.str("signal", exit.Signal)
		} else {
			o.num("code", int64(exit.Code))
		}
	}
	tail := c.stderr()
	if tail == "" {
		return o.strs("stderr_tail", nil)
	}
	return o.strs("stderr_tail", strings.Split(tail, "\n"))
}
