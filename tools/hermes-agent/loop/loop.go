// Package loop runs the turns of a conversation: it asks the model, runs the tools that
// the model calls, and gives it the results, until the model is done.
//
// Whatever happens, the history stays one that endpoints accept: each call has one
// result, in the order of the calls.
package loop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/compact"
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

// ResultOf is how many bytes a result can have in a context window of some tokens: a quarter
// of it, as far as that is known.
func ResultOf(window int) int {
	if window == 0 {
		return DefaultResult
	}
	return min(DefaultResult, max(1024, window*3/4))
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
	// Shorten may replace the history before a request, if it is too long. Full is nil, or
	// the endpoint's word that it is. Nil keeps it.
	Shorten func(ctx context.Context, history []model.Message, full *model.OverflowError) []model.Message
	// Replied hears each reply of the model, also one that broke off. Nil ignores it.
	Replied func(model.Reply)

	asking chan struct{} // is full while a question of the turn is open
}

// ErrEmpty says that the model answered nothing, twice.
var ErrEmpty = errors.New("the model gave an empty answer")

// ErrAgain says that the model repeated a call that fails.
var ErrAgain = errors.New("the model made a call that fails again and again")

// mostAgain is how often in a row the same call may fail in the same way. The model sees
// each failure, so it had its chances.
const mostAgain = 5

// brake counts how many answers in a row made the same calls, all of which failed in the
// same way.
type brake struct {
	what, why string
	again     int
}

func (b *brake) see(calls []model.Call, results []model.Message) {
	now := brake{}
	for i, call := range calls {
		if !results[i].Failed {
			*b = brake{}
			return
		}
		now.what += call.Name + call.Arguments + "\n"
		now.why += results[i].Text + "\n"
	}
	if now.what == b.what && now.why == b.why {
		b.again++
		return
	}
	now.again = 1
	*b = now
}

// Turn continues a conversation that ends with a message of the user. It passes each new
// message to add, in order, as soon as it is complete. The error says why the turn ended
// early and is for the user; the history is complete then, too.
func (l *Loop) Turn(ctx context.Context, history []model.Message, add func(model.Message)) (acp.StopReason, error) {
	keep := func(m model.Message) {
		history = append(history, m)
		add(m)
	}
	l.asking = make(chan struct{}, 1)
	empty, brake := 0, brake{}
	for range withDefault(l.Limits.Requests, DefaultRequests) {
		if l.Shorten != nil {
			history = l.Shorten(ctx, history, nil)
		}
		reply, err := l.complete(ctx, &history)
		if l.Replied != nil && (err == nil || reply.Usage != (model.Usage{})) {
			l.Replied(reply)
		}
		said := reply.Message
		said.Usage = reply.Usage
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
		said.Calls, said.Opaque = slices.Clone(said.Calls), maps.Clone(said.Opaque)
		for i := range said.Calls {
			l.Calls++
			number(&said.Calls[i], l.Calls, said.Opaque)
		}
		keep(said)
		results := l.run(ctx, said.Calls, keep)
		brake.see(said.Calls, results)
		switch {
		case ctx.Err() != nil:
			return acp.StopReasonCancelled, nil
		case brake.again >= mostAgain && reply.Stop == model.StopLength:
			return acp.StopReasonMaxTokens, nil
		case brake.again >= mostAgain:
			return "", fmt.Errorf("%w: %s", ErrAgain, strings.TrimSpace(model.Bound(brake.why, 300)))
		case len(said.Calls) > 0:
		case reply.Stop == model.StopLength:
			return acp.StopReasonMaxTokens, nil
		default:
			return acp.StopReasonEndTurn, nil
		}
	}
	return acp.StopReasonMaxTurnRequests, nil
}

// complete asks the model. A conversation that the endpoint calls too long is shortened, as
// long as that makes it shorter.
func (l *Loop) complete(ctx context.Context, history *[]model.Message) (model.Reply, error) {
	for {
		reply, err := l.Model.Complete(ctx, model.Request{Model: l.Name, Messages: *history, Tools: l.Tools.Specs()}, l.show)
		var full *model.OverflowError
		if !errors.As(err, &full) || l.Shorten == nil || ctx.Err() != nil {
			return reply, err
		}
		shorter := l.Shorten(ctx, *history, full)
		if compact.Tokens(shorter) >= compact.Tokens(*history) {
			return reply, err
		}
		*history = shorter
	}
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
