package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/compact"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// window is the size of the context window in tokens, 0 if it is unknown. It is no larger
// than what the endpoint has refused, whatever the user has configured.
func (s *session) window() int {
	models, name := s.agent.opts.Models, s.info().Model
	size := cmp.Or(s.agent.opts.Window(name), models.Context(name))
	if refused := models.Refused(name); refused > 0 && size > refused {
		return refused
	}
	return size
}

// keeper keeps a turn within the context window.
func (s *session) keeper() compact.Keeper {
	return compact.Keeper{
		Window: s.window, Learn: func(size int) { s.agent.opts.Models.Learn(s.info().Model, size) },
		Tokens: s.estimate, Compact: s.compact,
	}
}

// estimate guesses how many tokens a history has: what the endpoint counted, and what came
// after that.
func (s *session) estimate(history []model.Message) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used.Input + s.used.Output + compact.Tokens(history[min(s.counted, len(history)):])
}

// compact replaces the beginning of the conversation by a summary, and shows that.
func (s *session) compact(ctx context.Context, history []model.Message, size int) ([]model.Message, error) {
	id, begun := acp.CompactionID(rand.Text()), false
	c := compact.Compactor{Model: s.agent.opts.Model, Name: s.info().Model, Cheap: s.agent.opts.Summary, Window: size, Used: s.spend, Begin: func() {
		begun = true
		s.tell(acp.NewCompactionUpdate(id, acp.CompactionStatusInProgress))
	}}
	shorter, summary, err := c.Compact(ctx, history)
	if err != nil {
		if begun {
			end := acp.NewCompactionUpdate(id, acp.CompactionStatusFailed)
			end.Error = acp.Set(err.Error())
			if ctx.Err() != nil {
				end = acp.NewCompactionUpdate(id, acp.CompactionStatusCancelled)
			}
			s.tell(end)
		}
		return nil, err
	}
	end := acp.NewCompactionUpdate(id, acp.CompactionStatusCompleted)
	end.Summary = acp.Set([]acp.ContentBlock{acp.NewTextContent(summary)})
	s.show(end)
	now := model.Usage{Input: compact.Tokens(shorter)}
	s.keep("store the compacted conversation", func() error {
		s.used, s.counted = now, len(shorter)
		return s.stored.Replace(shorter)
	})
	s.showUsage(now)
	return shorter, nil
}

// noticeOf is what clients see that do not show compactions. Nil is nothing.
func noticeOf(u *acp.CompactionUpdate) acp.SessionUpdate {
	switch u.Status {
	case acp.CompactionStatusCompleted:
		return acp.NewNotice(acp.NoticeSeverityInfo, "The beginning of the conversation was replaced by a summary, to make room in the context window.")
	case acp.CompactionStatusFailed:
		return acp.NewNotice(acp.NoticeSeverityWarning, "The conversation could not be compacted: "+u.Error.V)
	}
	return nil
}

// sayCompact compacts because the user wants it.
func (s *session) sayCompact(ctx context.Context) string {
	s.mu.Lock()
	history := s.stored.Messages
	s.mu.Unlock()
	shorter, err := s.keeper().Shorten(ctx, history)
	switch {
	case errors.Is(err, compact.ErrShort):
		return "The conversation is short already."
	case err != nil:
		return fmt.Sprintf("The conversation stays as it is: %v", err)
	}
	return fmt.Sprintf("The beginning of the conversation was replaced by a summary: about %d tokens became %d.", compact.Tokens(history), compact.Tokens(shorter))
}
