package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

func TestPendingCallsFailWhenThePeerIsGone(t *testing.T) {
	t.Parallel()
	c, w := dial(t, nil, rpc.Options{})
	var all []<-chan error
	for range 10 {
		all = append(all, call(t.Context(), c, "session/prompt", prompt))
		w.hear()
	}
	w.Close()
	for _, done := range all {
		err := receive(t, "error", done)
		var closed *rpc.ClosedError
		if !errors.As(err, &closed) || closed.Method != "session/prompt" || !errors.Is(err, io.EOF) || isA[*acp.Error](err) {
			t.Fatalf("Call returned %v, want a *ClosedError with io.EOF", err)
		}
	}
	receive(t, "end", c.Done())
	if err := c.Err(); !isA[*rpc.ClosedError](err) || !errors.Is(err, io.EOF) {
		t.Fatalf("Err is %v", err)
	}
}

func TestPendingCallsFailAfterTheUpdatesThatCameBeforeTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		handled := 0
		c, w := dial(t, handler{notify: func(context.Context, string, json.RawMessage) error {
			time.Sleep(2 * time.Millisecond)
			handled++
			return nil
		}}, rpc.Options{Limits: rpc.Limits{Grace: patience.Soon}})
		done := call(t.Context(), c, "session/prompt", prompt)
		w.hear()
		for i := range 50 {
			w.update("s", i)
		}
		w.Close()
		if err := receive(t, "error", done); !isA[*rpc.ClosedError](err) || handled != 50 {
			t.Fatalf("Call returned %v after %d of 50 updates", err, handled)
		}
	})
}

func TestAStuckHandlerDelaysTheFailureByTheGraceOnly(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	handled := make(chan int, 2)
	c, w := dial(t, handler{notify: func(_ context.Context, _ string, p json.RawMessage) error {
		<-release
		handled <- number(p)
		return nil
	}}, rpc.Options{Limits: rpc.Limits{Grace: shortly}})
	done := call(t.Context(), c, "session/prompt", prompt)
	w.hear()
	w.update("s", 1)
	w.update("s", 2)
	w.Close()
	if err := receive(t, "error", done); !isA[*rpc.ClosedError](err) {
		t.Fatal(err)
	}
	receive(t, "end", c.Done())
	close(release) // what came before the end is still handled after it
	receive(t, "first update", handled)
	receive(t, "second update", handled)
}

