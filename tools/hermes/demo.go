package main

import (
	"context"
	"log/slog"

	"github.com/hermes-nvim/hermes/tools/hermes/demoagent"
)

// demoAgent is an agent for demonstrations and tests. Reports of its connection go
// to standard error, where clients look when something is wrong.
func demoAgent(ctx context.Context, args []string, std *stdio) error {
	if err := noArguments("demo-agent", args, std.out); err != nil {
		return err
	}
	return demoagent.Run(ctx, std.transport(), slog.New(slog.NewTextHandler(std.err, nil)))
}
