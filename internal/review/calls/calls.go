// Package calls says when a tool call of an agent is a reason to look at files, and at
// which.
package calls

import (
	"path/filepath"
	"sync"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/review/project"
	"github.com/hermes-nvim/hermes/runtime/files"
	"github.com/hermes-nvim/hermes/runtime/history"
	"github.com/hermes-nvim/hermes/runtime/review"
)

const (
	maxFiles = 100  // that a tool call names
	maxCalls = 1000 // of a turn that are known by their ids
)

// Calls are the tool calls of a turn. The zero value has none. It is safe for
// concurrent use.
type Calls struct {
	mu    sync.Mutex
	seen  map[acp.ToolCallID]seen
	about map[string]acp.ToolCallID // by the clean path of a file
}

// seen is what is known of a tool call.
type seen struct {
	named int  // files that it named when they were last looked at
	ended bool // its files were looked at
}

// News is what there is to do about a tool call.
type News struct {
	Call  acp.ToolCallID
	Ended bool
	edits bool // it changes the files that it names
	scan  bool // it may change any file
	files []project.Told
}

// Recorder looks at files. *project.Project is one.
type Recorder interface {
	Expect(paths ...string)
	Look(author review.Author, files ...project.Told)
	Scan(author review.Author)
}

// Subject returns the tool call that an update is about, and whether it begins with
// it; "" if it is about something else. An id can be used again.
func Subject(u acp.SessionUpdate) (id acp.ToolCallID, begins bool) {
	switch u := u.(type) {
	case *acp.ToolCall:
		return u.ToolCallID, true
	case *acp.ToolCallUpdate:
		return u.ToolCallID, false
	}
	return "", false
}

// Ended reports whether a tool call has ended.
func Ended(call *history.ToolCall) bool {
	return call.Status.V == acp.ToolCallStatusCompleted || call.Status.V == acp.ToolCallStatusFailed
}

// Seen takes what is known of a tool call after an update of it. It returns nil if that
// is no reason to do anything.
func (c *Calls) Seen(call *history.ToolCall, begins bool) *News {
	n := &News{Call: call.ToolCallID}
	n.Ended = Ended(call)
	var diffs bool
	n.files, diffs = named(call)
	switch kind := call.Kind.Or(acp.ToolKindOther); {
	case diffs, kind == acp.ToolKindEdit, kind == acp.ToolKindDelete, kind == acp.ToolKindMove:
		n.edits = true
	case kind == acp.ToolKindExecute, kind == acp.ToolKindOther:
		n.scan = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isNews(n, begins) {
		return nil
	}
	if n.edits {
		c.mark(n)
	}
	return n
}

func (c *Calls) isNews(n *News, begins bool) bool {
	if begins && !n.Ended {
		delete(c.seen, n.Call)
	}
	was, ok := c.seen[n.Call]
	if was.ended || ok && !n.Ended && len(n.files) <= was.named || !ok && len(c.seen) >= maxCalls {
		return false
	}
	if c.seen == nil {
		c.seen, c.about = make(map[acp.ToolCallID]seen), make(map[string]acp.ToolCallID)
	}
	c.seen[n.Call] = seen{len(n.files), n.Ended}
	return true
}

// mark notes which files a tool call is about to change, until it has ended.
func (c *Calls) mark(n *News) {
	for _, f := range n.files {
		path := filepath.Clean(f.Path)
		if !n.Ended {
			c.about[path] = n.Call
		} else if c.about[path] == n.Call {
			delete(c.about, path)
		}
	}
}

// About returns the tool call that is about to change a file, "" if none is.
func (c *Calls) About(path string) acp.ToolCallID {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.about[filepath.Clean(path)]
}

// Reset forgets all of them, as at the end of a turn.
func (c *Calls) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen, c.about = nil, nil
}

// Tell has the recorder look at files before the tool call changes them, as far as that
// can be known, and when it has ended. Files outside of the folders of the session are
// left out, because an agent must not have them read by naming them.
func (n *News) Tell(r Recorder, author review.Author, ws *files.Workspace) {
	author.ToolCall, author.Source, author.Inferred = string(n.Call), "tool", false
	switch {
	case n.edits && n.Ended:
		r.Look(author, n.within(ws)...)
	case n.edits:
		var paths []string
		for _, f := range n.within(ws) {
			paths = append(paths, f.Path)
		}
		r.Expect(paths...)
	case n.scan && n.Ended:
		r.Scan(author)
	}
}

func (n *News) within(ws *files.Workspace) (list []project.Told) {
	for _, f := range n.files {
		if within(ws, f.Path) {
			list = append(list, f)
		}
	}
	return list
}

// within reports whether a path, and what it leads to, is in the folders of a session.
// It may be a directory.
func within(ws *files.Workspace, path string) bool {
	if ws == nil {
		return false
	}
	if _, err := ws.Resolve(path); err == nil {
		return true
	}
	_, err := ws.ResolveDir(path)
	return err == nil
}

// named are the files that a tool call names, and whether it has diffs.
func named(call *history.ToolCall) (told []project.Told, diffs bool) {
	for _, c := range call.Content {
		if d, ok := c.(*acp.Diff); ok && len(told) < maxFiles {
			t := project.Told{Path: d.Path, After: &d.NewText}
			if old, ok := d.OldText.Get(); ok {
				t.Before = &old
			}
			told, diffs = append(told, t), true
		}
	}
	for _, l := range call.Locations {
		if len(told) < maxFiles {
			told = append(told, project.Told{Path: l.Path})
		}
	}
	return told, diffs
}
