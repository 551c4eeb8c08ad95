package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/tools/hermes/demoagent"
)

// demoAgent is an agent for demonstrations and tests. What its connection
// reports goes to standard error, where clients look when something is wrong.
func demoAgent(ctx context.Context, args []string, _ io.Reader, _ io.WriteCloser) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q", args[0])
	}
	return demoagent.Run(ctx, transport.Stdio(), slog.New(slog.NewTextHandler(os.Stderr, nil)))
}
