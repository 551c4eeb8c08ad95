package serve

import (
	"context"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/setup"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/runtime/terminal"
)

func (k *Client) terminalStarted(session acp.SessionID, id acp.TerminalID, cmd *terminal.Command) {
	k.Editor.Push(k.terminal(session, id).Str("command", cmd.String()).Str("cwd", cmd.Dir).Item(events.TerminalStarted))
}

func (k *Client) terminalData(session acp.SessionID, id acp.TerminalID, text string, skipped int) {
	if k.Editor.Room(k.Context) != nil {
		return
	}
	o := k.terminal(session, id).Str("chunk", text)
	if skipped > 0 {
		o.Num("skipped", int64(skipped))
	}
	k.Editor.Push(o.Item(events.TerminalData))
}

func (k *Client) terminalExited(session acp.SessionID, id acp.TerminalID, status terminal.Status) {
	o := k.terminal(session, id)
	if status.Signal != "" {
		o.Str("signal", status.Signal)
	} else {
		o.Num("exitCode", int64(status.Code))
	}
	k.Editor.Push(o.Item(events.TerminalExited))
	if s, err := k.Session(session); err == nil {
		s.commandOver()
	}
}

func (k *Client) terminal(session acp.SessionID, id acp.TerminalID) *wire.Object {
	return new(wire.Object).Str("agent", k.Agent).Str("sessionId", string(session)).Str("terminalId", string(id))
}

// inTerminals asks Neovim first and else has the services answer.
func inTerminals[T any, P message[T], Q acp.Appender](ctx context.Context, k *Client, method string, id acp.SessionID, params Q, serve func(context.Context, Q) (P, error)) (P, error) {
	if k.RunAccess() == setup.RunNever {
		return nil, acp.MethodNotFound(method)
	}
	return answered(ctx, k, k.question(method, id, params), func(ctx context.Context) (P, error) {
		s, err := k.Session(id)
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
func (k *Client) CreateTerminal(ctx context.Context, p *acp.CreateTerminalRequest) (*acp.CreateTerminalResponse, error) {
	return inTerminals(ctx, k, acp.MethodTerminalCreate, p.SessionID, p, k.services.CreateTerminal)
}

// TerminalOutput answers with what a command has printed.
func (k *Client) TerminalOutput(ctx context.Context, p *acp.TerminalOutputRequest) (*acp.TerminalOutputResponse, error) {
	return inTerminals(ctx, k, acp.MethodTerminalOutput, p.SessionID, p, k.services.TerminalOutput)
}

// WaitForTerminalExit answers when the command has ended.
func (k *Client) WaitForTerminalExit(ctx context.Context, p *acp.WaitForTerminalExitRequest) (*acp.WaitForTerminalExitResponse, error) {
	return inTerminals(ctx, k, acp.MethodTerminalWaitForExit, p.SessionID, p, k.services.WaitForTerminalExit)
}

// KillTerminal ends the command and keeps its output.
func (k *Client) KillTerminal(ctx context.Context, p *acp.KillTerminalRequest) (*acp.KillTerminalResponse, error) {
	return inTerminals(ctx, k, acp.MethodTerminalKill, p.SessionID, p, k.services.KillTerminal)
}

// ReleaseTerminal ends the command and forgets it.
func (k *Client) ReleaseTerminal(ctx context.Context, p *acp.ReleaseTerminalRequest) (*acp.ReleaseTerminalResponse, error) {
	return inTerminals(ctx, k, acp.MethodTerminalRelease, p.SessionID, p, k.services.ReleaseTerminal)
}

// Kill ends a command for the user, as terminal/kill does for the agent.
func (s *Session) Kill(id acp.TerminalID) error {
	_, err := s.client.services.KillTerminal(s.client.Context, &acp.KillTerminalRequest{SessionID: s.ID(), TerminalID: id})
	if err != nil {
		return wire.Invalid("Hermes runs no command in terminal %q; the agent may have ended it, or runs it itself and ends it with the turn", id)
	}
	return nil
}
