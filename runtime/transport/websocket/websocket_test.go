package websocket_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	ws "github.com/coder/websocket"

	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/websocket"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`

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

func start(t *testing.T, s *websocket.Server) (url string, client access.Client) {
	t.Helper()
	s.Guard.Token = access.NewToken()
	if s.Handle == nil {
		s.Handle = echo
	}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return "ws" + strings.TrimPrefix(h.URL, "http"), access.Client{Token: s.Guard.Token}
}

func dial(t *testing.T, url string, client access.Client) transport.Transport {
	t.Helper()
	c, err := websocket.Dial(t.Context(), url, client)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func raw(t *testing.T, url string, client access.Client) *ws.Conn {
	t.Helper()
	c, _, err := ws.Dial(t.Context(), url, &ws.DialOptions{HTTPHeader: client.Headers()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.CloseNow() })
	return c
}

func says(t *testing.T, c transport.Transport, msg, want string) {
	t.Helper()
	if err := c.Write([]byte(msg)); err != nil {
		t.Fatal(err)
	}
	got, err := c.Read(nil)
	if err != nil || string(got) != want {
		t.Fatalf("%.200q, %v", got, err)
	}
}

func TestMessagesBothWays(t *testing.T) {
	t.Parallel()
	url, client := start(t, new(websocket.Server))
	c := dial(t, url, client)
	says(t, c, hello, hello)
	long := `{"long":"` + strings.Repeat("x", 3<<20) + `"}`
	says(t, c, long, long)
	says(t, c, "{\"not UTF-8\":\"\xff\"}", "{\"not UTF-8\":\"\uFFFD\"}")
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(nil); !errors.Is(err, transport.ErrClosed) {
		t.Fatal(err)
	}
	if err := c.Write([]byte("{}")); !errors.Is(err, transport.ErrClosed) {
		t.Fatal(err)
	}
}

// C158 of the conformance list.
func TestNothingIsHandledBeforeInitialize(t *testing.T) {
	t.Parallel()
	var handled atomic.Int32
	url, client := start(t, &websocket.Server{Handle: func(_ context.Context, c transport.Transport) {
		handled.Add(1)
		c.Close()
	}})
	for _, first := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{}}`, `{"jsonrpc":"2.0","method":"initialize"}`,
		`{"jsonrpc":"2.0","id":null,"method":"initialize"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, `[` + hello + `]`, `{`, `1`,
	} {
		c := raw(t, url, client)
		c.Write(t.Context(), ws.MessageText, []byte(first))
		if _, _, err := c.Read(t.Context()); ws.CloseStatus(err) != ws.StatusProtocolError {
			t.Errorf("%s: %v", first, err)
		}
	}
	if n := handled.Load(); n != 0 {
		t.Errorf("%d were handled", n)
	}
}

