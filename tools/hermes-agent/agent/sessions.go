package agent

import (
	"context"
	"errors"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/agentkit"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/store"
)

// NewSession begins a session.
func (a *agent) NewSession(ctx context.Context, p *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	if err := agentkit.CheckRoots(acp.MethodSessionNew, p.Cwd, p.AdditionalDirectories); err != nil {
		return nil, err
	}
	if err := a.opts.Ready(); err != nil {
		return nil, a.explain(err)
	}
	stored, err := a.opts.Store.Create(store.Info{
		ID: store.NewID(), Cwd: p.Cwd, Roots: p.AdditionalDirectories,
		Mode: string(modeAsk), Model: a.opts.Models.Default(ctx), Created: time.Now().UTC(),
	})
	if err != nil {
		return nil, err
	}
	s, err := a.open(ctx, stored, p.MCPServers)
	if err != nil {
		return nil, err
	}
	modes, options := s.settings()
	return &acp.NewSessionResponse{SessionID: stored.Info.ID, Modes: modes, ConfigOptions: options}, nil
}

// LoadSession opens a stored session and shows all of it again.
func (a *agent) LoadSession(ctx context.Context, p *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	s, err := a.reopen(ctx, acp.MethodSessionLoad, p.SessionID, p.Cwd, p.AdditionalDirectories, p.MCPServers)
	if err != nil {
		return nil, err
	}
	s.replay()
	modes, options := s.settings()
	return &acp.LoadSessionResponse{Modes: modes, ConfigOptions: options}, nil
}

// ResumeSession opens a stored session for a client that still shows it.
func (a *agent) ResumeSession(ctx context.Context, p *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	s, err := a.reopen(ctx, acp.MethodSessionResume, p.SessionID, p.Cwd, p.AdditionalDirectories, p.MCPServers)
	if err != nil {
		return nil, err
	}
	modes, options := s.settings()
	return &acp.ResumeSessionResponse{Modes: modes, ConfigOptions: options}, nil
}

// fork opens a copy of a stored session.
func (a *agent) fork(ctx context.Context, p *acp.ResumeSessionRequest) (*acp.NewSessionResponse, error) {
	if err := agentkit.CheckRoots(agentkit.MethodFork, p.Cwd, p.AdditionalDirectories); err != nil {
		return nil, err
	}
	stored, err := a.opts.Store.Fork(p.SessionID, func(info *store.Info) {
		info.ID, info.Cwd, info.Roots, info.Created = store.NewID(), p.Cwd, p.AdditionalDirectories, time.Now().UTC()
	})
	if err != nil {
		return nil, refuseOpen(agentkit.MethodFork, err)
	}
	s, err := a.open(ctx, stored, p.MCPServers)
	if err != nil {
		return nil, err
	}
	modes, options := s.settings()
	return &acp.NewSessionResponse{SessionID: stored.Info.ID, Modes: modes, ConfigOptions: options}, nil
}

// reopen opens a stored session. One that is open is closed first, with its turn.
func (a *agent) reopen(ctx context.Context, method string, id acp.SessionID, cwd string, roots []string, servers []acp.MCPServer) (*session, error) {
	if err := agentkit.CheckRoots(method, cwd, roots); err != nil {
		return nil, err
	}
	if err := a.shut(ctx, id); err != nil {
		return nil, err
	}
	stored, err := a.load(ctx, id)
	if err != nil {
		return nil, refuseOpen(method, err)
	}
	info := stored.Info
	info.Cwd, info.Roots = cwd, roots
	if err := stored.SetInfo(info); err != nil {
		return nil, errors.Join(err, stored.Close())
	}
	return a.open(ctx, stored, servers)
}

