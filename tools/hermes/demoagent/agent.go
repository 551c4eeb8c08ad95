// Package demoagent is a small agent without a language model: prompts select
// scripted turns that really use the client. It demonstrates Hermes without a key
// or a network, and how to write an agent with package acp.
package demoagent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// Run serves one client over t until it hangs up or ctx ends.
func Run(ctx context.Context, t transport.Transport, log *slog.Logger) error {
	return rpc.Connect(t, func(c *rpc.Conn) acp.Handler {
		return acp.AgentSide(&agent{conn: c, sessions: map[acp.SessionID]*session{}, exit: os.Exit})
	}, rpc.Options{OnFault: func(f rpc.Fault) { f.Log(log) }}).Wait(ctx)
}

// agent answers one client.
type agent struct {
	acp.UnimplementedAgentHandler

	conn *rpc.Conn
	exit func(code int)

	mu       sync.Mutex              // guards the fields below, and the sessions
	can      *acp.ClientCapabilities // set once
	sessions map[acp.SessionID]*session
	opened   int // sessions so far
}

// session is one conversation. It has one turn at a time.
type session struct {
	id      acp.SessionID
	cwd     string
	mode    acp.SessionModeID
	pace    acp.SessionConfigValueID
	busy    bool
	trusted bool // the user chose "always"
	calls   int  // tool calls so far
	history []acp.SessionUpdate

	stop     context.CancelCauseFunc // ends the last turn
	answered chan struct{}           // closed when it was answered; nil before the first
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
		return nil, refuse(acp.ErrorCodeInvalidRequest, "initialize: already done")
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
	a.mu.Lock()
	defer a.mu.Unlock()
	if !filepath.IsAbs(p.Cwd) {
		return nil, refuse(acp.ErrorCodeInvalidParams, "session/new: cwd %q is not absolute", p.Cwd)
	}
	a.opened++
	id := acp.SessionID(fmt.Sprintf("demo-%d", a.opened))
	s := &session{id: id, cwd: p.Cwd, mode: modeAsk, pace: paceBrisk}
	a.sessions[id] = s
	a.conn.AfterResponse(ctx, func() { a.announce(ctx, id) })
	return &acp.NewSessionResponse{SessionID: id, Modes: s.modes(), ConfigOptions: s.options()}, nil
}

