package httpstream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/httpstream"
)

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
		"wrong token":              {nil, access.Client{Token: access.NewToken()}, `401 Unauthorized: "wrong token"`},
		"no token":                 {nil, access.Client{}, `401 Unauthorized: "a token is needed: Authorization: Bearer TOKEN"`},
		"a web page in the header": {nil, access.Client{Token: token, Header: http.Header{"Origin": {"https://x.example"}}}, `403 Forbidden: "origin \"https://x.example\" is not allowed"`},
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
			c := rpc.NewConn(tr, nil, rpc.Options{})
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

func TestDialingAnotherKindOfServerFailsClearly(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"a web site":   {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>hello</html>") }, "is this an ACP server?"},
		"another path": {http.NotFound, "404 Not Found"},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://other.example/", http.StatusTemporaryRedirect)
		}, "another origin"},
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
		c := rpc.NewConn(tr, nil, rpc.Options{})
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

// C155 of the conformance list.
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
			client := new(testagent.Client)
			c := connect(t, server.URL, access.Client{Token: s.Guard.Token}, client)
			id := newSession(t, c)
			if how == "agent ends" {
				testagent.Prompt(t.Context(), c, id, "HANGUP")
			}
			if how == "close in a turn" {
				go testagent.Prompt(t.Context(), c, id, "COUNT 1\nWAIT")
				patience.True(t, "the turn runs", func() bool { return len(client.Texts(id)) == 1 })
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
	store := new(testagent.Agent)
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
	if _, err := testagent.Prompt(t.Context(), first, id, "COUNT 20"); err != nil {
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

// C152 of the conformance list.
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
		if _, err := testagent.Prompt(t.Context(), c, id, "COUNT 1"); !errors.As(err, &e) || !strings.Contains(string(e.Data), fmt.Sprintf(`"status":%d`, code)) {
			t.Error(code, err)
		}
	}
	status.Store(0)
	if _, err := testagent.Prompt(t.Context(), c, id, "COUNT 1"); err != nil {
		t.Error(err)
	}
	status.Store(404)
	var gone *access.StatusError
	if _, err := testagent.Prompt(t.Context(), c, id, "COUNT 1"); !errors.As(err, &gone) || gone.Status != 404 {
		t.Error(err)
	}
}

// C151 of the conformance list.
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

// C155 of the conformance list.
func TestALateAnswerToInitializeLeavesNoConnectionBehind(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	got, closed := make(chan struct{}), make(chan struct{})
	s := &httpstream.Server{Handle: func(_ context.Context, c transport.Transport) {
		defer c.Close()
		c.Read(nil)
		close(got)
		<-closed
		c.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
		_, err := c.Read(nil)
		ended <- err
	}}
	server := serve(t, s, nil)
	c, err := httpstream.Dial(server.URL, access.Client{Token: s.Guard.Token})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Write([]byte(hello)); err != nil {
		t.Fatal(err)
	}
	<-got
	left := make(chan error, 1)
	go func() { left <- c.Close() }()
	close(closed) // Close waits for the answer, but not for long
	patience.Value(t, "end of Close", left)
	if err := patience.Value(t, "end of the connection", ended); err != io.EOF {
		t.Error(err)
	}
	if err := c.Write([]byte(hello)); !errors.Is(err, transport.ErrClosed) {
		t.Error(err)
	}
}

// C147 of the conformance list.
func TestAnAbandonedInitializeEndsTheAgent(t *testing.T) {
	t.Parallel()
	got, ended := make(chan struct{}), make(chan error, 1)
	s := &httpstream.Server{Handle: func(_ context.Context, c transport.Transport) {
		defer c.Close()
		c.Read(nil)
		close(got)
		_, err := c.Read(nil)
		ended <- err
	}}
	server := serve(t, s, nil)
	ctx, cancel := context.WithCancel(t.Context())
	r, _ := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, strings.NewReader(hello))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+s.Guard.Token.Reveal())
	go func() {
		<-got
		cancel()
	}()
	if answer, err := server.Client().Do(r); err == nil {
		answer.Body.Close()
		t.Error(answer.Status)
	}
	select {
	case <-ended:
	case <-time.After(patience.Soon):
		t.Error("the agent is not notified")
	}
}

// C150, C156 of the conformance list.
func TestTheStreamIsOpenBeforeTheNextMessageAndMessagesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	const n = 30
	var order []string
	var wrong atomic.Int32
	done := make(chan struct{})
	s := &httpstream.Server{Handle: func(_ context.Context, c transport.Transport) {
		defer c.Close()
		c.Read(nil)
		c.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`))
		for range n {
			msg, err := c.Read(nil)
			if err != nil {
				break
			}
			order = append(order, string(msg))
		}
		close(done)
		c.Read(nil)
	}}
	var open atomic.Bool
	var posts atomic.Int32
	server := serve(t, s, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodGet:
				open.Store(true)
			case r.Method == http.MethodPost:
				k := posts.Add(1)
				if k > 1 && !open.Load() {
					wrong.Add(1)
				}
				time.Sleep(time.Duration(k%3) * 5 * time.Millisecond)
			}
			h.ServeHTTP(w, r)
		})
	})
	c := connect(t, server.URL, access.Client{Token: s.Guard.Token}, new(testagent.Client))
	for i := range n {
		if err := c.Notify(t.Context(), "_n", acp.Raw(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	<-done
	for i, msg := range order {
		if !strings.Contains(msg, fmt.Sprintf(`"params":%d}`, i)) {
			t.Fatalf("%d: %s", i, msg)
		}
	}
	if wrong.Load() > 0 {
		t.Error("a message was sent before the stream was open")
	}
}
