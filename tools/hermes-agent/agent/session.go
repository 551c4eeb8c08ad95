package agent

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/agentkit"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/approval"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/mcp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/process"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/store"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/tool"
)

// session is an open session.
type session struct {
	agent   *agent
	client  acp.ClientSession
	env     *tool.Env
	notices bool // the client shows them
	summary bool // the client shows compactions
	gate    *approval.Gate
	turns   agentkit.Turns

	servers mcp.Servers
	ready   chan struct{} // closed when tools is set
	tools   *tool.Set
	failed  error // of servers, until the user knows it

	mu      sync.Mutex
	stored  *store.Session
	used    model.Usage     // of the last request
	counted int             // messages that used is about
	total   model.Usage     // of all requests since the session was opened
	trusted map[string]bool // tools of servers that may run without a question
	readers map[string]bool // servers whose tools may, if they only read
	shown   []string        // files and folders with secrets that the model may read
}

func newSession(a *agent, stored *store.Session) *session {
	s := &session{agent: a, client: a.client.Session(stored.Info.ID), stored: stored, gate: approval.NewGate(a.opts.Approval), ready: make(chan struct{}), trusted: map[string]bool{}, readers: map[string]bool{}}
	a.mu.Lock()
	defer a.mu.Unlock()
	files := mixed{read: a.local, write: a.local}
	if fs := a.can.Fs; fs != nil && fs.ReadTextFile {
		files.read = a.client
	}
	if fs := a.can.Fs; fs != nil && fs.WriteTextFile {
		files.write = a.client
	}
	s.notices = a.can.Session != nil && a.can.Session.Notices != nil
	s.summary = a.can.Session != nil && a.can.Session.Compaction != nil
	processes := a.opts.Processes(stored.Info.Cwd)
	if a.can.Terminal {
		processes.Terminals, processes.Session = a.client, stored.Info.ID
	}
	s.env = &tool.Env{Session: stored.Info.ID, Cwd: stored.Info.Cwd, Roots: stored.Info.Roots, Files: files, Processes: process.New(processes), Gate: s, Show: s.show}
	return s
}

// connect starts the MCP servers of the session: those that the client names, and those of the
// settings whose names it does not use. The first turn waits for their tools.
func (s *session) connect(named []acp.MCPServer) {
	defer close(s.ready)
	ctx := s.turns.Context()
	var servers []mcp.Server
	for _, server := range named {
		servers = append(servers, mcp.Server{MCPServer: server})
	}
	for _, own := range s.agent.opts.Servers {
		if !slices.ContainsFunc(servers, func(other mcp.Server) bool { return other.Name() == own.Name() }) {
			servers = append(servers, own)
		}
	}
	tools, err := s.servers.Connect(ctx, s.env.Cwd, servers)
	set, bad := s.agent.opts.Tools.With(tools)
	s.tools = set
	if err = errors.Join(err, bad); err != nil && ctx.Err() == nil {
		s.agent.opts.Log.Warn("connect the MCP servers", slog.Any("error", err))
		s.failed = err
	}
}

// toolNames lists the tools that the session has by now.
func (s *session) toolNames() []string {
	select {
	case <-s.ready:
		return s.tools.Names()
	default:
		return s.agent.opts.Tools.Names()
	}
}

// mixed reads and writes in different places, for clients that offer one of the two.
type mixed struct{ read, write tool.Files }

func (m mixed) ReadTextFile(ctx context.Context, p *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	return m.read.ReadTextFile(ctx, p)
}

func (m mixed) WriteTextFile(ctx context.Context, p *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	return m.write.WriteTextFile(ctx, p)
}

func (s *session) close() error {
	err := s.turns.Close(context.Background())
	<-s.ready
	err = errors.Join(err, s.servers.Close(), s.env.Processes.Close())
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(err, s.stored.Close())
}

// show stores an update and sends it to the client. A client that is gone, or a full disk,
// must not end the turn.
func (s *session) show(u acp.SessionUpdate) {
	s.keep("store an update", func() error { return s.stored.Show(u) })
	s.tell(u)
}

// tell sends an update that is not stored. A client that does not show compactions gets
// notices of them, and one without notices gets these as thoughts.
func (s *session) tell(u acp.SessionUpdate) {
	if compaction, ok := u.(*acp.CompactionUpdate); ok && !s.summary {
		if u = noticeOf(compaction); u == nil {
			return
		}
	}
	if notice, ok := u.(*acp.Notice); ok && !s.notices {
		u = acp.NewAgentThoughtChunk(acp.NewTextContent(notice.Title + "\n\n"))
	}
	if err := s.client.Update(context.Background(), u); err != nil {
		s.agent.opts.Log.Debug("send an update", slog.Any("error", err))
	}
}

// change changes the facts of the session.
func (s *session) change(change func(*store.Info)) {
	s.keep("store the settings", func() error {
		info := s.stored.Info
		change(&info)
		return s.stored.SetInfo(info)
	})
}

// keep changes what is stored.
func (s *session) keep(what string, change func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := change(); err != nil {
		s.agent.opts.Log.Error(what, slog.String("session", string(s.client.ID)), slog.Any("error", err))
	}
}

// info returns the facts of the session.
func (s *session) info() store.Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stored.Info
}

// replay shows everything again. Terminals are gone by now, so what they said takes their
// place.
func (s *session) replay() {
	s.mu.Lock()
	updates, results, title := s.stored.Updates, maps.Clone(s.stored.Results), s.stored.Info.Title
	s.mu.Unlock()
	for _, u := range updates {
		if call, ok := u.(*acp.ToolCall); ok {
			u = withoutTerminals(call, results[string(call.ToolCallID)])
		}
		s.tell(u)
	}
	if title != "" {
		s.tellTitle(title)
	}
}

func withoutTerminals(call *acp.ToolCall, result string) *acp.ToolCall {
	replayed := *call
	replayed.Content = nil
	for _, c := range call.Content {
		if _, terminal := c.(*acp.Terminal); terminal {
			c = acp.NewContent(acp.NewTextContent(result))
		}
		replayed.Content = append(replayed.Content, c)
	}
	if status := replayed.Status.V; status == acp.ToolCallStatusPending || status == acp.ToolCallStatusInProgress {
		replayed.Status = acp.Some(acp.ToolCallStatusFailed) // the program ended in the middle of it
	}
	return &replayed
}

func (s *session) tellTitle(title string) {
	s.tell(&acp.SessionInfoUpdate{Title: acp.Set(title), UpdatedAt: acp.Set(time.Now().UTC().Format(time.RFC3339))})
}
