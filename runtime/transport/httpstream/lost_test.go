package httpstream_test

import (
	"bufio"
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
	"github.com/hermes-nvim/hermes/internal/envelope"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/httpstream"
)

// C150 of the conformance list.
func TestUpdatesArriveWhileAMessageWaitsToBeTaken(t *testing.T) {
	t.Parallel()
	s := new(httpstream.Server)
	held, release := make(chan struct{}), make(chan struct{})
	server := serve(t, s, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var body []byte
			if r.Method == http.MethodPost {
				body, _ = io.ReadAll(r.Body)
				r.Body = io.NopCloser(strings.NewReader(string(body)))
			}
			if strings.Contains(string(body), `"_held"`) {
				close(held)
				<-release
			}
			h.ServeHTTP(w, r)
		})
	})
	client := new(testagent.Client)
	c := connect(t, server.URL, access.Client{Token: s.Guard.Token}, client)
	id := newSession(t, c)
	done := make(chan error, 1)
	go func() {
		_, err := testagent.Prompt(t.Context(), c, id, "COUNT 3000")
		done <- err
	}()
	for ; len(client.Texts(id)) == 0; time.Sleep(time.Millisecond) {
	}
	c.Notify(t.Context(), "_held", acp.Raw("{}"))
	<-held
	if err := <-done; err != nil { // and the answer came while it was held
		t.Fatal(err)
	}
	same(t, client.Texts(id), counted(3000))
	close(release)
	if _, err := testagent.Prompt(t.Context(), c, id, "COUNT 1"); err != nil {
		t.Error(err)
	}
}

// C152 of the conformance list.
func TestAConnectionTheServerNoLongerWantsFailsWithItsCause(t *testing.T) {
	t.Parallel()
	for _, code := range []int{401, 403, 404, 410} {
		for _, method := range []string{http.MethodPost, http.MethodGet} {
			t.Run(fmt.Sprint(method, code), func(t *testing.T) {
				t.Parallel()
				var refuse atomic.Bool
				s := new(httpstream.Server)
				server := serve(t, s, func(h http.Handler) http.Handler {
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						if refuse.Load() && r.Method == method {
							http.Error(w, "not any more", code)
							return
						}
						h.ServeHTTP(w, r)
					})
				})
				var c *rpc.Conn
				if method == http.MethodGet { // the stream of the connection, which every call needs
					refuse.Store(true)
					tr, err := httpstream.Dial(server.URL, access.Client{Token: s.Guard.Token})
					if err != nil {
						t.Fatal(err)
					}
					c = rpc.NewConn(tr, nil, rpc.Options{})
					defer c.Close()
					acp.Agent{Conn: c}.Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1})
				} else {
					c = connect(t, server.URL, access.Client{Token: s.Guard.Token}, new(testagent.Client))
					refuse.Store(true)
				}
				_, err := acp.Agent{Conn: c}.ListSessions(t.Context(), &acp.ListSessionsRequest{})
				var status *access.StatusError
				if !errors.As(err, &status) || status.Status != code || status.Request != method || !strings.Contains(err.Error(), "not any more") {
					t.Fatal(err)
				}
				select {
				case <-c.Done():
				case <-time.After(patience.Soon):
					t.Fatal("still open")
				}
				if !errors.As(c.Err(), &status) || status.Status != code {
					t.Error(c.Err())
				}
			})
		}
	}
}

// C153 of the conformance list.
func TestTheEndOfTheConnectionsStreamEndsTheConnection(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]bool{"in order": false, "cut": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := new(httpstream.Server)
			end := make(chan struct{})
			server := serve(t, s, func(h http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method != http.MethodGet || r.Header.Get("Acp-Session-Id") != "" {
						h.ServeHTTP(w, r)
						return
					}
					ctx, cancel := context.WithCancel(r.Context())
					defer cancel()
					go func() {
						<-end
						cancel()
					}()
					h.ServeHTTP(noIDs{w}, r.WithContext(ctx))
					if cut {
						panic(http.ErrAbortHandler)
					}
				})
			})
			client := new(testagent.Client)
			c := connect(t, server.URL, access.Client{Token: s.Guard.Token}, client)
			id := newSession(t, c)
			failed := make(chan error, 1)
			go func() {
				_, err := testagent.Prompt(t.Context(), c, id, "COUNT 1\nWAIT")
				failed <- err
			}()
			patience.True(t, "the turn runs", func() bool { return len(client.Texts(id)) == 1 })
			close(end)
			var closed *rpc.ClosedError
			select {
			case err := <-failed:
				if !errors.As(err, &closed) {
					t.Error(err)
				}
			case <-time.After(patience.Soon):
				t.Fatal("the call still waits")
			}
			if <-c.Done(); cut == transport.Clean(errors.Unwrap(c.Err())) {
				t.Error(c.Err())
			}
		})
	}
}

