// Package codexagent is an ACP agent that is Codex: it answers a client with the
// app-server of the codex binary, through package codex.
package codexagent

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/agentkit"
	"github.com/hermes-nvim/hermes/runtime/codex"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// Options configure the agent. The zero value runs codex from PATH.
type Options struct {
	Command  launch.Command // starts the app-server; see codex.ServerOptions
	Settings codex.Settings // of new sessions
	Version  string         // of this program
	Log      *slog.Logger   // nil: nothing is logged

	// Dial, if set, makes the sessions shared: it connects to an app-server that
	// others use, too, and Command is not used. The user may then prompt and answer
	// there as well; see package elsewhere for what the client is sent. Socket is
	// where `codex --remote` reaches the app-server, for _meta.hermes.socket.
	Dial   func(ctx context.Context) (transport.Transport, error)
	Socket string
}

// Serve answers one client over t until it hangs up or ctx ends. Then codex ends,
// too, unless its sessions are shared: these go on for the others.
func Serve(ctx context.Context, t transport.Transport, opts Options) error {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	a := &agent{opts: opts, logins: map[string]chan string{}}
	a.codex = codex.NewServer(codex.ServerOptions{Command: opts.Command, Dial: opts.Dial, Version: opts.Version, Login: a.loggedIn, Log: opts.Log})
	defer a.codex.Close()
	if a.isShared() {
		t = watched{t, func() { go a.codex.Close() }} // nothing is to be answered any more
	}
	return rpc.Serve(ctx, t, func(c acp.Client) acp.AgentHandler {
		a.client = c
		return a
	}, rpc.Options{OnFault: func(f rpc.Fault) { f.Log(opts.Log) }})
}

type agent struct {
	acp.UnimplementedAgentHandler

	opts     Options
	client   acp.Client
	codex    *codex.Server
	sessions agentkit.Sessions[*session]

	mu     sync.Mutex
	can    acp.ClientCapabilities
	models []appserver.Model // once known
	logins map[string]chan string
}

// Initialize says what the agent can do. Codex starts meanwhile.
func (a *agent) Initialize(ctx context.Context, p *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	a.mu.Lock()
	if p.ClientCapabilities != nil {
		a.can = *p.ClientCapabilities
	}
	a.mu.Unlock()
	go a.codex.Agent(context.WithoutCancel(ctx)) // an error comes again with the first session
	return &acp.InitializeResponse{
		ProtocolVersion: acp.ProtocolVersionNumber,
		AgentInfo:       &acp.Implementation{Name: "hermes-codex", Title: acp.Some("Codex"), Version: cmp.Or(a.opts.Version, "1")},
		AgentCapabilities: &acp.AgentCapabilities{
			LoadSession:        true,
			PromptCapabilities: &acp.PromptCapabilities{Image: true, EmbeddedContext: true},
			MCPCapabilities:    &acp.MCPCapabilities{HTTP: true},
			SessionCapabilities: &acp.SessionCapabilities{
				List: &acp.SessionListCapabilities{}, Delete: &acp.SessionDeleteCapabilities{},
				Resume: &acp.SessionResumeCapabilities{}, Close: &acp.SessionCloseCapabilities{},
				Extra: acp.Extra(agentkit.CanFork),
			},
			Auth: &acp.AgentAuthCapabilities{Logout: &acp.LogoutCapabilities{}},
			Meta: a.announced(),
		},
		AuthMethods: authMethods(),
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

// meta reports whether the client's capabilities have a switch under _meta.
func (a *agent) meta(name string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	v, _ := acp.Extra(a.can.Meta).Get(name)
	return string(v) == "true"
}
