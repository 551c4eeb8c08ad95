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

// ReadTextFile serves a file inside the session roots.
func (s *Services) ReadTextFile(ctx context.Context, p *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	text, err := s.read(p)
	if s.opts.MissingIsEmpty && errors.Is(err, fs.ErrNotExist) {
		text, err = "", nil
	}
	if err != nil {
		return nil, answer(opRead, err)
	}
	return &acp.ReadTextFileResponse{Content: text}, nil
}

func (s *Services) read(p *acp.ReadTextFileRequest) (string, error) {
	r, at, err := s.place(opRead, p.SessionID, p.Path)
	if err != nil {
		return "", err
	}
	lines := files.Range{Line: p.Line, Limit: p.Limit}
	text, err := r.files.ReadText(p.Path, files.Range{})
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		s.Shown(p.SessionID, at.Real, text, lines)
	}
	return lines.Of(text), err
}

// WriteTextFile writes a file inside the session roots. Protected files need
// ApproveWrite.
func (s *Services) WriteTextFile(ctx context.Context, p *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	at, err := s.Writable(ctx, p)
	if err != nil {
		return nil, err
	}
	if _, err := s.WriteFile(p, at); err != nil {
		return nil, err
	}
	return &acp.WriteTextFileResponse{}, nil
}

// Readable checks a read of a file as ReadTextFile does, and says where the file is.
// An editor that serves the text of a buffer calls Shown with it.
func (s *Services) Readable(p *acp.ReadTextFileRequest) (files.Location, error) {
	_, at, err := s.place(opRead, p.SessionID, p.Path)
	if err != nil {
		return files.Location{}, answer(opRead, err)
	}
	return at, nil
}

// Writable checks a write of a file as WriteTextFile does, and says where the file is.
// An editor that writes into a buffer gets the new text of the buffer from Rebase, and
// calls Shown with the text that the buffer then has. For a file on disk there is
// WriteFile.
func (s *Services) Writable(ctx context.Context, p *acp.WriteTextFileRequest) (files.Location, error) {
	_, at, err := s.place(opWrite, p.SessionID, p.Path)
	if err == nil {
		err = s.approve(ctx, p, at)
	}
	if err != nil {
		return files.Location{}, answer(opWrite, err)
	}
	return at, nil
}

// place finds a file of a session that the agent may use: the folders of the session
// come first, then the rules that deny.
func (s *Services) place(op string, id acp.SessionID, path string) (*room, files.Location, error) {
	r, err := s.room(id)
	if err != nil {
		return nil, files.Location{}, err
	}
	at, err := r.files.Resolve(path)
	if err == nil {
		err = s.permit(id, path, at, op == opWrite)
	}
	if err != nil {
		return nil, files.Location{}, because(op, path, err)
	}
	return r, at, nil
}

// approve asks about a protected file.
func (s *Services) approve(ctx context.Context, p *acp.WriteTextFileRequest, at files.Location) error {
	var why *files.ProtectedError
	if !errors.As(at.Protected(), &why) {
		return nil
	}
	if why.Denied || s.opts.ApproveWrite == nil {
		return because(opWrite, p.Path, why)
	}
	if err := s.opts.ApproveWrite(ctx, p, at, why); err != nil {
		return because(opWrite, p.Path, fmt.Errorf("%w: %w", why, err))
	}
	return nil
}

// because names the request that a check refused, in place of the check.
func because(op, path string, err error) error {
	if e, ok := err.(*files.Error); ok {
		err = e.Err
	}
	return &files.Error{Op: op, Path: path, Err: err}
}

// WriteFile writes the file on disk at a place that Writable has returned for p, and
// returns what the file then holds. Changes by others since the agent last read or
// wrote the file stay; see Rebase.
func (s *Services) WriteFile(p *acp.WriteTextFileRequest, at files.Location) (string, error) {
	written, err := s.writeFile(p, at)
	if err != nil {
		return "", answer(opWrite, err)
	}
	return written, nil
}

func (s *Services) writeFile(p *acp.WriteTextFileRequest, at files.Location) (string, error) {
	r, err := s.room(p.SessionID)
	if err != nil {
		return "", err
	}
	content := p.Content
	var change files.Change
	if s.Knows(p.SessionID, at.Real) {
		change = func(old, fitted string) (string, error) {
			content = fitted
			return s.Rebase(p.SessionID, at.Real, old, fitted)
		}
	}
	approved := at.Protected() != nil // Writable has asked; what is protected only now is refused
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
