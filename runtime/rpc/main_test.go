package rpc_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

func TestMain(m *testing.M) {
	if os.Getenv(childMode) != "" {
		child()
		return
	}
	os.Exit(leak.Main(m))
}

// shortly is how long something that should not happen gets to happen.
const shortly = 30 * time.Millisecond

// handler is an acp.Handler made of functions.
type handler struct {
	request func(ctx context.Context, method string, params json.RawMessage) (acp.Appender, error)
	notify  func(ctx context.Context, method string, params json.RawMessage) error
}

func (h handler) HandleRequest(ctx context.Context, method string, params json.RawMessage) (acp.Appender, error) {
	if h.request == nil {
		return nil, acp.MethodNotFound(method)
	}
	return h.request(ctx, method, params)
}

func (h handler) HandleNotification(ctx context.Context, method string, params json.RawMessage) error {
	if h.notify == nil {
		return acp.MethodNotFound(method)
	}
	return h.notify(ctx, method, params)
}

// Side leaves the side to the options.
func (h handler) Side() acp.Side { return 0 }

// early is a handler that serves requests before initialize: it hides its side.
type early struct{ acp.Handler }

func (early) Side() acp.Side { return 0 }

// raw is JSON text to send.
type raw string

func (r raw) AppendJSON(b []byte) []byte { return append(b, r...) }

// wire is the peer of a connection under test: it says and hears exact lines.
type wire struct {
	t *testing.T
	transport.Transport
}

// patient lets what ends with a connection take as long as a busy machine needs,
// unless the test says how long.
func patient(opts rpc.Options) rpc.Options {
	opts.Limits.Grace = cmp.Or(opts.Limits.Grace, patience.Soon)
	return opts
}

// dial returns a connection and the peer at its other end.
func dial(t *testing.T, h acp.Handler, opts rpc.Options) (*rpc.Conn, *wire) {
	near, far := transport.Pair()
	opts = patient(opts)
	c := rpc.NewConn(near, h, opts)
	t.Cleanup(func() {
		far.Close()
		c.Close()
	})
	return c, &wire{t, far}
}

func (w *wire) say(format string, args ...any) {
	w.t.Helper()
	if err := w.Write(fmt.Appendf(nil, format, args...)); err != nil {
		w.t.Errorf("say: %v", err)
	}
}

// update sends a session/update that holds n.
func (w *wire) update(session string, n int) {
	w.t.Helper()
	w.say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"n":%d}}`, session, n)
}

// hear returns the next message, or the error as text.
func (w *wire) hear() string {
	w.t.Helper()
	got := make(chan string, 1)
	go func() {
		msg, err := w.Read(nil)
		if err != nil {
			msg = []byte(err.Error())
		}
		got <- string(msg)
	}()
	select {
	case s := <-got:
		return s
	case <-time.After(patience.Soon):
		w.t.Fatal("peer heard nothing")
		return ""
	}
}

func (w *wire) expect(want string) {
	w.t.Helper()
	if got := w.hear(); got != want {
		w.t.Fatalf("peer heard\n%s\nwant\n%s", got, want)
	}
}

// quiet fails unless the next thing the peer hears is the answer to a request
// of its own, so that nothing was sent before.
func (w *wire) quiet() {
	w.t.Helper()
	w.say(`{"jsonrpc":"2.0","id":"quiet?","method":"_none"}`)
	if got := w.hear(); !strings.Contains(got, `"id":"quiet?"`) {
		w.t.Fatalf("peer heard %s", got)
	}
}

func number(params json.RawMessage) int {
	var p struct{ N int }
	json.Unmarshal(params, &p)
	return p.N
}

// journal records what happened, in order.
type journal struct {
	mu      sync.Mutex
	entries []string
}

func (j *journal) add(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, fmt.Sprintf(format, args...))
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Join(j.entries, " ")
}

// ends returns what f returned, and fails when that takes too long.
func ends[T any](t *testing.T, what string, f func() T) T {
	t.Helper()
	return patience.Ends(t, what, f)
}

// eventually waits for a condition.
var eventually = patience.True

func receive[T any](t *testing.T, what string, ch <-chan T) T {
	t.Helper()
	return patience.Value(t, what, ch)
}

// call starts a call and returns where its error will be.
func call(ctx context.Context, c *rpc.Conn, method, params string) <-chan error {
	done := make(chan error, 1)
	go func() { done <- c.Call(ctx, method, raw(params), nil) }()
	return done
}

// queued is call for a request that has to be queued before the test goes on.
func queued(ctx context.Context, t *testing.T, c *rpc.Conn, method, params string) <-chan error {
	t.Helper()
	k, err := c.Start(ctx, method, raw(params))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- k.Wait(ctx, nil) }()
	return done
}

var _ io.Closer = (*rpc.Conn)(nil)
