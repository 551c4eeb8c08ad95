// Package demoagent is a small agent without a language model: prompts select
// scripted turns that really use the client. It demonstrates Hermes without a key
// or a network, and how to write an agent with package acp.
package demoagent

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/agentkit"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// Run serves one client over t until it hangs up or ctx ends.
func Run(ctx context.Context, t transport.Transport, log *slog.Logger) error {
	return rpc.Serve(ctx, t, func(c acp.Client) acp.AgentHandler {
		return &agent{client: c, exit: os.Exit}
	}, rpc.Options{OnFault: func(f rpc.Fault) { f.Log(log) }})
}

// agent answers one client.
type agent struct {
	acp.UnimplementedAgentHandler

	client   acp.Client
	exit     func(code int)
	sessions agentkit.Sessions[*session]

	mu     sync.Mutex              // guards the fields below, and the settings of sessions
	can    *acp.ClientCapabilities // set once
	opened int                     // sessions so far
}

// session is one conversation.
type session struct {
	acp.ClientSession
	cwd   string
	mode  acp.SessionModeID
	pace  acp.SessionConfigValueID
	turns agentkit.Turns

	// The turn that runs has the rest.

	trusted bool // the user has allowed all calls
	calls   int  // tool calls so far
	history []acp.SessionUpdate
}

const (
	modeAsk      acp.SessionModeID        = "ask"
	modeReadOnly acp.SessionModeID        = "read-only"
	optionMode   acp.SessionConfigID      = "mode"
	optionPace   acp.SessionConfigID      = "pace"
	paceBrisk    acp.SessionConfigValueID = "brisk"
	paceCalm     acp.SessionConfigValueID = "calm"
)

var pauses = map[acp.SessionConfigValueID]time.Duration{paceBrisk: 15 * time.Millisecond, paceCalm: 60 * time.Millisecond}

// Initialize announces this agent's capabilities and learns the client's.
func (a *agent) Initialize(_ context.Context, p *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.can != nil {
		return nil, acp.Errorf(acp.ErrorCodeInvalidRequest, "initialize: already done")
	}
	a.can = &acp.ClientCapabilities{}
	if p.ClientCapabilities != nil {
		*a.can = *p.ClientCapabilities
	}
	if a.can.Fs == nil {
		a.can.Fs = &acp.FileSystemCapabilities{}
	}
	return &acp.InitializeResponse{
		ProtocolVersion: 1,
		AgentInfo:       &acp.Implementation{Name: "hermes-demo", Title: acp.Some("Hermes demo agent"), Version: "1.0.0"},
		AgentCapabilities: &acp.AgentCapabilities{
			LoadSession:         true,
			SessionCapabilities: &acp.SessionCapabilities{Close: &acp.SessionCloseCapabilities{}},
		},
	}, nil
}

// NewSession opens a session. Its commands are announced after the answer, because
// the client does not know the session earlier.
func (a *agent) NewSession(ctx context.Context, p *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	if err := agentkit.CheckRoots(acp.MethodSessionNew, p.Cwd, p.AdditionalDirectories); err != nil {
		return nil, err
	}
	a.mu.Lock()
	a.opened++
	id := acp.SessionID(fmt.Sprintf("demo-%d", a.opened))
	a.mu.Unlock()
	s := &session{ClientSession: a.client.Session(id), cwd: p.Cwd, mode: modeAsk, pace: paceBrisk}
	answer := &acp.NewSessionResponse{SessionID: id, Modes: s.modes(), ConfigOptions: s.options()}
	if _, _, err := a.sessions.Open(id, s); err != nil {
		return nil, err
	}
	rpc.AfterResponse(ctx, func() { s.announce(ctx) })
	return answer, nil
}

