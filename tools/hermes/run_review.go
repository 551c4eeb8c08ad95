package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/atomicfile"
	"github.com/hermes-nvim/hermes/internal/review/calls"
	"github.com/hermes-nvim/hermes/internal/review/patch"
	"github.com/hermes-nvim/hermes/internal/review/project"
	"github.com/hermes-nvim/hermes/runtime/review"
	"github.com/hermes-nvim/hermes/runtime/services"
)

// reviewUsage is the usage of --review for hermes run; see shimReviewUsage.
const reviewUsage = "write what the run changes in the working folder to `FILE`, as a patch with authors; - is standard output, and messages then go to standard error, indented"

// lastLook is how long the last look at the folder may take.
const lastLook = 2 * time.Minute

// runReview keeps track of what a run of an agent or of a program in a shim changes.
// Its state is its own and does not outlive it, so an editor may have the folder under
// review at the same time. Its methods do nothing if it is nil.
type runReview struct {
	file    string // or -
	std     *stdio
	program string // hermes run
	agent   string
	state   string // a folder
	project *project.Project
	calls   calls.Calls
	notes   reviewNotes
}

// openReview looks at the files of a folder. It returns nil if no patch was asked
// for.
func openReview(ctx context.Context, j *job) (r *runReview, err error) {
	if j.patch == "" {
		return nil, nil
	}
	if filepath.Dir(j.cwd) == j.cwd {
		return nil, fmt.Errorf("--review: the working folder is %s, which has the files of the whole system; choose another with --cwd", j.cwd)
	}
	r = &runReview{file: j.patch, std: j.std, program: "hermes run", agent: j.agent.Name}
	return r, r.open(ctx, j.cwd)
}

// open looks at the files of a folder.
func (r *runReview) open(ctx context.Context, folder string) (err error) {
	if r.file != "-" {
		// An error of the file shows before the agent does anything.
		if err := r.write(nil); err != nil {
			return err
		}
	}
	if r.state, err = os.MkdirTemp("", "hermes-run-"); err != nil {
		return fmt.Errorf("--review %s: %w", r.file, errors.Unwrap(err))
	}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	r.project, err = project.Open(r.state, folder, project.Options{
		Program: r.program, Home: true, Logger: slog.New(&r.notes),
	})
	if err == nil {
		err = r.project.Wait(ctx)
	}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("--review: %w", err)
	}
	return err
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
	a := r.author(id)
	a.ToolCall, a.Source, a.Inferred = string(r.calls.About(path)), "write", false
	return r.project.Write(a, path, text, write)
}

// updated looks at the files of a tool call.
func (r *runReview) updated(id acp.SessionID, update acp.SessionUpdate, services *services.Services) {
	if r == nil {
		return
	}
	call, begins := calls.Subject(update)
	state := services.State(id)
	if call == "" || state == nil {
		return
	}
	known := state.ToolCall(call)
	if known == nil {
		return
	}
	if news := r.calls.Seen(known, begins); news != nil {
		ws, _ := services.Workspace(id) // without one, the files that the call names do not count
		news.Tell(r.project, r.author(id), ws)
	}
}

// finish writes the patch, after the agent has ended.
func (r *runReview) finish(id acp.SessionID) error {
	if r == nil {
		return nil
	}
	defer r.close()
	r.project.Scan(r.author(id))
	return r.conclude()
}

// conclude writes the patch of what is known.
func (r *runReview) conclude() error {
	ctx, cancel := context.WithTimeout(context.Background(), lastLook)
	defer cancel()
	err := r.project.Wait(ctx)
	var text, changes bytes.Buffer
	if err == nil {
		err = patch.Write(&changes, r.project.Review())
	}
	notes := r.notes.all()
	if changes.Len() > 0 || len(notes) > 0 {
		fmt.Fprintf(&text, "# %s, agent %s\n", r.program, patch.Quote(r.agent))
		for _, n := range notes {
			fmt.Fprintf(&text, "# incomplete: %s\n", n)
			fmt.Fprintf(r.std.err, "%s: --review: %s\n", r.program, n)
		}
		changes.WriteTo(&text)
	}
	return errors.Join(err, r.write(text.Bytes()))
}

// write replaces the patch. A file that an agent has put in its place does not
// matter.
func (r *runReview) write(text []byte) error {
	if r.file == "-" {
		_, err := r.std.wire.Write(text)
		return err
	}
	if err := atomicfile.Write(r.file, string(text), nil, 0o644); err != nil {
		return fmt.Errorf("--review %s: %w", r.file, errors.Unwrap(err))
	}
	return nil
}

func (r *runReview) close() {
	if r == nil {
		return
	}
	if r.project != nil {
		r.project.Close()
	}
	os.RemoveAll(r.state)
}

// maxNotes bounds what a run says about files that are not under review.
const maxNotes = 50

// reviewNotes collects the warnings of a project, and what it has not recorded.
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
	n.add(line)
	return nil
}

// add notes a line once.
func (n *reviewNotes) add(line string) {
	line = oneLine(strings.TrimSpace(line))
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case slices.Contains(n.lines, line):
	case len(n.lines) == maxNotes:
		n.more++
	default:
		n.lines = append(n.lines, line)
	}
}

// WithAttrs implements slog.Handler. Attributes of all lines are left out.
func (n *reviewNotes) WithAttrs([]slog.Attr) slog.Handler { return n }

// WithGroup implements slog.Handler.
func (n *reviewNotes) WithGroup(string) slog.Handler { return n }
