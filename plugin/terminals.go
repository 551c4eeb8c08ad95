package plugin

import (
	"context"
	"errors"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/terminal"
)

// terminals returns what runs the session's commands, made on first use.
func (s *session) terminals() (*terminal.Manager, error) {
	ws, err := s.workspace()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.terms == nil {
		s.terms = terminal.New(terminal.Options{
			Workspace: ws,
			Approve:   s.approveCommand,
			OnData:    s.terminalData,
			OnExit:    s.terminalExited,
		})
		// Together with the agent, not after it: Neovim may be gone, and then
		// there is little time.
		terms := s.terms
		context.AfterFunc(s.conn.ctx, func() { terms.Close() })
	}
	return s.terms, nil
}

func (s *session) terminalData(id acp.TerminalID, text string, skipped int) {
	h := s.conn.host
	if h.queue.room(s.conn.ctx) != nil {
		return
	}
	o := s.terminal(id).str("chunk", text)
	if skipped > 0 {
		o.num("skipped", int64(skipped))
	}
	h.queue.push(event(eventTerminalData, o.json()))
}

func (s *session) terminalExited(id acp.TerminalID, status terminal.Status) {
	o := s.terminal(id)
	if status.Signal != "" {
		o.str("signal", status.Signal)
	} else {
		o.num("exitCode", int64(status.Code))
	}
	s.conn.host.queue.push(event(eventTerminalExited, o.json()))
}

func (s *session) terminal(id acp.TerminalID) *object {
	return new(object).str("agent", s.conn.name).str("sessionId", string(s.id)).str("terminalId", string(id))
}

// inTerminals asks Neovim first and else does f with the session's terminals.
func inTerminals[T any, P message[T]](ctx context.Context, k *client, method string, id acp.SessionID, params acp.Appender, f func(context.Context, *terminal.Manager) (P, error)) (P, error) {
	if k.conn.host.permissions().Terminal.off {
		return nil, acp.MethodNotFound(method)
	}
	return answered(ctx, k, k.question(method, id, params), func(ctx context.Context) (P, error) {
		s, err := k.conn.session(id)
		if err != nil {
			return nil, terminalError(method, err)
		}
		m, err := s.terminals()
		if err != nil {
			return nil, terminalError(method, err)
		}
		r, err := f(ctx, m)
		if err != nil {
			return nil, terminalError(method, err)
		}
		return r, nil
	})
}

// CreateTerminal runs a command.
func (k *client) CreateTerminal(ctx context.Context, p *acp.CreateTerminalRequest) (*acp.CreateTerminalResponse, error) {
	return inTerminals(ctx, k, acp.MethodTerminalCreate, p.SessionID, p, func(ctx context.Context, m *terminal.Manager) (*acp.CreateTerminalResponse, error) {
		id, err := m.Create(ctx, terminal.Request{
			Command: p.Command, Args: p.Args, Env: p.Env, Dir: p.Cwd.Or(""), OutputLimit: p.OutputByteLimit,
		})
		return &acp.CreateTerminalResponse{TerminalID: id}, err
	})
}

// TerminalOutput answers with what a command has printed.
func (k *client) TerminalOutput(ctx context.Context, p *acp.TerminalOutputRequest) (*acp.TerminalOutputResponse, error) {
	return inTerminals(ctx, k, acp.MethodTerminalOutput, p.SessionID, p, func(_ context.Context, m *terminal.Manager) (*acp.TerminalOutputResponse, error) {
		text, truncated, status, err := m.Output(p.TerminalID)
		r := &acp.TerminalOutputResponse{Output: text, Truncated: truncated}
		if status != nil {
			r.ExitStatus = &acp.TerminalExitStatus{}
			r.ExitStatus.ExitCode, r.ExitStatus.Signal = exitOfCommand(*status)
		}
		return r, err
	})
}

// WaitForTerminalExit answers when the command has ended.
func (k *client) WaitForTerminalExit(ctx context.Context, p *acp.WaitForTerminalExitRequest) (*acp.WaitForTerminalExitResponse, error) {
	return inTerminals(ctx, k, acp.MethodTerminalWaitForExit, p.SessionID, p, func(ctx context.Context, m *terminal.Manager) (*acp.WaitForTerminalExitResponse, error) {
		status, err := m.Wait(ctx, p.TerminalID)
		r := &acp.WaitForTerminalExitResponse{}
		r.ExitCode, r.Signal = exitOfCommand(status)
		return r, err
	})
}

// KillTerminal ends the command and keeps its output.
func (k *client) KillTerminal(ctx context.Context, p *acp.KillTerminalRequest) (*acp.KillTerminalResponse, error) {
	return inTerminals(ctx, k, acp.MethodTerminalKill, p.SessionID, p, func(ctx context.Context, m *terminal.Manager) (*acp.KillTerminalResponse, error) {
		return &acp.KillTerminalResponse{}, m.Kill(ctx, p.TerminalID)
	})
}

// ReleaseTerminal ends the command and forgets it.
func (k *client) ReleaseTerminal(ctx context.Context, p *acp.ReleaseTerminalRequest) (*acp.ReleaseTerminalResponse, error) {
	return inTerminals(ctx, k, acp.MethodTerminalRelease, p.SessionID, p, func(_ context.Context, m *terminal.Manager) (*acp.ReleaseTerminalResponse, error) {
		return &acp.ReleaseTerminalResponse{}, m.Release(p.TerminalID)
	})
}

func exitOfCommand(s terminal.Status) (code acp.Opt[uint32], signal acp.Opt[string]) {
	if s.Signal != "" {
		return code, acp.Some(s.Signal)
	}
	return acp.Some(uint32(s.Code)), signal
}

func terminalError(method string, err error) error {
	code := acp.ErrorCodeInternalError
	if errors.Is(err, terminal.ErrUnknown) || errors.Is(err, terminal.ErrCommand) || errors.Is(err, terminal.ErrEnv) {
		code = acp.ErrorCodeInvalidParams
	}
	return &acp.Error{Code: code, Message: method + ": " + err.Error()}
}