// C154 of the conformance list.
func TestAnEventThatIsNotAMessageIsSkipped(t *testing.T) {
	t.Parallel()
	open := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost:
			body, _ := io.ReadAll(r.Body)
			if strings.Contains(string(body), `"initialize"`) {
				w.Header().Set("Acp-Connection-Id", "c")
				io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`)
				return
			}
			w.WriteHeader(http.StatusAccepted)
			if strings.Contains(string(body), "session/list") {
				close(open)
			}
		case http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			http.NewResponseController(w).Flush()
			<-open
			io.WriteString(w, ": a comment\r\ndata: {\"cut\r\n\r\ndata: no JSON\n\nevent: x\rdata: {\"jsonrpc\":\"2.0\",\ndata:  \"id\":2,\rdata: \"result\":{\"sessions\":[]}}\r\n\r\n")
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	tr, err := httpstream.Dial(server.URL, access.Client{})
	if err != nil {
		t.Fatal(err)
	}
	c := rpc.NewConn(tr, nil, rpc.Options{})
	defer c.Close()
	a := acp.Agent{Conn: c}
	if _, err := a.Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1}); err != nil {
		t.Fatal(err)
	}
	if r, err := a.ListSessions(t.Context(), &acp.ListSessionsRequest{}); err != nil || r.Sessions == nil {
		t.Fatal(r, err)
	}
	if n := c.Stats(); n.Count(rpc.FaultParse)+n.Count(rpc.FaultNoise) != 2 {
		t.Errorf("%+v, want the two that are not messages", n)
	}
}

// C155 of the conformance list.
func TestDeleteIsRepeatedAndFollowsAFailedInitialize(t *testing.T) {
	t.Parallel()
	var gone, deleted atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodDelete && r.Header.Get("Acp-Connection-Id") == "c":
			if deleted.Add(1) == 1 {
				gone.Add(1)
				panic(http.ErrAbortHandler) // the TCP connection was dropped
			}
			w.WriteHeader(http.StatusAccepted)
		case r.Method == http.MethodPost:
			w.Header().Set("Acp-Connection-Id", "c")
			io.WriteString(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"log in first"}}`)
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	tr, err := httpstream.Dial(server.URL, access.Client{})
	if err != nil {
		t.Fatal(err)
	}
	c := rpc.NewConn(tr, nil, rpc.Options{})
	var e *acp.Error
	if _, err := (acp.Agent{Conn: c}).Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1}); !errors.As(err, &e) || e.Code != acp.ErrorCodeAuthenticationRequired {
		t.Error(err)
	}
	c.Close()
	if gone.Load() != 1 || deleted.Load() != 2 {
		t.Errorf("%d attempts, %d dropped", deleted.Load(), gone.Load())
	}
}

// C137 of the conformance list.
func TestAMessageIsAcceptedWithoutABody(t *testing.T) {
	t.Parallel()
	s := new(httpstream.Server)
	server := serve(t, s, nil)
	_, header := ask(t, server.URL, s.Guard.Token, http.MethodPost, nil, hello)
	id := head{"Acp-Connection-Id": header.Get("Acp-Connection-Id")}
	answer, err := send(t.Context(), t, s, http.MethodPost, server.URL, id, `{"jsonrpc":"2.0","id":2,"method":"session/list","params":{}}`)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if body, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusAccepted || len(body) != 0 {
		t.Errorf("%s, %q", answer.Status, body)
	}
	lines := bufio.NewScanner(stream(t.Context(), t, s, server.URL, header.Get("Acp-Connection-Id"), ""))
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "data: ") {
	}
	if !strings.Contains(lines.Text(), `"id":2,"result":{"sessions":[]}`) {
		t.Errorf("%q, %v", lines.Text(), lines.Err())
	}
}

// P1: what an agent says that cannot be read costs only the call that it belongs to.
func TestWhatCannotBeReadCostsOnlyItsCall(t *testing.T) {
	t.Parallel()
	const refused = "the agent has sent what cannot be read"
	back := make(chan string, 1)
	s := &httpstream.Server{Handle: func(_ context.Context, agent transport.Transport) {
		defer agent.Close()
		for {
			msg, err := agent.Read(nil)
			if err != nil {
				return
			}
			e, err := envelope.Parse(msg)
			switch {
			case err != nil:
				t.Error(err)
			case e.IsAnswer():
				back <- string(msg)
			case string(e.Method) == "initialize":
				agent.Write([]byte(`{"jsonrpc":"2.0","id":` + string(e.ID) + `,"result":{"protocolVersion":1}}`))
			default:
				answer := strings.ReplaceAll(string(e.Params[len(`{"say":"`):len(e.Params)-2]), "ID", string(e.ID))
				agent.Write([]byte(strings.ReplaceAll(strings.ReplaceAll(answer, `'`, `"`), "BYTE", "\xff")))
			}
		}
	}}
	server := serve(t, s, nil)
	c := connect(t, server.URL, access.Client{Token: s.Guard.Token}, nil)
	for say, want := range map[string]string{
		"{'jsonrpc':'2.0','id':ID,'result':{'x':'BYTE'}}": "",
		"{'jsonrpc':'2.0','id':ID,'result':{'x':NaN}}":    refused,
		"{'jsonrpc':'2.0','id':ID,'result':{'x':1,}}":     refused,
		"{'jsonrpc':'2.0','id':ID,'error':{'code':1,":     refused,
	} {
		err := c.Call(patience.Context(t, patience.Soon), "_say", acp.Raw(`{"say":"`+say+`"}`), nil)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", say, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go c.Call(ctx, "_say", acp.Raw(`{"say":"{'jsonrpc':'2.0','id':'q','method':'_ask','params':{'x':NaN}}"}`), nil)
	if got := patience.Value(t, "answer to the agent", back); !strings.Contains(got, `"id":"q","error"`) || !strings.Contains(got, refused) {
		t.Error(got)
	}
}
