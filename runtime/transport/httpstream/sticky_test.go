package httpstream_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/httpstream"
)

// balancer spreads clients over nodes. It sends clients with its cookie back to their
// node.
type balancer struct {
	nodes  []*httpstream.Server
	next   atomic.Int32
	served [2]atomic.Int32
}

func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	node := -1
	if c, err := r.Cookie("node"); err == nil {
		node, _ = strconv.Atoi(c.Value)
	}
	if node < 0 || node >= len(b.nodes) {
		node = int(b.next.Add(1)) % len(b.nodes)
		http.SetCookie(w, &http.Cookie{Name: "node", Value: strconv.Itoa(node), Path: "/", HttpOnly: true})
	}
	b.served[node].Add(1)
	b.nodes[node].ServeHTTP(w, r)
}

// C149, C151 of the conformance list.
func TestTheCookieOfALoadBalancerKeepsAConnectionOnItsNode(t *testing.T) {
	t.Parallel()
	token := access.NewToken()
	b := new(balancer)
	for range 2 {
		b.nodes = append(b.nodes, &httpstream.Server{Guard: access.Guard{Token: token}, Handle: new(testagent.Agent).Serve})
	}
	server := httptest.NewServer(b)
	defer server.Close()
	var clients [2]*testagent.Client
	var conns [2]*rpc.Conn
	var ids [2]acp.SessionID
	for i := range clients { // both open at the same time, one on each node
		clients[i] = new(testagent.Client)
		conns[i] = connect(t, server.URL, access.Client{Token: token}, clients[i])
		ids[i] = newSession(t, conns[i])
	}
	for i := range clients {
		for range 3 {
			if _, err := testagent.Prompt(t.Context(), conns[i], ids[i], "COUNT 20"); err != nil {
				t.Fatal(err)
			}
		}
		if got := clients[i].Texts(ids[i]); len(got) != 60 {
			t.Errorf("client %d: %d updates", i, len(got))
		}
		conns[i].Close()
	}
	for node := range b.served { // initialize, two streams, a session, three prompts, the end
		if n := b.served[node].Load(); n != 8 {
			t.Errorf("node %d had %d requests", node, n)
		}
	}
	if n := b.next.Load(); n != 2 {
		t.Errorf("%d requests came without the cookie, want the first of each client", n)
	}
	// The other node does not know the connection, and says so.
	_, header := ask(t, server.URL, token, http.MethodPost, nil, hello)
	id := header.Get("Acp-Connection-Id")
	for node, want := range map[string]int{header.Get("Set-Cookie")[len("node="):][:1]: 202, "1": 404, "0": 404} {
		if got, _ := ask(t, server.URL, token, http.MethodPost, head{"Acp-Connection-Id": id, "Cookie": "node=" + node}, `{"jsonrpc":"2.0","method":"_x"}`); got != want {
			t.Errorf("node %s: %d, want %d", node, got, want)
		}
	}
	ask(t, server.URL, token, http.MethodDelete, head{"Acp-Connection-Id": id, "Cookie": header.Get("Set-Cookie")}, "")
}

// C151 of the conformance list.
func TestCookiesOfTheCallerAndOfTheServer(t *testing.T) {
	t.Parallel()
	var last atomic.Value
	s := new(httpstream.Server)
	server := serve(t, s, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			last.Store(r.Header.Get("Cookie"))
			http.SetCookie(w, &http.Cookie{Name: "fresh", Value: "2", Path: "/"})
			http.SetCookie(w, &http.Cookie{Name: "secure", Value: "3", Path: "/", Secure: true, Domain: "elsewhere.example"})
			http.SetCookie(w, &http.Cookie{Name: "old", Value: "4", Path: "/", MaxAge: -1})
			h.ServeHTTP(w, r)
		})
	})
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	other := &url.URL{Scheme: "http", Host: "elsewhere.example"}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	jar.SetCookies(u, []*http.Cookie{{Name: "old", Value: "1", Path: "/"}})
	jar.SetCookies(other, []*http.Cookie{{Name: "foreign", Value: "1", Path: "/"}})
	for name, test := range map[string]struct {
		client      access.Client
		first, then string
	}{
		"the connection's own": {access.Client{Token: s.Guard.Token}, "", "fresh=2"},
		"a jar of the caller":  {access.Client{Token: s.Guard.Token, Jar: jar}, "old=1", "fresh=2"},
		"a header of the caller": {access.Client{Token: s.Guard.Token, Header: http.Header{"Cookie": {"mine=5"}}},
			"mine=5", "mine=5; fresh=2"},
	} {
		c, err := httpstream.Dial(server.URL, test.client)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Write([]byte(hello)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(nil); err != nil {
			t.Fatal(err)
		}
		// The stream of the connection was opened with what the server set.
		if got := last.Load(); got != test.then {
			t.Errorf("%s: %q, want %q", name, got, test.then)
		}
		c.Close()
		if got := jar.Cookies(other); len(got) != 1 || got[0].Name != "foreign" {
			t.Errorf("%s: cookies of another host: %v", name, got)
		}
	}
	// Without a jar nothing outlives the connection.
	c := connect(t, server.URL, access.Client{Token: s.Guard.Token}, new(testagent.Client))
	c.Close()
	first := make(chan string, 1)
	again := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case first <- r.Header.Get("Cookie"):
		default:
		}
		s.ServeHTTP(w, r)
	}))
	defer again.Close()
	connect(t, again.URL, access.Client{Token: s.Guard.Token}, new(testagent.Client)).Close()
	if got := <-first; got != "" {
		t.Errorf("a new connection began with %q", got)
	}
}
