package services

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/files"
	"github.com/hermes-nvim/hermes/runtime/permission"
	"github.com/hermes-nvim/hermes/runtime/terminal"
)

const (
	opRead  = "fs/read_text_file"
	opWrite = "fs/write_text_file"
)

// ReadTextFile serves a file inside the session roots, or the text of the buffer
// it is open in.
func (s *Services) ReadTextFile(ctx context.Context, p *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	text, err := s.read(ctx, p)
	if s.opts.MissingIsEmpty && errors.Is(err, fs.ErrNotExist) {
		text, err = "", nil
	}
	if err != nil {
		return nil, answer(opRead, err)
	}
	return &acp.ReadTextFileResponse{Content: text}, nil
}

func (s *Services) read(ctx context.Context, p *acp.ReadTextFileRequest) (string, error) {
	r, err := s.room(p.SessionID)
	if err != nil {
		return "", err
	}
	lines := files.Range{Line: p.Line, Limit: p.Limit}
	loc, err := r.files.Resolve(p.Path)
	if s.opts.ReadBuffer != nil {
		if err == nil {
			err = s.permit(p.SessionID, p.Path, loc, false)
		}
		if err != nil {
			return "", because(opRead, p.Path, err)
		}
		text, open, err := s.opts.ReadBuffer(ctx, p.SessionID, loc)
		if open && err == nil {
			s.Shown(p.SessionID, loc.Real, text, lines)
		}
		if open || err != nil {
			return lines.Of(text), err
		}
	}
	text, readErr := r.files.ReadText(p.Path, files.Range{})
	if err == nil && (readErr == nil || errors.Is(readErr, fs.ErrNotExist)) {
		s.Shown(p.SessionID, loc.Real, text, lines)
	}
	return lines.Of(text), readErr
}

// because names the request that a check refused, in place of the check.
func because(op, path string, err error) error {
	if e, ok := err.(*files.Error); ok {
		err = e.Err
	}
	return &files.Error{Op: op, Path: path, Err: err}
}

// WriteTextFile writes a file inside the session roots, or the buffer it is open
// in. Protected files need ApproveWrite.
func (s *Services) WriteTextFile(ctx context.Context, p *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	if err := s.write(ctx, p); err != nil {
		return nil, answer(opWrite, err)
	}
	return &acp.WriteTextFileResponse{}, nil
}

func (s *Services) write(ctx context.Context, p *acp.WriteTextFileRequest) error {
	r, err := s.room(p.SessionID)
	if err != nil {
		return err
	}
	loc, err := r.files.Resolve(p.Path)
	if err == nil {
		err = s.permit(p.SessionID, p.Path, loc, true)
	}
	if err != nil {
		return because(opWrite, p.Path, err)
	}
	approved := false
	if why := (*files.ProtectedError)(nil); errors.As(loc.Protected(), &why) {
		if why.Denied || s.opts.ApproveWrite == nil {
			return because(opWrite, p.Path, why)
		}
		if err := s.opts.ApproveWrite(ctx, p.SessionID, loc, why); err != nil {
			return because(opWrite, p.Path, fmt.Errorf("%w: %w", why, err))
		}
		approved = true
	}
	if s.opts.WriteBuffer != nil {
		done, err := s.opts.WriteBuffer(ctx, p.SessionID, loc, p.Content)
		if done && err == nil {
			s.Shown(p.SessionID, loc.Real, p.Content, files.Range{})
		}
		if done || err != nil {
			return err
		}
	}
	_, err = s.writeFile(r, p, loc, approved)
	return err
}

// WriteFile writes the file on disk at a place that the user has approved, and
// returns what the file then holds. What others have changed since the agent last
// read or wrote the file stays; see Rebase.
func (s *Services) WriteFile(p *acp.WriteTextFileRequest, at files.Location) (string, error) {
	r, err := s.room(p.SessionID)
	if err != nil {
		return "", err
	}
	return s.writeFile(r, p, at, true)
}

func (s *Services) writeFile(r *room, p *acp.WriteTextFileRequest, at files.Location, approved bool) (string, error) {
	content := p.Content
	var change files.Change
	if s.Knows(p.SessionID, at.Real) {
		change = func(old, fitted string) (string, error) {
			content = fitted
			return s.Rebase(p.SessionID, at.Real, old, fitted)
		}
	}
	written, err := r.files.Rewrite(at, approved, content, change)
	if err != nil {
		return "", err
	}
	if change == nil {
		content = written
	}
	s.Shown(p.SessionID, at.Real, content, files.Range{})
	return written, nil
}

// SessionUpdate adds the update to the state of its session.
func (s *Services) SessionUpdate(ctx context.Context, n *acp.SessionNotification) error {
	s.sessions.Apply(n)
	if s.opts.Updated != nil {
		return s.opts.Updated(ctx, n)
	}
	return nil
}

// CreateTerminal starts a command once ApproveCommand approves it.
func (s *Services) CreateTerminal(ctx context.Context, p *acp.CreateTerminalRequest) (*acp.CreateTerminalResponse, error) {
	m, err := s.terminals("terminal/create", p.SessionID)
	if err != nil {
		return nil, err
	}
	id, err := m.Create(ctx, commandOf(p))
	if err != nil {
		return nil, answer("terminal/create", err)
	}
	return &acp.CreateTerminalResponse{TerminalID: id}, nil
}

