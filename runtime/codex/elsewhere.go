package codex

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/codex/appserver"
)

// How often a session tries to open its thread again, and the pause after the first
// try, which doubles from one to the next.
const (
	rejoinTries = 10
	rejoinPause = 100 * time.Millisecond
)

// save puts a thread on the disk, where other clients find it. By itself codex does
// that with the first turn. Codex does not keep items of this kind, so the model
// does not see it.
func save(ctx context.Context, l *link, thread string) error {
	_, err := l.agent.ThreadInjectItems(ctx, &appserver.ThreadInjectItemsParams{
		ThreadID: thread, Items: []json.RawMessage{json.RawMessage(`{"type":"other"}`)},
	})
	return err
}

// resume opens the thread, and takes part in the turn that another client has begun.
func (s *Session) resume(ctx context.Context, l *link, p *appserver.ThreadResumeParams) (*appserver.ThreadResumeResponse, error) {
	if s.opts.Elsewhere == nil {
		return l.agent.ThreadResume(ctx, p)
	}
	opening := func(over *link) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.opening = over
	}
	opening(l)
	defer opening(nil)
	r, err := l.agent.ThreadResume(ctx, p)
	if err != nil {
		return nil, err
	}
	last, err := l.agent.ThreadTurnsList(ctx, &appserver.ThreadTurnsListParams{ThreadID: p.ThreadID, Limit: acp.Some(uint32(1))})
	if err != nil || len(last.Data) == 0 {
		return r, err
	}
	turn := &last.Data[0]
	if turn.Status == appserver.TurnStatusInProgress {
		s.turnOf(turn.ID, false)
		return r, nil
	}
	s.mu.Lock()
	t := s.turn
	s.mu.Unlock()
	if t != nil && t.id == turn.ID { // it has ended meanwhile
		s.note(ctx, turn.ID, &appserver.TurnCompletedNotification{ThreadID: p.ThreadID, Turn: *turn})
	}
	return r, nil
}

// turnOf returns the turn that a message with a turn id belongs to: the one that runs
// here, or one that another client has begun. A message about another turn starts a
// turn here only if that turn starts now or the thread is being opened.
func (s *Session) turnOf(id string, starts bool) *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.turn
	switch {
	case s.opts.Elsewhere == nil, id == "", s.closed:
		return t
	case t != nil && (t.id == "" || t.id == id || t.ended.Err() == nil):
		return t
	case !starts && s.opening == nil, s.foreign != nil && s.foreign.id == id:
		return t
	}
	t = newTurn(context.Background())
	t.id, t.heard = id, make(chan struct{})
	l := s.link
	if s.opening != nil {
		l = s.opening
		close(t.heard) // its prompt is in the past
	}
	s.turn, s.foreign = t, t
	go s.follow(l, t)
	return t
}

// follow takes part in a turn of another client until it ends.
func (s *Session) follow(l *link, t *turn) {
	go func() {
		select {
		case <-t.heard:
		case <-l.conn.Done():
		}
		s.opts.Elsewhere(t.id, t.text)
		s.begin(t, t.id)
	}()
	t.result = s.run(context.Background(), l, t, nil)
	s.release(t)
}

// hear looks for the prompt of a turn of another client. It comes first.
func (t *turn) hear(note any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.heard == nil || ended(t.heard) {
		return
	}
	switch n := note.(type) {
	case *appserver.TurnStartedNotification:
		return
	case *appserver.ItemStartedNotification:
		if m, ok := n.Item.Variant.(*appserver.ThreadItemUserMessage); ok {
			t.text = inputText(m.Content)
		}
	}
	close(t.heard)
}

// Follow waits for the end of a turn that Elsewhere has got. The end of ctx interrupts
// it.
func (s *Session) Follow(ctx context.Context, turn string) *Result {
	s.mu.Lock()
	t := s.foreign
	s.mu.Unlock()
	if t == nil || t.id != turn {
		return &Result{Err: ErrNoTurn, TurnID: turn, ThreadID: s.Thread()}
	}
	t.mu.Lock()
	t.call = ctx
	t.mu.Unlock()
	select {
	case <-t.over:
	case <-ctx.Done():
		t.interrupt()
		<-t.over
	}
	return t.result
}

// Sent reports whether a message of the user comes from this session.
func (s *Session) Sent(m *appserver.ThreadItemUserMessage) bool { return m.ClientID.V == s.mark }

// stay opens the thread again when the app-server is gone, because other clients may
// go on with it.
func (s *Session) stay(l *link) {
	<-l.conn.Done()
	pause := rejoinPause
	for range rejoinTries {
		err := s.EnsureStarted(context.Background())
		if err == nil || errors.Is(err, ErrClosed) {
			return
		}
		s.server.opts.Log.Warn("codex", "thread", s.Thread(), "error", err)
		time.Sleep(pause)
		pause *= 2
	}
}
