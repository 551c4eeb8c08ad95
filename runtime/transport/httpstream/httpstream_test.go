package httpstream_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime"
	"github.com/hermes-nvim/hermes/runtime/internal/leak"
	"github.com/hermes-nvim/hermes/runtime/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/httpstream"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

const soon = 20 * time.Second

// serve starts a server with the test agent behind it, unless s says otherwise.
func serve(t *testing.T, s *httpstream.Server, wrap func(http.Handler) http.Handler) *httptest.Server {
	t.Helper()
	if s.Guard.Token.IsZero() {
		s.Guard.Token = access.NewToken()
	}
	if s.Handle == nil {
		s.Handle = new(testagent.Store).Serve
	}
	var h http.Handler = s
	if wrap != nil {
		h = wrap(h)
	}
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), soon)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error("shutdown:", err)
		}
		server.CloseClientConnections()
		server.Close()
	})
	return server
}

// connect opens a connection and initializes it.
func connect(t *testing.T, url string, opts access.Client, h acp.ClientHandler) *runtime.Conn {
	t.Helper()
	tr, err := httpstream.Dial(url, opts)
	if err != nil {
		t.Fatal(err)
	}
	c := runtime.NewConn(tr, acp.ClientSide(h), runtime.Options{})
	t.Cleanup(func() { c.Close() })
	if _, err := (acp.Agent{Conn: c}).Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1}); err != nil {
		t.Fatal(err)
	}
	return c
}

func newSession(t *testing.T, c acp.Caller) acp.SessionID {
	t.Helper()
	r, err := acp.Agent{Conn: c}.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/w", MCPServers: []acp.MCPServer{}})
	if err != nil {
		t.Fatal(err)
	}
	return r.SessionID
}

func counted(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("%d of %d", i+1, n))
	}
	return all
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	if strings.Join(got, ",") != strings.Join(want, ",") {
		t.Fatalf("got %d: %.300q\nwant %d: %.300q", len(got), got, len(want), want)
	}
}

func TestAConversation(t *testing.T) {
	t.Parallel()
	s := new(httpstream.Server)
	server := serve(t, s, nil)
	client := new(testagent.Client)
	c := connect(t, server.URL, access.Client{Token: s.Guard.Token}, client)
	a, b := newSession(t, c), newSession(t, c)
	var both sync.WaitGroup
	for _, id := range []acp.SessionID{a, b} {
		both.Go(func() {
			if r, err := testagent.Prompt(t.Context(), c, id, "count 500"); err != nil || r != acp.StopReasonEndTurn {
				t.Error(r, err)
			}
		})
	}
	both.Wait()
	same(t, client.Texts(a), counted(500))
	same(t, client.Texts(b), counted(500))
	if _, err := testagent.Prompt(t.Context(), c, a, "ask /w/file"); err != nil {
		t.Fatal(err)
	}
	if all := client.Texts(a); all[len(all)-1] != "text of /w/file" {
		t.Error(all[len(all)-1])
	}
	time.AfterFunc(50*time.Millisecond, func() {
		acp.Agent{Conn: c}.Cancel(context.Background(), &acp.CancelNotification{SessionID: a})
	})
	if r, err := testagent.Prompt(t.Context(), c, a, "wait"); err != nil || r != acp.StopReasonCancelled {
		t.Error(r, err)
	}
	var e *acp.Error
	if _, err := testagent.Prompt(t.Context(), c, "nope", "count 1"); !errors.As(err, &e) || e.Code != acp.ErrorCodeResourceNotFound {
		t.Error(err)
	}
	if r, err := (acp.Agent{Conn: c}).ListSessions(t.Context(), &acp.ListSessionsRequest{}); err != nil || len(r.Sessions) != 2 {
		t.Error(r, err)
	}
	if _, err := (acp.Agent{Conn: c}).CloseSession(t.Context(), &acp.CloseSessionRequest{SessionID: b}); err != nil {
		t.Error(err)
	}
}

