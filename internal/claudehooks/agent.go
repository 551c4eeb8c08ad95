// Package claudehooks is an ACP agent that is the stock Claude Code in a terminal. It
// does not start Claude Code: a session is a settings file with HTTP hooks, and
// whoever runs `claude --settings FILE` has that Claude Code in the session. What it
// does becomes turns, tool calls with the text of files before and after, and, if
// wanted, questions for permission.
//
// # Beyond the protocol
//
// The answer to session/new has _meta.hermes, with the path of the settings file:
//
//	{"sessionId":"…","_meta":{"hermes":{"settings":"/tmp/hermes-claude-1/settings.json"}}}
//
// The user types prompts in the terminal, so turns begin on the side of the agent, which
// says so, and when Claude Code waits for its user there: see package elsewhere. Claude
// Code begins once the client has sent the prompt. If the user has cancelled the turn
// before that, the client answers with the error -32800, and Claude Code does not begin.
package claudehooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/elsewhere"
	"github.com/hermes-nvim/hermes/runtime/agentkit"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// Options configure the agent. With the zero value it only watches.
type Options struct {
	// Gate asks the client before each tool call that may change something.
	Gate bool
	// FailOpen leaves a tool call to Claude Code if the client could not be asked about
	// it. By default the call is denied.
	FailOpen bool
	// Installed returns the output of `claude --version`. nil: sessions are opened
	// without a look at the version.
	Installed func(ctx context.Context) (string, error)
	Version   string       // of this program
	Log       *slog.Logger // nil: nothing is logged
}

// Serve answers one client over t until it hangs up or ctx ends. It then answers no
// more hooks and removes the settings files.
func Serve(ctx context.Context, t transport.Transport, opts Options) error {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	a := &agent{opts: opts}
	hooks, err := listen(a.byToken, opts.Log)
	if err != nil {
		return err
	}
	a.hooks = hooks
	err = rpc.Serve(ctx, t, func(c acp.Client) acp.AgentHandler {
		a.client = c
		return a
	}, rpc.Options{OnFault: func(f rpc.Fault) { f.Log(opts.Log) }})
	return errors.Join(err, a.close())
}

type agent struct {
	acp.UnimplementedAgentHandler

	opts     Options
	client   acp.Client
	hooks    *server
	sessions agentkit.Sessions[*session]

	unawaited atomic.Bool // the client does not know MethodToolCall
}

func (a *agent) close() error {
	err := a.hooks.close()
	for _, s := range a.sessions.Close() {
		err = errors.Join(err, s.close())
	}
	return err
}

// Initialize says what the agent can do.
func (a *agent) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{
		ProtocolVersion: acp.ProtocolVersionNumber,
		AgentInfo:       &acp.Implementation{Name: "hermes-claude-hooks", Title: acp.Some("Claude Code in a terminal"), Version: cmp.Or(a.opts.Version, "1")},
		AgentCapabilities: &acp.AgentCapabilities{
			SessionCapabilities: &acp.SessionCapabilities{Close: &acp.SessionCloseCapabilities{}},
			Meta:                json.RawMessage(`{"hermes":{"methods":["` + elsewhere.MethodTurn + `","` + elsewhere.MethodToolCall + `","` + elsewhere.MethodAttention + `"]}}`),
		},
	}, nil
}

// NewSession writes the settings file of a Claude Code.
func (a *agent) NewSession(ctx context.Context, p *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	if err := agentkit.CheckRoots(acp.MethodSessionNew, p.Cwd, p.AdditionalDirectories); err != nil {
		return nil, err
	}
	if err := a.opts.Check(ctx); err != nil {
		return nil, err
	}
	s, err := a.open()
	if err != nil {
		return nil, err
	}
	if _, _, err := a.sessions.Open(s.id, s); err != nil {
		return nil, errors.Join(err, s.close())
	}
	meta, err := json.Marshal(map[string]any{"hermes": map[string]string{"settings": s.settings}})
	return &acp.NewSessionResponse{SessionID: s.id, Meta: meta}, err
}

// CloseSession removes the settings file. The Claude Code that uses it goes on; if
// its gate fails closed, it can change nothing any more.
func (a *agent) CloseSession(_ context.Context, p *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	s, err := a.sessions.Take(p.SessionID)
	if err != nil {
		return nil, err
	}
	return &acp.CloseSessionResponse{}, s.close()
}

// Prompt waits for the end of a turn that the session has announced.
func (a *agent) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	s, err := a.sessions.Find(p.SessionID)
	if err != nil {
		return nil, err
	}
	turn := elsewhere.Of(p)
	if turn == "" {
		return nil, acp.Errorf(acp.ErrorCodeInvalidRequest, "prompts are typed in the terminal of Claude Code")
	}
	reason, err := s.wait(ctx, turn)
	if err != nil {
		return nil, err
	}
	return &acp.PromptResponse{StopReason: reason}, nil
}

// Cancel ends the turn. Claude Code stops at its next tool call.
func (a *agent) Cancel(_ context.Context, p *acp.CancelNotification) error {
	s, err := a.sessions.Find(p.SessionID)
	if err != nil {
		return err
	}
	s.cancel(nil)
	return nil
}

// byToken returns the session whose hooks have a token, nil for none.
func (a *agent) byToken(token string) *session {
	for _, s := range a.sessions.All() {
		if s.isToken(token) {
			return s
		}
	}
	return nil
}
