package host

import (
	"context"
	"strings"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/files"
	"github.com/hermes-nvim/hermes/runtime/history"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/project"
)

const (
	maxNamed = 100  // files that a tool call names
	maxCalls = 1000 // tool calls of a turn that are told apart
)

// callSeen is what reviews know of a tool call.
type callSeen struct {
	named int  // files that it named when they were last looked at
	ended bool // its files were looked at
}

// reviewed returns the review of the session's folder, nil if there is none or
// reviews are off. It does not wait until it is open.
func (s *session) reviewed() *reviewed {
	r := s.conn.host.reviews
	if !r.isOn() {
		return nil
	}
	return r.open(s.root())
}

// checkpoint makes the checkpoint of a prompt before it is sent. It waits for it,
// but not for long.
func (s *session) checkpoint(t *turn) {
	p := s.reviewed()
	if p == nil {
		return
	}
	ctx, cancel := context.WithTimeout(s.conn.ctx, promptLimit)
	key, name := sessionKey(s.conn.name, s.id), textOf(t.params)
	done := make(chan struct{})
	s.conn.host.reviews.post(func() {
		if !p.is() {
			close(done)
			return
		}
		s.conn.host.start(func() {
			defer close(done)
			if err := p.Prompt(ctx, key, t.id, name); err != nil {
				s.conn.host.log.Warn("the prompt has no checkpoint yet", "session", s.id, "error", err)
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
		s.conn.host.reviews.post(func() {
			if p.is() {
				p.TurnEnded(a)
			}
		})
	}
}

// reviewCall looks at the files that a tool call names: before it changes them, as
// far as that can be known, and when it has ended.
func (s *session) reviewCall(u acp.SessionUpdate) {
	var id acp.ToolCallID
	again := false
	switch u := u.(type) {
	case *acp.ToolCall:
		id, again = u.ToolCallID, true // also if one of that name has ended
	case *acp.ToolCallUpdate:
		id = u.ToolCallID
	default:
		return
	}
	p := s.reviewed()
	if p == nil {
		return
	}
	call := s.calls.ToolCall(id)
	if call == nil {
		return
	}
	status := call.Status.Or("")
	ended := status == acp.ToolCallStatusCompleted || status == acp.ToolCallStatusFailed
	told, diffs := named(call)
	kind := call.Kind.Or(acp.ToolKindOther)
	edits := diffs || kind == acp.ToolKindEdit || kind == acp.ToolKindDelete || kind == acp.ToolKindMove
	if !s.isNews(id, len(told), ended, again && !ended) {
		return
	}
	a := s.author()
	a.ToolCall, a.Source = string(id), "tool"
	s.conn.host.reviews.post(func() {
		if !p.is() {
			return
		}
		switch {
		case !ended && edits:
			var paths []string
			for _, t := range s.allowed(told) {
				paths = append(paths, t.Path)
			}
			p.Expect(paths...)
		case ended && edits:
			p.Look(a, s.allowed(told)...)
		case ended && (kind == acp.ToolKindExecute || kind == acp.ToolKindOther):
			p.Scan(a)
		}
	})
}

// isNews reports whether a tool call says more than it did before.
func (s *session) isNews(id acp.ToolCallID, named int, ended, again bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.replay || s.turn == nil {
		return false
	}
	if again {
		delete(s.callsSeen, id)
	}
	seen, ok := s.callsSeen[id]
	if seen.ended || ok && !ended && named <= seen.named || !ok && len(s.callsSeen) >= maxCalls {
		return false
	}
	if s.callsSeen == nil {
		s.callsSeen = make(map[acp.ToolCallID]callSeen)
	}
	s.callsSeen[id] = callSeen{named, ended}
	return true
}

// named are the files that a tool call names, and whether it has diffs.
func named(call *history.ToolCall) (told []project.Told, diffs bool) {
	for _, c := range call.Content {
		if d, ok := c.(*acp.Diff); ok && len(told) < maxNamed {
			t := project.Told{Path: d.Path, After: &d.NewText}
			if old, ok := d.OldText.Get(); ok {
				t.Before = &old
			}
			told, diffs = append(told, t), true
		}
	}
	for _, l := range call.Locations {
		if len(told) < maxNamed {
			told = append(told, project.Told{Path: l.Path})
		}
	}
	return told, diffs
}

// allowed leaves out the files that are not in the folders of the session: an
// agent must not have them read by naming them.
func (s *session) allowed(told []project.Told) []project.Told {
	if s.openRoots() != nil {
		return nil
	}
	ws, err := s.conn.services.Workspace(s.id)
	if err != nil {
		return nil
	}
	var list []project.Told
	for _, t := range told {
		if within(ws, t.Path) {
			list = append(list, t)
		}
	}
	return list
}

// within reports whether a path, and what it leads to, is in the folders of a
// session. It may be a directory.
func within(ws *files.Workspace, path string) bool {
	if _, err := ws.Resolve(path); err == nil {
		return true
	}
	_, err := ws.ResolveDir(path)
	return err == nil
}

// commandOver looks at what a command has left on the disk.
func (s *session) commandOver() {
	p := s.reviewed()
	if p == nil {
		return
	}
	a := s.author()
	a.Source = "disk"
	s.conn.host.reviews.post(func() {
		if p.is() {
			p.Scan(a)
		}
	})
}

// recorded has a write to the disk noted.
func (s *session) recorded(loc files.Location, text string, write func() error) error {
	p := s.reviewed()
	if p == nil {
		return write()
	}
	select {
	case <-p.ready:
	default:
		return write() // the review opens too late to tell what was there
	}
	if p.err != nil {
		return write()
	}
	a := s.author()
	a.Source = "write"
	return p.Write(a, loc.Real, text, write)
}