func TestRefusedRequestsAreNotHandled(t *testing.T) {
	t.Parallel()
	url, client := start(t, &websocket.Server{Handle: func(_ context.Context, c transport.Transport) {
		t.Error("handled")
		c.Close()
	}})
	wrong := access.Client{Token: access.NewToken()}
	page := access.Client{Token: client.Token, Header: http.Header{"Origin": {"https://evil.example"}}}
	for name, test := range map[string]struct {
		client access.Client
		status int
		reason string
	}{
		"no token":    {access.Client{}, 401, "a token is needed"},
		"wrong token": {wrong, 401, "wrong token"},
		"a web page":  {page, 403, "https://evil.example"},
	} {
		var refused *access.StatusError
		if _, err := websocket.Dial(t.Context(), url, test.client); !errors.As(err, &refused) || refused.Status != test.status ||
			!strings.HasPrefix(err.Error(), url+": ") || !strings.Contains(err.Error(), test.reason) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The error names the URL that was dialled, once, and what the network said.
func TestAServerThatIsNotThereIsNamedAsItWasDialled(t *testing.T) {
	t.Parallel()
	h := httptest.NewServer(nil)
	url := "ws" + strings.TrimPrefix(h.URL, "http")
	h.Close()
	_, err := websocket.Dial(t.Context(), url, access.Client{})
	if err == nil || !strings.HasPrefix(err.Error(), url+": ") || strings.Contains(err.Error(), "http") || strings.Contains(err.Error(), "failed to") || !errors.As(err, new(*net.OpError)) {
		t.Errorf("got %v", err)
	}
}

func TestAServerWithoutATokenSaysSo(t *testing.T) {
	t.Parallel()
	h := httptest.NewServer(&websocket.Server{Handle: echo})
	defer h.Close()
	var refused *access.StatusError
	if _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(h.URL, "http"), access.Client{Token: access.NewToken()}); !errors.As(err, &refused) || !strings.Contains(err.Error(), "access.Guard has no token") {
		t.Errorf("got %v", err)
	}
}

// C161 of the conformance list.
func TestASecondInitializeIsRefusedAndTheConnectionContinues(t *testing.T) {
	t.Parallel()
	url, client := start(t, new(websocket.Server))
	c := dial(t, url, client)
	says(t, c, hello, hello)
	says(t, c, hello, `{"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"Invalid request","data":"the connection is initialized"}}`)
	says(t, c, `{"method":"x","params":"\"initialize\""}`, `{"method":"x","params":"\"initialize\""}`)
}

// C159, C160, C163 of the conformance list.
func TestOtherFramesAreIgnored(t *testing.T) {
	t.Parallel()
	url, client := start(t, new(websocket.Server))
	c := raw(t, url, client)
	c.Write(t.Context(), ws.MessageText, []byte(hello))
	c.Write(t.Context(), ws.MessageBinary, []byte(`{"binary":1}`))
	c.Write(t.Context(), ws.MessageText, nil)
	c.Write(t.Context(), ws.MessageText, []byte(`{"malformed`))
	for _, want := range []string{hello, `{"malformed`} {
		if _, got, err := c.Read(t.Context()); err != nil || string(got) != want {
			t.Fatalf("%q, %v", got, err)
		}
	}
}

func TestAMessageAboveTheLimitIsReportedAndTheNextOneArrives(t *testing.T) {
	t.Parallel()
	url, client := start(t, new(websocket.Server))
	c := dial(t, url, client)
	c.(transport.Limiter).SetMaxMessage(10_000)
	says(t, c, hello, hello)
	c.Write([]byte(`{"id":7,"x":"` + strings.Repeat("x", 20_000) + `"}`))
	var big *transport.TooLargeError
	if _, err := c.Read(nil); !errors.As(err, &big) || !strings.HasPrefix(string(big.Head), `{"id":7,`) {
		t.Fatal(err)
	}
	says(t, c, `{"next":1}`, `{"next":1}`)
}

// C166 of the conformance list.
func TestAServerThatEndsSendsItsLastMessageFirst(t *testing.T) {
	t.Parallel()
	url, client := start(t, &websocket.Server{Handle: func(_ context.Context, c transport.Transport) {
		c.Write([]byte(`{"last":1}`))
		c.Close()
	}})
	c := dial(t, url, client)
	says(t, c, hello, `{"last":1}`)
	if _, err := c.Read(nil); err != io.EOF {
		t.Fatal(err)
	}
}

// C164, C165 of the conformance list.
func TestHowTheOtherEndClosed(t *testing.T) {
	t.Parallel()
	for code, clean := range map[ws.StatusCode]bool{1000: true, 1001: true, 1008: false, 1009: false, 1011: false} {
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if c, err := ws.Accept(w, r, nil); err == nil {
				c.Close(code, "why")
			}
		}))
		c := dial(t, h.URL, access.Client{})
		_, err := c.Read(nil)
		var ce *websocket.CloseError
		if clean && err != io.EOF || !clean && (!errors.As(err, &ce) || ce.Code != int(code) || ce.Reason != "why") {
			t.Errorf("%d: %v", code, err)
		}
		c.Close()
		h.Close()
	}
}

func TestALongReasonKeepsItsEnds(t *testing.T) {
	t.Parallel()
	url, client := start(t, &websocket.Server{Handle: func(_ context.Context, c transport.Transport) {
		c.(transport.Explainer).CloseWith(&transport.PipeEnd{Err: errors.New(strings.Repeat("é", 200) + ": exited with status 3")})
	}})
	c := raw(t, url, client)
	c.Write(t.Context(), ws.MessageText, []byte(hello))
	var closed ws.CloseError
	if _, _, err := c.Read(t.Context()); !errors.As(err, &closed) || closed.Code != ws.StatusInternalError ||
		!strings.HasPrefix(closed.Reason, "the second end: é") || !strings.HasSuffix(closed.Reason, "é: exited with status 3") {
		t.Error(err)
	}
}

// C165 of the conformance list.
func TestACutConnectionIsNotACleanEnd(t *testing.T) {
	t.Parallel()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := ws.Accept(w, r, nil); err == nil {
			c.CloseNow()
		}
	}))
	defer h.Close()
	c := dial(t, h.URL, access.Client{})
	if _, err := c.Read(nil); !errors.Is(err, io.ErrUnexpectedEOF) || transport.Clean(err) {
		t.Fatal(err)
	}
}