func TestAConversationOverHTTP2(t *testing.T) {
	t.Parallel()
	s := &httpstream.Server{Guard: access.Guard{Token: access.NewToken()}, Handle: new(testagent.Store).Serve}
	var old atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			old.Add(1)
		}
		s.ServeHTTP(w, r)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	client := new(testagent.Client)
	roots := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	c := connect(t, server.URL, access.Client{Token: s.Guard.Token, TLS: &tls.Config{RootCAs: roots}}, client)
	id := newSession(t, c)
	if _, err := testagent.Prompt(t.Context(), c, id, "count 300"); err != nil {
		t.Fatal(err)
	}
	same(t, client.Texts(id), counted(300))
	c.Close()
	if n := old.Load(); n > 0 {
		t.Errorf("%d requests were not HTTP/2", n)
	}
}

func TestAReplayComesBeforeTheAnswerToLoad(t *testing.T) {
	t.Parallel()
	s := new(httpstream.Server)
	server := serve(t, s, nil)
	first := connect(t, server.URL, access.Client{Token: s.Guard.Token}, new(testagent.Client))
	id := newSession(t, first)
	if _, err := testagent.Prompt(t.Context(), first, id, "count 400"); err != nil {
		t.Fatal(err)
	}
	first.Close()
	client := new(testagent.Client)
	c := connect(t, server.URL, access.Client{Token: s.Guard.Token}, client)
	if _, err := (acp.Agent{Conn: c}).LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: id, Cwd: "/w", MCPServers: []acp.MCPServer{}}); err != nil {
		t.Fatal(err)
	}
	same(t, client.Texts(id), counted(400))
}

// cutter cuts the event streams of a server after so many bytes.
type cutter struct {
	http.Handler
	after   int64 // bytes of a stream
	streams atomic.Int32
	cuts    atomic.Int32
	max     int32
}

func (c *cutter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || c.cuts.Load() >= c.max {
		c.Handler.ServeHTTP(w, r)
		return
	}
	c.streams.Add(1)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	cw := &cutWriter{ResponseWriter: w, c: c, left: c.after, cancel: cancel}
	c.Handler.ServeHTTP(cw, r.WithContext(ctx))
	if cw.cut {
		panic(http.ErrAbortHandler)
	}
}

type cutWriter struct {
	http.ResponseWriter
	c      *cutter
	left   int64
	cut    bool
	cancel func()
}

func (w *cutWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *cutWriter) Write(b []byte) (int, error) {
	if int64(len(b)) < w.left {
		w.left -= int64(len(b))
		return w.ResponseWriter.Write(b)
	}
	n, _ := w.ResponseWriter.Write(b[:w.left])
	http.NewResponseController(w.ResponseWriter).Flush()
	if !w.cut {
		w.cut = true
		w.c.cuts.Add(1)
		w.cancel()
	}
	return n, io.ErrShortWrite
}

func TestAStreamThatIsCutGoesOnWithoutLossOrRepetition(t *testing.T) {
	t.Parallel()
	var places []int64 // a cut in every part of an event, and far into the stream
	for at := int64(1); at < 420; at += 11 {
		places = append(places, at)
	}
	for _, after := range append(places, 1500, 9999, 20_000) {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			t.Parallel()
			s := new(httpstream.Server)
			cut := &cutter{after: after, max: 2}
			server := serve(t, s, func(h http.Handler) http.Handler {
				cut.Handler = h
				return cut
			})
			client := new(testagent.Client)
			c := connect(t, server.URL, access.Client{Token: s.Guard.Token}, client)
			id := newSession(t, c)
			ctx, cancel := context.WithTimeout(t.Context(), soon)
			defer cancel()
			if _, err := testagent.Prompt(ctx, c, id, "count 150"); err != nil {
				t.Fatal(err)
			}
			same(t, client.Texts(id), counted(150))
			if cut.cuts.Load() == 0 {
				t.Error("nothing was cut")
			}
		})
	}
}

// noIDs takes the numbers out of a server's events, like servers without them.
type noIDs struct{ http.ResponseWriter }

func (w noIDs) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w noIDs) WriteHeader(status int) {
	w.Header().Del("Last-Event-Id")
	w.ResponseWriter.WriteHeader(status)
}

