package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime"
	"github.com/hermes-nvim/hermes/runtime/agent"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// politeWait is how long an agent has to end after its input has, and after
// TERM. Neovim kills the host two seconds after it left; by then agents that
// heed neither must be gone, because nobody would be there to kill them.
const politeWait = 600 * time.Millisecond

// link is the way to a running agent.
type link struct {
	conn *runtime.Conn
	proc *agent.Process // nil when the agent runs elsewhere
}

// dial starts or reaches the agent and makes a connection with it.
func (c *connection) dial() (*link, error) {
	var proc *agent.Process
	var way transport.Transport
	var err error
	if c.cmd.isRemote() {
		way, err = c.reach()
	} else if proc, err = c.launch(); err == nil {
		way = proc.Transport()
	}
	if err != nil {
		return nil, err
	}
	conn := runtime.NewConn(way, handler{acp.ClientSide(&client{conn: c}), c}, runtime.Options{
		// What waits here waits for Neovim, behind the queue.
		Limits:  runtime.Limits{Messages: 2000, Bytes: 8 << 20, NewSession: c.host.timeouts().newSession()},
		Logger:  c.host.log.With("agent", c.name),
		OnFault: c.fault,
		Tap:     c.tap,
	})
	return &link{conn, proc}, nil
}

// launch starts the agent's program.
func (c *connection) launch() (*agent.Process, error) {
	cmd := c.cmd
	env := make([]string, 0, len(cmd.Env))
	for _, name := range slices.Sorted(maps.Keys(cmd.Env)) {
		env = append(env, name+"="+cmd.Env[name])
	}
	proc, err := agent.Start(c.ctx, agent.Command{
		Path:       cmd.Command,
		Args:       cmd.Args,
		Dir:        cmd.Cwd,
		Env:        env,
		PassEnv:    cmd.PassEnv,
		InheritEnv: cmd.InheritEnv,
		OnStderr:   func(line string) { c.said("stderr", line) },
		EOFWait:    politeWait, TermWait: politeWait, KillWait: time.Second,
	})
	if err != nil {
		e := &opError{Kind: "start", Message: fmt.Sprintf("agent %q cannot be started", c.name), Cause: err}
		if cmd.Install != "" {
			e.Cause = fmt.Errorf("%w (to install it: %s)", err, cmd.Install)
		}
		return nil, e
	}
	return proc, nil
}

// said passes a line on that is not part of the protocol.
func (c *connection) said(stream, line string) {
	if c.host.queue.room(c.ctx) == nil {
		c.host.queue.push(event(eventAgentStderr, new(object).str("agent", c.name).str("stream", stream).str("line", line).json()))
	}
}

// fault tells the user what is wrong with an agent's messages; the first of a
// kind is shown, all are events.
func (c *connection) fault(f runtime.Fault) {
	line := strings.ToValidUTF8(string(f.Line), "\ufffd")
	switch f.Kind {
	case runtime.FaultNoise:
		c.said("stdout", line)
		return
	case runtime.FaultParse, runtime.FaultInvalid, runtime.FaultTooLarge:
	default:
		return // the log has it
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
		c.host.queue.push(event(eventRequestFailed, new(object).str("agent", c.name).str("kind", "wire").
			str("message", message).json()))
	}
}

// tap sees every message: it notes when a prompt is on the wire, and shows the
// traffic while somebody listens to it.
func (c *connection) tap(d runtime.Direction, msg []byte) {
	seq := c.tapped.Add(1)
	if d == runtime.Outbound && bytes.Contains(msg[:min(len(msg), 64)], []byte(acp.MethodSessionPrompt)) {
		var m struct{ Params requestFields }
		if json.Unmarshal(msg, &m) == nil {
			if s, err := c.session(m.Params.SessionID); err == nil {
				s.wrote()
			}
		}
	}
	if !c.host.traffic.Load() || c.host.queue.room(c.ctx) != nil {
		return
	}
	o := new(object).str("agent", c.name).str("direction", d.String()).num("seq", seq).
		str("time", time.Now().UTC().Format(time.RFC3339Nano)).str("message", string(msg))
	c.host.queue.push(event(eventTrafficMessage, o.json()))
}

// cause is why the agent is gone when it is, else err.
func (l *link) cause(err error) error {
	if gone := l.conn.Err(); gone != nil && !errors.Is(gone, runtime.ErrClosed) {
		var closed *runtime.ClosedError
		if errors.As(gone, &closed) && closed.Cause != io.EOF {
			return closed.Cause
		}
		return gone
	}
	return err
}

// stderr is what the agent has last said aside from the protocol.
func (l *link) stderr() string {
	if l.proc == nil {
		return ""
	}
	return strings.TrimSpace(l.proc.Stderr())
}

// hint is what the agent has said aside from the protocol, nil for nothing.
func (l *link) hint() error {
	lines := strings.Split(l.stderr(), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return errors.New("stderr: " + last)
	}
	return nil
}

func exitOf(err error) *agent.ExitError {
	var exit *agent.ExitError
	if errors.As(err, &exit) {
		return exit
	}
	return nil
}

// disconnected is the data of the event.
func (c *connection) disconnected(err error) []byte {
	o := new(object).str("agent", c.name).str("reason", err.Error())
	if exit := exitOf(err); exit != nil {
		if exit.Signal != "" {
			o.str("signal", exit.Signal)
		} else {
			o.num("code", int64(exit.Code))
		}
	}
	tail := c.link.stderr()
	if tail == "" {
		return o.strs("stderr_tail", nil).json()
	}
	return o.strs("stderr_tail", strings.Split(tail, "\n")).json()
}
