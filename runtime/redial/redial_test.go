package redial_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/leak"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/runtime/redial"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
	"github.com/hermes-nvim/hermes/runtime/transport/access"
	"github.com/hermes-nvim/hermes/runtime/transport/httpstream"
	"github.com/hermes-nvim/hermes/runtime/transport/websocket"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

// world is an agent whose connections can be cut.
type world struct {
	agent  testagent.Agent
	client testagent.Client
	gate   func() error // before a connection is made; nil: open

	mu      sync.Mutex
	last    transport.Transport
	dials   int
	events  []redial.Event
	changed chan struct{}
}

func newWorld() *world { return &world{agent: testagent.Agent{Mode: "resume"}} }

func (w *world) dial(context.Context) (transport.Transport, error) {
	near, far, err := w.pair()
	if err == nil {
		go w.agent.Serve(context.Background(), far)
	}
	return near, err
}

// pair returns the two ends of a new connection, if the gate is open.
func (w *world) pair() (near, far transport.Transport, err error) {
	if w.gate != nil {
		if err := w.gate(); err != nil {
			return nil, nil, err
		}
	}
	near, far = transport.Pair()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = far
	w.dials++
	return near, far, nil
}

func (w *world) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last.Close()
}

func (w *world) event(e redial.Event) {
	if e.Kind == redial.Replaying {
		w.client.Forget(e.Session)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
	if w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
}

// await returns the first event of a kind.
func (w *world) await(t *testing.T, kind redial.EventKind) redial.Event {
	t.Helper()
	late := time.After(patience.Soon)
	for {
		w.mu.Lock()
		for _, e := range w.events {
			if e.Kind == kind {
				w.mu.Unlock()
				return e
			}
		}
		if w.changed == nil {
			w.changed = make(chan struct{})
		}
		changed := w.changed
		w.mu.Unlock()
		select {
		case <-changed:
		case <-late:
			t.Fatalf("no event %q: %v", kind, w.events)
		}
	}
}

func (w *world) connect(t *testing.T, more func(*redial.Options)) (*redial.Client, acp.SessionID) {
	t.Helper()
	opts := redial.Options{
		Dial: w.dial, Versions: []rpc.ClientVersion{{Protocol: acp.V1, Params: &acp.InitializeRequest{}, Handler: acp.ClientSide(&w.client)}},
		Pause: time.Millisecond, LongestPause: 4 * time.Millisecond, OnEvent: w.event,
	}
	if more != nil {
		more(&opts)
	}
	c, err := redial.Connect(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	r, err := acp.Agent{Conn: c}.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/w", MCPServers: []acp.MCPServer{}})
	if err != nil {
		t.Fatal(err)
	}
	return c, r.SessionID
}

// C157 of the conformance list.
func TestATurnThatWasCutIsLoadedWithoutLossOrRepetition(t *testing.T) {
	t.Parallel()
	for at := range 20 {
		w := newWorld()
		c, id := w.connect(t, nil)
		const n = 200
		w.gate = func() error {
			for end := time.Now().Add(patience.Soon); len(w.agent.Texts(id)) < n; time.Sleep(100 * time.Microsecond) {
				if time.Now().After(end) {
					return errors.New("the agent is still at it")
				}
			}
			return nil
		}
		ended := make(chan error, 1)
		go func() {
			_, err := testagent.Prompt(t.Context(), c, id, fmt.Sprintf("COUNT %d\nWAIT", n))
			ended <- err
		}()
		for ; len(w.client.Texts(id)) < 1+at*7; time.Sleep(100 * time.Microsecond) {
		}
		w.cut()
		var closed *rpc.ClosedError
		if err := <-ended; !errors.As(err, &closed) {
			t.Fatal(err)
		}
		w.await(t, redial.Connected)
		if got := w.client.Texts(id); !slices.Equal(got, w.agent.Texts(id)) {
			t.Fatalf("cut at %d: %d updates, the agent has %d", at, len(got), len(w.agent.Texts(id)))
		}
		if _, err := testagent.Prompt(t.Context(), c, id, "COUNT 3"); err != nil {
			t.Fatal(err)
		}
		if got := w.client.Texts(id); !slices.Equal(got, w.agent.Texts(id)) || len(got) != n+3 {
			t.Fatalf("cut at %d: %d updates after the next turn", at, len(got))
		}
		c.Close()
	}
}

func TestAnIdleSessionIsResumed(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c, id := w.connect(t, nil)
	if _, err := testagent.Prompt(t.Context(), c, id, "COUNT 5"); err != nil {
		t.Fatal(err)
	}
	w.cut()
	w.await(t, redial.Connected)
	if _, err := testagent.Prompt(t.Context(), c, id, "COUNT 2"); err != nil {
		t.Fatal(err)
	}
	if got := w.client.Texts(id); len(got) != 7 || !slices.Equal(got, w.agent.Texts(id)) {
		t.Error(got)
	}
	for _, e := range w.events {
		if e.Kind == redial.Replaying {
			t.Error("the history was replayed")
		}
	}
	if e := w.await(t, redial.Restored); e.Session != id {
		t.Error(e)
	}
}

func TestAnAgentThatCannotResumeIsAskedToLoad(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.agent.Mode = ""
	c, id := w.connect(t, nil)
	testagent.Prompt(t.Context(), c, id, "COUNT 5")
	w.cut()
	w.await(t, redial.Connected)
	if got := w.client.Texts(id); len(got) != 5 {
		t.Error(got)
	}
	w.await(t, redial.Replaying)
}

func TestASessionThatCannotBeTakenUpIsLost(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.agent.Mode = "forgetful"
	c, id := w.connect(t, nil)
	w.cut()
	if e := w.await(t, redial.Lost); e.Session != id || e.Err != redial.ErrCannotRestore {
		t.Error(e)
	}
	w.await(t, redial.Connected)
	if _, err := (acp.Agent{Conn: c}).NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/w", MCPServers: []acp.MCPServer{}}); err != nil {
		t.Error(err)
	}
}

func TestAClosedSessionIsNotTakenUp(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c, id := w.connect(t, nil)
	if _, err := (acp.Agent{Conn: c}).CloseSession(t.Context(), &acp.CloseSessionRequest{SessionID: id}); err != nil {
		t.Fatal(err)
	}
	w.cut()
	w.await(t, redial.Connected)
	for _, e := range w.events {
		if e.Session == id {
			t.Error(e)
		}
	}
}

func TestCallsWaitForTheNextConnection(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c, id := w.connect(t, func(o *redial.Options) { o.Attempts = 1000 })
	var open atomic.Bool
	w.gate = func() error {
		if !open.Load() {
			return errors.New("not yet")
		}
		return nil
	}
	w.cut()
	w.await(t, redial.Failed)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := testagent.Prompt(ctx, c, id, "COUNT 1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	time.AfterFunc(10*time.Millisecond, func() { open.Store(true) })
	if _, err := testagent.Prompt(t.Context(), c, id, "COUNT 1"); err != nil {
		t.Error(err)
	}
}

func TestGivingUp(t *testing.T) {
	t.Parallel()
	refused := &access.RedirectError{From: "a", To: "b"}
	for name, test := range map[string]struct {
		err      error
		attempts int
	}{"after so many attempts": {errors.New("unreachable"), 3}, "at once when it is pointless": {refused, 1}} {
		w := newWorld()
		c, id := w.connect(t, func(o *redial.Options) { o.Attempts = 3 })
		w.gate = func() error { return test.err }
		w.cut()
		w.await(t, redial.GaveUp)
		<-c.Done()
		_, err := testagent.Prompt(t.Context(), c, id, "COUNT 1")
		var gaveUp *redial.GaveUpError
		var closed *rpc.ClosedError
		if !errors.As(err, &gaveUp) || gaveUp.Attempts != test.attempts || !errors.Is(err, test.err) || !errors.As(err, &closed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWithoutAttemptsTheClientEndsAsTheConnectionDid(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c, _ := w.connect(t, func(o *redial.Options) { o.Attempts = -1 })
	w.cut()
	<-c.Done()
	var closed *rpc.ClosedError
	if err := c.Err(); !errors.As(err, &closed) {
		t.Errorf("ended with %v", err)
	}
	if w.dials != 1 || len(w.events) != 0 {
		t.Errorf("%d connections, events %v", w.dials, w.events)
	}
	if err := c.Call(t.Context(), "x", nil, nil); !errors.As(err, &closed) {
		t.Errorf("a later call: %v", err)
	}
}

func TestTheFirstConnectionIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	want := errors.New("unreachable")
	_, err := redial.Connect(t.Context(), redial.Options{
		Dial:     func(context.Context) (transport.Transport, error) { return nil, want },
		Versions: []rpc.ClientVersion{{Protocol: acp.V1, Params: &acp.InitializeRequest{}}},
	})
	if err != want {
		t.Error(err)
	}
}

func TestCloseEndsTheAttempts(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c, _ := w.connect(t, func(o *redial.Options) { o.Pause, o.LongestPause = time.Hour, time.Hour })
	w.gate = func() error { return errors.New("unreachable") }
	w.cut()
	w.await(t, redial.Failed)
	c.Close()
	if !errors.Is(c.Err(), rpc.ErrClosed) {
		t.Error(c.Err())
	}
}

func TestConnectionsOverTheNetworkAreMadeAgain(t *testing.T) {
	t.Parallel()
	store, token := &testagent.Agent{Mode: "resume"}, access.NewToken()
	guard := access.Guard{Token: token}
	h := httptest.NewServer(&httpstream.Server{Guard: guard, Handle: store.Serve})
	defer h.Close()
	s := httptest.NewServer(&websocket.Server{Guard: guard, Handle: store.Serve})
	defer s.Close()
	for name, dial := range map[string]func(ctx context.Context) (transport.Transport, error){
		"http": func(context.Context) (transport.Transport, error) {
			return httpstream.Dial(h.URL, access.Client{Token: token})
		},
		"websocket": func(ctx context.Context) (transport.Transport, error) {
			return websocket.Dial(ctx, s.URL, access.Client{Token: token})
		},
	} {
		w := newWorld()
		c, id := w.connect(t, func(o *redial.Options) { o.Dial = dial })
		if _, err := testagent.Prompt(t.Context(), c, id, "HANGUP"); err == nil {
			t.Error(name, "no error")
		}
		w.await(t, redial.Connected)
		if _, err := testagent.Prompt(t.Context(), c, id, "COUNT 20"); err != nil {
			t.Error(name, err)
		}
		if got := w.client.Texts(id); !slices.Equal(got, store.Texts(id)) || len(got) != 20 {
			t.Error(name, len(got))
		}
		c.Close()
	}
}

// A server that takes connections and drops them is not asked without end.
func TestAConnectionThatDoesNotLastIsAFailedAttempt(t *testing.T) {
	t.Parallel()
	const attempts = 5
	w := newWorld()
	c, _ := w.connect(t, func(o *redial.Options) {
		o.Attempts, o.LongestPause = attempts, time.Hour
		o.OnEvent = func(e redial.Event) {
			w.event(e)
			if e.Kind == redial.Connected {
				w.cut()
			}
		}
	})
	w.cut()
	w.await(t, redial.GaveUp)
	waited := func() (waits int) {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, e := range w.events {
			if e.Kind == redial.Failed && e.Wait > 0 {
				waits++
			}
		}
		return waits
	}
	var gaveUp *redial.GaveUpError
	if waits := waited(); waits != attempts-1 || w.dials != 1+attempts || !errors.As(c.Err(), &gaveUp) || gaveUp.Attempts != attempts {
		t.Errorf("%d waits, %d dials, %v", waits, w.dials, c.Err())
	}
}
