package main

import (
	"context"
	"io"
	"log/slog"
	"os"

	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/tools/hermes/demoagent"
)

// demoAgent is an agent for demonstrations and tests. What its connection
// reports goes to standard error, where clients look when something is wrong.
func demoAgent(ctx context.Context, args []string, _ io.Reader, out io.WriteCloser) error {
	if err := noArguments("demo-agent", args, out); err != nil {
		return err
	}
	return demoagent.Run(ctx, transport.Stdio(), slog.New(slog.NewTextHandler(os.Stderr, nil)))
}