// load opens a stored session. An agent that is just ending may have it for a moment longer.
func (a *agent) load(ctx context.Context, id acp.SessionID) (*store.Session, error) {
	ctx, stop := context.WithTimeout(ctx, busyPatience)
	defer stop()
	for {
		stored, err := a.opts.Store.Load(id)
		if !errors.Is(err, store.ErrBusy) {
			return stored, err
		}
		select {
		case <-time.After(busyPatience / 50):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// open makes a stored session one of this connection. Its commands are announced after the
// answer, because the client does not know a new session earlier.
func (a *agent) open(ctx context.Context, stored *store.Session, servers []acp.MCPServer) (*session, error) {
	id := stored.Info.ID
	if err := a.local.OpenSession(id, append([]string{stored.Info.Cwd}, stored.Info.Roots...)); err != nil {
		return nil, errors.Join(acp.Errorf(acp.ErrorCodeInvalidParams, "open the session: %v", err), stored.Close())
	}
	if err := a.instruct(stored); err != nil {
		return nil, errors.Join(err, stored.Close())
	}
	s := newSession(a, stored)
	go s.connect(servers)
	if _, _, err := a.sessions.Open(id, s); err != nil { // none is replaced: the store opens each once
		return nil, errors.Join(err, s.close())
	}
	rpc.AfterResponse(ctx, s.announce)
	return s, nil
}

// instruct begins the conversation with a system prompt about the session's folder. One that
// is about it stays as it is, so that endpoints can cache it. There is none if the session is
// new, or if the agent was killed before it had written it.
func (a *agent) instruct(stored *store.Session) error {
	if len(stored.Messages) == 0 {
		return stored.AddMessage(a.system(stored.Info.Cwd))
	}
	if isAbout(stored.Messages[0].Text, stored.Info.Cwd) {
		return nil
	}
	return stored.Replace(append([]model.Message{a.system(stored.Info.Cwd)}, stored.Messages[1:]...))
}

func (a *agent) system(cwd string) model.Message {
	return model.Message{Role: model.System, Text: SystemPrompt(cwd, a.opts.Skills)}
}

// CloseSession ends the use of a session, which stays in the store.
func (a *agent) CloseSession(ctx context.Context, p *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	if _, err := a.sessions.Find(p.SessionID); err != nil {
		return nil, err
	}
	return &acp.CloseSessionResponse{}, a.shut(ctx, p.SessionID)
}

// DeleteSession removes a session from the store.
func (a *agent) DeleteSession(ctx context.Context, p *acp.DeleteSessionRequest) (*acp.DeleteSessionResponse, error) {
	if err := a.shut(ctx, p.SessionID); err != nil {
		return nil, err
	}
	if err := a.opts.Store.Delete(p.SessionID); err != nil {
		return nil, refuseOpen(acp.MethodSessionDelete, err)
	}
	return &acp.DeleteSessionResponse{}, nil
}

// shut closes a session if it is open: its turns are cancelled and answered first.
func (a *agent) shut(ctx context.Context, id acp.SessionID) error {
	s, err := a.sessions.Take(id)
	if err != nil {
		return nil // it is not open
	}
	if err := s.turns.Close(ctx); err != nil {
		return err
	}
	return errors.Join(a.local.CloseSession(id), s.close())
}

// Cancel has nothing left to do: the connection has ended the contexts of the prompts.
func (a *agent) Cancel(context.Context, *acp.CancelNotification) error { return nil }

// busyPatience is how long a session may be open in another agent.
const busyPatience = 3 * time.Second

// pageSize is how many sessions one answer lists.
const pageSize = 50

// ListSessions lists stored sessions, page by page.
func (a *agent) ListSessions(_ context.Context, p *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	list, next, err := a.opts.Store.Page(p.Cwd.V, p.Cursor.V, pageSize)
	if errors.Is(err, store.ErrCursor) {
		return nil, acp.Errorf(acp.ErrorCodeInvalidParams, "session/list: %q is no cursor of this agent", p.Cursor.V)
	}
	if err != nil {
		return nil, err
	}
	answer := &acp.ListSessionsResponse{Sessions: []acp.SessionInfo{}}
	for _, info := range list {
		entry := acp.SessionInfo{SessionID: info.ID, Cwd: info.Cwd, AdditionalDirectories: info.Roots, UpdatedAt: acp.Some(info.Updated.UTC().Format(time.RFC3339))}
		if info.Title != "" {
			entry.Title = acp.Some(info.Title)
		}
		answer.Sessions = append(answer.Sessions, entry)
	}
	if next != "" {
		answer.NextCursor = acp.Some(next)
	}
	return answer, nil
}

// refuseOpen says why a session cannot be opened.
func refuseOpen(method string, err error) error {
	switch {
	case errors.Is(err, store.ErrUnknown):
		return acp.Errorf(acp.ErrorCodeResourceNotFound, "%s: %v", method, err)
	case errors.Is(err, store.ErrBusy):
		return acp.Errorf(acp.ErrorCodeInvalidParams, "%s: %v", method, err)
	}
	return err
}
