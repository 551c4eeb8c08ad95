package demoagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/agentkit"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// turn is one prompt being worked on.
type turn struct {
	*agent
	*session
}

// update shows something to the user and keeps it for a replay.
func (t *turn) update(ctx context.Context, u acp.SessionUpdate) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	t.history = append(t.history, u)
	return t.Update(ctx, u)
}

// say streams a text word by word.
func (t *turn) say(ctx context.Context, format string, args ...any) error {
	t.mu.Lock()
	pause := pauses[t.pace]
	t.mu.Unlock()
	return t.stream(ctx, pause, strings.SplitAfter(fmt.Sprintf(format, args...), " "))
}

func (t *turn) stream(ctx context.Context, pause time.Duration, chunks []string) error {
	for _, chunk := range chunks {
		if err := t.update(ctx, acp.NewAgentMessageChunk(acp.NewTextContent(chunk))); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return context.Cause(ctx)
}

// plan shows the steps of the turn; the first done steps are completed.
func (t *turn) plan(ctx context.Context, done int, steps ...string) error {
	plan := &acp.Plan{}
	for i, step := range steps {
		status := acp.PlanEntryStatusPending
		if i < done {
			status = acp.PlanEntryStatusCompleted
		} else if i == done {
			status = acp.PlanEntryStatusInProgress
		}
		plan.Entries = append(plan.Entries, acp.PlanEntry{Content: step, Priority: acp.PlanEntryPriorityMedium, Status: status})
	}
	return t.update(ctx, plan)
}

// call announces a tool call, runs it and shows how it ended. A failure is reported
// to the user and does not end the turn; ok is false after one.
func (t *turn) call(ctx context.Context, c *acp.ToolCall, do func() error) (ok bool, err error) {
	t.calls++
	c.ToolCallID = acp.ToolCallID(fmt.Sprintf("call-%d", t.calls))
	c.Status = acp.Some(acp.ToolCallStatusPending)
	if err := t.update(ctx, c); err != nil {
		return false, err
	}
	failure := do()
	end := &acp.ToolCallUpdate{ToolCallID: c.ToolCallID, Status: acp.Some(acp.ToolCallStatusCompleted)}
	if failure != nil {
		end.Status = acp.Some(acp.ToolCallStatusFailed)
	}
	// Even if the turn was cancelled, so that no call is left open.
	if err := t.update(context.WithoutCancel(ctx), end); err != nil {
		return false, err
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	} else if errors.Is(failure, rpc.ErrSessionCancelled) {
		return false, failure
	} else if failure != nil {
		return false, t.say(ctx, "%s: %v. ", c.Title, failure)
	}
	return true, nil
}

// allowed returns nil if the user agrees to a tool call.
func (t *turn) allowed(ctx context.Context, c *acp.ToolCall) error {
	t.mu.Lock()
	mode := t.mode
	t.mu.Unlock()
	if mode == modeReadOnly {
		return errors.New("not in read-only mode")
	}
	if !t.trusted {
		trusted, err := agentkit.Permit(ctx, t.ClientSession, c.AsUpdate(), "Allow for this session")
		if err != nil {
			return err
		}
		t.trusted = trusted
	}
	return t.update(ctx, &acp.ToolCallUpdate{ToolCallID: c.ToolCallID, Status: acp.Some(acp.ToolCallStatusInProgress)})
}

// edit reads a file as the client sees it, applies change to it and writes it back.
func (t *turn) edit(ctx context.Context, name string, change func(old string) string) error {
	path, err := inside(t.cwd, name)
	if err != nil {
		return t.say(ctx, "I leave that alone: %v. ", err)
	}
	if !t.can.Fs.ReadTextFile || !t.can.Fs.WriteTextFile {
		return t.say(ctx, "This client offers no files, so I skip %s. ", name)
	}
	where := []acp.ToolCallLocation{{Path: path}}
	diff := &acp.Diff{Path: path}
	read := &acp.ToolCall{Title: "Read " + name, Kind: acp.Some(acp.ToolKindRead), Locations: where}
	ok, err := t.call(ctx, read, func() error {
		text, err := t.ReadFile(ctx, path)
		if missing(err) {
			return nil // to be created
		} else if err == nil {
			diff.OldText = acp.Some(text)
		}
		return err
	})
	if !ok {
		return err
	}
	diff.NewText = change(diff.OldText.V)
	edit := &acp.ToolCall{
		Title: "Edit " + name, Kind: acp.Some(acp.ToolKindEdit), Locations: where, Content: []acp.ToolCallContent{diff},
	}
	_, err = t.call(ctx, edit, func() error {
		if err := t.allowed(ctx, edit); err != nil {
			return err
		}
		return t.WriteFile(ctx, path, diff.NewText)
	})
	return err
}

// missing reports whether the client says that there is no such file. The
// protocol has a code for it, but many clients answer with a general one and
// give the reason in the message or the data.
func missing(err error) bool {
	var e *acp.Error
	if !errors.As(err, &e) {
		return false
	}
	reason := strings.ToLower(e.Message + " " + string(e.Data))
	return e.Code == acp.ErrorCodeResourceNotFound || slices.ContainsFunc(
		[]string{"enoent", "no such file", "file not found", "file does not exist"},
		func(sign string) bool { return strings.Contains(reason, sign) })
}

// run runs a command in a terminal of the client and reports how it ended.
func (t *turn) run(ctx context.Context, command string, args ...string) error {
	if !t.can.Terminal {
		return t.say(ctx, "This client offers no terminals, so I skip %s. ", command)
	}
	input, _ := json.Marshal(map[string]any{"command": command, "args": args, "cwd": t.cwd}) // strings always encode
	c := &acp.ToolCall{
		Title: strings.Join(append([]string{command}, args...), " "), Kind: acp.Some(acp.ToolKindExecute), RawInput: input,
	}
	report := ""
	ok, err := t.call(ctx, c, func() error {
		if err := t.allowed(ctx, c); err != nil {
			return err
		}
		term, err := t.client.CreateTerminal(ctx, &acp.CreateTerminalRequest{
			SessionID: t.ID, Command: command, Args: args, Cwd: acp.Some(t.cwd),
		})
		if err != nil {
			return err
		}
		// Releasing ends what still runs, so it happens after a cancel as well.
		defer t.client.ReleaseTerminal(context.WithoutCancel(ctx), &acp.ReleaseTerminalRequest{SessionID: t.ID, TerminalID: term.TerminalID})
		if err := t.update(ctx, &acp.ToolCallUpdate{
			ToolCallID: c.ToolCallID, Content: []acp.ToolCallContent{acp.NewTerminal(term.TerminalID)},
		}); err != nil {
			return err
		}
		if _, err := t.client.WaitForTerminalExit(ctx, &acp.WaitForTerminalExitRequest{SessionID: t.ID, TerminalID: term.TerminalID}); err != nil {
			return err
		}
		output, err := t.client.TerminalOutput(ctx, &acp.TerminalOutputRequest{SessionID: t.ID, TerminalID: term.TerminalID})
		if err != nil {
			return err
		}
		report = describe(command, output)
		return nil
	})
	if !ok {
		return err
	}
	return t.say(ctx, "%s ", report)
}

func describe(command string, o *acp.TerminalOutputResponse) string {
	how := "ended"
	if s := o.ExitStatus; s != nil && s.Signal.OK {
		how = "was ended by signal " + s.Signal.V
	} else if s != nil && s.ExitCode.OK {
		how = fmt.Sprintf("ended with status %d", s.ExitCode.V)
	}
	return fmt.Sprintf("%s %s and printed %q.", command, how, strings.TrimSpace(o.Output))
}

// inside returns the absolute path of a file. The file must be in dir, both by its
// name and with links resolved.
func inside(dir, name string) (string, error) {
	if rel, err := filepath.Rel(dir, name); filepath.IsAbs(name) && err == nil {
		name = rel
	}
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("%s is outside %s", name, dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if info, err := root.Stat(name); err == nil && info.IsDir() {
		return "", fmt.Errorf("%s is a folder", name)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return filepath.Join(dir, name), nil
}
