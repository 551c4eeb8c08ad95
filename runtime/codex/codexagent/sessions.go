package codexagent

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/agentkit"
	"github.com/hermes-nvim/hermes/runtime/codex"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// session is a thread with a client.
type session struct {
	*codex.Session
	agent *agent
	dir   string
	shown *shown // what the client has seen of the running turn

	opened chan struct{} // closed when the client knows the session

	telling sync.Mutex // is held while settings change, and while the client is told of them

	mu     sync.Mutex
	name   acp.SessionID             // what the client calls the session; empty until its thread is started
	skills []appserver.SkillMetadata // that the client was offered

	begun string // the turn of others whose prompt the client knows; see elsewhere
}

// id names the session by the thread with which it was opened, also while it is being opened: Codex
// may report something before it has answered. After a restart of Codex before the first turn it has
// another thread.
func (s *session) id() acp.SessionID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(s.name, acp.SessionID(s.Thread()))
}

// to is the client's end of the session.
func (s *session) to() acp.ClientSession { return s.agent.client.Session(s.id()) }

func (a *agent) isOpen(s *session) bool {
	if s.Session == nil {
		return false
	}
	open, _ := a.sessions.Find(s.id())
	return open == s
}

// thread is the thread of a session.
func (a *agent) thread(id acp.SessionID) string {
	s, err := a.sessions.Find(id)
	if err != nil {
		return string(id)
	}
	return s.Thread()
}

// drop closes a session, if it is open, and returns its thread.
func (a *agent) drop(id acp.SessionID) (thread string) {
	s, err := a.sessions.Take(id)
	if err != nil {
		return string(id)
	}
	s.Close()
	return s.Thread()
}

// open starts a thread, or resumes that of a session.
func (a *agent) open(ctx context.Context, method string, name acp.SessionID, dir string, servers []acp.MCPServer) (*session, error) {
	if err := agentkit.CheckRoots(method, dir, nil); err != nil {
		return nil, err
	}
	if err := a.needsLogin(ctx); err != nil {
		return nil, err
	}
	config, err := mcpConfig(servers)
	if err != nil {
		return nil, err
	}
	s := &session{agent: a, dir: dir, name: name, shown: newShown(), opened: make(chan struct{})}
	rpc.AfterResponse(ctx, func() {
		close(s.opened)
		if a.isOpen(s) {
			go s.offer(context.WithoutCancel(ctx))
		}
	})
	opts := codex.Options{
		Dir: dir, Thread: a.thread(name), Settings: a.opts.Settings, Config: config,
		Approve: s.approve, Answer: s.answer, Elicit: s.elicit, OnNote: s.note,
		Deadline: -1, Quiet: quiet, // a person is there to stop a turn that only takes long
	}
	if a.isShared() {
		opts.Elsewhere = s.elsewhere
	}
	s.Session = codex.NewSession(a.codex, opts)
	if err := s.EnsureStarted(ctx); err != nil {
		var answer *acp.Error
		if name != "" && errors.As(err, &answer) {
			return nil, acp.Errorf(acp.ErrorCodeResourceNotFound, "session %s: %s", name, codex.Redact(answer.Message))
		}
		return nil, err
	}
	id := s.id()
	s.mu.Lock()
	s.name = id
	s.mu.Unlock()
	old, replaced, err := a.sessions.Open(id, s)
	if err != nil {
		return nil, err
	}
	if replaced {
		go old.Close()
	}
	return s, nil
}

// quiet is how long codex may report nothing, apart from attempts to reach the
// model, before its turn is stopped.
const quiet = 10 * time.Minute

// NewSession starts a thread.
func (a *agent) NewSession(ctx context.Context, p *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	s, err := a.open(ctx, acp.MethodSessionNew, "", p.Cwd, p.MCPServers)
	if err != nil {
		return nil, err
	}
	return &acp.NewSessionResponse{SessionID: s.id(), Modes: s.modes(ctx), ConfigOptions: s.options(ctx), Meta: s.socket()}, nil
}

// LoadSession resumes a thread and replays it.
func (a *agent) LoadSession(ctx context.Context, p *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	s, err := a.open(ctx, acp.MethodSessionLoad, p.SessionID, p.Cwd, p.MCPServers)
	if err != nil {
		return nil, err
	}
	if err := s.replay(ctx); err != nil {
		return nil, err
	}
	return &acp.LoadSessionResponse{Modes: s.modes(ctx), ConfigOptions: s.options(ctx), Meta: s.socket()}, nil
}

