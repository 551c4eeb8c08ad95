package host

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/plugin/reviews"
	"github.com/hermes-nvim/hermes/runtime/files"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/calls"
)

// forReviews is what reviews need of the host.
func (h *Host) forReviews() reviews.Host {
	return reviews.Host{
		Editor: h.Editor, Context: h.ctx,
		Agents: func() []string {
			h.mu.Lock()
			defer h.mu.Unlock()
			return slices.Collect(maps.Keys(h.connections))
		},
		Sessions: func() (list []reviews.Session) {
			for _, first := range h.all() {
				for _, c := range first.pool.all() {
					for _, s := range c.open() {
						list = append(list, s)
					}
				}
			}
			return list
		},
		Asks: h.asks, Policy: h.policy, MayAsk: func() bool { return h.permissions().MayAsk() },
	}
}

// reviewed returns the review of the session's folder, nil if there is none or
// reviews are off. It does not wait until it is open.
func (s *session) reviewed() *reviews.Folder {
	r := s.conn.host.reviews
	if !r.IsOn() {
		return nil
	}
	return r.Open(s.Root())
}

// checkpoint makes the checkpoint of a prompt before it is sent. It waits for it,
// but not for long. It waits longer for what is missed otherwise: until the review is
// open.
func (s *session) checkpoint(t *turn) {
	p := s.reviewed()
	if p == nil {
		return
	}
	s.awaitReview(p, t.dropped)
	p = s.conn.host.reviews.Claim(s.conn.ctx, p)
	ctx, cancel := context.WithTimeout(s.conn.ctx, reviews.PromptLimit)
	key, name := reviews.SessionKey(s.conn.name, s.id), textOf(t.params)
	done := make(chan struct{})
	s.conn.host.reviews.Post(func() {
		if !p.IsOpen() {
			close(done)
			return
		}
		s.conn.host.Start(func() {
			defer close(done)
			if err := p.Prompt(ctx, key, t.id, name); err != nil {
				s.conn.host.Log.Warn("the prompt has no checkpoint yet", "session", s.id, "error", err)
			}
		})
	})
	select {
	case <-done:
		cancel()
	case <-ctx.Done():
		cancel()
	case <-t.dropped:
		cancel()
	}
}

// awaitReview waits until a review is open, or until something ends.
func (s *session) awaitReview(p *reviews.Folder, end <-chan struct{}) {
	slow := time.NewTimer(reviews.OpenLimit)
	defer slow.Stop()
	select {
	case <-p.Ready:
	case <-end:
	case <-s.conn.ctx.Done():
	case <-slow.C:
		s.conn.host.Notice("warn", "the review of %s is not open yet; what agents change until then is not reviewed", p.Given)
	}
}

// textOf is the first text of a prompt.
func textOf(p *acp.PromptRequest) string {
	for _, b := range p.Prompt {
		if t, ok := b.(*acp.TextContent); ok && strings.TrimSpace(t.Text) != "" {
			return t.Text
		}
	}
	return ""
}

// turnOver looks at what the turn has left on the disk.
func (s *session) turnOver(a review.Author) {
	if p := s.reviewed(); p != nil {
		s.conn.host.reviews.Post(func() {
			if p.IsOpen() {
				p.TurnEnded(a)
			} else if to := p.Recorder(); to != nil {
				to.Scan(a)
			}
		})
	}
}

// reviewCall looks at the files of a tool call.
func (s *session) reviewCall(u acp.SessionUpdate) {
	id, begins := calls.Subject(u)
	if id == "" {
		return
	}
	p := s.reviewed()
	if p == nil || !s.hasTurn() {
		return
	}
	call := s.calls.ToolCall(id)
	if call == nil {
		return
	}
	a := s.author()
	if p.IsReady() {
		by := a
		by.ToolCall = string(id)
		p.CallGoesOn(by, begins, calls.Ended(call))
	}
	news := s.looks.Seen(call, begins)
	if news == nil {
		return
	}
	if p.IsReady() { // nothing was reviewed before that
		// At once: a shim may report what the tool call does before the posted work is done.
		p.Called(a.Session, string(id), time.Now(), news.Ended)
	}
	s.conn.host.reviews.Post(func() {
		if to := p.Recorder(); to != nil {
			news.Tell(to, a, s.workspace())
		}
	})
}

// hasTurn reports whether a turn runs, rather than that old ones are told.
func (s *session) hasTurn() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.replay && s.turn != nil
}

// workspace is the files of the session, nil if there are none.
func (s *session) workspace() *files.Workspace {
	if s.openRoots() != nil {
		return nil
	}
	ws, err := s.conn.services.Workspace(s.id)
	if err != nil {
		return nil
	}
	return ws
}

// commandOver looks at what a command has left on the disk.
func (s *session) commandOver() {
	p := s.reviewed()
	if p == nil {
		return
	}
	a := s.author()
	a.Source = "disk"
	s.conn.host.reviews.Post(func() {
		if to := p.Recorder(); to != nil {
			to.Scan(a)
		}
	})
}

// recorded has a write to the disk noted. path is as the agent names it.
func (s *session) recorded(path string, loc files.Location, text string, write func() error) error {
	p := s.reviewed()
	if p == nil {
		return write()
	}
	s.awaitReview(p, nil)
	if !p.IsKnown() {
		return write() // the user knows
	}
	a := s.author()
	a.Source, a.ToolCall = "write", string(s.looks.About(path))
	return p.Write(a, loc.Real, text, write)
}

// Root is the working folder.
func (s *session) Root() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.roots) == 0 {
		return ""
	}
	return s.roots[0]
}

// author is who makes the changes of the session's turn.
func (s *session) author() review.Author {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := review.Author{Session: reviews.SessionKey(s.conn.name, s.id)}
	if s.turn != nil {
		a.Turn = s.turn.id
	}
	return a
}

// AsksAbout notes that an agent asks about a tool call, and returns what notes that the user
// has allowed it with all of its diffs in sight. An earlier question about it is void.
func (s *session) AsksAbout(call *acp.ToolCallUpdate) (approve func()) {
	by := s.author()
	by.ToolCall = string(call.ToolCallID)
	p := s.reviewed()
	if p == nil || !p.IsReady() || by.Turn == "" || by.ToolCall == "" {
		return func() {}
	}
	p.Asked(by)
	return func() {
		if s.author().Turn == by.Turn {
			p.Approve(by, call.Content)
		}
	}
}

// What a review asks about a session; see reviewSession.

func (s *session) Agent() string     { return s.conn.name }
func (s *session) ID() acp.SessionID { return s.id }

// CallAbout is the tool call of the turn that has last named a file, empty for none.
func (s *session) CallAbout(path string) string { return string(s.looks.About(path)) }

// Prompted is the turn that runs, empty for none, and what it was asked.
func (s *session) Prompted() (turn, text string) {
	s.mu.Lock()
	t := s.turn
	s.mu.Unlock()
	if t == nil {
		return "", ""
	}
	return t.id, textOf(t.params)
}
