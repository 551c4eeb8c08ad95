package serve

import (
	"context"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/review/calls"
	"github.com/hermes-nvim/hermes/plugin/reviews"
	"github.com/hermes-nvim/hermes/plugin/turns"
	"github.com/hermes-nvim/hermes/runtime/files"
	"github.com/hermes-nvim/hermes/runtime/review"
)

// reviewed returns the review of the session's folder, nil if there is none or
// reviews are off. It does not wait until it is open.
func (s *Session) reviewed() *reviews.Folder {
	r := s.client.Reviews
	if !r.IsOn() {
		return nil
	}
	return r.Open(s.Root())
}

// OpenReview opens the review of the session's folder, which looks at it before the first prompt.
func (s *Session) OpenReview() {
	if r := s.client.Reviews; r.IsOn() {
		r.Post(func() { s.reviewed() })
	}
}

// Before makes the checkpoint of a prompt before it is sent. It waits for it,
// but not for long. It waits longer for what is missed otherwise: until the review is
// open.
func (s *Session) Before(t *turns.Turn) {
	p := s.reviewed()
	if p == nil {
		return
	}
	s.awaitReview(p, t.Dropped())
	p = s.client.Reviews.Claim(s.client.Context, p)
	ctx, cancel := context.WithTimeout(s.client.Context, reviews.PromptLimit)
	key, name := reviews.SessionKey(s.Agent(), s.ID()), t.Text()
	done := make(chan struct{})
	s.client.Reviews.Post(func() {
		if !p.IsOpen() {
			close(done)
			return
		}
		s.client.Editor.Start(func() {
			defer close(done)
			if err := p.Prompt(ctx, key, t.ID, name); err != nil {
				s.client.Editor.Log.Warn("the prompt has no checkpoint yet", "session", s.ID(), "error", err)
			}
		})
	})
	select {
	case <-done:
		cancel()
	case <-ctx.Done():
		cancel()
	case <-t.Dropped():
		cancel()
	}
}

// awaitReview waits until a review is open, or until something ends.
func (s *Session) awaitReview(p *reviews.Folder, end <-chan struct{}) {
	slow := time.NewTimer(reviews.OpenLimit)
	defer slow.Stop()
	select {
	case <-p.Ready:
	case <-end:
	case <-s.client.Context.Done():
	case <-slow.C:
		s.client.Editor.Notice("warn", "the review of %s is not open yet; what agents change until then is not reviewed", p.Given)
	}
}

// After looks at what the turn has left on the disk.
func (s *Session) After() {
	a := s.author()
	if p := s.reviewed(); p != nil {
		s.client.Reviews.Post(func() {
			if p.IsOpen() {
				p.TurnEnded(a)
			} else if to := p.Recorder(); to != nil {
				to.Scan(a)
			}
		})
	}
}

// reviewCall looks at the files of a tool call.
func (s *Session) reviewCall(u acp.SessionUpdate) {
	id, begins := calls.Subject(u)
	if id == "" {
		return
	}
	p := s.reviewed()
	if p == nil || !s.Works() {
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
	s.client.Reviews.Post(func() {
		if to := p.Recorder(); to != nil {
			news.Tell(to, a, s.workspace())
		}
	})
}

// workspace is the files of the session, nil if there are none.
func (s *Session) workspace() *files.Workspace {
	if s.openRoots() != nil {
		return nil
	}
	ws, err := s.client.services.Workspace(s.ID())
	if err != nil {
		return nil
	}
	return ws
}

// commandOver looks at what a command has left on the disk.
func (s *Session) commandOver() {
	p := s.reviewed()
	if p == nil {
		return
	}
	a := s.author()
	a.Source = "disk"
	s.client.Reviews.Post(func() {
		if to := p.Recorder(); to != nil {
			to.Scan(a)
		}
	})
}

// recorded has a write to the disk noted. path is as the agent names it.
func (s *Session) recorded(path string, loc files.Location, text string, write func() error) error {
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

// author is who makes the changes of the session's turn.
func (s *Session) author() review.Author {
	a := review.Author{Session: reviews.SessionKey(s.Agent(), s.ID())}
	if t := s.Now(); t != nil {
		a.Turn = t.ID
	}
	return a
}

// AsksAbout notes that an agent asks about a tool call, and returns what notes that the user
// has allowed it with all of its diffs in sight. An earlier question about it is void.
func (s *Session) AsksAbout(call *acp.ToolCallUpdate) (approve func()) {
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

// CallAbout is the tool call of the turn that has last named a file, empty for none.
func (s *Session) CallAbout(path string) string { return string(s.looks.About(path)) }

// Prompted is the turn that runs, empty for none, and what it was asked.
func (s *Session) Prompted() (turn, text string) {
	if t := s.Now(); t != nil {
		return t.ID, t.Text()
	}
	return "", ""
}