func TestNoCredentialsLeaveTheOrigin(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the redirect was followed with %v", r.Header)
	}))
	defer other.Close()
	h := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer h.Close()
	var redirect *access.RedirectError
	if _, err := websocket.Dial(t.Context(), h.URL, access.Client{Token: access.NewToken()}); !errors.As(err, &redirect) {
		t.Error(err)
	}
	var plain *access.PlainError
	if _, err := websocket.Dial(t.Context(), "ws://192.0.2.1/acp", access.Client{}); !errors.As(err, &plain) {
		t.Error(err)
	}
}

func TestOverTLS(t *testing.T) {
	t.Parallel()
	s := &websocket.Server{Guard: access.Guard{Token: access.NewToken()}, Handle: echo}
	h := httptest.NewTLSServer(s)
	defer h.Close()
	roots := h.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	c := dial(t, "wss"+strings.TrimPrefix(h.URL, "https"), access.Client{Token: s.Guard.Token, TLS: &tls.Config{RootCAs: roots}})
	says(t, c, hello, hello)
	c.Close()
}

func TestAdmissionIsReleasedAtTheEnd(t *testing.T) {
	t.Parallel()
	var open atomic.Int32
	s := &websocket.Server{Admit: func() (func(), error) {
		if open.Add(1) > 1 {
			open.Add(-1)
			return nil, errors.New("too many connections")
		}
		return func() { open.Add(-1) }, nil
	}}
	url, client := start(t, s)
	c := dial(t, url, client)
	says(t, c, hello, hello)
	var refused *access.StatusError
	if _, err := websocket.Dial(t.Context(), url, client); !errors.As(err, &refused) || refused.Status != 503 {
		t.Fatal(err)
	}
	c.Close()
	patience.True(t, "the release", func() bool { return open.Load() == 0 })
}

// Hijacked connections are unknown to http.Server.Shutdown: without a closing frame, clients
// would take the end of the program for a broken network.
func TestShutdownSaysGoodbye(t *testing.T) {
	t.Parallel()
	polite := func(ctx context.Context, c transport.Transport) {
		stop := context.AfterFunc(ctx, func() { c.Close() })
		defer stop()
		echo(ctx, c)
	}
	for name, test := range map[string]struct {
		handle func(context.Context, transport.Transport)
		grace  time.Duration
		want   error
	}{
		"a handler that ends with its context": {polite, patience.Soon, nil},
		"a handler that does not":              {echo, time.Nanosecond, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &websocket.Server{Handle: test.handle}
			url, client := start(t, s)
			c := raw(t, url, client)
			if err := c.Write(t.Context(), ws.MessageText, []byte(hello)); err != nil {
				t.Fatal(err)
			}
			if _, _, err := c.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
			silent := raw(t, url, client) // it has not sent initialize
			ended := make(chan error, 2)
			for _, c := range []*ws.Conn{c, silent} {
				go func() {
					_, _, err := c.Read(context.Background())
					ended <- err
				}()
			}
			ctx, cancel := context.WithTimeout(t.Context(), test.grace)
			defer cancel()
			if err := s.Shutdown(ctx); !errors.Is(err, test.want) {
				t.Error(err)
			}
			for range 2 {
				var closed ws.CloseError
				if err := patience.Value(t, "the end", ended); !errors.As(err, &closed) || closed.Code != ws.StatusGoingAway || closed.Reason != "the server is shutting down" {
					t.Error(err)
				}
			}
			var refused *access.StatusError
			if _, err := websocket.Dial(t.Context(), url, client); !errors.As(err, &refused) || refused.Status != 503 {
				t.Error(err)
			}
		})
	}
}

// C167 of the conformance list.
func TestReadingContinuesWhileAWriteWaits(t *testing.T) {
	t.Parallel()
	reads := make(chan struct{})
	url, client := start(t, &websocket.Server{Handle: func(_ context.Context, c transport.Transport) {
		defer c.Close()
		c.Read(nil)
		for range 50 { // and reads nothing
			c.Write([]byte(`{"n":1}`))
		}
		<-reads
	}})
	c := dial(t, url, client)
	if err := c.Write([]byte(hello)); err != nil {
		t.Fatal(err)
	}
	blocked := make(chan struct{})
	go func() {
		big := []byte(`"` + strings.Repeat("x", 1<<20) + `"`)
		for range 64 {
			if c.Write(big) != nil {
				break
			}
		}
		close(blocked)
	}()
	time.Sleep(50 * time.Millisecond)
	for range 50 {
		if got, err := c.Read(nil); err != nil || string(got) != `{"n":1}` {
			t.Fatal(string(got), err)
		}
	}
	select {
	case <-blocked:
		t.Error("the write did not wait")
	default:
	}
	close(reads)
	c.Close()
	<-blocked
}
