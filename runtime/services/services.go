// Package services is what a client offers its agents, put together: workspace
// files, terminals, permission, elicitation and session state as one
// acp.ClientHandler. Package servicesv2 is the same for version 2 of the protocol.
//
// A program embeds *Services in its own handler and overrides the methods it
// wants to answer itself, or sets the hooks of Options, which sit behind the
// checks. An editor that serves buffers overrides ReadTextFile and WriteTextFile
// and calls Readable and Writable in them, so that the checks are the same.
package services

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/elicitation"
	"github.com/hermes-nvim/hermes/runtime/files"
	"github.com/hermes-nvim/hermes/runtime/history"
	"github.com/hermes-nvim/hermes/runtime/permission"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/terminal"
)

// Options configure Services. The zero value serves files inside the session
// roots, denies every permission and offers no terminals.
type Options struct {
	// Agent is the agent's name in permission rules.
	Agent string

	// Files are the settings of the workspaces. Permit is set for each session.
	Files files.Options
	// PermitFile is asked before a file is read or written, besides the rules of
	// Policy. An error refuses. Path is as the agent wrote it, at is where it
	// leads.
	PermitFile func(id acp.SessionID, path string, at files.Location, write bool) error
	// MissingIsEmpty answers a read of a missing file with empty content:
	// some agents can make a file only then. Others expect the error.
	MissingIsEmpty bool
	// ApproveWrite asks the user about a protected file. An error, or no
	// ApproveWrite, refuses the write.
	ApproveWrite func(ctx context.Context, p *acp.WriteTextFileRequest, at files.Location, why *files.ProtectedError) error

	// ApproveCommand is asked before a terminal starts. An error refuses the
	// command. Without ApproveCommand there are no terminals; use AllowCommands
	// to leave the question to the agent.
	ApproveCommand func(ctx context.Context, id acp.SessionID, cmd *terminal.Command) error
	// Terminal are the settings of the terminals. Workspace, Approve, OnData
	// and OnExit are set for each session.
	Terminal terminal.Options
	// TerminalStart, TerminalData and TerminalExit are terminal.Options' OnStart,
	// OnData and OnExit.
	TerminalStart func(id acp.SessionID, term acp.TerminalID, cmd *terminal.Command)
	TerminalData  func(id acp.SessionID, term acp.TerminalID, text string, skipped int)
	TerminalExit  func(id acp.SessionID, term acp.TerminalID, status terminal.Status)

	// Policy holds the permission rules; nil: none. Those that deny bind the
	// file methods, too.
	Policy *permission.Policy
	// Ask and Decided: see permission.Gate.
	Ask     func(context.Context, *acp.RequestPermissionRequest) (acp.PermissionOptionID, error)
	Decided func(*acp.RequestPermissionRequest, acp.RequestPermissionOutcome, *permission.Rule, error)

	// Elicit and ElicitComplete are elicitation.Gate's Ask and Complete. Without
	// Elicit a client offers no elicitation, and cancels what is asked all the same.
	Elicit         func(context.Context, *elicitation.Question) (elicitation.Answer, error)
	ElicitComplete func(context.Context, acp.ElicitationID)

	// Limits bound the state of each session.
	Limits history.Limits
	// Updated is called after an update has been added to the state.
	Updated func(context.Context, *acp.SessionNotification) error
}

// AllowCommands is an Options.ApproveCommand that approves everything.
func AllowCommands(context.Context, acp.SessionID, *terminal.Command) error { return nil }

// ErrSession refuses a request that names a session this client has not opened.
var ErrSession = errors.New("unknown session")

// Services answers what one agent asks of its client. It is safe for concurrent
// use. Close ends everything it started.
type Services struct {
	acp.UnimplementedClientHandler
	opts     Options
	sessions *history.Store
	gate     permission.Gate
	elicit   elicitation.Gate
	shown    *shown

	mu     sync.Mutex
	open   map[acp.SessionID]*room
	asking map[acp.SessionID]map[*asked]struct{}
	closed bool
}

var _ acp.ClientHandler = (*Services)(nil)

// room is what belongs to one open session.
type room struct {
	files     *files.Workspace
	terminals *terminal.Manager // nil: not offered
}

func (r *room) close() error {
	var err error
	if r.terminals != nil {
		err = r.terminals.Close()
	}
	return errors.Join(err, r.files.Close())
}

