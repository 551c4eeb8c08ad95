package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/atomicfile"
	"github.com/hermes-nvim/hermes/runtime/history"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/review/patch"
	"github.com/hermes-nvim/hermes/runtime/review/project"
)

const reviewUsage = "write what the run changes in the working folder to `FILE`, as a patch with authors; - is standard output, and messages then go to standard error, indented"

// lastLook is how long the last look at the folder may take.
const lastLook = 2 * time.Minute

// runReview keeps track of what a run changes. Its state is its own and does not
// outlive it, so an editor may have the folder under review at the same time. Its
// methods do nothing if it is nil.
type runReview struct {
	file    string // or -
	std     *stdio
	agent   string
	state   string // a folder
	project *project.Project
	notes   reviewNotes

	mu    sync.Mutex
	calls map[string]acp.ToolCallID // that are about to change a path
}

// openReview looks at the files of a folder. It returns nil if no patch was asked
// for.
func openReview(ctx context.Context, j *job) (r *runReview, err error) {
	if j.patch == "" {
		return nil, nil
	}
	r = &runReview{file: j.patch, std: j.std, agent: j.agent.Name, calls: make(map[string]acp.ToolCallID)}
	if r.file != "-" {
		// What cannot be written is known before the agent does anything.
		if err := r.write(nil); err != nil {
			return nil, err
		}
	}
	if r.state, err = os.MkdirTemp("", "hermes-run-"); err != nil {
		return nil, fmt.Errorf("--review: %w", err)
	}
	defer func() {
		if err != nil {
			r.close()
			r = nil
		}
	}()
	r.project, err = project.Open(r.state, j.cwd, project.Options{Program: "hermes run", Logger: slog.New(&r.notes)})
	if err == nil {
		err = r.project.Wait(ctx)
	}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("--review: %w", err)
	}
	return r, err
}

// author is the session, which is named as the reviews of an editor name it.
func (r *runReview) author(id acp.SessionID) review.Author {
	return review.Author{Session: r.agent + "/" + string(id), Turn: "1", Source: "disk", Inferred: true}
}

// writing runs write, which writes a file for the agent.
func (r *runReview) writing(id acp.SessionID, path, text string, write func() error) error {
	if r == nil {
		return write()
	}
	r.mu.Lock()
	call := r.calls[filepath.Clean(path)]
	r.mu.Unlock()
	a := r.author(id)
	a.ToolCall, a.Source, a.Inferred = string(call), "write", false
	return r.project.Write(a, path, text, write)
}

// updated looks at the files that a tool call was about to change, or has changed.
func (r *runReview) updated(id acp.SessionID, update acp.SessionUpdate, state *history.State) {
	if r == nil || state == nil {
		return
	}
	var call *history.ToolCall
	switch u := update.(type) {
	case *acp.ToolCall:
		call = state.ToolCall(u.ToolCallID)
	case *acp.ToolCallUpdate:
		call = state.ToolCall(u.ToolCallID)
	}
	if call == nil {
		return
	}
	kind, status := call.Kind.Or(acp.ToolKindOther), call.Status.Or(acp.ToolCallStatusPending)
	over := status == acp.ToolCallStatusCompleted || status == acp.ToolCallStatusFailed
	a := r.author(id)
	a.ToolCall = string(call.ToolCallID)
	if kind == acp.ToolKindExecute {
		if over {
			r.project.Scan(a)
		}
		return
	}
	told := toldBy(call, kind == acp.ToolKindEdit || kind == acp.ToolKindDelete || kind == acp.ToolKindMove)
	r.mu.Lock()
	for _, f := range told {
		if path := filepath.Clean(f.Path); !over {
			r.calls[path] = call.ToolCallID
		} else if r.calls[path] == call.ToolCallID {
			delete(r.calls, path)
		}
	}
	r.mu.Unlock()
	switch {
	case len(told) == 0:
	case over:
		a.Source, a.Inferred = "tool", false
		r.project.Look(a, told...)
	default:
		for _, f := range told {
			r.project.Expect(f.Path)
		}
	}
}

// toldBy returns the files that a tool call is about.
func toldBy(call *history.ToolCall, locations bool) (files []project.Told) {
	for _, c := range call.Content {
		if d, ok := c.(*acp.Diff); ok && filepath.IsAbs(d.Path) {
			f := project.Told{Path: d.Path, After: &d.NewText}
			if old, ok := d.OldText.Get(); ok {
				f.Before = &old
			}
			files = append(files, f)
		}
	}
	if locations {
		for _, l := range call.Locations {
			if filepath.IsAbs(l.Path) {
				files = append(files, project.Told{Path: l.Path})
			}
		}
	}
	return files
}

// finish writes the patch, after the agent has ended.
func (r *runReview) finish(id acp.SessionID) error {
	if r == nil {
		return nil
	}
	defer r.close()
	r.project.Scan(r.author(id))
	ctx, cancel := context.WithTimeout(context.Background(), lastLook)
	defer cancel()
	err := r.project.Wait(ctx)
	var text, changes bytes.Buffer
	if err == nil {
		err = patch.Write(&changes, r.project.Review())
	}
	notes := r.notes.all()
	if changes.Len() > 0 || len(notes) > 0 {
		fmt.Fprintf(&text, "# hermes run, agent %s\n", patch.Quote(r.agent))
		for _, n := range notes {
			fmt.Fprintf(&text, "# incomplete: %s\n", n)
			fmt.Fprintf(r.std.err, "hermes run: --review: %s\n", n)
		}
		changes.WriteTo(&text)
	}
	return errors.Join(err, r.write(text.Bytes()))
}

// write replaces the patch. What an agent has put in its place does not matter.
func (r *runReview) write(text []byte) error {
	if r.file == "-" {
		_, err := r.std.wire.Write(text)
		return err
	}
	dir, err := os.OpenRoot(filepath.Dir(r.file))
	if err == nil {
		defer dir.Close()
		err = atomicfile.Replace(dir, filepath.Base(r.file), string(text), nil, 0o644, nil)
	}
	if err != nil {
		return fmt.Errorf("--review %s: %w", r.file, err)
	}
	return nil
}

func (r *runReview) close() {
	if r.project != nil {
		r.project.Close()
	}
	os.RemoveAll(r.state)
}

// maxNotes bounds what a run says about files that are not under review.
const maxNotes = 50

// reviewNotes collects the warnings of a project.
type reviewNotes struct {
	mu    sync.Mutex
	lines []string
	more  int
}

func (n *reviewNotes) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.more == 0 {
		return n.lines
	}
	return append(n.lines, fmt.Sprintf("%d more", n.more))
}

// Enabled implements slog.Handler.
func (n *reviewNotes) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn
}

// Handle implements slog.Handler.
func (n *reviewNotes) Handle(_ context.Context, record slog.Record) error {
	line := record.Message
	record.Attrs(func(a slog.Attr) bool {
		if text := a.Value.String(); a.Key == "file" {
			line += " " + patch.Quote(text)
		} else {
			line += ": " + text
		}
		return true
	})
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.lines) == maxNotes {
		n.more++
	} else {
		n.lines = append(n.lines, oneLine(strings.TrimSpace(line)))
	}
	return nil
}

// WithAttrs implements slog.Handler. What all lines have is left out.
func (n *reviewNotes) WithAttrs([]slog.Attr) slog.Handler { return n }

// WithGroup implements slog.Handler.
func (n *reviewNotes) WithGroup(string) slog.Handler { return n }