// LoadSession replays a session of this process. The session keeps its folder.
func (a *agent) LoadSession(ctx context.Context, p *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	s, err := a.sessions.Find(p.SessionID)
	if err != nil {
		return nil, err
	}
	err = s.turns.Run(ctx, func(ctx context.Context) error {
		for _, u := range s.history {
			if err := s.Update(ctx, u); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	rpc.AfterResponse(ctx, func() { s.announce(ctx) })
	return &acp.LoadSessionResponse{Modes: s.modes(), ConfigOptions: s.options()}, nil
}

// SetSessionMode sets whether the agent may change things. The mode is a config option,
// too, because some clients know only one of the two.
func (a *agent) SetSessionMode(ctx context.Context, p *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	s, err := a.sessions.Find(p.SessionID)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !isMode(p.ModeID) {
		return nil, acp.Errorf(acp.ErrorCodeInvalidParams, "session/set_mode: no mode %q", p.ModeID)
	}
	s.mode = p.ModeID
	changed := acp.NewConfigOptionUpdate(s.options())
	rpc.AfterResponse(ctx, func() { s.tell(ctx, changed) })
	return &acp.SetSessionModeResponse{}, nil
}

// SetSessionConfigOption sets the mode, or how fast the agent talks.
func (a *agent) SetSessionConfigOption(ctx context.Context, p *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	s, err := a.sessions.Find(p.SessionID)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	value, ok := p.Variant.(*acp.SetSessionConfigOptionRequestValueID)
	switch {
	case !ok:
		return nil, acp.Errorf(acp.ErrorCodeInvalidParams, "session/set_config_option: %q is not a switch", p.ConfigID)
	case p.ConfigID == optionPace && pauses[value.Value] > 0:
		s.pace = value.Value
	case p.ConfigID == optionMode && isMode(acp.SessionModeID(value.Value)):
		s.mode = acp.SessionModeID(value.Value)
		changed := acp.NewCurrentModeUpdate(s.mode)
		rpc.AfterResponse(ctx, func() { s.tell(ctx, changed) })
	default:
		return nil, acp.Errorf(acp.ErrorCodeInvalidParams, "session/set_config_option: no such value of %q", p.ConfigID)
	}
	return &acp.SetSessionConfigOptionResponse{ConfigOptions: s.options()}, nil
}

// Prompt plays a turn. Cancelling it ends its context, and with it whatever the turn waits for.
func (a *agent) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	s, err := a.sessions.Find(p.SessionID)
	if err != nil {
		return nil, err
	}
	return s.turns.Prompt(ctx, func(ctx context.Context) (acp.StopReason, error) {
		prompt := ""
		for _, block := range p.Prompt {
			s.history = append(s.history, acp.NewUserMessageChunk(block))
			if text, ok := block.(*acp.TextContent); ok {
				prompt += text.Text
			}
		}
		return acp.StopReasonEndTurn, (&turn{agent: a, session: s}).play(ctx, prompt)
	})
}

// CloseSession forgets a session. A running turn is cancelled and answered first,
// so that nothing about the session follows the answer.
func (a *agent) CloseSession(ctx context.Context, p *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	s, err := a.sessions.Take(p.SessionID)
	if err != nil {
		return nil, err
	}
	return &acp.CloseSessionResponse{}, s.turns.Close(ctx)
}

// Cancel has nothing left to do: the connection has ended the prompt's context.
func (a *agent) Cancel(context.Context, *acp.CancelNotification) error { return nil }

// announce lists the slash commands.
func (s *session) announce(ctx context.Context) {
	list := make([]acp.AvailableCommand, len(commands))
	for i, c := range commands {
		list[i] = acp.AvailableCommand{Name: c.name, Description: c.description}
		if c.hint != "" {
			list[i].Input = &acp.UnstructuredCommandInput{Hint: c.hint}
		}
	}
	s.tell(ctx, acp.NewAvailableCommandsUpdate(list))
}

// tell sends an update that belongs to no turn. It ignores errors, because a client that
// is gone does not need it.
func (s *session) tell(ctx context.Context, u acp.SessionUpdate) {
	_ = s.Update(context.WithoutCancel(ctx), u)
}

var modes = []acp.SessionMode{
	{ID: modeAsk, Name: "Ask", Description: acp.Some("Asks before it changes a file or runs a command")},
	{ID: modeReadOnly, Name: "Read only", Description: acp.Some("Changes nothing and runs nothing")},
}

func isMode(id acp.SessionModeID) bool {
	return slices.ContainsFunc(modes, func(m acp.SessionMode) bool { return m.ID == id })
}

func (s *session) modes() *acp.SessionModeState {
	return &acp.SessionModeState{CurrentModeID: s.mode, AvailableModes: modes}
}

func (s *session) options() []acp.SessionConfigOption {
	var choices acp.SessionConfigSelectOptionsUngrouped
	for _, m := range modes {
		choices = append(choices, acp.SessionConfigSelectOption{Value: acp.SessionConfigValueID(m.ID), Name: m.Name, Description: m.Description})
	}
	paces := acp.SessionConfigSelectOptionsUngrouped{{Value: paceBrisk, Name: "Brisk"}, {Value: paceCalm, Name: "Calm"}}
	return []acp.SessionConfigOption{{
		ID: optionPace, Name: "Pace", Description: acp.Some("How fast the agent talks"),
		Variant: acp.NewSessionConfigSelect(s.pace, paces),
	}, {
		ID: optionMode, Name: "Mode", Description: acp.Some("What the agent may do"), Category: acp.Some(acp.SessionConfigOptionCategoryMode),
		Variant: acp.NewSessionConfigSelect(acp.SessionConfigValueID(s.mode), choices),
	}}
}
