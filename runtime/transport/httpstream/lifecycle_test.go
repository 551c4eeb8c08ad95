package httpstream_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/httpstream"
)

const initialized = `{"jsonrpc":"2.0","id":1,"result":{}}`

// send makes one request as it is; the caller closes the body.
func send(ctx context.Context, t *testing.T, s *httpstream.Server, method, url string, headers head, body string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.Guard.Token.Reveal())
	switch method {
	case http.MethodPost:
		r.Header.Set("Content-Type", "application/json")
	case http.MethodGet:
		r.Header.Set("Accept", "text/event-stream")
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return client.Do(r)
}

// stream opens an event stream.
func stream(ctx context.Context, t *testing.T, s *httpstream.Server, url, connection, session string) io.ReadCloser {
	t.Helper()
	headers := head{"Acp-Connection-Id": connection}
	if session != "" {
		headers["Acp-Session-Id"] = session
	}
	answer, err := send(ctx, t, s, http.MethodGet, url, headers, "")
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer.Body
}

// numbers reads the member n of count events, or of all events if count is 0.
func numbers(t *testing.T, from io.Reader, count int) []int {
	t.Helper()
	var got []int
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for (count == 0 || len(got) < count) && lines.Scan() {
		if _, text, ok := strings.Cut(lines.Text(), `"n":`); ok {
			text, _, _ = strings.Cut(text, ",")
			n, err := strconv.Atoi(strings.TrimRight(text, "}"))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, n)
		}
	}
	if len(got) < count {
		t.Fatalf("%d of %d events, %v", len(got), count, lines.Err())
	}
	return got
}

// consecutive fails when the numbers are not first, first+1, … to last.
func consecutive(t *testing.T, got []int, first, last int) {
	t.Helper()
	for i, n := range got {
		if n != first+i {
			t.Fatalf("%d in place of %d", n, first+i)
		}
	}
	if len(got) != last-first+1 {
		t.Fatalf("%d events, want %d", len(got), last-first+1)
	}
}

func update(n int) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","n":%d}}`, n)
}

// C136 of the conformance list.
func TestInitializeIsAnsweredWithTheIDOfItsConnection(t *testing.T) {
	t.Parallel()
	const answer = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"_meta":{"kept":[1.50]}}}`
	ids := map[string]bool{}
	for name, test := range map[string]struct {
		handle func(c transport.Transport)
		status int
		body   string
	}{
		"answered":             {func(c transport.Transport) { c.Write([]byte(answer)); c.Read(nil) }, 200, answer},
		"answered, once more":  {func(c transport.Transport) { c.Write([]byte(answer)); c.Read(nil) }, 200, answer},
		"the agent ends":       {func(transport.Transport) {}, 500, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Initialize failed","data":"the agent ended before it answered"}}`},
		"another id":           {func(c transport.Transport) { c.Write([]byte(strings.Replace(answer, "1", "2", 1))) }, 500, ""},
		"something else first": {func(c transport.Transport) { c.Write(update(1)); c.Write([]byte(answer)); c.Read(nil) }, 200, answer},
	} {
		s := &httpstream.Server{Handle: func(ctx context.Context, c transport.Transport) {
			defer c.Close()
			context.AfterFunc(ctx, func() { c.Close() })
			c.Read(nil)
			test.handle(c)
		}}
		server := serve(t, s, nil)
		got, err := send(t.Context(), t, s, http.MethodPost, server.URL, nil, hello)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(got.Body)
		got.Body.Close()
		if got.StatusCode != test.status || got.Header.Get("Content-Type") != "application/json" || test.body != "" && string(body) != test.body {
			t.Errorf("%s: %s, %v, %s", name, got.Status, got.Header, body)
		}
		id := got.Header.Get("Acp-Connection-Id")
		if (id != "") != (test.status == 200) || ids[id] && id != "" {
			t.Errorf("%s: connection %q", name, id)
		}
		ids[id] = true
		if id != "" {
			ask(t, server.URL, s.Guard.Token, http.MethodDelete, head{"Acp-Connection-Id": id}, "")
		}
	}
}

