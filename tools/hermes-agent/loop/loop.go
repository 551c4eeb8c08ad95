// Package loop runs the turns of a conversation: it asks the model, runs the tools that
// the model calls, and gives it the results, until the model is done.
//
// Whatever happens, the history stays one that endpoints accept: each call has one
// result, in the order of the calls.
package loop

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/tool"
)

// The defaults of Limits.
const (
	DefaultRequests = 60
	DefaultCalls    = 32
	DefaultResult   = 64 << 10
)

// Limits bound a turn. Zero values mean the defaults.
type Limits struct {
	Requests int // to the model in one turn
	Calls    int // that one answer of the model may ask for
	Result   int // bytes of a tool result that the model gets
}

// Loop is what the turns of a session need. It is used by one turn at a time.
type Loop struct {
	Model  model.Model
	Name   string // of the model
	Tools  *tool.Set
	Env    *tool.Env
	Limits Limits
	Log    *slog.Logger
	Calls  int // that the session has had; their ids are never used again
	// Shorten may replace the history before a request, if it is too long. Nil keeps it.
	Shorten func(ctx context.Context, history []model.Message) []model.Message
	// Used hears how many tokens the conversation has. Nil ignores it.
	Used func(model.Usage)
}

// ErrEmpty says that the model answered nothing, twice.
var ErrEmpty = errors.New("the model gave an empty answer")

// Turn continues a conversation that ends with what the user said. It passes each new
// message to add, in order, as soon as it is complete. The error says why the turn ended
// early and is for the user; the history is complete then, too.
func (l *Loop) Turn(ctx context.Context, history []model.Message, add func(model.Message)) (acp.StopReason, error) {
	keep := func(m model.Message) {
		history = append(history, m)
		add(m)
	}
	empty := 0
	for range withDefault(l.Limits.Requests, DefaultRequests) {
		if l.Shorten != nil {
			history = l.Shorten(ctx, history)
		}
		reply, err := l.Model.Complete(ctx, model.Request{Model: l.Name, Messages: history, Tools: l.Tools.Specs()}, l.show)
		if l.Used != nil && reply.Usage != (model.Usage{}) {
			l.Used(reply.Usage)
		}
		said := reply.Message
		if ctx.Err() != nil {
			said.Calls = nil
			err = context.Cause(ctx)
		}
		if err != nil {
			if said.Text != "" {
				keep(said)
			}
			if ctx.Err() != nil {
				return acp.StopReasonCancelled, nil
			}
			return "", err
		}
		if said.Text == "" && len(said.Calls) == 0 {
			switch empty++; {
			case reply.Stop == model.StopLength:
				return acp.StopReasonMaxTokens, nil
			case empty > 1:
				return "", ErrEmpty
			}
			continue
		}
		said.Calls = slices.Clone(said.Calls)
		wrote := make([]string, len(said.Calls))
		for i := range said.Calls {
			l.Calls++
			wrote[i] = normalize(&said.Calls[i], l.Calls)
		}
		keep(said)
		for i, call := range said.Calls {
			call.Arguments = wrote[i]
			keep(l.run(ctx, call, i))
		}
		switch {
		case ctx.Err() != nil:
			return acp.StopReasonCancelled, nil
		case len(said.Calls) > 0:
		case reply.Stop == model.StopLength:
			return acp.StopReasonMaxTokens, nil
		default:
			return acp.StopReasonEndTurn, nil
		}
	}
	return acp.StopReasonMaxTurnRequests, nil
}

func withDefault(v, def int) int {
	if v == 0 {
		return def
	}
	return v
}

// show passes on what the model says as it arrives.
func (l *Loop) show(d model.Delta) {
	if d.Reasoning != "" {
		l.Env.Show(acp.NewAgentThoughtChunk(acp.NewTextContent(d.Reasoning)))
	}
	if d.Text != "" {
		l.Env.Show(acp.NewAgentMessageChunk(acp.NewTextContent(d.Text)))
	}
	if d.Notice != "" {
		l.Env.Show(acp.NewNotice(acp.NoticeSeverityWarning, d.Notice))
	}
}