func TestAnAnswerBeforeTheEndIsDelivered(t *testing.T) {
	t.Parallel()
	for range 100 {
		c, w := dial(t, nil, rpc.Options{})
		done := call(t.Context(), c, "m", `{}`)
		w.hear()
		w.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		w.Close()
		if err := receive(t, "answer", done); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheEndOfThePeerEndsTheContextsOfItsRequests(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	started := make(chan struct{})
	_, w := dial(t, handler{request: func(ctx context.Context, _ string, _ json.RawMessage) (acp.Appender, error) {
		close(started)
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, ctx.Err()
	}}, rpc.Options{})
	w.say(`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{}}`)
	receive(t, "start", started)
	w.Close()
	if err := receive(t, "end of the context", ended); !isA[*rpc.ClosedError](err) {
		t.Fatalf("cause is %v", err)
	}
}

func TestCallsFailAtOnceAfterTheEnd(t *testing.T) {
	t.Parallel()
	c, _ := dial(t, nil, rpc.Options{})
	c.Close()
	for _, err := range []error{
		c.Call(t.Context(), "m", nil, nil),
		c.Notify(t.Context(), "m", nil),
		c.Notify(t.Context(), "session/cancel", nil),
	} {
		if !isA[*rpc.ClosedError](err) || !errors.Is(err, rpc.ErrClosed) {
			t.Errorf("got %v", err)
		}
	}
}

func TestCloseMayBeCalledByManyAndManyTimes(t *testing.T) {
	t.Parallel()
	c, _ := dial(t, nil, rpc.Options{})
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	ends(t, "Close", func() struct{} { wg.Wait(); return struct{}{} })
	if err := c.Err(); !errors.Is(err, rpc.ErrClosed) {
		t.Fatal(err)
	}
}

func TestCloseFailsPendingCallsAndEndsHandlers(t *testing.T) {
	t.Parallel()
	started, ended := make(chan string, 2), make(chan string, 2)
	c, w := dial(t, handler{
		request: func(ctx context.Context, _ string, _ json.RawMessage) (acp.Appender, error) {
			started <- "request"
			<-ctx.Done()
			ended <- "request"
			return nil, ctx.Err()
		},
		notify: func(ctx context.Context, _ string, _ json.RawMessage) error {
			started <- "notification"
			<-ctx.Done()
			ended <- "notification"
			return nil
		},
	}, rpc.Options{})
	done := call(t.Context(), c, "m", `{}`)
	w.hear()
	w.say(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	receive(t, "start", started)
	w.update("s", 1)
	receive(t, "start", started)
	ends(t, "Close", c.Close)
	if err := receive(t, "error", done); !errors.Is(err, rpc.ErrClosed) {
		t.Fatal(err)
	}
	if len(ended) != 2 {
		t.Fatal("Close returned before the handlers did")
	}
}

func TestCloseWritesWhatIsQueued(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, w := dial(t, nil, rpc.Options{})
		const n = 500
		jammed := jam(t, c) // the transport does not hold what follows
		for i := range n {
			c.Notify(t.Context(), "_x", raw(`{"x":"`+strings.Repeat("x", i)+`"}`))
		}
		go c.Close()
		eventually(t, "Close begins", func() bool { return c.Err() != nil })
		heard(w, jammed)
		for i := range n {
			if s := w.hear(); !strings.Contains(s, `"_x"`) {
				t.Fatalf("number %d is %s", i, s)
			}
		}
		w.expect("EOF")
	})
}

func TestAnAnswerIsWrittenThoughTheInputHasEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out lockedBuilder
		c := rpc.NewConn(transport.NewStream(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`), &out),
			handler{request: func(context.Context, string, json.RawMessage) (acp.Appender, error) {
				time.Sleep(shortly)
				return raw(`{}`), nil
			}}, patient(rpc.Options{Server: true}))
		receive(t, "end", c.Done())
		if got := out.String(); got != `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n" {
			t.Fatalf("wrote %q", got)
		}
	})
}

// The caller learns that the connection has ended, not that nobody has cancelled its request.
func TestAHandlerThatFailsBecauseOfTheEndIsNotAnswered(t *testing.T) {
	t.Parallel()
	const (
		cancel   = `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`
		withdraw = `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`
	)
	wait := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	var c *rpc.Conn
	ask := func(ctx context.Context) error { return c.Call(context.WithoutCancel(ctx), "m", nil, nil) }
	for _, test := range []struct {
		name   string
		before string // that the peer says
		handle func(context.Context) error
		want   string // "EOF": no answer
	}{
		{"the error of the context", "", wait, "EOF"},
		{"the cause", "", func(ctx context.Context) error { wait(ctx); return context.Cause(ctx) }, "EOF"},
		{"wrapped", "", func(ctx context.Context) error { return fmt.Errorf("model: %w", wait(ctx)) }, "EOF"},
		{"with a code", "", func(ctx context.Context) error { return errors.Join(&acp.Error{Code: 7}, wait(ctx)) }, "EOF"},
		{"a call of the peer", "", ask, "EOF"},
		{"cancelled, then a call of the peer", cancel, func(ctx context.Context) error { wait(ctx); return ask(ctx) }, `"result":{"stopReason":"cancelled"}`},
		{"cancelled", cancel, wait, `"result":{"stopReason":"cancelled"}`},
		{"withdrawn", withdraw, wait, `"error":{"code":-32800,"message":"request cancelled"}`},
		{"its own error", "", func(ctx context.Context) error { wait(ctx); return errors.New("no model") }, `"error":{"code":-32603,"message":"no model"}`},
		{"its own code", "", func(ctx context.Context) error { wait(ctx); return &acp.Error{Code: 7, Message: "no"} }, `"error":{"code":7,"message":"no"}`},
		{"another connection", "", func(ctx context.Context) error { wait(ctx); return &rpc.ClosedError{Cause: io.EOF} }, `"error":{"code":-32603,"message":"connection closed by the peer"}`},
		{"a panic", "", func(ctx context.Context) error { wait(ctx); panic(ctx.Err()) }, `"error":{"code":-32603,"message":"internal error"}`},
		{"a result", "", func(ctx context.Context) error { wait(ctx); return nil }, `"result":{"stopReason":"end_turn"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			started, ended := make(chan struct{}), make(chan struct{})
			var w *wire
			c, w = dial(t, handler{request: func(ctx context.Context, _ string, _ json.RawMessage) (acp.Appender, error) {
				close(started)
				defer close(ended)
				if err := test.handle(ctx); err != nil {
					return nil, err
				}
				return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
			}, notify: func(context.Context, string, json.RawMessage) error { return nil }}, rpc.Options{})
			w.say(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":%s}`, prompt)
			receive(t, "start", started)
			if test.before != "" {
				w.say("%s", test.before)
			} else {
				go c.Close()
			}
			for {
				got := w.hear()
				if strings.Contains(got, `"method":"m"`) {
					go c.Close()
					continue
				}
				if want := test.want; want != got && got != `{"jsonrpc":"2.0","id":1,`+want+`}` {
					t.Errorf("the peer heard %s, want %s", got, want)
				}
				break
			}
			receive(t, "the end of the handler", ended)
		})
	}
}

