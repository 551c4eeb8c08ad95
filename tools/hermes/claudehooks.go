package main

import (
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"

	"github.com/hermes-nvim/hermes/internal/claudehooks"
)

// claudeHooks is the Claude Code of a terminal as an agent.
func claudeHooks(ctx context.Context, args []string, std *stdio) error {
	flags := newFlags("claude-hooks", "[flags]", std.out)
	program := flags.String("claude", "claude", "the Claude Code `PROGRAM` that the terminal runs, whose version is checked")
	gate := flags.Bool("gate", false, "ask the client before each tool call that may change something")
	open := flags.Bool("fail-open", false, "let Claude Code decide about what the client could not be asked; otherwise it is denied")
	check := flags.Bool("check", false, "say whether Claude Code can be used so, and exit")
	if rest, err := flags.parse(args); err != nil {
		return err
	} else if len(rest) > 0 {
		return usageError("unexpected argument %q", rest[0])
	}
	if *open && !*gate {
		return usageError("--fail-open: only a gate fails open or closed; add --gate")
	}
	var installed string
	opts := claudehooks.Options{
		Gate: *gate, FailOpen: *open, Version: version, Log: slog.New(slog.NewTextHandler(std.err, nil)),
		Installed: func(ctx context.Context) (string, error) {
			out, err := exec.CommandContext(ctx, *program, "--version").Output()
			if err != nil {
				return "", fmt.Errorf("%s --version: %w", *program, err)
			}
			installed = string(out)
			return installed, nil
		},
	}
	if !*check {
		return claudehooks.Serve(ctx, std.transport(), opts)
	}
	if err := opts.Check(ctx); err != nil {
		return err
	}
	_, err := fmt.Fprintf(std.out, "claude: %s\n", oneLine(strings.TrimSpace(installed)))
	return err
}