// C142 of the conformance list.
func TestTheNextReceiverOfAStreamGetsTheRest(t *testing.T) {
	t.Parallel()
	more := make(chan int)
	s := &httpstream.Server{Handle: func(ctx context.Context, c transport.Transport) {
		defer c.Close()
		context.AfterFunc(ctx, func() { c.Close() })
		c.Read(nil)
		c.Write([]byte(initialized))
		n := 0
		for k := range more {
			for range k {
				c.Write(update(n))
				n++
			}
		}
		c.Read(nil)
	}}
	server := serve(t, s, nil)
	_, header := ask(t, server.URL, s.Guard.Token, http.MethodPost, nil, hello)
	id := header.Get("Acp-Connection-Id")
	ctx, leave := context.WithCancel(t.Context())
	first := stream(ctx, t, s, server.URL, id, "s")
	more <- 10
	consecutive(t, numbers(t, first, 10), 0, 9)
	leave()
	// The server notices that the receiver left; until then the stream is taken.
	var second *http.Response
	for end := time.Now().Add(patience.Soon); ; time.Sleep(time.Millisecond) {
		var err error
		if second, err = send(t.Context(), t, s, http.MethodGet, server.URL, head{"Acp-Connection-Id": id, "Acp-Session-Id": "s"}, ""); err != nil {
			t.Fatal(err)
		}
		if second.StatusCode == http.StatusOK {
			break
		}
		second.Body.Close()
		if second.StatusCode != http.StatusConflict || time.Now().After(end) {
			t.Fatal(second.Status)
		}
	}
	defer second.Body.Close()
	more <- 15
	close(more)
	consecutive(t, numbers(t, second.Body, 15), 10, 24)
}

// C143 of the conformance list.
func TestASlowReceiverGetsTheRestWhenItReadsAgain(t *testing.T) {
	t.Parallel()
	const n = 2000
	var written atomic.Int32
	s := &httpstream.Server{MaxQueued: 20_000, Handle: func(_ context.Context, c transport.Transport) {
		defer c.Close()
		c.Read(nil)
		c.Write([]byte(initialized))
		for i := range n {
			if c.Write(update(i)) != nil {
				return
			}
			written.Add(1)
		}
	}}
	server := serve(t, s, nil)
	_, header := ask(t, server.URL, s.Guard.Token, http.MethodPost, nil, hello)
	patience.True(t, "the agent says more than nobody reads", func() bool {
		before := written.Load()
		time.Sleep(20 * time.Millisecond)
		return before > 0 && written.Load() == before
	})
	if k := written.Load(); k > 500 {
		t.Errorf("%d updates were taken from the agent while nobody read", k)
	}
	consecutive(t, numbers(t, stream(t.Context(), t, s, server.URL, header.Get("Acp-Connection-Id"), "s"), 0), 0, n-1)
}

// C144 of the conformance list.
func TestAnAgentThatEndedHasNoNewStreams(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	s := &httpstream.Server{Handle: func(_ context.Context, c transport.Transport) {
		c.Read(nil)
		c.Write([]byte(initialized))
		for i := range 5 {
			c.Write(update(i))
		}
		c.Close()
		close(ended)
	}}
	server := serve(t, s, nil)
	_, header := ask(t, server.URL, s.Guard.Token, http.MethodPost, nil, hello)
	<-ended
	id := header.Get("Acp-Connection-Id")
	// A new stream is refused, but a stream with waiting messages still delivers them.
	if got, _ := ask(t, server.URL, s.Guard.Token, http.MethodGet, head{"Acp-Connection-Id": id, "Acp-Session-Id": "new"}, ""); got != 404 {
		t.Errorf("a new stream: %d", got)
	}
	consecutive(t, numbers(t, stream(t.Context(), t, s, server.URL, id, "s"), 0), 0, 4)
	for _, session := range []string{"s", ""} {
		if got, _ := ask(t, server.URL, s.Guard.Token, http.MethodGet, head{"Acp-Connection-Id": id, "Acp-Session-Id": session}, ""); got != 404 {
			t.Errorf("stream %q after the end: %d", session, got)
		}
	}
}

