package serve_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/sockdir"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/launch"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/serve"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/httpstream"
	"github.com/hermes-nvim/hermes/runtime/transport/socket"
	"github.com/hermes-nvim/hermes/runtime/transport/websocket"
)

func TestMain(m *testing.M) {
	testagent.Main()
	os.Exit(leak.Main(m))
}

func self() launch.Command {
	return launch.Command{Path: os.Args[0], Env: []string{testagent.Env + "=LINE Welcome to the test agent!\nERR started\nSERVE"}}
}

// start serves on address until the test ends.
func start(t *testing.T, s *serve.Server, address string) (url string, stop func()) {
	t.Helper()
	if s.Command.Path == "" {
		s.Command = self()
	}
	s.Guard.Token = access.NewToken()
	l, err := serve.Listen(address, s.TLS != nil, false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	var stopped bool
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience.Soon):
			t.Error("the server does not end")
		}
	}
	t.Cleanup(stop)
	return l.String(), stop
}

func dial(t *testing.T, url string, client access.Client) (transport.Transport, error) {
	scheme, rest, _ := strings.Cut(url, ":")
	switch scheme {
	case "unix":
		return socket.DialUnix(t.Context(), rest)
	case "tcp":
		return socket.DialTCP(t.Context(), rest, client.Token, client.TLS)
	case "ws", "wss":
		return websocket.Dial(t.Context(), url, client)
	}
	return httpstream.Dial(url, client)
}

// C145 of the conformance list.
func TestAnAgentProcessBehindEachTransport(t *testing.T) {
	for _, test := range []struct{ address, dial string }{
		{"unix:" + filepath.Join(sockdir.New(t), "s"), "unix"}, {"tcp:127.0.0.1:0", "tcp"},
		{"http://127.0.0.1:0", "http"}, {"http://127.0.0.1:0/acp", "ws"},
	} {
		t.Run(test.dial, func(t *testing.T) {
			leak.Check(t)
			s := new(serve.Server)
			url, stop := start(t, s, test.address)
			if test.dial == "ws" {
				url = "ws" + strings.TrimPrefix(url, "http")
			}
			tr, err := dial(t, url, access.Client{Token: s.Guard.Token})
			if err != nil {
				t.Fatal(err)
			}
			client := new(testagent.Client)
			c := rpc.NewConn(tr, acp.ClientSide(client), rpc.Options{})
			a := acp.Agent{Conn: c}
			if _, err := a.Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1}); err != nil {
				t.Fatal(err)
			}
			r, err := a.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/w", MCPServers: []acp.MCPServer{}})
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{"COUNT 300", "READ /w/x"} {
				if _, err := testagent.Prompt(t.Context(), c, r.SessionID, text); err != nil {
					t.Fatal(err)
				}
			}
			if got := client.Texts(r.SessionID); len(got) != 301 || got[299] != "300 of 300" || got[300] != `READ {"content":"text of /w/x"}` {
				t.Errorf("%d updates", len(got))
			}
			if n := c.Stats().Count(rpc.FaultNoise); n != 0 {
				t.Errorf("%d lines of noise reached the client", n)
			}
			// A second client has a process of its own.
			tr2, err := dial(t, url, access.Client{Token: s.Guard.Token})
			if err != nil {
				t.Fatal(err)
			}
			c2 := rpc.NewConn(tr2, nil, rpc.Options{})
			if _, err := (acp.Agent{Conn: c2}).Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1}); err != nil {
				t.Fatal(err)
			}
			if r2, err := (acp.Agent{Conn: c2}).NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/w", MCPServers: []acp.MCPServer{}}); err != nil || r2.SessionID != "s1" {
				t.Error(r2, err)
			}
			c2.Close()
			stop() // with the first client connected
			select {
			case <-c.Done():
			case <-time.After(patience.Soon):
				t.Error("the client is not notified")
			}
			c.Close()
		})
	}
}

func TestAClientLearnsWhyThereIsNoAgent(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"http", "ws"} {
		s := &serve.Server{Command: launch.Command{Path: "no-such-agent"}}
		url, _ := start(t, s, "http://127.0.0.1:0")
		tr, err := dial(t, scheme+strings.TrimPrefix(url, "http"), access.Client{Token: s.Guard.Token})
		if err != nil {
			t.Fatal(err)
		}
		c := rpc.NewConn(tr, nil, rpc.Options{})
		var e *acp.Error
		if _, err := (acp.Agent{Conn: c}).Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1}); !errors.As(err, &e) || !strings.Contains(e.Message, "no-such-agent") {
			t.Error(scheme, err)
		}
		c.Close()
	}
}

