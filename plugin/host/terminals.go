package host

import (
	"context"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/files"
	"github.com/hermes-nvim/hermes/runtime/services"
	"github.com/hermes-nvim/hermes/runtime/terminal"
)

// newServices makes what serves the agent's requests when Neovim leaves them to
// the host.
func (c *connection) newServices() *services.Services {
	return services.New(services.Options{
		Agent:          c.name,
		Files:          files.Options{KeepFormat: true, AllowHardLinks: c.host.permissions().HardLinks},
		PermitFile:     c.permitFile,
		MissingIsEmpty: c.cmd.Quirks.MissingFile == setup.MissingEmpty,
		ApproveCommand: func(ctx context.Context, id acp.SessionID, cmd *terminal.Command) error {
			s, err := c.session(id)
			if err != nil {
				return err
			}
			return s.approveCommand(ctx, cmd)
		},
		Terminal:      terminal.Options{Wrapper: c.cmd.Box.Wrapper(), Keeper: c.host.keeper},
		TerminalStart: c.terminalStarted,
		TerminalData:  c.terminalData,
		TerminalExit:  c.terminalExited,
	})
}

// openRoots lets the services serve the session below its folders, on first use.
func (s *session) openRoots() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.opened {
		s.opened, s.openErr = true, s.conn.services.OpenSession(s.id, s.roots)
	}
	return s.openErr
}

func (c *connection) terminalStarted(session acp.SessionID, id acp.TerminalID, cmd *terminal.Command) {
	c.host.Push(c.terminal(session, id).Str("command", cmd.String()).Str("cwd", cmd.Dir).Item(events.TerminalStarted))
}

func (c *connection) terminalData(session acp.SessionID, id acp.TerminalID, text string, skipped int) {
	if c.host.Room(c.ctx) != nil {
		return
	}
	o := c.terminal(session, id).Str("chunk", text)
	if skipped > 0 {
		o.Num("skipped", int64(skipped))
	}
	c.host.Push(o.Item(events.TerminalData))
}

func (c *connection) terminalExited(session acp.SessionID, id acp.TerminalID, status terminal.Status) {
	o := c.terminal(session, id)
	if status.Signal != "" {
		o.Str("signal", status.Signal)
	} else {
		o.Num("exitCode", int64(status.Code))
	}
	c.host.Push(o.Item(events.TerminalExited))
	if s, err := c.session(session); err == nil {
		s.commandOver()
	}
}

func (c *connection) terminal(session acp.SessionID, id acp.TerminalID) *wire.Object {
	return new(wire.Object).Str("agent", c.name).Str("sessionId", string(session)).Str("terminalId", string(id))
}

// inTerminals asks Neovim first and else has the services answer.
func inTerminals[T any, P message[T], Q acp.Appender](ctx context.Context, k *client, method string, id acp.SessionID, params Q, serve func(context.Context, Q) (P, error)) (P, error) {
	if k.conn.runAccess() == setup.RunNever {
		return nil, acp.MethodNotFound(method)
	}
	return answered(ctx, k, k.question(method, id, params), func(ctx context.Context) (P, error) {
		s, err := k.conn.session(id)
		if err != nil {
			return nil, invalidSession(method, err)
		}
		if err := s.openRoots(); err != nil {
			return nil, invalidSession(method, err)
		}
		return serve(ctx, params)
	})
}

func invalidSession(method string, err error) error {
	return &acp.Error{Code: acp.ErrorCodeInvalidParams, Message: method + ": " + err.Error()}
}

// CreateTerminal runs a command.
func (k *client) CreateTerminal(ctx context.Context, p *acp.CreateTerminalRequest) (*acp.CreateTerminalResponse, error) {
	return inTerminals(ctx, k, acp.MethodTerminalCreate, p.SessionID, p, k.conn.services.CreateTerminal)
}

// TerminalOutput answers with what a command has printed.
func (k *client) TerminalOutput(ctx context.Context, p *acp.TerminalOutputRequest) (*acp.TerminalOutputResponse, error) {
	return inTerminals(ctx, k, acp.MethodTerminalOutput, p.SessionID, p, k.conn.services.TerminalOutput)
}

// WaitForTerminalExit answers when the command has ended.
func (k *client) WaitForTerminalExit(ctx context.Context, p *acp.WaitForTerminalExitRequest) (*acp.WaitForTerminalExitResponse, error) {
	return inTerminals(ctx, k, acp.MethodTerminalWaitForExit, p.SessionID, p, k.conn.services.WaitForTerminalExit)
}

// KillTerminal ends the command and keeps its output.
func (k *client) KillTerminal(ctx context.Context, p *acp.KillTerminalRequest) (*acp.KillTerminalResponse, error) {
	return inTerminals(ctx, k, acp.MethodTerminalKill, p.SessionID, p, k.conn.services.KillTerminal)
}

// ReleaseTerminal ends the command and forgets it.
func (k *client) ReleaseTerminal(ctx context.Context, p *acp.ReleaseTerminalRequest) (*acp.ReleaseTerminalResponse, error) {
	return inTerminals(ctx, k, acp.MethodTerminalRelease, p.SessionID, p, k.conn.services.ReleaseTerminal)
}

type killOp struct {
	Agent    string         `json:"agent"`
	Session  acp.SessionID  `json:"sessionId"`
	Terminal acp.TerminalID `json:"terminalId"`
}

// kill ends a command for the user, as terminal/kill does for the agent.
func (h *Host) kill(id string, p killOp) error {
	s, err := h.session(p.Agent, p.Session)
	if err != nil {
		return err
	}
	h.Start(func() {
		_, err := s.conn.services.KillTerminal(s.conn.ctx, &acp.KillTerminalRequest{SessionID: p.Session, TerminalID: p.Terminal})
		if err != nil {
			h.Fail(id, wire.Invalid("Hermes runs no command in terminal %q; the agent may have ended it, or runs it itself and ends it with the turn", p.Terminal))
			return
		}
		h.Done(id, nil)
	})
	return nil
}
