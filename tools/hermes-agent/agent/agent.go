// Package agent is the coding agent as a client sees it: sessions, turns, settings and
// permissions of the Agent Client Protocol, on top of the loop.
//
// It works through the client where the client offers files and terminals, and does the
// same on the machine where it does not.
package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/services"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/approval"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/loop"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/process"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/skill"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/store"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/tool"
)

// Options are what an agent is made of.
type Options struct {
	Version string
	Model   model.Model
	Models  *Models // to choose from
	Store   *store.Store
	Tools   *tool.Set
	Skills  *skill.Index // nil: none
	Limits  loop.Limits
	Window  int    // the context window in tokens; 0: what the endpoint says
	Summary string // the model that writes summaries; empty: that of the session
	// Approval has what the user has allowed for good.
	Approval approval.Options
	// Processes says how the commands of a session in a folder run. Nil: on this machine.
	Processes func(cwd string) process.Options
	Log       *slog.Logger
	// Ready is asked before a new session whether Model can work. A model.LoginError
	// makes clients sign in. Nil: it can.
	Ready func() error
}

// Run serves one client over t until it hangs up or ctx ends.
func Run(ctx context.Context, t transport.Transport, opts Options) error {
	var a *agent
	if opts.Skills == nil {
		opts.Skills = skill.Load()
	}
	if opts.Ready == nil {
		opts.Ready = func() error { return nil }
	}
	if opts.Processes == nil {
		opts.Processes = func(string) process.Options { return process.Options{} }
	}
	err := rpc.Connect(t, func(c *rpc.Conn) acp.Handler {
		a = &agent{opts: opts, conn: c, client: acp.Client{Conn: c}, sessions: map[acp.SessionID]*session{}}
		a.local = services.New(services.Options{})
		return &side{Handler: acp.AgentSide(a), agent: a}
	}, rpc.Options{OnFault: func(f rpc.Fault) { f.Log(opts.Log) }}).Wait(ctx)
	return errors.Join(err, a.close())
}

// agent answers one client.
type agent struct {
	acp.UnimplementedAgentHandler
	opts   Options
	conn   *rpc.Conn
	client acp.Client
	local  *services.Services // what the client does not offer

	mu       sync.Mutex
	can      acp.ClientCapabilities
	sessions map[acp.SessionID]*session
}

// Initialize announces what the agent can do and learns what the client offers.
func (a *agent) Initialize(_ context.Context, p *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p.ClientCapabilities != nil {
		a.can = *p.ClientCapabilities
	}
	sessions := &acp.SessionCapabilities{
		List: &acp.SessionListCapabilities{}, Delete: &acp.SessionDeleteCapabilities{},
		AdditionalDirectories: &acp.SessionAdditionalDirectoriesCapabilities{},
		Resume:                &acp.SessionResumeCapabilities{}, Close: &acp.SessionCloseCapabilities{},
	}
	if err := sessions.Extra.Set("fork", []byte("{}")); err != nil { // of the drafts of this version
		return nil, err
	}
	return &acp.InitializeResponse{
		ProtocolVersion: 1,
		AuthMethods:     authMethods(p.ClientCapabilities),
		AgentInfo:       &acp.Implementation{Name: "hermes-agent", Title: acp.Some("Hermes Agent"), Version: a.opts.Version},
		AgentCapabilities: &acp.AgentCapabilities{
			LoadSession:         true,
			MCPCapabilities:     &acp.MCPCapabilities{HTTP: true, SSE: true},
			PromptCapabilities:  &acp.PromptCapabilities{Image: true, EmbeddedContext: true},
			SessionCapabilities: sessions,
		},
	}, nil
}

// find returns an open session.
func (a *agent) find(id acp.SessionID) (*session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.sessions[id]; s != nil {
		return s, nil
	}
	return nil, refuse(acp.ErrorCodeResourceNotFound, "no open session %q", id)
}

// close ends what the sessions still have.
func (a *agent) close() error {
	a.mu.Lock()
	sessions := a.sessions
	a.sessions = map[acp.SessionID]*session{}
	a.mu.Unlock()
	err := a.local.Close()
	for _, s := range sessions {
		err = errors.Join(err, s.close())
	}
	return err
}

func refuse(code acp.ErrorCode, format string, args ...any) error {
	return &acp.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
