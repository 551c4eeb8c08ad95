package httpstream_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/httpstream"
)

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`

// ask sends one request. headers replace the usual ones; an empty value removes one.
func ask(t *testing.T, url string, token access.Token, method string, headers map[string]string, body string) (int, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"Authorization": "Bearer " + token.Reveal()}
	switch method {
	case http.MethodPost:
		all["Content-Type"] = "application/json"
	case http.MethodGet:
		all["Accept"] = "text/event-stream"
	}
	for name, value := range headers {
		all[name] = value
	}
	for name, value := range all {
		switch {
		case name == "Host":
			r.Host = value
		case value != "":
			r.Header[http.CanonicalHeaderKey(name)] = strings.Split(value, "\x00")
		}
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Header.Get("Content-Type") != "text/event-stream" {
		io.Copy(io.Discard, answer.Body)
	}
	answer.Body.Close()
	return answer.StatusCode, answer.Header
}

type head = map[string]string

// C138, C148 of the conformance list.
func TestHostileRequestsAreRefusedBeforeAnAgentStarts(t *testing.T) {
	t.Parallel()
	var started atomic.Int32
	s := &httpstream.Server{MaxBody: 10_000, Handle: func(_ context.Context, c transport.Transport) {
		started.Add(1)
		c.Close()
	}}
	server := serve(t, s, nil)
	token := s.Guard.Token.Reveal()
	long := strings.Repeat("x", 1025)
	const post, get, del = http.MethodPost, http.MethodGet, http.MethodDelete
	tests := []struct {
		name    string
		method  string
		headers head
		body    string
		want    int
	}{
		{"host: a rebound name", post, head{"Host": "evil.example"}, hello, 403},
		{"host: a name that begins like ours", post, head{"Host": "localhost.evil.example"}, hello, 403},
		{"host: an address that is not ours", post, head{"Host": "192.168.0.1"}, hello, 403},
		{"host: any address", post, head{"Host": "0.0.0.0"}, hello, 403},
		{"origin: a web page", post, head{"Origin": "https://evil.example"}, hello, 403},
		{"origin: a page of this machine", post, head{"Origin": "http://localhost:3000"}, hello, 403},
		{"origin: null", post, head{"Origin": "null"}, hello, 403},
		{"origin: two", post, head{"Origin": "http://a.example\x00http://b.example"}, hello, 403},
		{"origin: a preflight", http.MethodOptions, head{"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}, "", 403},
		{"token: none", post, head{"Authorization": ""}, hello, 401},
		{"token: empty", post, head{"Authorization": "Bearer "}, hello, 401},
		{"token: another", post, head{"Authorization": "Bearer " + access.NewToken().Reveal()}, hello, 401},
		{"token: a part of it", post, head{"Authorization": "Bearer " + token[:63]}, hello, 401},
		{"token: more than it", post, head{"Authorization": "Bearer " + token + "0"}, hello, 401},
		{"token: another scheme", post, head{"Authorization": "Basic " + token}, hello, 401},
		{"token: without a scheme", post, head{"Authorization": token}, hello, 401},
		{"token: twice", post, head{"Authorization": "Bearer " + token + "\x00Bearer " + token}, hello, 401},
		{"token: none, for a stream", get, head{"Authorization": "", "Acp-Connection-Id": "x"}, "", 401},
		{"token: none, for the end", del, head{"Authorization": "", "Acp-Connection-Id": "x"}, "", 401},
		{"id: too long", post, head{"Acp-Connection-Id": long}, hello, 400},
		{"id: not ASCII", post, head{"Acp-Connection-Id": "caf\u00e9"}, hello, 400},
		{"id: a blank in it", post, head{"Acp-Connection-Id": "a b"}, hello, 400},
		{"id: a tab in it", get, head{"Acp-Connection-Id": "a\tb"}, "", 400},
		{"id: two", post, head{"Acp-Connection-Id": "a\x00b"}, hello, 400},
		{"id: unknown", post, head{"Acp-Connection-Id": "nope"}, `{"jsonrpc":"2.0","id":1,"method":"session/list"}`, 404},
		{"id: unknown, for a stream", get, head{"Acp-Connection-Id": "nope"}, "", 404},
		{"id: unknown, for the end", del, head{"Acp-Connection-Id": "nope"}, "", 404},
		{"id: none", post, nil, `{"jsonrpc":"2.0","id":1,"method":"session/list"}`, 400},
		{"id: none, for a stream", get, nil, "", 400},
		{"id: none, for the end", del, nil, "", 400},
		{"id: with initialize", post, head{"Acp-Connection-Id": "nope"}, hello, 400},
		{"session: too long", get, head{"Acp-Connection-Id": "nope", "Acp-Session-Id": long}, "", 400},
		{"session: not ASCII", get, head{"Acp-Connection-Id": "nope", "Acp-Session-Id": "\u00e9"}, "", 400},
		{"size: too large", post, nil, `{"x":"` + strings.Repeat("x", 10_000) + `"}`, 413},
		{"type: none", post, head{"Content-Type": ""}, hello, 415},
		{"type: a form", post, head{"Content-Type": "application/x-www-form-urlencoded"}, hello, 415},
		{"type: text", post, head{"Content-Type": "text/plain"}, hello, 415},
		{"type: another charset", post, head{"Content-Type": "application/json; charset=utf-16"}, hello, 415},
		{"type: compressed", post, head{"Content-Encoding": "gzip"}, hello, 415},
		{"accept: none", get, head{"Accept": "", "Acp-Connection-Id": "x"}, "", 406},
		{"accept: JSON", get, head{"Accept": "application/json", "Acp-Connection-Id": "x"}, "", 406},
		{"body: empty", post, nil, "", 400},
		{"body: no JSON", post, nil, `{"jsonrpc"`, 400},
		{"body: a batch", post, nil, `[` + hello + `]`, 400},
		{"body: a string", post, nil, `"initialize"`, 400},
		{"body: no message", post, nil, `{}`, 400},
		{"body: initialize without an id", post, nil, `{"jsonrpc":"2.0","method":"initialize"}`, 400},
		{"body: initialize with a null id", post, nil, `{"jsonrpc":"2.0","id":null,"method":"initialize"}`, 400},
		{"body: two methods", post, nil, `{"id":1,"method":"initialize","method":"x"}`, 400},
		{"body: an id that is too long", post, nil, `{"id":"` + long + `","method":"initialize"}`, 400},
		{"method: PUT", http.MethodPut, nil, hello, 405},
		{"method: PATCH", http.MethodPatch, nil, hello, 405},
		{"method: HEAD", http.MethodHead, nil, "", 405},
	}
	if len(tests) < 30 {
		t.Fatal("too few")
	}
	for _, test := range tests {
		if got, header := ask(t, server.URL, s.Guard.Token, test.method, test.headers, test.body); got != test.want || header.Get("Acp-Connection-Id") != "" {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
	if n := started.Load(); n != 0 {
		t.Errorf("%d agents were started", n)
	}
}

func TestARequestWithoutDeclaredSizeIsBounded(t *testing.T) {
	t.Parallel()
	s := &httpstream.Server{MaxBody: 1000}
	server := serve(t, s, nil)
	r, _ := http.NewRequest(http.MethodPost, server.URL, io.MultiReader(strings.NewReader(strings.Repeat(" ", 2000)), strings.NewReader(hello)))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+s.Guard.Token.Reveal())
	answer, err := server.Client().Do(r)
	if err != nil || answer.StatusCode != 413 {
		t.Fatal(answer, err)
	}
	answer.Body.Close()
}

// C136, C137, C139, C140, C146 of the conformance list.
func TestRequestsOfAConnection(t *testing.T) {
	t.Parallel()
	s := &httpstream.Server{Handle: func(_ context.Context, c transport.Transport) {
		defer c.Close()
		c.Read(nil)
		c.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
		c.Write([]byte(`{"jsonrpc":"2.0","id":"a","method":"fs/read_text_file","params":{"sessionId":"s","path":"/x"}}`))
		for {
			if _, err := c.Read(nil); err != nil {
				return
			}
		}
	}}
	server := serve(t, s, nil)
	_, header := ask(t, server.URL, s.Guard.Token, http.MethodPost, nil, hello)
	id := header.Get("Acp-Connection-Id")
	const prompt = `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`
	for _, test := range []struct {
		name, session, body string
		want                int
	}{
		{"a session method without its header", "", prompt, 400},
		{"a session method with another header", "t", prompt, 400},
		{"a session method", "s", prompt, 202},
		{"its id again", "s", prompt, 400},
		{"a session method without params", "", `{"jsonrpc":"2.0","id":3,"method":"session/prompt"}`, 400},
		{"a session method of version 2 without params", "", `{"jsonrpc":"2.0","id":3,"method":"tool_call/cancel"}`, 400},
		{"a connection method with a header", "t", `{"jsonrpc":"2.0","id":4,"method":"session/list","params":{}}`, 202},
		{"an extension with a session", "", `{"jsonrpc":"2.0","id":5,"method":"_x","params":{"sessionId":"s"}}`, 400},
		{"an extension", "", `{"jsonrpc":"2.0","id":6,"method":"_x","params":{}}`, 202},
		{"an answer without its session", "", `{"jsonrpc":"2.0","id":"a","result":{"content":""}}`, 400},
		{"an answer with another session", "t", `{"jsonrpc":"2.0","id":"a","result":{"content":""}}`, 400},
		{"an answer", "s", `{"jsonrpc":"2.0","id":"a","result":{"content":""}}`, 202},
		{"cancelling a request", "", `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}`, 202},
		{"initialize again", "", hello, 400},
	} {
		if got, _ := ask(t, server.URL, s.Guard.Token, http.MethodPost, head{"Acp-Connection-Id": id, "Acp-Session-Id": test.session}, test.body); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
	if got, _ := ask(t, server.URL, s.Guard.Token, http.MethodDelete, head{"Acp-Connection-Id": id}, ""); got != 202 {
		t.Error("DELETE:", got)
	}
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		if got, _ := ask(t, server.URL, s.Guard.Token, method, head{"Acp-Connection-Id": id}, `{"jsonrpc":"2.0","method":"x"}`); got != 404 {
			t.Error(method, "after DELETE:", got)
		}
	}
}

// C142 of the conformance list.
func TestAStreamHasOneReceiver(t *testing.T) {
	t.Parallel()
	s := new(httpstream.Server)
	server := serve(t, s, nil)
	_, header := ask(t, server.URL, s.Guard.Token, http.MethodPost, nil, hello)
	id := header.Get("Acp-Connection-Id")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	r.Header.Set("Authorization", "Bearer "+s.Guard.Token.Reveal())
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Acp-Connection-Id", id)
	first, err := server.Client().Do(r)
	if err != nil || first.StatusCode != 200 {
		t.Fatal(first, err)
	}
	defer first.Body.Close()
	if got, _ := ask(t, server.URL, s.Guard.Token, http.MethodGet, head{"Acp-Connection-Id": id}, ""); got != 409 {
		t.Error(got)
	}
	// A receiver that returns after a cut takes over.
	if got, _ := ask(t, server.URL, s.Guard.Token, http.MethodGet, head{"Acp-Connection-Id": id, "Last-Event-Id": "0"}, ""); got != 200 {
		t.Error(got)
	}
	for last, want := range map[string]int{"9": 410, "x": 400, "-1": 400} {
		if got, _ := ask(t, server.URL, s.Guard.Token, http.MethodGet, head{"Acp-Connection-Id": id, "Last-Event-Id": last}, ""); got != want {
			t.Errorf("Last-Event-ID %s: %d, want %d", last, got, want)
		}
	}
}

func TestAllowedHostsAndOrigins(t *testing.T) {
	t.Parallel()
	s := &httpstream.Server{Guard: access.Guard{
		Token: access.NewToken(), Hosts: []string{"agents.example", "exact.example:8443"}, Origins: []string{"https://app.example"},
	}}
	server := serve(t, s, nil)
	for name, test := range map[string]struct {
		headers head
		want    int
	}{
		"an allowed host":            {head{"Host": "AGENTS.example:1234"}, 200},
		"an allowed host and port":   {head{"Host": "exact.example:8443"}, 200},
		"another port":               {head{"Host": "exact.example:1"}, 403},
		"an allowed page":            {head{"Origin": "https://app.example"}, 200},
		"a page with another scheme": {head{"Origin": "http://app.example"}, 403},
		"IPv6":                       {head{"Host": "[::1]:80"}, 200},
	} {
		if got, _ := ask(t, server.URL, s.Guard.Token, http.MethodPost, test.headers, hello); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
	got, header := ask(t, server.URL, access.Token{}, http.MethodOptions, head{"Authorization": "", "Origin": "https://app.example", "Access-Control-Request-Method": "POST"}, "")
	if got != 204 || header.Get("Access-Control-Allow-Origin") != "https://app.example" {
		t.Error(got, header)
	}
}

// C141 of the conformance list.
func TestAStreamOpenedLateGetsWhatWasSentInOrder(t *testing.T) {
	t.Parallel()
	sent := make(chan struct{})
	s := &httpstream.Server{Handle: func(ctx context.Context, c transport.Transport) {
		defer c.Close()
		context.AfterFunc(ctx, func() { c.Close() })
		c.Read(nil)
		c.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
		for i := range 100 {
			c.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","n":%d}}`, i))
		}
		close(sent)
		c.Read(nil)
	}}
	server := serve(t, s, nil)
	_, header := ask(t, server.URL, s.Guard.Token, http.MethodPost, nil, hello)
	<-sent
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	r.Header = http.Header{"Authorization": {"Bearer " + s.Guard.Token.Reveal()}, "Accept": {"text/event-stream"},
		"Acp-Connection-Id": {header.Get("Acp-Connection-Id")}, "Acp-Session-Id": {"s"}}
	answer, err := server.Client().Do(r)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for n := 0; n < 100 && lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if !strings.HasSuffix(data, fmt.Sprintf(`"n":%d}}`, n)) {
			t.Fatalf("%d: %s", n, data)
		}
		n++
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}
