package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

func TestSlowHandlersStopTheReadingAndNothingIsLost(t *testing.T) {
	t.Parallel()
	for name, lim := range map[string]rpc.Limits{
		"messages": {Messages: 10},
		"bytes":    {Bytes: 40 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n = 600
				release := make(chan struct{})
				handled := make(chan int, n)
				c, w := dial(t, handler{notify: func(_ context.Context, _ string, p json.RawMessage) error {
					<-release
					handled <- number(p)
					return nil
				}}, rpc.Options{Limits: lim})
				var sent atomic.Int64
				filler := strings.Repeat("x", 4000)
				go func() {
					for i := range n {
						w.say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","n":%d,"x":%q}}`, i, filler)
						sent.Add(1)
					}
				}()
				synctest.Wait()
				if got := sent.Load(); got == 0 || got == n {
					t.Errorf("the peer sent %d of %d messages, then had to wait", got, n)
				}
				if got := c.Stats().Received; got > 20 {
					t.Errorf("%d messages were read while handlers stood still", got)
				}
				close(release)
				for i := range n {
					if got := receive(t, "update", handled); got != i {
						t.Fatalf("update %d came as number %d", got, i)
					}
				}
			})
		})
	}
}

func TestAHandlerThatWaitsForAnAnswerKeepsTheReadingGoing(t *testing.T) {
	t.Parallel()
	var c *rpc.Conn
	ready, answered := make(chan struct{}), make(chan error, 1)
	c, w := dial(t, handler{notify: func(ctx context.Context, _ string, p json.RawMessage) error {
		<-ready
		if number(p) == 0 {
			answered <- c.Call(ctx, "session/set_mode", raw(prompt), nil)
		}
		return nil
	}}, rpc.Options{Limits: rpc.Limits{Messages: 10}})
	for i := range 15 {
		w.update("s", i)
	}
	eventually(t, "the reading has stopped", func() bool { return c.Stats().Received >= 10 })
	close(ready)
	w.hear()
	for i := range 15 {
		w.update("s", i+15)
	}
	w.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	if err := receive(t, "answer", answered); err != nil {
		t.Fatal(err)
	}
}

func TestAFloodBeforeTheAnswerEndsTheHandlersCallAndNotTheConnection(t *testing.T) {
	t.Parallel()
	var c *rpc.Conn
	const n = 500
	ready, answered, handled := make(chan struct{}), make(chan error, 1), make(chan int, n)
	c, w := dial(t, handler{notify: func(ctx context.Context, _ string, p json.RawMessage) error {
		<-ready
		if number(p) == 0 {
			answered <- c.Call(ctx, "session/set_mode", raw(prompt), nil)
		}
		handled <- number(p)
		return nil
	}}, rpc.Options{Limits: rpc.Limits{Messages: 10, Ahead: 3}})
	close(ready)
	go func() {
		for i := range n {
			w.update("s", i)
		}
		w.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	}()
	var backlog *rpc.BacklogError
	if err := receive(t, "error", answered); !errors.As(err, &backlog) || backlog.Messages < 30 {
		t.Fatalf("Call returned %v, want a *BacklogError", err)
	}
	for i := range n {
		if got := receive(t, "update", handled); got != i {
			t.Fatalf("update %d came as number %d", got, i)
		}
	}
	eventually(t, "the answer counts as late", func() bool { return c.Stats().Count(rpc.FaultLate) == 1 })
}

func TestAHundredThousandFreeRunningUpdatesArrive(t *testing.T) {
	t.Parallel()
	const n = 100_000
	next, bad := 0, 0
	done := make(chan struct{})
	client, agent := connect(t, "os.Pipe", handler{notify: func(_ context.Context, _ string, p json.RawMessage) error {
		if number(p) != next {
			bad++
		}
		if next++; next == n {
			close(done)
		}
		return nil
	}}, nil)
	for i := range n {
		if err := agent.Notify(t.Context(), "session/update", update{"s", i}); err != nil {
			t.Fatal(err)
		}
	}
	receive(t, "last update", done)
	if bad > 0 {
		t.Errorf("%d updates out of order", bad)
	}
	client.Close()
	agent.Close()
}

