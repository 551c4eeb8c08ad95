package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"

	"github.com/hermes-nvim/hermes/plugin/host"
)

// serveNeovim is the command host. Only msgpack-RPC may go to standard output. The
// log goes to the file named by HERMES_LOG, at the level named by HERMES_LOG_LEVEL.
// At HERMES_LOG_MAX_SIZE bytes the file is set aside, and HERMES_LOG_KEEP of those
// are kept.
func serveNeovim(ctx context.Context, args []string, std *stdio) error {
	if err := noArguments("host", args, std.out); err != nil {
		return err
	}
	logger := slog.New(slog.DiscardHandler)
	if path := os.Getenv("HERMES_LOG"); path != "" {
		f := &logFile{path: path}
		var err error
		if f.max, err = number("HERMES_LOG_MAX_SIZE", 10<<20); err == nil {
			f.keep, err = number("HERMES_LOG_KEEP", 1)
		}
		if err == nil {
			err = f.open()
		}
		if err != nil {
			return err
		}
		defer f.Close()
		level := slog.LevelInfo
		if text := os.Getenv("HERMES_LOG_LEVEL"); text != "" {
			if err := level.UnmarshalText([]byte(text)); err != nil {
				return fmt.Errorf("HERMES_LOG_LEVEL: %w", err)
			}
		}
		logger = slog.New(slog.NewTextHandler(f, &slog.HandlerOptions{Level: level})).With("pid", os.Getpid())
	}
	return host.Serve(ctx, std.in, std.protocol(), host.Options{Version: version, Keeper: keeper(), Launcher: launcher(), Shim: shimLauncher(), Logger: logger})
}

// number is the number in a variable of the environment, which must not be negative.
func number(name string, unset int64) (int64, error) {
	text := os.Getenv(name)
	if text == "" {
		return unset, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s: %q is not a number", name, text)
	}
	return n, nil
}
