package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/hermes-nvim/hermes/plugin/host"
)

// maxLog is the size in bytes at which a log file is renamed.
const maxLog = 10 << 20

// serveNeovim is the command host. Only msgpack-RPC may go to standard output. The
// log goes to the file named by HERMES_LOG, at the level named by HERMES_LOG_LEVEL.
func serveNeovim(ctx context.Context, args []string, std *stdio) error {
	if err := noArguments("host", args, std.out); err != nil {
		return err
	}
	logger := slog.New(slog.DiscardHandler)
	if path := os.Getenv("HERMES_LOG"); path != "" {
		f, err := openLog(path)
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
	return host.Serve(ctx, std.in, std.protocol(), host.Options{Version: version, Keeper: keeper(), Logger: logger})
}

// openLog opens a log for appending, readable by its owner only. A log that has
// grown too large is first renamed to path.old.
func openLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	if st, err := os.Stat(path); err == nil && st.Size() > maxLog {
		if err := os.Rename(path, path+".old"); err != nil {
			return nil, fmt.Errorf("log: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	return f, nil
}
