package shared

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/socket"
	"github.com/hermes-nvim/hermes/runtime/transport/websocket"
)

const (
	joinTime   = 30 * time.Second // to a connection
	startEvery = 2 * time.Second  // while there is no hub
)

// Join returns a function that connects to the app-server of the hub in a folder.
// Where there is no hub it calls start, which is to start a process that calls Serve
// and outlives this one. An app-server that runs already in another wrapper than this one is
// a *WrapperError; without a wrapper any will do.
func Join(dir string, wrapper []string, start func() error) func(context.Context) (transport.Transport, error) {
	return func(ctx context.Context) (transport.Transport, error) {
		// In a folder of somebody else no hub can be started, and none can be trusted.
		if err := socket.PrivateFolder(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("codex cannot be shared: %w", err)
		}
		ctx, cancel := context.WithTimeout(ctx, joinTime)
		defer cancel()
		began := time.Now()
		var started time.Time
		for {
			var absent error // why there is no hub
			t, err := websocket.Dial(ctx, "ws://localhost/", access.Client{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
				var c net.Conn
				c, absent = socket.Dial(ctx, Socket(dir))
				return c, absent
			}})
			if err == nil && len(wrapper) > 0 {
				if is := wrapperOf(dir); !slices.Equal(is, wrapper) {
					t.Close()
					return nil, &WrapperError{Socket(dir), is}
				}
			}
			if err == nil {
				return &wire{t, dir, began}, nil
			}
			if foreign := (*socket.PeerError)(nil); errors.As(absent, &foreign) {
				return nil, absent
			}
			if absent == nil {
				if why := lastError(dir, began); why != "" {
					return nil, errors.New(why)
				}
			} else if time.Since(started) > startEvery {
				started = time.Now()
				if err := start(); err != nil {
					return nil, err
				}
			}
			select {
			case <-ctx.Done():
				return nil, fmt.Errorf("%s: %w", Socket(dir), err)
			case <-time.After(lookAgain):
			}
		}
	}
}

// WrapperError says that an app-server runs in something else, or in nothing.
type WrapperError struct {
	Socket  string   // of its hub
	Wrapper []string // it runs in, nil for nothing
}

// Error names both, and what ends the app-server.
func (e *WrapperError) Error() string {
	in := "by itself"
	if len(e.Wrapper) > 0 {
		in = "in " + strings.Join(e.Wrapper, " ")
	}
	return fmt.Sprintf("the app-server of codex (%s) runs already, %s; it ends some seconds after the last program that uses it", e.Socket, in)
}

func writeWrapper(dir string, wrapper []string) error {
	data, err := json.Marshal(wrapper)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, underFile), data, 0o600)
}

func wrapperOf(dir string) (wrapper []string) {
	data, _ := os.ReadFile(filepath.Join(dir, underFile))
	_ = json.Unmarshal(data, &wrapper) // what cannot be read is none
	return wrapper
}

// Running reports whether there is a hub in a folder.
func Running(ctx context.Context, dir string) bool {
	c, err := socket.Dial(ctx, Socket(dir))
	if err != nil {
		return false
	}
	c.Close()
	return true
}

// wire is a connection whose end has the reason why the app-server has ended.
type wire struct {
	transport.Transport
	dir   string
	began time.Time
}

func (w *wire) Read(buf []byte) ([]byte, error) {
	msg, err := w.Transport.Read(buf)
	if large := (*transport.TooLargeError)(nil); err != nil && !errors.As(err, &large) {
		if why := lastError(w.dir, w.began); why != "" {
			err = fmt.Errorf("%w: %s", err, why)
		}
	}
	return msg, err
}

// lastError is why the app-server has ended since then; empty if it has not.
func lastError(dir string, since time.Time) string {
	name := filepath.Join(dir, lastFile)
	info, err := os.Stat(name)
	if err != nil || info.ModTime().Before(since) {
		return ""
	}
	text, _ := os.ReadFile(name)
	return string(text)
}