// C145 of the conformance list.
func TestShutdownWaitsForConnectionsAndThenCutsThemOff(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{"open": initialized, "not yet open": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began, told, finish := make(chan struct{}), make(chan struct{}), make(chan struct{})
			var over atomic.Bool
			s := &httpstream.Server{Handle: func(ctx context.Context, c transport.Transport) {
				defer c.Close()
				c.Read(nil)
				if first != "" {
					c.Write([]byte(first))
				}
				close(began)
				<-ctx.Done()
				close(told)
				<-finish
				over.Store(true)
			}}
			server := serve(t, s, nil)
			go func() {
				if answer, err := send(t.Context(), t, s, http.MethodPost, server.URL, nil, hello); err == nil {
					answer.Body.Close()
				}
			}()
			<-began
			down := make(chan error, 1)
			go func() { down <- s.Shutdown(t.Context()) }()
			<-told
			if got, _ := ask(t, server.URL, s.Guard.Token, http.MethodPost, nil, hello); got != http.StatusServiceUnavailable {
				t.Errorf("a new connection: %d", got)
			}
			select {
			case err := <-down:
				t.Error("did not wait:", err)
			case <-time.After(20 * time.Millisecond):
			}
			close(finish)
			if err := <-down; err != nil || !over.Load() {
				t.Error(err, over.Load())
			}
		})
	}
	t.Run("a write that waits", func(t *testing.T) {
		t.Parallel()
		failed := make(chan error, 1)
		s := &httpstream.Server{MaxQueued: 1000, Handle: func(_ context.Context, c transport.Transport) {
			defer c.Close()
			c.Read(nil)
			c.Write([]byte(initialized))
			for i := 0; ; i++ {
				if err := c.Write(update(i)); err != nil {
					failed <- err
					return
				}
			}
		}}
		server := serve(t, s, nil)
		ask(t, server.URL, s.Guard.Token, http.MethodPost, nil, hello)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if err := <-failed; !errors.Is(err, transport.ErrClosed) {
			t.Error(err)
		}
	})
}

// C147 of the conformance list.
func TestAnAbandonedMessageLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	read := make(chan struct{})
	got := make(chan string, 10)
	s := &httpstream.Server{Handle: func(ctx context.Context, c transport.Transport) {
		defer c.Close()
		context.AfterFunc(ctx, func() { c.Close() })
		c.Read(nil)
		c.Write([]byte(initialized))
		<-read
		for {
			msg, err := c.Read(nil)
			if err != nil {
				return
			}
			got <- string(msg)
		}
	}}
	begun, ended := make(chan struct{}, 10), make(chan struct{}, 10)
	server := serve(t, s, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			begun <- struct{}{}
			h.ServeHTTP(w, r)
			ended <- struct{}{}
		})
	})
	_, header := ask(t, server.URL, s.Guard.Token, http.MethodPost, nil, hello)
	<-begun
	<-ended
	headers := head{"Acp-Connection-Id": header.Get("Acp-Connection-Id"), "Acp-Session-Id": "s"}
	message := func(id, text string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"session/prompt","params":{"sessionId":"s","prompt":[],"_meta":"` + text + `"}}`
	}
	ctx, giveUp := context.WithCancel(t.Context())
	go func() {
		<-begun
		giveUp()
	}()
	if answer, err := send(ctx, t, s, http.MethodPost, server.URL, headers, message("7", "given up")); err == nil {
		answer.Body.Close()
		t.Error(answer.Status)
	}
	<-ended // the server has noticed, and its id is free again
	status := make(chan int, 1)
	go func() {
		n, _ := ask(t, server.URL, s.Guard.Token, http.MethodPost, headers, message("7", "sent"))
		status <- n
	}()
	<-begun
	close(read)
	if n := <-status; n != http.StatusAccepted {
		t.Errorf("the same id: %d", n)
	}
	if msg := <-got; !strings.Contains(msg, `"sent"`) {
		t.Error(msg)
	}
}
