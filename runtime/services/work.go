package services

import (
	"context"
	"fmt"

	"github.com/hermes-nvim/hermes/acp"
	v2 "github.com/hermes-nvim/hermes/acp/v2"
	"github.com/hermes-nvim/hermes/runtime/history"
)

// work is a prompt of version 2 whose end somebody waits for.
type work struct {
	accepted bool
	worked   bool // the session was not idle at some time since the prompt was sent
	now      history.Activity
	changed  chan struct{} // closed and replaced by news
	gone     bool          // the session was closed
}

func (w *work) news() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// Prompt calls session/prompt and waits for the end of the work it begins, which
// version 2 reports by the state of the session: it was at work since the prompt
// was sent, and is idle. An idle state that was reported before, or is repeated,
// ends nothing. A prompt sent while the session works ends with that work, unless
// the agent has begun something new by the time it accepts the prompt.
//
// It fails when the context, the connection or the session ends first. The end
// of the context does not stop the work: for that, send session/cancel and call
// Services.Cancel.
func (v *V2) Prompt(ctx context.Context, agent v2.Agent, req *v2.PromptRequest) (*v2.PromptResponse, history.Activity, error) {
	id := acp.SessionID(req.SessionID)
	w, end := v.s.watchWork(id)
	defer end()
	resp, err := agent.Prompt(ctx, req)
	if err != nil {
		return nil, history.Activity{}, err
	}
	var closed <-chan struct{}
	conn, ok := agent.Conn.(interface {
		Done() <-chan struct{}
		Err() error
	})
	if ok {
		closed = conn.Done()
	}
	v.s.mu.Lock()
	w.accepted = true
	v.s.mu.Unlock()
	for ended := false; ; {
		v.s.mu.Lock()
		now, over, gone, changed := w.now, w.accepted && w.worked && w.now.Idle(), w.gone, w.changed
		v.s.mu.Unlock()
		switch {
		case over:
			return resp, now, nil
		case gone:
			return resp, now, fmt.Errorf("session %s: closed while it was at work", id)
		case ended:
			return resp, now, conn.Err()
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return resp, now, context.Cause(ctx)
		case <-closed: // what came before the end counts
			ended = true
		}
	}
}

// watchWork begins to follow what a session is doing.
func (s *Services) watchWork(id acp.SessionID) (w *work, end func()) {
	w = &work{changed: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.gone = s.closed
	if st := s.sessions.Get(id); st != nil {
		w.now = st.Activity()
		w.worked = !w.now.Idle()
	}
	if s.working[id] == nil {
		s.working[id] = make(map[*work]struct{})
	}
	s.working[id][w] = struct{}{}
	return w, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if delete(s.working[id], w); len(s.working[id]) == 0 {
			delete(s.working, id)
		}
	}
}

// reported tells those who wait what a session is doing now.
func (s *Services) reported(id acp.SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.sessions.Get(id)
	if st == nil {
		return
	}
	for w := range s.working[id] {
		w.now = st.Activity()
		w.worked = w.worked || !w.now.Idle()
		w.news()
	}
}

// abandoned tells those who wait that a session was closed.
func (s *Services) abandoned(id acp.SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.working[id] {
		w.gone = true
		w.news()
	}
}
