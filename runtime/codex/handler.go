package codex

import (
	"context"

	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
)

// handler passes what the app-server says to the session of the thread.
// Notifications come one at a time and in order. A request runs on its own, after
// the notifications before it, so that what it is about is known, and what follows
// it cannot delay its answer.
type handler struct {
	appserver.UnimplementedClientHandler
	server *Server
}

// tell passes a notification on. Notifications about a thread without a session
// are dropped.
func (h *handler) tell(ctx context.Context, thread, turn string, note any) error {
	if s := h.server.session(thread); s != nil {
		s.note(ctx, turn, note)
	}
	return nil
}

// session returns the session that a question is for, nil when the thread has none.
// The question is then left to other clients, if there may be any.
func (h *handler) session(ctx context.Context, thread string) *Session {
	s := h.server.session(thread)
	if s == nil && h.server.opts.Dial != nil {
		<-ctx.Done()
	}
	return s
}

func (h *handler) TurnStarted(ctx context.Context, p *appserver.TurnStartedNotification) error {
	return h.tell(ctx, p.ThreadID, p.Turn.ID, p)
}

func (h *handler) TurnCompleted(ctx context.Context, p *appserver.TurnCompletedNotification) error {
	return h.tell(ctx, p.ThreadID, p.Turn.ID, p)
}

func (h *handler) TurnPlanUpdated(ctx context.Context, p *appserver.TurnPlanUpdatedNotification) error {
	return h.tell(ctx, p.ThreadID, p.TurnID, p)
}

func (h *handler) ItemStarted(ctx context.Context, p *appserver.ItemStartedNotification) error {
	return h.tell(ctx, p.ThreadID, p.TurnID, p)
}

func (h *handler) ItemCompleted(ctx context.Context, p *appserver.ItemCompletedNotification) error {
	return h.tell(ctx, p.ThreadID, p.TurnID, p)
}

func (h *handler) AgentMessageDelta(ctx context.Context, p *appserver.AgentMessageDeltaNotification) error {
	return h.tell(ctx, p.ThreadID, p.TurnID, p)
}

func (h *handler) PlanDelta(ctx context.Context, p *appserver.PlanDeltaNotification) error {
	return h.tell(ctx, p.ThreadID, p.TurnID, p)
}

func (h *handler) ReasoningTextDelta(ctx context.Context, p *appserver.ReasoningTextDeltaNotification) error {
	return h.tell(ctx, p.ThreadID, p.TurnID, p)
}

func (h *handler) ReasoningSummaryTextDelta(ctx context.Context, p *appserver.ReasoningSummaryTextDeltaNotification) error {
	return h.tell(ctx, p.ThreadID, p.TurnID, p)
}

func (h *handler) ReasoningSummaryPartAdded(ctx context.Context, p *appserver.ReasoningSummaryPartAddedNotification) error {
	return h.tell(ctx, p.ThreadID, p.TurnID, p)
}

func (h *handler) CommandExecutionOutputDelta(ctx context.Context, p *appserver.CommandExecutionOutputDeltaNotification) error {
	return h.tell(ctx, p.ThreadID, p.TurnID, p)
}

func (h *handler) FileChangePatchUpdated(ctx context.Context, p *appserver.FileChangePatchUpdatedNotification) error {
	return h.tell(ctx, p.ThreadID, p.TurnID, p)
}

func (h *handler) MCPToolCallProgress(ctx context.Context, p *appserver.MCPToolCallProgressNotification) error {
	return h.tell(ctx, p.ThreadID, p.TurnID, p)
}

func (h *handler) Error(ctx context.Context, p *appserver.ErrorNotification) error {
	return h.tell(ctx, p.ThreadID, p.TurnID, p)
}

func (h *handler) ThreadTokenUsageUpdated(ctx context.Context, p *appserver.ThreadTokenUsageUpdatedNotification) error {
	return h.tell(ctx, p.ThreadID, "", p)
}

func (h *handler) ThreadNameUpdated(ctx context.Context, p *appserver.ThreadNameUpdatedNotification) error {
	return h.tell(ctx, p.ThreadID, "", p)
}

func (h *handler) Warning(ctx context.Context, p *appserver.WarningNotification) error {
	h.server.opts.Log.Warn("codex", "warning", p.Message)
	return nil
}

func (h *handler) ConfigWarning(_ context.Context, p *appserver.ConfigWarningNotification) error {
	h.server.opts.Log.Warn("codex", "configuration", p.Summary)
	return nil
}

func (h *handler) AccountLoginCompleted(_ context.Context, p *appserver.AccountLoginCompletedNotification) error {
	if h.server.opts.Login != nil {
		text := p.Error.V
		if !p.Success && text == "" {
			text = "the login failed"
		}
		h.server.opts.Login(p.LoginID.V, text)
	}
	return nil
}