// New returns Services without sessions.
func New(opts Options) *Services {
	s := &Services{
		opts: opts, sessions: history.NewStore(opts.Limits), shown: newShown(),
		open: make(map[acp.SessionID]*room), asking: make(map[acp.SessionID]map[*asked]struct{}),
	}
	s.gate = permission.Gate{
		Agent: opts.Agent, Policy: opts.Policy, Ask: opts.Ask, Decided: opts.Decided,
		Merge: s.merge, Roots: s.roots,
	}
	s.elicit.Ask, s.elicit.Complete = opts.Elicit, opts.ElicitComplete
	return s
}

// merge completes a tool call with what earlier updates said about it.
func (s *Services) merge(id acp.SessionID, u *acp.ToolCallUpdate) (call *acp.ToolCallUpdate, whole bool) {
	if st := s.sessions.Get(id); st != nil {
		return st.Merge(u)
	}
	return u, true
}

// Capabilities says what is offered, for the initialize request.
func (s *Services) Capabilities() *acp.ClientCapabilities {
	can := &acp.ClientCapabilities{
		Fs:       &acp.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true},
		Terminal: s.opts.ApproveCommand != nil,
	}
	if s.opts.Elicit != nil {
		can.Elicitation = &acp.ElicitationCapabilities{Form: &acp.ElicitationFormCapabilities{}, URL: &acp.ElicitationURLCapabilities{}}
	}
	return can
}

// Sessions returns the states of all sessions.
func (s *Services) Sessions() *history.Store { return s.sessions }

// State returns the accumulated state of a session, nil when it is unknown.
func (s *Services) State(id acp.SessionID) *history.State { return s.sessions.Get(id) }

// Agent is the peer, as far as Services call it: an *rpc.Agent or an acp.Agent.
type Agent interface {
	NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error)
	LoadSession(context.Context, *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error)
	ResumeSession(context.Context, *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error)
	Prompt(context.Context, *acp.PromptRequest) (*acp.PromptResponse, error)
}

// NewSession calls session/new and opens the session under the request's roots
// before the messages of the session are handled.
func (s *Services) NewSession(ctx context.Context, agent Agent, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	var opened acp.SessionID
	var failed error
	open := func(_ context.Context, id acp.SessionID, _ json.RawMessage) {
		opened, failed = id, s.OpenSession(id, folders(req.Cwd, req.AdditionalDirectories))
	}
	resp, err := agent.NewSession(rpc.WithOpened(ctx, open), req)
	if err == nil && opened == "" { // agent is not an rpc.Conn
		open(ctx, resp.SessionID, nil)
	}
	switch {
	case failed != nil:
		return nil, errors.Join(failed, err)
	case err != nil && opened != "":
		return nil, errors.Join(err, s.CloseSession(opened))
	case err != nil:
		return nil, err
	}
	s.sessions.Open(resp.SessionID).Start(resp.Modes, resp.ConfigOptions)
	return resp, nil
}

// LoadSession calls session/load with the session open, because the agent
// replays its history before it answers. The state starts afresh.
func (s *Services) LoadSession(ctx context.Context, agent Agent, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	if err := s.OpenSession(req.SessionID, folders(req.Cwd, req.AdditionalDirectories)); err != nil {
		return nil, err
	}
	st := s.sessions.Open(req.SessionID)
	st.Reset()
	resp, err := agent.LoadSession(ctx, req)
	if err != nil {
		return nil, errors.Join(err, s.CloseSession(req.SessionID))
	}
	st.Start(resp.Modes, resp.ConfigOptions)
	return resp, nil
}

// ResumeSession is LoadSession for session/resume, which replays nothing; what
// is known of the session stays.
func (s *Services) ResumeSession(ctx context.Context, agent Agent, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	if err := s.OpenSession(req.SessionID, folders(req.Cwd, req.AdditionalDirectories)); err != nil {
		return nil, err
	}
	resp, err := agent.ResumeSession(ctx, req)
	if err != nil {
		return nil, errors.Join(err, s.CloseSession(req.SessionID))
	}
	s.sessions.Open(req.SessionID).Start(resp.Modes, resp.ConfigOptions)
	return resp, nil
}

// Prompt runs a turn and lets the state of the session know where it begins.
func (s *Services) Prompt(ctx context.Context, agent Agent, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	if st := s.State(req.SessionID); st != nil {
		st.NewTurn()
	}
	return agent.Prompt(ctx, req)
}