// Command works out what CreateTerminal would run for p, without asking anybody
// or running it, to compare it with what ApproveCommand gets to see.
func (s *Services) Command(ctx context.Context, p *acp.CreateTerminalRequest) (*terminal.Command, error) {
	m, err := s.terminals("terminal/create", p.SessionID)
	if err != nil {
		return nil, err
	}
	return m.Command(commandOf(p))
}

func commandOf(p *acp.CreateTerminalRequest) terminal.Request {
	return terminal.Request{
		Command: p.Command, Args: p.Args, Env: p.Env, Dir: p.Cwd.Or(""), OutputLimit: p.OutputByteLimit,
	}
}

// TerminalOutput returns the output kept and, once the command has ended, how.
func (s *Services) TerminalOutput(ctx context.Context, p *acp.TerminalOutputRequest) (*acp.TerminalOutputResponse, error) {
	m, err := s.terminals("terminal/output", p.SessionID)
	if err != nil {
		return nil, err
	}
	text, truncated, status, err := m.Output(p.TerminalID)
	if err != nil {
		return nil, answer("terminal/output", err)
	}
	resp := &acp.TerminalOutputResponse{Output: text, Truncated: truncated}
	if status != nil {
		code, signal := exit(*status)
		resp.ExitStatus = &acp.TerminalExitStatus{ExitCode: code, Signal: signal}
	}
	return resp, nil
}

// WaitForTerminalExit returns when the command has ended.
func (s *Services) WaitForTerminalExit(ctx context.Context, p *acp.WaitForTerminalExitRequest) (*acp.WaitForTerminalExitResponse, error) {
	m, err := s.terminals("terminal/wait_for_exit", p.SessionID)
	if err != nil {
		return nil, err
	}
	status, err := m.Wait(ctx, p.TerminalID)
	if err != nil {
		return nil, answer("terminal/wait_for_exit", err)
	}
	code, signal := exit(status)
	return &acp.WaitForTerminalExitResponse{ExitCode: code, Signal: signal}, nil
}

// KillTerminal ends the command; its output stays until the release.
func (s *Services) KillTerminal(ctx context.Context, p *acp.KillTerminalRequest) (*acp.KillTerminalResponse, error) {
	m, err := s.terminals("terminal/kill", p.SessionID)
	if err != nil {
		return nil, err
	}
	if err := m.Kill(ctx, p.TerminalID); err != nil {
		return nil, answer("terminal/kill", err)
	}
	return &acp.KillTerminalResponse{}, nil
}

// ReleaseTerminal ends the command and forgets the terminal.
func (s *Services) ReleaseTerminal(ctx context.Context, p *acp.ReleaseTerminalRequest) (*acp.ReleaseTerminalResponse, error) {
	m, err := s.terminals("terminal/release", p.SessionID)
	if err != nil {
		return nil, err
	}
	if err := m.Release(p.TerminalID); err != nil {
		return nil, answer("terminal/release", err)
	}
	return &acp.ReleaseTerminalResponse{}, nil
}

func (s *Services) terminals(method string, id acp.SessionID) (*terminal.Manager, error) {
	if s.opts.ApproveCommand == nil {
		return nil, acp.MethodNotFound(method)
	}
	r, err := s.room(id)
	if err != nil {
		return nil, answer(method, err)
	}
	return r.terminals, nil
}

func exit(s terminal.Status) (code acp.Opt[uint32], signal acp.Opt[string]) {
	if s.Signal != "" {
		return code, acp.Some(s.Signal)
	}
	return acp.Some(uint32(s.Code)), signal
}

// refusal is an error with the code the agent gets to see. Both the code and the
// cause can be matched.
type refusal struct {
	wire  *acp.Error
	cause error
}

func (r *refusal) Error() string   { return r.wire.Message }
func (r *refusal) Unwrap() []error { return []error{r.wire, r.cause} }

// answer turns an error into what goes on the wire: what the agent asked for is
// missing, what it asked for is not acceptable, or something failed here.
func answer(method string, err error) error {
	if e := (*acp.Error)(nil); errors.As(err, &e) {
		return err
	}
	text := err.Error()
	if len(text) < len(method) || text[:len(method)] != method {
		text = method + " " + text
	}
	wire := &acp.Error{Code: acp.ErrorCodeInternalError, Message: text}
	switch {
	case matches(err, context.Canceled, context.DeadlineExceeded):
		wire.Code = acp.ErrorCodeRequestCancelled
	case matches(err, ErrSession, terminal.ErrUnknown) || method == opRead && errors.Is(err, fs.ErrNotExist):
		wire.Code = acp.ErrorCodeResourceNotFound
	case matches(err, refusals...):
		wire.Code = acp.ErrorCodeInvalidParams
	}
	return &refusal{wire, err}
}

var refusals = []error{
	files.ErrPath, files.ErrOutside, files.ErrLink, files.ErrNotRegular, files.ErrNotDir, files.ErrHardLink, files.ErrTooLarge,
	files.ErrNotText, files.ErrProtected, ErrOverlap, permission.ErrDenied, terminal.ErrCommand, terminal.ErrEnv, terminal.ErrTooMany, exec.ErrNotFound, fs.ErrNotExist,
}

func matches(err error, any ...error) bool {
	for _, target := range any {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}