// LoadSession replays a session of this process. The session keeps its folder.
func (a *agent) LoadSession(ctx context.Context, p *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	s, err := a.begin(p.SessionID)
	if err != nil {
		return nil, err
	}
	defer a.end(s)
	for _, u := range s.history {
		if err := a.client(s.id).Update(ctx, u); err != nil {
			return nil, err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.conn.AfterResponse(ctx, func() { a.announce(ctx, s.id) })
	return &acp.LoadSessionResponse{Modes: s.modes(), ConfigOptions: s.options()}, nil
}

// SetSessionMode sets whether the agent may change things. The mode is a config option,
// too, because some clients know only one of the two.
func (a *agent) SetSessionMode(ctx context.Context, p *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, err := a.find(p.SessionID)
	if err != nil {
		return nil, err
	}
	if !isMode(p.ModeID) {
		return nil, refuse(acp.ErrorCodeInvalidParams, "session/set_mode: no mode %q", p.ModeID)
	}
	s.mode = p.ModeID
	changed := acp.NewConfigOptionUpdate(s.options())
	a.conn.AfterResponse(ctx, func() { a.tell(ctx, s.id, changed) })
	return &acp.SetSessionModeResponse{}, nil
}

// SetSessionConfigOption sets the mode, or how fast the agent talks.
func (a *agent) SetSessionConfigOption(ctx context.Context, p *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, err := a.find(p.SessionID)
	if err != nil {
		return nil, err
	}
	value, ok := p.Variant.(*acp.SetSessionConfigOptionRequestValueID)
	switch {
	case !ok:
		return nil, refuse(acp.ErrorCodeInvalidParams, "session/set_config_option: %q is not a switch", p.ConfigID)
	case p.ConfigID == optionPace && pauses[value.Value] > 0:
		s.pace = value.Value
	case p.ConfigID == optionMode && isMode(acp.SessionModeID(value.Value)):
		s.mode = acp.SessionModeID(value.Value)
		changed := acp.NewCurrentModeUpdate(s.mode)
		a.conn.AfterResponse(ctx, func() { a.tell(ctx, s.id, changed) })
	default:
		return nil, refuse(acp.ErrorCodeInvalidParams, "session/set_config_option: no such value of %q", p.ConfigID)
	}
	return &acp.SetSessionConfigOptionResponse{ConfigOptions: s.options()}, nil
}

// Prompt plays a turn. Cancelling it ends ctx, and with it whatever the turn
// waits for.
func (a *agent) Prompt(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	s, err := a.begin(p.SessionID)
	if err != nil {
		return nil, err
	}
	defer a.end(s)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	answered := make(chan struct{})
	a.conn.AfterResponse(ctx, func() { close(answered) })
	a.mu.Lock()
	s.stop, s.answered = stop, answered
	a.mu.Unlock()
	t := &turn{agent: a, session: s}
	prompt := ""
	for _, block := range p.Prompt {
		s.history = append(s.history, acp.NewUserMessageChunk(block))
		if text, ok := block.(*acp.TextContent); ok {
			prompt += text.Text
		}
	}
	err = t.play(ctx, prompt)
	if errors.Is(err, rpc.ErrSessionCancelled) || errors.Is(err, errCancelled) {
		return &acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	} else if err != nil {
		return nil, err
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

// CloseSession forgets a session. A running turn is cancelled and answered first,
// so that nothing about the session follows the answer.
func (a *agent) CloseSession(ctx context.Context, p *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	a.mu.Lock()
	s, err := a.find(p.SessionID)
	if err != nil {
		a.mu.Unlock()
		return nil, err
	}
	delete(a.sessions, p.SessionID)
	stop, answered := s.stop, s.answered
	a.mu.Unlock()
	if answered != nil {
		stop(rpc.ErrSessionCancelled)
		select {
		case <-answered:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return &acp.CloseSessionResponse{}, nil
}

// Cancel has nothing left to do: the connection has ended the prompt's context.
func (a *agent) Cancel(context.Context, *acp.CancelNotification) error { return nil }

// announce lists the slash commands.
func (a *agent) announce(ctx context.Context, id acp.SessionID) {
	list := make([]acp.AvailableCommand, len(commands))
	for i, c := range commands {
		list[i] = acp.AvailableCommand{Name: c.name, Description: c.description}
		if c.hint != "" {
			list[i].Input = &acp.UnstructuredCommandInput{Hint: c.hint}
		}
	}
	a.tell(ctx, id, acp.NewAvailableCommandsUpdate(list))
}

// tell sends an update that belongs to no turn. It ignores errors, because a client that
// is gone does not need it.
func (a *agent) tell(ctx context.Context, id acp.SessionID, u acp.SessionUpdate) {
	_ = a.client(id).Update(context.WithoutCancel(ctx), u)
}

// client is the client's end of a session.
func (a *agent) client(id acp.SessionID) acp.ClientSession {
	return acp.Client{Conn: a.conn}.Session(id)
}

func (a *agent) find(id acp.SessionID) (*session, error) {
	if s := a.sessions[id]; s != nil {
		return s, nil
	}
	return nil, refuse(acp.ErrorCodeResourceNotFound, "no session %q", id)
}

// begin reserves a session, its history included, for one turn or replay.
func (a *agent) begin(id acp.SessionID) (*session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, err := a.find(id)
	if err == nil && s.busy {
		err = refuse(acp.ErrorCodeInvalidRequest, "session %q: a turn is running", id)
	} else if err == nil {
		s.busy = true
	}
	return s, err
}

func (a *agent) end(s *session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s.busy = false
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

func refuse(code acp.ErrorCode, format string, args ...any) error {
	return &acp.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