func (w noIDs) Write(b []byte) (int, error) {
	var out []byte
	for line := range strings.Lines(string(b)) {
		if !strings.HasPrefix(line, "id:") {
			out = append(out, line...)
		}
	}
	if _, err := w.ResponseWriter.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

func TestASessionStreamThatCannotGoOnFailsOnlyItsCalls(t *testing.T) {
	t.Parallel()
	s := new(httpstream.Server)
	cut := make(chan struct{})
	var streams atomic.Int32
	server := serve(t, s, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && r.Header.Get("Acp-Session-Id") == "session-1" && streams.Add(1) == 1 {
				ctx, cancel := context.WithCancel(r.Context())
				go func() {
					<-cut
					cancel()
				}()
				h.ServeHTTP(noIDs{w}, r.WithContext(ctx))
				panic(http.ErrAbortHandler)
			}
			h.ServeHTTP(noIDs{w}, r)
		})
	})
	client := new(testagent.Client)
	c := connect(t, server.URL, access.Client{Token: s.Guard.Token}, client)
	a, b := newSession(t, c), newSession(t, c)
	failed, other := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := testagent.Prompt(t.Context(), c, a, "wait")
		failed <- err
	}()
	go func() {
		_, err := testagent.Prompt(t.Context(), c, b, "wait")
		other <- err
	}()
	time.Sleep(100 * time.Millisecond)
	close(cut)
	var e *acp.Error
	if err := <-failed; !errors.As(err, &e) || !strings.Contains(err.Error(), "cut off") {
		t.Error(err)
	}
	acp.Agent{Conn: c}.Cancel(t.Context(), &acp.CancelNotification{SessionID: b})
	if err := <-other; err != nil {
		t.Error("the other session:", err)
	}
	acp.Agent{Conn: c}.Cancel(t.Context(), &acp.CancelNotification{SessionID: a})
	if _, err := testagent.Prompt(t.Context(), c, a, "count 3"); err != nil {
		t.Error("the session again:", err)
	}
	if c.Err() != nil {
		t.Error(c.Err())
	}
}

func TestTheEndOfTheAgentComesAfterItsLastMessages(t *testing.T) {
	t.Parallel()
	s := &httpstream.Server{Handle: func(_ context.Context, c transport.Transport) {
		defer c.Close()
		c.Read(nil)
		c.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`))
		c.Read(nil)
		c.Write([]byte(`{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}`))
		c.Read(nil)
		for i := range 50 {
			c.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%d of 50"}}}}`, i+1))
		}
		c.Write([]byte(`{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`))
	}}
	server := serve(t, s, nil)
	client := new(testagent.Client)
	c := connect(t, server.URL, access.Client{Token: s.Guard.Token}, client)
	id := newSession(t, c)
	if _, err := testagent.Prompt(t.Context(), c, id, "x"); err != nil {
		t.Fatal(err)
	}
	same(t, client.Texts("s"), counted(50))
	select {
	case <-c.Done():
		if !errors.Is(c.Err(), io.EOF) {
			t.Error(c.Err())
		}
	case <-time.After(soon):
		t.Error("still open")
	}
}

