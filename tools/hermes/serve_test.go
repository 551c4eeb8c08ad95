package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/gobuild"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/sockdir"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/httpstream"
	"github.com/hermes-nvim/hermes/runtime/transport/socket"
	"github.com/hermes-nvim/hermes/runtime/transport/websocket"
)

func TestServeRefusesSenselessFlags(t *testing.T) {
	t.Parallel()
	open := filepath.Join(t.TempDir(), "open")
	if err := errors.Join(os.WriteFile(open, []byte(strings.Repeat("x", 64)), 0o644), os.Chmod(open, 0o644)); err != nil {
		t.Fatal(err)
	}
	short := filepath.Join(t.TempDir(), "short")
	if err := os.WriteFile(short, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"":                                   "missing after --",
		"agent":                              "missing after --",
		"--listen unix:/tmp/x/s":             "missing after --",
		"--tls-cert x -- agent":              "go together",
		"--max-connections 0 -- agent":       "at least one",
		"--idle -1s -- agent":                "cannot be negative",
		"--listen ftp://x -- agent":          "expected unix:PATH",
		"--listen tcp:0.0.0.0:0 -- agent":    "without TLS",
		"--token-file " + short + "er -- x":  "no such file",
		"--token-file " + open + " -- agent": "chmod 600",
		"--token-file " + short + " -- x":    "at least 32",
		"--no-such-flag -- agent":            "not defined",
	} {
		err := serveAgentQuietly(t.Context(), strings.Fields(args))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

func serveAgentQuietly(ctx context.Context, args []string) error {
	f, cmd, err := parseServe(args, io.Discard)
	if err != nil {
		return err
	}
	return serveUntil(ctx, f, cmd, io.Discard, nil)
}

func TestServeFromTheCommandLine(t *testing.T) {
	t.Parallel()
	dir := sockdir.New(t)
	program, err := gobuild.Program(dir, "tools/hermes")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "serve", "--verbose", "--listen", "unix:"+filepath.Join(dir, "s"), "--listen", "tcp:127.0.0.1:0",
		"--listen", "http://127.0.0.1:0", "--", program, "demo-agent")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	lines := bufio.NewScanner(stderr)
	var token access.Token
	var urls []string
	for len(urls) < 3 && lines.Scan() {
		if _, text, ok := strings.Cut(lines.Text(), "token of this run is "); ok {
			if token, err = access.ParseToken(text); err != nil {
				t.Fatal(err)
			}
		}
		if _, url, ok := strings.Cut(lines.Text(), "listening on "); ok {
			urls = append(urls, url)
		}
	}
	if len(urls) != 3 || token.IsZero() {
		t.Fatal(urls)
	}
	rest := make(chan string, 1)
	go func() {
		var all strings.Builder
		for lines.Scan() {
			all.WriteString(lines.Text() + "\n")
		}
		rest <- all.String()
	}()
	client := access.Client{Token: token}
	for _, dial := range []func() (transport.Transport, error){
		func() (transport.Transport, error) {
			return socket.DialUnix(t.Context(), strings.TrimPrefix(urls[0], "unix:"))
		},
		func() (transport.Transport, error) {
			return socket.DialTCP(t.Context(), strings.TrimPrefix(urls[1], "tcp:"), token, nil)
		},
		func() (transport.Transport, error) { return httpstream.Dial(urls[2], client) },
		func() (transport.Transport, error) { return websocket.Dial(t.Context(), urls[2], client) },
	} {
		tr, err := dial()
		if err != nil {
			t.Fatal(err)
		}
		c := rpc.NewConn(tr, nil, rpc.Options{})
		defer c.Close()
		r, err := acp.Agent{Conn: c}.Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1})
		if err != nil || r.ProtocolVersion != 1 {
			t.Fatal(r, err)
		}
	}
	answer, err := http.Get(strings.TrimSuffix(urls[2], "/acp") + "/healthz")
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
	answer.Body.Close()
	cmd.Process.Signal(syscall.SIGTERM)
	select {
	case log := <-rest:
		if strings.Count(log, "msg=connected") != 4 || strings.Count(log, "msg=disconnected") != 4 {
			t.Errorf("log:\n%s", log)
		}
		if strings.Contains(log, token.Reveal()) {
			t.Error("the token is in the log")
		}
	case <-time.After(patience.Soon):
		t.Fatal("does not end")
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
