package codexagent

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/elsewhere"
	"github.com/hermes-nvim/hermes/runtime/codex"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// announceTime is what the client may take to begin a turn of others. What codex
// reports waits for it.
const announceTime = 3 * time.Second

// goesOn is the prompt of a turn that has begun before the session was opened here.
const goesOn = "(Codex goes on)"

func (a *agent) isShared() bool { return a.opts.Dial != nil }

// announced is what the agent sends besides the protocol.
func (a *agent) announced() json.RawMessage {
	if !a.isShared() {
		return nil
	}
	return json.RawMessage(`{"hermes":{"methods":["` + elsewhere.MethodTurn + `"]}}`)
}

// socket says where `codex --remote` reaches the session.
func (s *session) socket() json.RawMessage {
	if s.agent.opts.Socket == "" {
		return nil
	}
	return meta("hermes", map[string]string{"socket": s.agent.opts.Socket})
}

// elsewhere begins a turn of others for the client.
func (s *session) elsewhere(turn, text string) {
	<-s.opened
	if text == "" {
		s.shown = newShown()
		s.shown.missed = true
		text = goesOn
	}
	ctx, cancel := context.WithTimeout(context.Background(), announceTime)
	defer cancel()
	t := elsewhere.Turn{Session: s.id(), ID: turn, Prompt: text}
	if err := t.Announce(ctx, s.agent.client.Conn); err == nil {
		s.begun = turn
	} else if refused := (*acp.Error)(nil); !errors.As(err, &refused) {
		s.agent.opts.Log.Warn("the client was not told of a turn", "session", string(s.id()), "error", err)
	}
}

// typed shows a message that the user has typed elsewhere. The prompt of a turn that
// the client has begun itself is known.
func (s *session) typed(turn string, m *appserver.ThreadItemUserMessage, item *appserver.ThreadItem) []acp.SessionUpdate {
	if !s.agent.isShared() || s.Sent(m) {
		return nil
	}
	if s.begun == turn {
		s.begun = ""
		return nil
	}
	return s.past(item)
}

// promptShared is a prompt of a shared session. It may be for a turn that has begun
// elsewhere. Only session/cancel ends a turn: when the client gives its request up,
// because it leaves, the turn goes on.
func (s *session) promptShared(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	until := untilCancelled{inner, ctx}
	defer context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), rpc.ErrSessionCancelled) {
			cancel()
		}
	})()
	if turn := elsewhere.Of(p); turn != "" {
		r := s.Follow(until, turn)
		if errors.Is(r.Err, codex.ErrNoTurn) || errors.Is(r.Err, codex.ErrInterrupted) && until.Err() == nil {
			r.Err = nil // in the protocol only the client cancels
		}
		return answer(r)
	}
	r, err := s.prompt(until, p)
	if err == nil && r.StopReason == acp.StopReasonCancelled && until.Err() == nil {
		r.StopReason = acp.StopReasonEndTurn
	}
	return r, err
}

// untilCancelled is a context that ends with session/cancel only. Its Err is as early as
// that of the prompt's.
type untilCancelled struct {
	context.Context
	prompt context.Context
}

func (c untilCancelled) Err() error {
	if errors.Is(context.Cause(c.prompt), rpc.ErrSessionCancelled) {
		return context.Canceled
	}
	return c.Context.Err()
}

// watched is a transport that reports its end at once, while handlers still run.
type watched struct {
	transport.Transport
	ended func()
}

func (w watched) Read(buf []byte) ([]byte, error) {
	msg, err := w.Transport.Read(buf)
	if large := (*transport.TooLargeError)(nil); err != nil && !errors.As(err, &large) {
		w.ended()
	}
	return msg, err
}

// leave leaves a question to the others, because the client has no decision of the
// user: it may have gone. It returns when the question no longer matters.
func (s *session) leave(ctx context.Context) {
	if s.agent.isShared() {
		<-ctx.Done()
	}
}
