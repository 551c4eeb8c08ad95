//go:build unix

package shared_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/codex/shared"
	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/sockdir"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/transport/socket"
)

// The environment of this program as another one.
const (
	appEnv = "HERMES_TEST_APP" // an app-server that repeats lines
	hubEnv = "HERMES_TEST_HUB" // a hub for the codex program that it names, in the folder of the first argument
)

func TestMain(m *testing.M) {
	if os.Getenv(appEnv) != "" {
		repeatLines(strings.TrimPrefix(os.Args[len(os.Args)-1], "unix://"))
		return
	}
	if codex := os.Getenv(hubEnv); codex != "" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		command := launch.Command{Path: codex, Args: []string{"app-server"}, InheritEnv: true}
		if err := shared.Serve(ctx, shared.Options{Dir: os.Args[1], Command: command, Linger: time.Second}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(leak.Main(m))
}

// repeatLines is an app-server that sends lines back. The first line of a connection is
// its process id, and "die" ends it.
func repeatLines(path string) {
	l, err := net.Listen("unix", path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			fmt.Fprintln(c, os.Getpid())
			for in := bufio.NewScanner(c); in.Scan(); {
				if in.Text() == "die" {
					fmt.Fprintln(os.Stderr, "I was told to")
					os.Exit(3)
				}
				fmt.Fprintln(c, in.Text())
			}
		}()
	}
}

// hub is a running hub with an app-server that repeats lines.
type hub struct {
	dir   string
	ended chan error
}

func startHub(t *testing.T, linger time.Duration) *hub {
	t.Helper()
	h := &hub{dir: filepath.Join(sockdir.New(t), "hub"), ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		h.ended <- shared.Serve(ctx, shared.Options{Dir: h.dir, Linger: linger, Command: launch.Command{
			Path: os.Args[0], Args: []string{"-test.run=^$"}, Env: []string{appEnv + "=1", "GORACE=atexit_sleep_ms=0"},
		}})
	}()
	t.Cleanup(func() {
		cancel()
		patience.Value(t, "the end of the hub", h.ended)
	})
	return h
}

// client is a connection through the hub.
type client struct {
	net.Conn
	in  *bufio.Scanner
	app int // process id of the app-server
}

func (h *hub) connect(t *testing.T) *client {
	t.Helper()
	var c net.Conn
	patience.True(t, "a hub", func() (ok bool) {
		var err error
		c, err = socket.Dial(t.Context(), shared.Socket(h.dir))
		return err == nil
	})
	t.Cleanup(func() { c.Close() })
	k := &client{Conn: c, in: bufio.NewScanner(c)}
	k.app, _ = strconv.Atoi(k.line(t))
	return k
}

func (c *client) line(t *testing.T) string {
	t.Helper()
	if !c.in.Scan() {
		t.Fatalf("the connection has ended: %v", c.in.Err())
	}
	return c.in.Text()
}

func TestConnectionsShareOneAppServerThatEndsAfterTheLast(t *testing.T) {
	t.Parallel()
	linger := patience.Soon / 60 // long enough for the first to connect
	h := startHub(t, linger)
	a, b := h.connect(t), h.connect(t)
	if a.app != b.app || a.app == 0 {
		t.Errorf("app-servers %d and %d", a.app, b.app)
	}
	a.Close()
	time.Sleep(linger * 3 / 2)
	fmt.Fprintln(b, "still here")
	if got := b.line(t); got != "still here" {
		t.Errorf("got %q", got)
	}
	b.Close()
	if err := <-h.ended; err != nil {
		t.Error(err)
	}
	h.ended <- nil
	if err := syscall.Kill(a.app, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the app-server is still there: %v", err)
	}
	if _, err := os.Stat(shared.Socket(h.dir)); err == nil {
		t.Error("the socket is still there")
	}
}

func TestTheFolderOfAHubIsClosedToOthers(t *testing.T) {
	t.Parallel()
	h := startHub(t, time.Minute)
	h.connect(t)
	if info, err := os.Stat(h.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	open := t.TempDir()
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := shared.Serve(t.Context(), shared.Options{Dir: open}); err == nil || !strings.Contains(err.Error(), "open to others") {
		t.Errorf("a folder that is open to others: %v", err)
	}
}

// In a temporary folder that all users share, another one may have taken the name.
func TestAForeignFolderIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(dir string) error{
		"open to others": func(dir string) error { return os.Chmod(dir, 0o755) },
		"belongs to user 12345": func(dir string) error {
			if os.Getuid() != 0 {
				t.Skip("only root can give a folder away")
			}
			return os.Chown(dir, 12345, 12345)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := spoil(dir); err != nil {
				t.Fatal(err)
			}
			started := false
			_, err := shared.Join(dir, nil, func() error { started = true; return nil })(t.Context())
			if err == nil || started || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), name) {
				t.Errorf("started %v: %v", started, err)
			}
		})
	}
}

func TestAFolderHasOneHub(t *testing.T) {
	t.Parallel()
	h := startHub(t, time.Minute)
	c := h.connect(t)
	if err := shared.Serve(t.Context(), shared.Options{Dir: h.dir}); err != nil {
		t.Errorf("a second hub: %v", err)
	}
	fmt.Fprintln(c, "still here")
	if got := c.line(t); got != "still here" {
		t.Errorf("got %q", got)
	}
}

func TestAnAppServerThatHasDiedIsStartedAgain(t *testing.T) {
	t.Parallel()
	h := startHub(t, time.Minute)
	first := h.connect(t)
	fmt.Fprintln(first, "die")
	if first.in.Scan() {
		t.Errorf("got %q", first.in.Text())
	}
	why, _ := os.ReadFile(filepath.Join(h.dir, "last-error"))
	if !strings.Contains(string(why), "I was told to") {
		t.Errorf("the reason is %q", why)
	}
	if second := h.connect(t); second.app == first.app {
		t.Error("the same app-server")
	}
}