// ResumeSession resumes a thread that the client has shown before.
func (a *agent) ResumeSession(ctx context.Context, p *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	s, err := a.open(ctx, acp.MethodSessionResume, p.SessionID, p.Cwd, p.MCPServers)
	if err != nil {
		return nil, err
	}
	return &acp.ResumeSessionResponse{Modes: s.modes(ctx), ConfigOptions: s.options(ctx), Meta: s.socket()}, nil
}

// fork makes a thread that continues another.
func (a *agent) fork(ctx context.Context, p *acp.ResumeSessionRequest) (*acp.NewSessionResponse, error) {
	server, err := a.codex.Agent(ctx)
	if err != nil {
		return nil, err
	}
	r, err := server.ThreadFork(ctx, &appserver.ThreadForkParams{ThreadID: a.thread(p.SessionID), Cwd: acp.Some(p.Cwd)})
	if err != nil {
		return nil, err
	}
	s, err := a.open(ctx, agentkit.MethodFork, acp.SessionID(r.Thread.ID), p.Cwd, p.MCPServers)
	if err != nil {
		return nil, err
	}
	return &acp.NewSessionResponse{SessionID: s.id(), Modes: s.modes(ctx), ConfigOptions: s.options(ctx), Meta: s.socket()}, nil
}

// replay shows the client the turns of the thread, oldest first.
func (s *session) replay(ctx context.Context) error {
	server, err := s.agent.codex.Agent(ctx)
	if err != nil {
		return err
	}
	p := &appserver.ThreadTurnsListParams{
		ThreadID: s.Thread(), ItemsView: acp.Some(appserver.TurnItemsViewFull), SortDirection: acp.Some(appserver.SortDirectionAsc),
	}
	for {
		r, err := server.ThreadTurnsList(ctx, p)
		if err != nil {
			return err
		}
		for _, turn := range r.Data {
			for i := range turn.Items {
				for _, u := range s.past(&turn.Items[i]) {
					if err := s.to().Update(ctx, u); err != nil {
						return err
					}
				}
			}
		}
		if p.Cursor = r.NextCursor; !p.Cursor.OK {
			return nil
		}
	}
}

// ListSessions lists threads, the newest first.
func (a *agent) ListSessions(ctx context.Context, p *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	server, err := a.codex.Agent(ctx)
	if err != nil {
		return nil, err
	}
	list := &appserver.ThreadListParams{Cursor: p.Cursor}
	if p.Cwd.OK {
		list.Cwd = appserver.ThreadListCwdFilterString(p.Cwd.V)
	}
	r, err := server.ThreadList(ctx, list)
	if err != nil {
		return nil, err
	}
	out := &acp.ListSessionsResponse{Sessions: []acp.SessionInfo{}, NextCursor: r.NextCursor}
	for _, t := range r.Data {
		title := t.Name.V
		if title == "" {
			title = firstLine(t.Preview)
		}
		info := acp.SessionInfo{SessionID: acp.SessionID(t.ID), Cwd: string(t.Cwd), UpdatedAt: acp.Some(time.Unix(t.UpdatedAt, 0).UTC().Format(time.RFC3339))}
		if title != "" {
			info.Title = acp.Some(title)
		}
		out.Sessions = append(out.Sessions, info)
	}
	return out, nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// CloseSession interrupts the turn of a session and lets codex forget the thread.
func (a *agent) CloseSession(ctx context.Context, p *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	if _, err := a.sessions.Find(p.SessionID); err != nil {
		return nil, err
	}
	thread := a.drop(p.SessionID)
	server, err := a.codex.Agent(ctx)
	if err != nil {
		return nil, err
	}
	_, err = server.ThreadUnsubscribe(ctx, &appserver.ThreadUnsubscribeParams{ThreadID: thread})
	return &acp.CloseSessionResponse{}, err
}

// DeleteSession deletes a thread from the disk.
func (a *agent) DeleteSession(ctx context.Context, p *acp.DeleteSessionRequest) (*acp.DeleteSessionResponse, error) {
	thread := a.drop(p.SessionID)
	server, err := a.codex.Agent(ctx)
	if err != nil {
		return nil, err
	}
	_, err = server.ThreadDelete(ctx, &appserver.ThreadDeleteParams{ThreadID: thread})
	return &acp.DeleteSessionResponse{}, err
}
