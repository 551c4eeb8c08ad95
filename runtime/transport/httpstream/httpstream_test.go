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
	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/httpstream"
)

func TestMain(m *testing.M) {
	if token := os.Getenv(loadEnv); token != "" {
		serveLoad(token)
		os.Exit(0)
	}
	os.Exit(leak.Main(m))
}

// serve starts a server with the test agent behind it, unless s says otherwise.
func serve(t *testing.T, s *httpstream.Server, wrap func(http.Handler) http.Handler) *httptest.Server {
	t.Helper()
	if s.Guard.Token.IsZero() {
		s.Guard.Token = access.NewToken()
	}
	if s.Handle == nil {
		s.Handle = new(testagent.Agent).Serve
	}
	var h http.Handler = s
	if wrap != nil {
		h = wrap(h)
	}
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience.Soon)
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
func connect(t *testing.T, url string, opts access.Client, h acp.ClientHandler) *rpc.Conn {
	t.Helper()
	tr, err := httpstream.Dial(url, opts)
	if err != nil {
		t.Fatal(err)
	}
	c := rpc.NewConn(tr, acp.ClientSide(h), rpc.Options{})
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
			if r, err := testagent.Prompt(t.Context(), c, id, "COUNT 500"); err != nil || r != acp.StopReasonEndTurn {
				t.Error(r, err)
			}
		})
	}
	both.Wait()
	same(t, client.Texts(a), counted(500))
	same(t, client.Texts(b), counted(500))
	if _, err := testagent.Prompt(t.Context(), c, a, "READ /w/file"); err != nil {
		t.Fatal(err)
	}
	if all := client.Texts(a); all[len(all)-1] != `READ {"content":"text of /w/file"}` {
		t.Error(all[len(all)-1])
	}
	before := len(client.Texts(a))
	go func() {
		for ; len(client.Texts(a)) == before && t.Context().Err() == nil; time.Sleep(time.Millisecond) { // the turn has not begun
		}
		acp.Agent{Conn: c}.Cancel(context.Background(), &acp.CancelNotification{SessionID: a})
	}()
	if r, err := testagent.Prompt(t.Context(), c, a, "COUNT 1\nWAIT"); err != nil || r != acp.StopReasonCancelled {
		t.Error(r, err)
	}
	var e *acp.Error
	if _, err := testagent.Prompt(t.Context(), c, "nope", "COUNT 1"); !errors.As(err, &e) || e.Code != acp.ErrorCodeResourceNotFound {
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
	s := &httpstream.Server{Guard: access.Guard{Token: access.NewToken()}, Handle: new(testagent.Agent).Serve}
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
	if _, err := testagent.Prompt(t.Context(), c, id, "COUNT 300"); err != nil {
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
	if _, err := testagent.Prompt(t.Context(), first, id, "COUNT 400"); err != nil {
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

// C144 of the conformance list.
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
	case <-time.After(patience.Soon):
		t.Error("still open")
	}
}

// C143 of the conformance list.
func TestASlowClientDelaysOnlyItsAgent(t *testing.T) {
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
	case <-time.After(patience.Soon):
		t.Fatal("the agent is not notified")
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
	case <-time.After(patience.Soon):
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
	conn.SetDeadline(time.Now().Add(patience.Soon))
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nAccept: text/event-stream\r\nAcp-Connection-Id: %s\r\n\r\n",
		s.Guard.Token.Reveal(), header.Get("Acp-Connection-Id"))
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatal(answer, err)
	}
}