func TestInitializeFailures(t *testing.T) {
	t.Parallel()
	token := access.NewToken()
	for name, test := range map[string]struct {
		handle func(c transport.Transport)
		client access.Client
		want   string
	}{
		"the agent says no": {func(c transport.Transport) {
			c.Read(nil)
			c.Write([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"log in first"}}`))
		}, access.Client{Token: token}, "log in first"},
		"the agent ends":           {func(c transport.Transport) { c.Read(nil) }, access.Client{Token: token}, "Initialize failed"},
		"the agent ends at once":   {func(c transport.Transport) {}, access.Client{Token: token}, "Initialize failed"},
		"wrong token":              {nil, access.Client{Token: access.NewToken()}, "401 Unauthorized"},
		"no token":                 {nil, access.Client{}, "401 Unauthorized"},
		"a web page in the header": {nil, access.Client{Token: token, Header: http.Header{"Origin": {"https://x.example"}}}, "403 Forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &httpstream.Server{Guard: access.Guard{Token: token}, Handle: func(_ context.Context, c transport.Transport) {
				defer c.Close()
				if test.handle == nil {
					t.Error("an agent was started")
					return
				}
				test.handle(c)
			}}
			server := serve(t, s, nil)
			tr, err := httpstream.Dial(server.URL, test.client)
			if err != nil {
				t.Fatal(err)
			}
			c := runtime.NewConn(tr, nil, runtime.Options{})
			defer c.Close()
			if _, err = (acp.Agent{Conn: c}).Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if strings.Contains(fmt.Sprint(err), token.Reveal()) {
				t.Error("the token is in the error")
			}
		})
	}
}

func TestWhatIsNoServerIsNamed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"a web site":   {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>hello</html>") }, "is this an ACP server?"},
		"another path": {http.NotFound, "404 Not Found"},
		"a redirect":   {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "https://other.example/", http.StatusTemporaryRedirect) }, "another origin"},
		"a redirect to GET": {func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				http.Redirect(w, r, "/x", http.StatusSeeOther)
			}
		}, "a redirect made it a GET"},
		"a broken id": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Acp-Connection-Id", strings.Repeat("x", 1025))
			io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		}, "no usable Acp-Connection-Id"},
	} {
		server := httptest.NewServer(test.handler)
		tr, err := httpstream.Dial(server.URL, access.Client{Token: access.NewToken()})
		if err != nil {
			t.Fatal(err)
		}
		c := runtime.NewConn(tr, nil, runtime.Options{})
		if _, err := (acp.Agent{Conn: c}).Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
		c.Close()
		server.Close()
	}
	for _, url := range []string{"http://192.0.2.1/acp", "ftp://localhost/", "http://u:p@localhost/", "http:///x", "::"} {
		if _, err := httpstream.Dial(url, access.Client{}); err == nil || strings.Contains(err.Error(), ":p@") {
			t.Error(url, err)
		}
	}
}

func TestDeleteIsAlwaysSent(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"close", "agent ends", "close in a turn"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := new(httpstream.Server)
			var deleted atomic.Int32
			server := serve(t, s, func(h http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodDelete && r.Header.Get("Acp-Connection-Id") != "" {
						deleted.Add(1)
					}
					h.ServeHTTP(w, r)
				})
			})
			c := connect(t, server.URL, access.Client{Token: s.Guard.Token}, new(testagent.Client))
			id := newSession(t, c)
			if how == "agent ends" {
				testagent.Prompt(t.Context(), c, id, "die")
			}
			if how == "close in a turn" {
				go testagent.Prompt(t.Context(), c, id, "wait")
				time.Sleep(20 * time.Millisecond)
			}
			c.Close()
			if n := deleted.Load(); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestARefusedSessionStreamIsNotFatalBeforeLoad(t *testing.T) {
	t.Parallel()
	store := new(testagent.Store)
	s := &httpstream.Server{Handle: store.Serve}
	var loaded, refused atomic.Int32
	server := serve(t, s, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && r.Header.Get("Acp-Session-Id") != "" && loaded.Load() < 2 {
				refused.Add(1)
				if loaded.Load() == 1 {
					loaded.Add(1) // a moment later
				}
				http.Error(w, "no such session here", http.StatusForbidden)
				return
			}
			if r.Method == http.MethodPost && r.Header.Get("Acp-Session-Id") != "" {
				loaded.Add(1)
			}
			h.ServeHTTP(w, r)
		})
	})
	loaded.Add(2)
	first := connect(t, server.URL, access.Client{Token: s.Guard.Token}, new(testagent.Client))
	id := newSession(t, first)
	if _, err := testagent.Prompt(t.Context(), first, id, "count 20"); err != nil {
		t.Fatal(err)
	}
	first.Close()
	loaded.Store(0)
	client := new(testagent.Client)
	c := connect(t, server.URL, access.Client{Token: s.Guard.Token}, client)
	if _, err := (acp.Agent{Conn: c}).LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: id, Cwd: "/w", MCPServers: []acp.MCPServer{}}); err != nil {
		t.Fatal(err)
	}
	same(t, client.Texts(id), counted(20))
	if refused.Load() == 0 {
		t.Error("nothing was refused")
	}
}

func TestARefusedMessageFailsOnlyItsCall(t *testing.T) {
	t.Parallel()
	s := new(httpstream.Server)
	var status atomic.Int32
	server := serve(t, s, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n := int(status.Load()); n != 0 && r.Method == http.MethodPost {
				http.Error(w, "not now", n)
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	c := connect(t, server.URL, access.Client{Token: s.Guard.Token}, new(testagent.Client))
	id := newSession(t, c)
	for _, code := range []int32{400, 409, 413, 429, 500, 502, 503} {
		status.Store(code)
		var e *acp.Error
		if _, err := testagent.Prompt(t.Context(), c, id, "count 1"); !errors.As(err, &e) || !strings.Contains(string(e.Data), fmt.Sprintf(`"status":%d`, code)) {
			t.Error(code, err)
		}
	}
	status.Store(0)
	if _, err := testagent.Prompt(t.Context(), c, id, "count 1"); err != nil {
		t.Error(err)
	}
	status.Store(404)
	var gone *httpstream.StatusError
	if _, err := testagent.Prompt(t.Context(), c, id, "count 1"); !errors.As(err, &gone) || gone.Status != 404 {
		t.Error(err)
	}
}

func TestCookiesGoBackToTheServer(t *testing.T) {
	t.Parallel()
	s := new(httpstream.Server)
	var without atomic.Int32
	server := serve(t, s, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := r.Cookie("node"); err != nil {
				without.Add(1)
			}
			if _, err := r.Cookie("elsewhere"); err == nil {
				t.Error("a cookie of another path was sent")
			}
			http.SetCookie(w, &http.Cookie{Name: "node", Value: "7", Path: "/"})
			http.SetCookie(w, &http.Cookie{Name: "elsewhere", Value: "1", Path: "/other"})
			h.ServeHTTP(w, r)
		})
	})
	c := connect(t, server.URL, access.Client{Token: s.Guard.Token}, new(testagent.Client))
	newSession(t, c)
	c.Close()
	if n := without.Load(); n != 1 {
		t.Errorf("%d requests without the cookie", n)
	}
}

func TestASlowClientHoldsUpItsAgentAndNoOther(t *testing.T) {
	t.Parallel()
	var written atomic.Int64
	s := &httpstream.Server{MaxQueued: 100_000, Stall: time.Second}
	ended := make(chan error, 1)
	s.Handle = func(_ context.Context, c transport.Transport) {
		defer c.Close()
		msg, _ := c.Read(nil)
		c.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`))
		if !strings.Contains(string(msg), "flood") {
			for {
				msg, err := c.Read(nil)
				if err != nil {
					return
				}
				_, id, _ := strings.Cut(string(msg), `"id":`)
				id, _, _ = strings.Cut(id, ",")
				c.Write([]byte(`{"jsonrpc":"2.0","id":` + id + `,"result":{"sessions":[]}}`))
			}
		}
		update := []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","x":"` + strings.Repeat("x", 1000) + `"}}`)
		for {
			if err := c.Write(update); err != nil {
				ended <- err
				return
			}
			written.Add(int64(len(update)))
		}
	}
	server := serve(t, s, nil)
	r, _ := http.NewRequest(http.MethodPost, server.URL, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"flood":1}}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+s.Guard.Token.Reveal())
	answer, err := server.Client().Do(r)
	if err != nil || answer.StatusCode != 200 {
		t.Fatal(answer, err)
	}
	answer.Body.Close()
	c := connect(t, server.URL, access.Client{Token: s.Guard.Token}, new(testagent.Client))
	for range 20 {
		if _, err := (acp.Agent{Conn: c}).ListSessions(t.Context(), &acp.ListSessionsRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case err := <-ended:
		if !errors.Is(err, transport.ErrStalled) {
			t.Error(err)
		}
	case <-time.After(soon):
		t.Fatal("the agent is not told")
	}
	if n := written.Load(); n > 200_000 {
		t.Errorf("%d bytes were taken for a client that does not read", n)
	}
}

func TestAnAbandonedConnectionEnds(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	s := &httpstream.Server{Abandon: 50 * time.Millisecond, Handle: func(_ context.Context, c transport.Transport) {
		defer c.Close()
		c.Read(nil)
		c.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
		_, err := c.Read(nil)
		ended <- err
	}}
	server := serve(t, s, nil)
	status, _ := ask(t, server.URL, s.Guard.Token, http.MethodPost, nil, hello)
	if status != 200 {
		t.Fatal(status)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, httpstream.ErrAbandoned) {
			t.Error(err)
		}
	case <-time.After(soon):
		t.Error("still there")
	}
}

func TestStreamsAreKeptAliveAndFlushedAtOnce(t *testing.T) {
	t.Parallel()
	s := new(httpstream.Server)
	server := serve(t, s, nil)
	_, header := ask(t, server.URL, s.Guard.Token, http.MethodPost, nil, hello)
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(soon))
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nAccept: text/event-stream\r\nAcp-Connection-Id: %s\r\n\r\n",
		s.Guard.Token.Reveal(), header.Get("Acp-Connection-Id"))
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatal(answer, err)
	}
}
