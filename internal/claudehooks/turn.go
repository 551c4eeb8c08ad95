package claudehooks

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/elsewhere"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

const (
	announceTime = 3 * time.Second // that the client may take for a turn or a tool call that begins
	maxTitle     = 200             // bytes of the prompt that name the session
)

// goesOn is the prompt of a turn that nobody has typed.
const goesOn = "(Claude Code goes on by itself)"

type turn struct {
	id        string
	announced chan struct{}   // closed when the client has been told, as far as it can be
	asked     chan struct{}   // closed when the client has sent its prompt
	prompt    context.Context // of that prompt; nil before it
	over      chan struct{}
	reason    acp.StopReason // once over
	err       error
}

// begin begins a turn with a prompt that the user has typed. The turn before it is
// over: the user has interrupted it.
func (s *session) begin(ctx context.Context, prompt string) {
	s.mu.Lock()
	s.endLocked(acp.StopReasonEndTurn, nil)
	t := s.newTurnLocked()
	s.stopped = false
	s.mu.Unlock()
	s.announce(ctx, t, prompt)
	title, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	if title != "" {
		title = strings.ToValidUTF8(title[:min(len(title), maxTitle)], "")
		s.failed(s.update(ctx, &acp.SessionInfoUpdate{Title: acp.Set(title)}))
	}
}

// goOn begins a turn if none runs, for example because a command in the background has
// ended. It returns when the turn has been announced.
func (s *session) goOn(ctx context.Context) {
	s.mu.Lock()
	t := s.turn
	begins := t == nil
	if begins {
		t = s.newTurnLocked()
	}
	s.mu.Unlock()
	if begins {
		s.announce(ctx, t, goesOn)
		return
	}
	select {
	case <-t.announced:
	case <-t.over:
	case <-ctx.Done():
	}
}

func (s *session) newTurnLocked() *turn {
	s.turn = &turn{id: rand.Text(), announced: make(chan struct{}), asked: make(chan struct{}), over: make(chan struct{})}
	return s.turn
}

// announce returns when the client has sent its prompt, or knows no turns of this
// kind.
func (s *session) announce(ctx context.Context, t *turn, prompt string) {
	defer close(t.announced)
	ctx, cancel := context.WithTimeout(ctx, announceTime)
	defer cancel()
	err := elsewhere.Turn{Session: s.id, ID: t.id, Prompt: prompt}.Announce(ctx, s.agent.client.Conn)
	var peer *acp.Error
	switch {
	case errors.As(err, &peer) && peer.Code == acp.ErrorCodeMethodNotFound:
		err = s.update(ctx, acp.NewUserMessageChunk(acp.NewTextContent(prompt)))
	case errors.As(err, &peer) && peer.Code == acp.ErrorCodeRequestCancelled:
		s.cancel(t)
		err = nil
	case err == nil:
		select {
		case <-t.asked:
		case <-t.over:
		case <-ctx.Done():
			err = fmt.Errorf("no prompt for the turn: %w", context.Cause(ctx))
		}
	}
	s.failed(err)
}

// end ends the turn, if there is one, because Claude Code has stopped. In the protocol
// only the client cancels, so a turn that the user interrupts in the terminal just ends.
func (s *session) end(reason acp.StopReason, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = false
	s.endLocked(reason, err)
}

func (s *session) endLocked(reason acp.StopReason, err error) {
	if s.turn == nil {
		return
	}
	s.turn.reason, s.turn.err = reason, err
	close(s.turn.over)
	s.turn = nil
	clear(s.tools)
}

// cancel ends a turn for the client, nil for the running one. Claude Code is stopped at
// its next hook that can stop it.
func (s *session) cancel(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil && (t == nil || t == s.turn) {
		s.stopped = true
		s.endLocked(acp.StopReasonCancelled, nil)
	}
}

// wait takes the client's prompt for a turn and waits for the end of the turn. A turn
// that does not run is over.
func (s *session) wait(ctx context.Context, id string) (acp.StopReason, error) {
	s.mu.Lock()
	t := s.turn
	if t == nil || t.id != id {
		s.mu.Unlock()
		return acp.StopReasonEndTurn, nil
	}
	again := t.prompt != nil
	if !again {
		t.prompt = ctx
		close(t.asked)
	}
	s.mu.Unlock()
	if again {
		return "", acp.Errorf(acp.ErrorCodeInvalidRequest, "the turn %s has its prompt", id)
	}
	select {
	case <-t.over:
	case <-ctx.Done():
		if !isCancelled(ctx) {
			return "", context.Cause(ctx)
		}
		s.cancel(t)
	}
	s.updating.Lock() // an update that is being sent comes before the answer
	defer s.updating.Unlock()
	return t.reason, t.err
}

func isCancelled(ctx context.Context) bool {
	return errors.Is(context.Cause(ctx), rpc.ErrSessionCancelled)
}

// isStopped reports whether Claude Code has to stop. The context of the prompt says so
// even before [agent.Cancel] is called.
func (s *session) isStopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.turn; t != nil && t.prompt != nil && isCancelled(t.prompt) {
		s.stopped = true
		s.endLocked(acp.StopReasonCancelled, nil)
	}
	return s.stopped
}