type lockedBuilder struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuilder) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuilder) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// broken is a stream whose reading or writing fails.
type broken struct {
	transport.Transport
	read, write error
}

func (b broken) Read(buf []byte) ([]byte, error) {
	if b.read != nil {
		return nil, b.read
	}
	return b.Transport.Read(buf)
}

func (b broken) Write(msg []byte) error {
	if b.write != nil {
		return b.write
	}
	return b.Transport.Write(msg)
}

func TestFailuresOfTheTransportAreTheCause(t *testing.T) {
	t.Parallel()
	fault := errors.New("input/output error")
	for name, side := range map[string]broken{"read": {read: fault}, "write": {write: fault}} {
		t.Run(name, func(t *testing.T) {
			near, far := transport.Pair()
			defer far.Close()
			side.Transport = near
			c := rpc.NewConn(side, nil, rpc.Options{Limits: rpc.Limits{Grace: shortly}})
			err := ends(t, "Call", func() error { return c.Call(t.Context(), "m", nil, nil) })
			if !isA[*rpc.ClosedError](err) || !errors.Is(err, fault) {
				t.Fatalf("Call returned %v", err)
			}
			receive(t, "end", c.Done())
			if !errors.Is(c.Err(), fault) {
				t.Fatalf("Err is %v", c.Err())
			}
		})
	}
}

func TestCloseReturnsWhenTheInputNeverEnds(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	c := rpc.NewConn(transport.NewStream(r, discard{}), nil, rpc.Options{})
	if err := ends(t, "Close", c.Close); err != nil {
		t.Fatal(err)
	}
}

func TestACutMessageIsNeitherDeliveredNorAnswered(t *testing.T) {
	t.Parallel()
	const line = `{"jsonrpc":"2.0","id":1,"method":"m","params":{"é":"\u00e9"}}`
	for cut := range len(line) {
		var out lockedBuilder
		c := rpc.NewConn(transport.NewStream(strings.NewReader(line+"\n"+line[:cut]), &out), echo, patient(rpc.Options{Server: true}))
		receive(t, "end", c.Done())
		if got, want := out.String(), `{"jsonrpc":"2.0","id":1,"result":{"é":"\u00e9"}}`+"\n"; got != want {
			t.Fatalf("cut at %d: wrote %q", cut, got)
		}
		if !errors.Is(c.Err(), io.EOF) {
			t.Fatalf("cut at %d: Err is %v", cut, c.Err())
		}
	}
}

func TestOneThousandConnectionsLeaveNothingBehind(t *testing.T) {
	// TestMain counts what is left.
	for i := range 1000 {
		client, agent := connect(t, []string{"Pair", "os.Pipe"}[i%2], nil, echo)
		var r json.RawMessage
		if err := client.Call(t.Context(), "session/prompt", raw(prompt), &r); err != nil {
			t.Fatal(err)
		}
		client.Notify(t.Context(), "session/cancel", raw(prompt))
		if i%3 == 0 {
			agent.Close()
		}
		client.Close()
		agent.Close()
	}
}