type update struct {
	session string
	n       int
}

func (u update) AppendJSON(b []byte) []byte {
	b = append(b, `{"sessionId":"s","n":`...)
	b = acp.NumberID(int64(u.n)).AppendJSON(b)
	return append(b, '}')
}

func TestSendersWaitForAPeerThatDoesNotReadOnlyAsLongAsTheirContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := dial(t, nil, rpc.Options{Limits: rpc.Limits{QueueBytes: 1 << 20, Grace: 50 * time.Millisecond}})
		big := raw(`"` + strings.Repeat("x", 600<<10) + `"`)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		var err error
		for err == nil {
			err = ends(t, "Notify", func() error { return c.Notify(ctx, "_filler", raw("["+string(big)+"]")) })
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		err = ends(t, "Call", func() error { return c.Call(ctx, "_filler", nil, nil) })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	})
}

func TestAPeerThatDoesNotReadEndsTheConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := dial(t, nil, rpc.Options{Limits: rpc.Limits{Stall: 100 * time.Millisecond, Grace: 50 * time.Millisecond}})
		big := raw(`["` + strings.Repeat("x", 1<<20) + `"]`)
		for range 4 {
			c.Notify(t.Context(), "_filler", big)
		}
		receive(t, "end", c.Done())
		var stalled *rpc.StalledError
		if err := c.Err(); !errors.As(err, &stalled) || !stalled.Write {
			t.Fatalf("Err is %v, want a *StalledError", err)
		}
	})
}

func TestAPeerThatStopsInsideAMessageIsReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, pw := io.Pipe()
		faults := make(chan rpc.Fault, 4)
		c := rpc.NewConn(transport.NewStream(r, discard{}), nil, rpc.Options{
			Limits:  rpc.Limits{Stall: time.Minute},
			OnFault: func(f rpc.Fault) { faults <- f },
		})
		defer c.Close()
		defer pw.Close()
		time.Sleep(time.Hour) // an idle peer is fine
		io.WriteString(pw, `{"jsonrpc":"2.0","met`)
		if f := receive(t, "report", faults); f.Kind != rpc.FaultStalled {
			t.Fatalf("reported %v: %v", f.Kind, f.Err)
		}
		time.Sleep(time.Hour)
		if n := c.Stats().Count(rpc.FaultStalled); n != 1 {
			t.Errorf("reported %d times", n)
		}
		io.WriteString(pw, `hod":"_x"}`+"\n")
		if f := receive(t, "report", faults); f.Kind != rpc.FaultUnknownMethod {
			t.Fatalf("the message did not arrive: %v: %v", f.Kind, f.Err)
		}
	})
}

func TestRequestsAboveTheLimitAreRefused(t *testing.T) {
	t.Parallel()
	for name, method := range map[string]string{"requests": "terminal/wait_for_exit", "questions": "session/request_permission"} {
		t.Run(name, func(t *testing.T) {
			release := make(chan struct{})
			c, w := dial(t, handler{request: func(context.Context, string, json.RawMessage) (acp.Appender, error) {
				<-release
				return raw("{}"), nil
			}}, rpc.Options{Limits: rpc.Limits{Requests: 5, Questions: 5}})
			for i := range 6 {
				w.say(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{}}`, i, method)
			}
			if got := w.hear(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":5,"error":{"code":-32800,`) {
				t.Fatal(got)
			}
			if n := c.Stats().Count(rpc.FaultRefused); n != 1 {
				t.Errorf("%d refusals counted", n)
			}
			close(release)
			for range 5 {
				if got := w.hear(); !strings.HasSuffix(got, `"result":{}}`) {
					t.Fatal(got)
				}
			}
			w.say(`{"jsonrpc":"2.0","id":9,"method":%q,"params":{}}`, method)
			w.expect(`{"jsonrpc":"2.0","id":9,"result":{}}`)
		})
	}
}
