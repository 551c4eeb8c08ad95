// Package agent is the coding agent as a client sees it: sessions, turns, settings and
// permissions of the Agent Client Protocol, on top of the loop.
//
// It works through the client where the client offers files and terminals, and does the
// same on the machine where it does not.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/agentkit"
	"github.com/hermes-nvim/hermes/runtime/files"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/services"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/approval"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/loop"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/mcp"
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
	Servers []mcp.Server // of the settings
	Limits  loop.Limits
	Summary string // the model that writes summaries; empty: that of the session
	// Window is the context window of a model in tokens, as the user has set it; 0: what the
	// endpoint says. Nil: the user has set none.
	Window func(name string) int
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
	if opts.Window == nil {
		opts.Window = func(string) int { return 0 }
	}
	if opts.Processes == nil {
		opts.Processes = func(string) process.Options { return process.Options{} }
	}
	err := rpc.Serve(ctx, t, func(c acp.Client) acp.AgentHandler {
		a = &agent{opts: opts, client: c, local: services.New(services.Options{
			// The session has asked.
			ApproveWrite: func(context.Context, *acp.WriteTextFileRequest, files.Location, *files.ProtectedError) error {
				return nil
			},
		})}
		return a
	}, rpc.Options{OnFault: func(f rpc.Fault) { f.Log(opts.Log) }})
	return errors.Join(err, a.close())
}

// agent answers one client.
type agent struct {
	acp.UnimplementedAgentHandler
	opts     Options
	client   acp.Client
	local    *services.Services // what the client does not offer
	sessions agentkit.Sessions[*session]

	mu  sync.Mutex
	can acp.ClientCapabilities
}

// Initialize announces what the agent can do and learns what the client offers.
func (a *agent) Initialize(_ context.Context, p *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p.ClientCapabilities != nil {
		a.can = *p.ClientCapabilities
	}
	return &acp.InitializeResponse{
		ProtocolVersion: 1,
		AuthMethods:     authMethods(p.ClientCapabilities),
		AgentInfo:       &acp.Implementation{Name: "hermes-agent", Title: acp.Some("Hermes Agent"), Version: a.opts.Version},
		AgentCapabilities: &acp.AgentCapabilities{
			LoadSession:        true,
			MCPCapabilities:    &acp.MCPCapabilities{HTTP: true, SSE: true},
			PromptCapabilities: &acp.PromptCapabilities{Image: true, EmbeddedContext: true},
			SessionCapabilities: &acp.SessionCapabilities{
				List: &acp.SessionListCapabilities{}, Delete: &acp.SessionDeleteCapabilities{},
				AdditionalDirectories: &acp.SessionAdditionalDirectoriesCapabilities{},
				Resume:                &acp.SessionResumeCapabilities{}, Close: &acp.SessionCloseCapabilities{},
				Extra: acp.Extra(agentkit.CanFork),
			},
		},
	}, nil
}

// ExtRequest answers session/fork.
func (a *agent) ExtRequest(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if method != agentkit.MethodFork {
		return nil, acp.MethodNotFound(method)
	}
	return agentkit.Fork(ctx, params, a.fork)
}

// ExtNotification knows none.
func (a *agent) ExtNotification(_ context.Context, method string, _ json.RawMessage) error {
	return acp.MethodNotFound(method)
}

// close ends what the sessions still have.
func (a *agent) close() error {
	sessions := a.sessions.Close()
	err := a.local.Close()
	for _, s := range sessions {
		err = errors.Join(err, s.close())
	}
	return err
}