func folders(cwd string, more []string) []string { return append([]string{cwd}, more...) }

// OpenSession lets the agent use files and terminals of a session below roots,
// the working directory first. A session that was open gets new roots and loses
// its terminals.
func (s *Services) OpenSession(id acp.SessionID, roots []string) error {
	o := s.opts.Files
	o.Permit = func(path string, at files.Location, write bool) error { return s.permit(id, path, at, write) }
	ws, err := files.Open(roots, o)
	if err != nil {
		return fmt.Errorf("session %s: %w", id, err)
	}
	r := &room{files: ws}
	if s.opts.ApproveCommand != nil {
		r.terminals = terminal.New(s.terminalOptions(id, ws))
	}
	s.mu.Lock()
	old := s.open[id]
	if s.closed {
		old = r
		err = fmt.Errorf("session %s: services are closed", id)
	} else {
		s.open[id] = r
		s.sessions.Open(id)
	}
	s.mu.Unlock()
	if old != nil {
		err = errors.Join(err, old.close())
	}
	return err
}

// permit applies the rules that deny to a file.
func (s *Services) permit(id acp.SessionID, path string, at files.Location, write bool) error {
	if s.opts.Policy != nil {
		if err := s.opts.Policy.Permit(permission.File(s.opts.Agent, id, write, path, at.Path, at.Real)); err != nil {
			return err
		}
	}
	if s.opts.PermitFile != nil {
		return s.opts.PermitFile(id, path, at, write)
	}
	return nil
}

func (s *Services) terminalOptions(id acp.SessionID, ws *files.Workspace) terminal.Options {
	o := s.opts.Terminal
	o.Workspace = ws
	o.Approve = func(ctx context.Context, c *terminal.Command) error { return s.opts.ApproveCommand(ctx, id, c) }
	if f := s.opts.TerminalStart; f != nil {
		o.OnStart = func(term acp.TerminalID, cmd *terminal.Command) { f(id, term, cmd) }
	}
	if f := s.opts.TerminalData; f != nil {
		o.OnData = func(term acp.TerminalID, text string, skipped int) { f(id, term, text, skipped) }
	}
	if f := s.opts.TerminalExit; f != nil {
		o.OnExit = func(term acp.TerminalID, status terminal.Status) { f(id, term, status) }
	}
	return o
}

// CloseSession ends the session's terminals and questions and forgets its state
// and its rules. It returns when the commands are gone.
func (s *Services) CloseSession(id acp.SessionID) error {
	s.Cancel(id)
	s.mu.Lock()
	r := s.open[id]
	delete(s.open, id)
	s.mu.Unlock()
	s.sessions.End(id)
	s.shown.end(id)
	if s.opts.Policy != nil {
		s.opts.Policy.EndSession(id)
	}
	if r == nil {
		return nil
	}
	return r.close()
}

// roots returns the folders of an open session, nil for another one.
func (s *Services) roots(id acp.SessionID) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.open[id]; r != nil {
		return r.files.Roots()
	}
	return nil
}

// Workspace returns the files of an open session, for an editor that serves
// some itself and keeps to the same rules.
func (s *Services) Workspace(id acp.SessionID) (*files.Workspace, error) {
	r, err := s.room(id)
	if err != nil {
		return nil, err
	}
	return r.files, nil
}

// Close closes all sessions. Call it when the agent is gone.
func (s *Services) Close() error {
	s.mu.Lock()
	s.closed = true
	s.sessions.Close()
	ids := s.sessions.Sessions() // sessions of version 2 are not in s.open
	for id := range s.open {
		ids = append(ids, id)
	}
	for id := range s.asking {
		ids = append(ids, id)
	}
	s.mu.Unlock()
	errs := make([]error, len(ids))
	var wg sync.WaitGroup
	for i, id := range ids {
		wg.Go(func() { errs[i] = s.CloseSession(id) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Cancel answers the open permission requests and elicitations of a session with
// cancelled, as the protocol demands of a client that sends session/cancel. An rpc.Conn
// sees to that by itself; Cancel is for programs without one.
func (s *Services) Cancel(id acp.SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for a := range s.asking[id] {
		a.cancel(rpc.ErrSessionCancelled)
	}
}

// room finds the session a request names. A session that is not open on this
// connection has no files and no terminals, whoever knows its id.
func (s *Services) room(id acp.SessionID) (*room, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.open[id]; r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("session %q: %w", string(id), ErrSession)
}
