package socket

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/sockdir"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

// echo answers every message with itself.
func echo(_ context.Context, t transport.Transport) {
	defer t.Close()
	var buf []byte
	for {
		var err error
		if buf, err = t.Read(buf); err != nil {
			return
		}
		if t.Write(buf) != nil {
			return
		}
	}
}

// serve runs s on l until the test ends.
func serve(t *testing.T, s *Server, l net.Listener) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func says(t *testing.T, c transport.Transport, msg string) {
	t.Helper()
	if err := c.Write([]byte(msg)); err != nil {
		t.Fatal(err)
	}
	got, err := c.Read(nil)
	if err != nil || string(got) != msg {
		t.Fatalf("%q, %v", got, err)
	}
}

func TestUnixSocketsCarryMessages(t *testing.T) {
	t.Parallel()
	path := filepath.Join(sockdir.New(t), "made", "agent.sock")
	l, err := ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, &Server{Handle: echo}, l)
	c, err := DialUnix(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	says(t, c, `{"a":1}`)
	says(t, c, `{"long":"`+strings.Repeat("x", 1<<20)+`"}`)
	for name, want := range map[string]os.FileMode{filepath.Dir(path): 0o700, path: 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestASocketInAnOpenFolderIsRefused(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(sockdir.New(t), "open")
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	_, err := ListenUnix(filepath.Join(dir, "s"))
	if err == nil || !strings.Contains(err.Error(), "chmod 700 "+dir) {
		t.Fatal(err)
	}
}

func TestOnlyStaleSocketsAreReplaced(t *testing.T) {
	t.Parallel()
	dir := sockdir.New(t)
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ListenUnix(path); err == nil || !strings.Contains(err.Error(), "another server") {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	again, err := ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ListenUnix(path); err == nil || !strings.Contains(err.Error(), "not a socket") {
		t.Fatal(err)
	}
}

func TestThePathOfASocketMayBeTooLong(t *testing.T) {
	t.Parallel()
	path := filepath.Join(sockdir.New(t), strings.Repeat("x", 100))
	_, listened := ListenUnix(path)
	_, dialed := DialUnix(t.Context(), path)
	for _, err := range []error{listened, dialed} {
		if err == nil || !strings.Contains(err.Error(), "may have about 100 bytes, and this one has") {
			t.Error(err)
		}
	}
}

func TestTheFolderOfASocketIsTheFirstWhereItsPathFits(t *testing.T) {
	t.Parallel()
	long := "/" + strings.Repeat("x", 80)
	for want, in := range map[string][]string{
		"/a/name":   {"/a", "/b"},
		"/b/name":   {"", "relative", long, "/b"},
		"/tmp/name": {long},
	} {
		if got := Folder("name", "a-long-socket.sock", in...); got != filepath.FromSlash(want) {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestTheOtherEndMustBeTheSameUser(t *testing.T) {
	t.Parallel()
	path := filepath.Join(sockdir.New(t), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	uid, err := peerUID(c.(*net.UnixConn))
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("the system does not tell")
	}
	if err != nil || uid != os.Getuid() {
		t.Fatal(uid, err)
	}
}

func TestTCPNeedsTheToken(t *testing.T) {
	t.Parallel()
	token := access.NewToken()
	l, err := ListenTCP("127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	var started atomic.Int32
	serve(t, &Server{Token: token, Handle: func(ctx context.Context, c transport.Transport) {
		started.Add(1)
		echo(ctx, c)
	}}, l)
	var refused *RefusedError
	if _, err := DialTCP(t.Context(), addr, access.NewToken(), nil); !errors.As(err, &refused) || refused.Reason != wrongToken {
		t.Fatal(err)
	}
	if _, err := DialTCP(t.Context(), addr, access.Token{}, nil); !errors.As(err, &refused) {
		t.Fatal(err)
	}
	for name, line := range map[string]string{
		"a web request": "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"a message":     `{"jsonrpc":"2.0","id":1,"method":"initialize"}` + "\n",
		"no line end":   strings.Repeat("x", 3000),
		"no token":      "hermes/1 \n",
		"zeroes":        strings.Repeat("\x00", 3000) + "\n",
	} {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, line)
		c.SetReadDeadline(time.Now().Add(patience.Soon))
		got, _ := io.ReadAll(c)
		if strings.HasPrefix(string(got), accepted) {
			t.Errorf("%s: answered %q", name, got)
		}
		c.Close()
	}
	if n := started.Load(); n != 0 {
		t.Fatalf("%d connections were handled without the token", n)
	}
	c, err := DialTCP(t.Context(), addr, token, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	says(t, c, `{"a":1}`)
}

func TestMessagesRightAfterTheHandshakeAreNotLost(t *testing.T) {
	t.Parallel()
	token := access.NewToken()
	l, err := ListenTCP("127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, &Server{Token: token, Handle: echo}, l)
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, greeting+token.Reveal()+"\n{\"a\":1}\n{\"b\":2}\n")
	want := "ok\n{\"a\":1}\n{\"b\":2}\n"
	got := make([]byte, len(want))
	c.SetReadDeadline(time.Now().Add(patience.Soon))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != want {
		t.Fatalf("%q, %v", got, err)
	}
}

func TestOtherMachinesNeedTLS(t *testing.T) {
	t.Parallel()
	if _, err := ListenTCP("0.0.0.0:0", false); err == nil || !strings.Contains(err.Error(), "TLS") {
		t.Error(err)
	}
	if _, err := ListenTCP(":0", false); err == nil {
		t.Error("listened on every address")
	}
	if _, err := DialTCP(t.Context(), "192.0.2.1:1", access.NewToken(), nil); err == nil || !strings.Contains(err.Error(), "TLS") {
		t.Error(err)
	}
}

func TestTCPOverTLS(t *testing.T) {
	t.Parallel()
	serverConfig, clientConfig := certificates(t)
	token := access.NewToken()
	l, err := ListenTCP("127.0.0.1:0", true)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, &Server{Token: token, TLS: serverConfig, Handle: echo}, l)
	c, err := DialTCP(t.Context(), l.Addr().String(), token, clientConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	says(t, c, `{"a":1}`)
	if _, err := DialTCP(t.Context(), l.Addr().String(), token, &tls.Config{}); err == nil {
		t.Error("an unknown certificate was accepted")
	}
}

func TestDialingAnotherKindOfServerFailsClearly(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			io.WriteString(c, "SSH-2.0-OpenSSH\r\n")
			c.Close()
		}
	}()
	if _, err := DialTCP(t.Context(), l.Addr().String(), access.NewToken(), nil); err == nil || !strings.Contains(err.Error(), "not a hermes server") {
		t.Fatal(err)
	}
}

func TestADialEndsWithItsContext(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0") // nobody answers
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := DialTCP(ctx, l.Addr().String(), access.NewToken(), nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
}

// slowDeadlines is a connection to which the deadline of the handshake comes late.
type slowDeadlines struct{ net.Conn }

func (c slowDeadlines) SetDeadline(at time.Time) error {
	if time.Until(at) > 0 {
		time.Sleep(time.Millisecond)
	}
	return c.Conn.SetDeadline(at)
}

// The context may end at any moment of the handshake, its first one too.
func TestAHandshakeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{0, time.Millisecond / 2, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			go io.Copy(io.Discard, far) // and no answer
			ctx, cancel := context.WithTimeout(t.Context(), after)
			defer cancel()
			began, want := time.Now(), max(after, time.Millisecond)
			if err := greet(ctx, slowDeadlines{near}, access.NewToken()); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != want {
				t.Errorf("%v after %v, want %v", err, time.Since(began), want)
			}
			near.Close()
			far.Close()
		})
	}
}

func TestARefusalToAdmitReachesTheClient(t *testing.T) {
	t.Parallel()
	token := access.NewToken()
	l, err := ListenTCP("127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("too many connections")
	serve(t, &Server{Token: token, Handle: echo, Admit: func() (func(), error) { return nil, full }}, l)
	var refused *RefusedError
	if _, err := DialTCP(t.Context(), l.Addr().String(), token, nil); !errors.As(err, &refused) || refused.Reason != full.Error() {
		t.Fatal(err)
	}
	path := filepath.Join(sockdir.New(t), "s")
	if l, err = ListenUnix(path); err != nil {
		t.Fatal(err)
	}
	serve(t, &Server{Handle: echo, Admit: func() (func(), error) { return nil, full }}, l)
	c, err := DialUnix(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got, err := c.Read(nil); err != nil || !strings.Contains(string(got), full.Error()) {
		t.Errorf("%s, %v", got, err)
	}
}

func TestServeEndsWithItsContextAndWaitsForConnections(t *testing.T) {
	t.Parallel()
	path := filepath.Join(sockdir.New(t), "s")
	l, err := ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var ended atomic.Bool
	handling := make(chan struct{})
	s := &Server{Handle: func(ctx context.Context, c transport.Transport) {
		defer c.Close()
		close(handling)
		<-ctx.Done()
		time.Sleep(20 * time.Millisecond)
		ended.Store(true)
	}}
	done := make(chan error)
	go func() { done <- s.Serve(ctx, l) }()
	c, err := DialUnix(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	<-handling
	cancel()
	if err := <-done; err != nil || !ended.Load() {
		t.Fatal(err, ended.Load())
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the socket is still there")
	}
}

// A client needs no token to connect and send nothing.
func TestSilentConnectionsDoNotDelayOthers(t *testing.T) {
	t.Parallel()
	serverTLS, clientTLS := certificates(t)
	for name, test := range map[string]struct{ server, client *tls.Config }{"plain": {}, "TLS": {serverTLS, clientTLS}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			token := access.NewToken()
			l, err := ListenTCP("127.0.0.1:0", false)
			if err != nil {
				t.Fatal(err)
			}
			serve(t, &Server{Token: token, TLS: test.server, Handle: echo}, l)
			early, err := DialTCP(t.Context(), l.Addr().String(), token, test.client)
			if err != nil {
				t.Fatal(err)
			}
			defer early.Close()
			silent := make([]net.Conn, 300)
			for i := range silent {
				if silent[i], err = net.Dial("tcp", l.Addr().String()); err != nil {
					t.Fatal(err)
				}
				defer silent[i].Close()
			}
			// DialTCP waits for HandshakeTimeout, as long as a silent connection may.
			late, err := DialTCP(t.Context(), l.Addr().String(), token, test.client)
			if err != nil {
				t.Fatal(err)
			}
			defer late.Close()
			says(t, late, `{"late":1}`)
			says(t, early, `{"early":1}`) // it is past its first line, so it was not closed for a newer one
			silent[0].SetReadDeadline(time.Now().Add(HandshakeTimeout / 2))
			if _, err := silent[0].Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("the oldest silent connection is still open: %v", err)
			}
		})
	}
}
