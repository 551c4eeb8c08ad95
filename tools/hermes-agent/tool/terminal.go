package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/process"
	"mvdan.cc/sh/v3/syntax"
)

// defaultTimeout is the timeout of a command.
const defaultTimeout = 2 * time.Minute

// Terminal runs a shell command.
func Terminal() *Tool {
	return &Tool{
		Name: "terminal", Toolset: "core", Kind: acp.ToolKindExecute, Asks: true,
		Description: "Run a shell command in the project and return its output. What it leaves running in the background is ended with it.",
		Schema: []byte(`{"type":"object","properties":{"command":{"type":"string","minLength":1},` +
			`"timeout":{"type":"integer","minimum":1,"maximum":3600,"description":"seconds, 120 if absent"}},` +
			`"required":["command"],"additionalProperties":false}`),
		Title: func(c *Call) string {
			var args struct{ Command string }
			c.Decode(&args)
			first, _, more := strings.Cut(strings.TrimSpace(args.Command), "\n")
			if more {
				first += " …"
			}
			return first
		},
		Run: runTerminal,
	}
}

func runTerminal(ctx context.Context, c *Call) (string, error) {
	var args struct {
		Command string
		Timeout int
	}
	if err := c.Decode(&args); err != nil {
		return "", err
	}
	if err := c.allow(ctx, args.Command); err != nil {
		return "", err
	}
	c.Begin()
	timeout := defaultTimeout
	if args.Timeout > 0 {
		timeout = time.Duration(args.Timeout) * time.Second
	}
	out, late, err := c.Processes.Run(ctx, process.Command{Line: args.Command, Dir: c.Cwd, Effect: c.effect, Shown: c.shown, Progress: c.progress}, timeout)
	text := strings.TrimRight(out.Text, "\r\n")
	if out.Skipped > 0 || out.Cut {
		text = "[the beginning was left out]\n" + text
	}
	if text == "" {
		text = "[no output]"
	}
	if inBackground(args.Command) {
		text += "\n[what the command left running in the background was ended with it]"
	}
	if len(out.Denied) > 0 {
		text += "\n[not allowed: " + strings.Join(out.Denied, "; ") + ". Do not try to reach the same effect in another way; ask the user if you need it.]"
	}
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s\n[the user cancelled the command]", text)
	case err != nil:
		return "", err
	case late:
		return "", fmt.Errorf("%s\n[ended after %s, because it was still running]", text, timeout)
	case out.Signal != "":
		return "", fmt.Errorf("%s\n[ended by %s]", text, out.Signal)
	case out.Code == nil:
		return "", fmt.Errorf("%s\n[the editor does not say how the command ended]", text)
	case *out.Code != 0:
		return "", fmt.Errorf("%s\n[exit code %d]", text, *out.Code)
	}
	return text, nil
}

// inBackground reports whether a line puts a command in the background.
func inBackground(line string) (found bool) {
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		return false
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.Stmt); ok && s.Background {
			found = true
		}
		return !found
	})
	return found
}

// allow asks whether a command may run.
func (c *Call) allow(ctx context.Context, line string) error {
	question := c.Shown.AsUpdate()
	// Exactly what would run, so that the client need not ask about the terminal as well.
	vector := process.Vector(line)
	question.RawInput, _ = json.Marshal(map[string]any{"command": vector[0], "args": vector[1:], "cwd": c.Cwd})
	return c.Gate.Command(ctx, question, line, c.Processes.Reach(ctx))
}

// effect asks about what a command is about to do beyond the project.
func (c *Call) effect(ctx context.Context, e process.Effect) (always bool, err error) {
	// It is a call of its own: the rules of an editor that allow the command say nothing of it.
	shown := acp.NewToolCall(acp.ToolCallID(fmt.Sprintf("%s-%d", c.Shown.ToolCallID, c.effects.Add(1))), e.Title)
	shown.Kind, shown.Status = acp.Some(e.Kind), acp.Some(acp.ToolCallStatusPending)
	shown.RawInput, _ = json.Marshal(map[string]any{"paths": e.Paths, "scope": e.Scope()})
	for _, path := range e.Paths {
		shown.Locations = append(shown.Locations, acp.ToolCallLocation{Path: path})
	}
	if e.Why != "" {
		shown.Content = []acp.ToolCallContent{acp.NewContent(acp.NewTextContent(e.Why))}
	}
	c.Show(shown)
	always, err = c.Gate.Effect(ctx, shown.AsUpdate(), e)
	end := acp.NewToolCallUpdate(shown.ToolCallID)
	end.Status = acp.Some(acp.ToolCallStatusCompleted)
	if err != nil {
		end.Status = acp.Some(acp.ToolCallStatusFailed)
		end.Content = append(slices.Clip(shown.Content), acp.NewContent(acp.NewTextContent(err.Error())))
	}
	c.Show(end)
	return always, err
}

// progress shows the newest output of a command.
func (c *Call) progress(text string) {
	c.Update(func(u *acp.ToolCallUpdate) {
		u.Content = []acp.ToolCallContent{acp.NewContent(acp.NewTextContent(text))}
	})
}

// shown makes a terminal of the client a part of the call.
func (c *Call) shown(id acp.TerminalID) {
	c.Update(func(u *acp.ToolCallUpdate) { u.Content = []acp.ToolCallContent{acp.NewTerminal(id)} })
}
