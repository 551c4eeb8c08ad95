package agentkit

import (
	"context"
	"errors"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// Turns are the turns of one session. They run one after the other, in the order of their
// prompts. The zero value has none. It is safe for concurrent use.
type Turns struct {
	mu     sync.Mutex
	ended  context.Context // done when the session is closed
	end    context.CancelCauseFunc
	newest <-chan struct{} // closed when the newest turn and all before it are over; nil: none
}

// Context ends when the session is closed, with the cause rpc.ErrSessionCancelled. It is for
// what belongs to the session and to no turn.
func (t *Turns) Context() context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.session()
}

// session is Context for a caller that holds mu.
func (t *Turns) session() context.Context {
	if t.ended == nil {
		t.ended, t.end = context.WithCancelCause(context.Background())
	}
	return t.ended
}

// Run waits for the turns before this one and calls turn. Its context ends with ctx, or when
// the session is closed. If that happens while it waits, Run does not call turn and returns
// the cause.
//
// If ctx belongs to the handler of a request, the turn is over once the request is answered,
// so that the updates of the next turn follow the answer of this one. Run must be called by
// the goroutine of that handler.
func (t *Turns) Run(ctx context.Context, turn func(context.Context) error) error {
	session := t.Context()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(session, func() { stop(context.Cause(session)) })()
	if err := wait(ctx, rpc.PromptBefore(ctx)); err != nil {
		return err
	}
	mine := make(chan struct{})
	t.mu.Lock()
	before := t.newest
	t.newest = mine
	t.mu.Unlock()
	defer func() {
		over := func() {
			go func() {
				wait(context.Background(), before)
				close(mine)
			}()
		}
		if !rpc.AfterResponse(ctx, over) {
			over()
		}
	}()
	if err := wait(ctx, before); err != nil {
		return err
	}
	if session.Err() != nil { // of which ctx need not know yet
		return context.Cause(session)
	}
	return turn(ctx)
}

// wait waits for what comes before, nil for nothing. The error is the cause of ctx.
func wait(ctx context.Context, before <-chan struct{}) error {
	if before != nil {
		select {
		case <-before:
		case <-ctx.Done():
		}
	}
	return context.Cause(ctx)
}

// Prompt is Run for a session/prompt, and returns the answer to it. Whatever error turn returns
// after session/cancel, or after the session was closed, is a consequence of that: the stop
// reason is then cancelled, as the protocol wants it.
//
// See https://agentclientprotocol.com/protocol/prompt-turn#cancellation.
func (t *Turns) Prompt(ctx context.Context, turn func(context.Context) (acp.StopReason, error)) (*acp.PromptResponse, error) {
	var reason acp.StopReason
	cancelled := false
	err := t.Run(ctx, func(ctx context.Context) (err error) {
		reason, err = turn(ctx)
		cancelled = errors.Is(context.Cause(ctx), rpc.ErrSessionCancelled)
		return err
	})
	if err != nil && (cancelled || errors.Is(err, rpc.ErrSessionCancelled)) {
		return &acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	}
	if err != nil {
		return nil, err
	}
	return &acp.PromptResponse{StopReason: reason}, nil
}

// Close cancels all turns, later ones too, and waits until the running ones have been answered:
// nothing about a session may follow the answer to its session/close. The error is the cause
// of ctx if it ends earlier. A turn must not close its own session.
func (t *Turns) Close(ctx context.Context) error {
	t.mu.Lock()
	t.session()
	t.end(rpc.ErrSessionCancelled)
	newest := t.newest
	t.mu.Unlock()
	if newest == nil {
		return nil
	}
	select {
	case <-newest:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
