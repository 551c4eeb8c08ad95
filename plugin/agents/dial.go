package agents

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/redial"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/pathmap"
)

// dial starts or reaches the agent and initializes it. The connection is made
// again when it breaks, if the user wants that.
func (c *connection) dial(ctx context.Context) (*redial.Client, error) {
	log := c.agents.Log.With("agent", c.name)
	opts := redial.Options{
		Versions: []rpc.ClientVersion{{
			Protocol: acp.V1, Params: c.initialize(), Handler: c.client.Handler(c),
		}},
		Conn: rpc.Options{
			// Messages that wait here wait for Neovim, behind the queue.
			Limits:  rpc.Limits{Messages: 2000, Bytes: 8 << 20, NewSession: c.agents.Config().Timeouts.NewSession.Or(time.Minute)},
			OnFault: func(f rpc.Fault) { f.Log(log); c.faults.Note(f) },
			Tap:     c.tap.Message,
		},
		OnEvent: c.redialled,
	}
	paths, err := c.cmd.PathRules()
	if err != nil {
		return nil, err
	}
	dial := c.reach
	if !c.cmd.IsRemote() {
		dial = c.launcher()
		// The supervisor makes the pauses, and allows fewer restarts than there are attempts.
		opts.Pause, opts.LongestPause = time.Millisecond, time.Millisecond
	}
	opts.Dial = func(ctx context.Context) (transport.Transport, error) {
		t, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		c.tap.Connected()
		return pathmap.Wrap(t, paths...), nil
	}
	if !c.agents.Config().Reconnects(c.cmd) {
		opts.Attempts = -1
	}
	return redial.Connect(ctx, opts)
}

// launcher returns what starts the agent's program, again when it has ended.
func (c *connection) launcher() func(context.Context) (transport.Transport, error) {
	cmd := c.cmd.Process()
	cmd.Wrapper, cmd.Keeper = slices.Concat(c.cmd.Shims, c.cmd.Box.Wrapper()), c.agents.Keeper
	cmd.OnStderr = func(line string) { c.faults.Said("stderr", line) }
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
// comes first, because screens are narrow. Where a missing program was searched
// is in the log alone.
func (c *connection) notStarted(err error) error {
	if !errors.Is(err, exec.ErrNotFound) {
		return &wire.Error{Kind: wire.ErrorStart, Message: fmt.Sprintf("agent %q", c.name), Cause: err}
	}
	c.agents.Log.Warn("agent not started", "agent", c.name, "error", err)
	e := &wire.Error{Kind: wire.ErrorStart}
	switch c.cmd.Install {
	case "":
		e.Message = fmt.Sprintf("%s is not installed (agent %q)", c.cmd.Command, c.name)
	default:
		e.Message = fmt.Sprintf("%s is not installed: %s (agent %q)", c.cmd.Command, c.cmd.Install, c.name)
	}
	return e
}

// reach connects to an agent that runs elsewhere.
func (c *connection) reach(ctx context.Context) (transport.Transport, error) {
	t, err := c.cmd.Remote.Dial(ctx)
	if err != nil {
		return nil, &wire.Error{Kind: wire.ErrorStart, Message: fmt.Sprintf("agent %q cannot be reached", c.name), Cause: err}
	}
	c.on(connectionReached, nil)
	return t, nil
}