// The close frame of a WebSocket says why there is no more agent.
func TestAClientLearnsWhyItsAgentHasGone(t *testing.T) {
	t.Parallel()
	for does, want := range map[string]string{"ERR no key\nEXIT 3": "exited with status 3; stderr: no key", "EXIT 0": "exited with status 0"} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			cmd := self()
			cmd.Env = []string{testagent.Env + "=" + does}
			s := &serve.Server{Command: cmd}
			url, _ := start(t, s, "http://127.0.0.1:0/acp")
			tr, err := dial(t, "ws"+strings.TrimPrefix(url, "http"), access.Client{Token: s.Guard.Token})
			if err != nil {
				t.Fatal(err)
			}
			defer tr.Close()
			if err := tr.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)); err != nil {
				t.Fatal(err)
			}
			_, err = tr.Read(nil)
			var closed *websocket.CloseError
			if !errors.As(err, &closed) || closed.Code != 1011 || !strings.Contains(closed.Reason, want) {
				t.Error(err)
			}
		})
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	s := &serve.Server{MaxConnections: 1}
	url, _ := start(t, s, "http://127.0.0.1:0")
	client := access.Client{Token: s.Guard.Token}
	first, err := dial(t, url, client)
	if err != nil {
		t.Fatal(err)
	}
	c := rpc.NewConn(first, nil, rpc.Options{})
	defer c.Close()
	if _, err := (acp.Agent{Conn: c}).Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1}); err != nil {
		t.Fatal(err)
	}
	second, _ := dial(t, url, client)
	d := rpc.NewConn(second, nil, rpc.Options{})
	defer d.Close()
	var full *access.StatusError
	if _, err := (acp.Agent{Conn: d}).Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1}); !errors.As(err, &full) || full.Status != 503 || !strings.Contains(full.Body, "the limit is 1") {
		t.Error(err)
	}
	var refused *access.StatusError
	if _, err := dial(t, "ws"+strings.TrimPrefix(url, "http"), client); !errors.As(err, &refused) || refused.Status != 503 {
		t.Error(err)
	}
}

// A server that would refuse everybody does not start.
func TestAServerWithoutATokenDoesNotStart(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"http://127.0.0.1:0", "tcp:127.0.0.1:0"} {
		l, err := serve.Listen(address, false, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := (&serve.Server{Command: self()}).Serve(t.Context(), l); err == nil || !strings.Contains(err.Error(), "Guard.Token is missing") {
			t.Errorf("%s: %v", address, err)
		}
		if _, err := l.Accept(); err == nil {
			t.Errorf("%s: the listener is open", address)
		}
	}
}

func TestAnIdleConnectionEnds(t *testing.T) {
	t.Parallel()
	s := &serve.Server{Idle: 2 * time.Second} // longer than an agent takes to start
	url, _ := start(t, s, "http://127.0.0.1:0")
	tr, err := dial(t, "ws"+strings.TrimPrefix(url, "http"), access.Client{Token: s.Guard.Token})
	if err != nil {
		t.Fatal(err)
	}
	c := rpc.NewConn(tr, nil, rpc.Options{})
	defer c.Close()
	if _, err := (acp.Agent{Conn: c}).Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-c.Done():
	case <-time.After(patience.Soon):
		t.Error("still open")
	}
}

func TestHealthAndOtherPaths(t *testing.T) {
	t.Parallel()
	url, _ := start(t, new(serve.Server), "http://127.0.0.1:0/acp")
	base := strings.TrimSuffix(url, "/acp")
	for path, want := range map[string]int{serve.Health: 200, "/acp": 401, "/": 404, "/acp/x": 404} {
		answer, err := http.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, answer.StatusCode, want)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestSlowHeadersAreCutOff(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes ten seconds")
	}
	url, _ := start(t, new(serve.Server), "http://127.0.0.1:0/acp")
	c, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/acp"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "POST /acp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
	c.SetReadDeadline(time.Now().Add(patience.Soon))
	began := time.Now()
	if _, err := io.ReadAll(c); err != nil || time.Since(began) < 9*time.Second {
		t.Error(err, time.Since(began))
	}
}

func TestOverTLSWithHTTP2(t *testing.T) {
	t.Parallel()
	borrowed := httptest.NewTLSServer(nil)
	defer borrowed.Close()
	roots := borrowed.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	s := &serve.Server{TLS: &tls.Config{Certificates: borrowed.TLS.Certificates}}
	url, _ := start(t, s, "https://127.0.0.1:0")
	for _, u := range []string{url, "wss" + strings.TrimPrefix(url, "https")} {
		tr, err := dial(t, u, access.Client{Token: s.Guard.Token, TLS: &tls.Config{RootCAs: roots}})
		if err != nil {
			t.Fatal(err)
		}
		c := rpc.NewConn(tr, nil, rpc.Options{})
		if _, err := (acp.Agent{Conn: c}).Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1}); err != nil {
			t.Error(u, err)
		}
		c.Close()
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"":                             "expected unix:PATH",
		"127.0.0.1:80":                 "expected unix:PATH",
		"unix:":                        "expected unix:PATH",
		"tcp:127.0.0.1":                "missing port",
		"tcp:0.0.0.0:0":                "without TLS",
		"http://0.0.0.0:0/acp":         "without TLS",
		"http://127.0.0.1/acp":         "no port",
		"http://user:pw@127.0.0.1:0/x": "expected http://HOST:PORT/PATH",
		"https://127.0.0.1:0/acp":      "needs a certificate",
		"unix:/dev/null":               "/dev",
	} {
		if l, err := serve.Listen(address, false, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", address, err)
			if err == nil {
				l.Close()
			}
		}
	}
	l, err := serve.Listen("http://127.0.0.1:0/x", false, false)
	if err != nil || !strings.HasPrefix(l.String(), "http://127.0.0.1:") || !strings.HasSuffix(l.String(), "/x") || strings.Contains(l.String(), ":0/") {
		t.Fatal(l, err)
	}
	l.Close()
}

func TestHTTP2WithoutTLS(t *testing.T) {
	t.Parallel()
	url, _ := start(t, new(serve.Server), "http://127.0.0.1:0/acp")
	only2 := new(http.Protocols)
	only2.SetUnencryptedHTTP2(true)
	client := http.Client{Transport: &http.Transport{Protocols: only2}}
	defer client.CloseIdleConnections()
	answer, err := client.Get(strings.TrimSuffix(url, "/acp") + serve.Health)
	if err != nil || answer.ProtoMajor != 2 || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
	answer.Body.Close()
}
