package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

func TestTheDefaultBudgetIs256MiB(t *testing.T) {
	t.Parallel()
	if rpc.DefaultBudget != 256<<20 {
		t.Error(rpc.DefaultBudget)
	}
}

func TestConnectionsShareABudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const (
			conns  = 4
			each   = 400 // more than the transport holds
			size   = 4 << 10
			budget = 64 << 10
		)
		b := rpc.NewBudget(budget)
		release := make(chan struct{})
		handled := make(chan int, conns*each)
		var read [conns]*rpc.Conn
		var sent atomic.Int64
		filler := strings.Repeat("x", size)
		for i := range conns {
			c, w := dial(t, handler{notify: func(_ context.Context, _ string, p json.RawMessage) error {
				<-release
				handled <- number(p)
				return nil
			}}, rpc.Options{Budget: b})
			read[i] = c
			go func() {
				for range each {
					w.say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","n":%d,"x":%q}}`, i, filler)
					sent.Add(1)
				}
			}()
		}
		synctest.Wait()
		if n := sent.Load(); n == conns*each {
			t.Error("no peer has to wait")
		}
		for i, c := range read {
			if c.Stats().Received == 0 {
				t.Errorf("connection %d does not read because the others used up the budget", i)
			}
		}
		// Above the budget each may hold two messages: one that passes, and one
		// that was read before the reader looked.
		if got := b.Used(); got < budget || got > budget+2*conns*(size+100) {
			t.Errorf("%d bytes are in flight with a budget of %d", got, budget)
		}
		close(release)
		var got [conns]int
		for range conns * each {
			got[receive(t, "update", handled)]++
		}
		for i, n := range got {
			if n != each {
				t.Errorf("connection %d handled %d of %d", i, n, each)
			}
		}
		eventually(t, "the budget is free again", func() bool { return b.Used() == 0 })
	})
}

func TestAUsedUpBudgetLetsEachConnectionGoOnMessageByMessage(t *testing.T) {
	t.Parallel()
	b := rpc.NewBudget(1 << 10)
	stuck := make(chan struct{})
	t.Cleanup(func() { close(stuck) }) // before the connections close
	_, hog := dial(t, handler{notify: func(context.Context, string, json.RawMessage) error { <-stuck; return nil }}, rpc.Options{Budget: b, Limits: rpc.Limits{Grace: shortly}})
	hog.say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","x":%q}}`, strings.Repeat("x", 8<<10))
	eventually(t, "the budget is used up", func() bool { return b.Used() > 8<<10 })

	_, w := dial(t, handler{request: func(_ context.Context, _ string, p json.RawMessage) (acp.Appender, error) {
		return raw(p), nil
	}}, rpc.Options{Budget: b})
	for i := range 20 {
		w.say(`{"jsonrpc":"2.0","id":%d,"method":"_echo","params":{"n":%d}}`, i, i)
		w.expect(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"n":%d}}`, i, i))
	}
}

func TestABudgetFarExceededEndsCallsOfHandlersAndNotConnections(t *testing.T) {
	t.Parallel()
	b := rpc.NewBudget(1 << 10)
	var c *rpc.Conn
	ready, answered := make(chan struct{}), make(chan error, 1)
	c, w := dial(t, handler{notify: func(ctx context.Context, _ string, p json.RawMessage) error {
		<-ready
		if number(p) == 0 {
			answered <- c.Call(ctx, "session/set_mode", raw(prompt), nil)
		}
		return nil
	}}, rpc.Options{Budget: b})
	go func() {
		for i := range 100 {
			w.update("s", i)
		}
	}()
	close(ready)
	var full *rpc.BacklogError
	if err := receive(t, "end of the call", answered); !errors.As(err, &full) {
		t.Fatal(err)
	}
	eventually(t, "the rest is handled", func() bool { return c.Stats().Received == 100 && b.Used() == 0 })
}

func TestAClosedConnectionReturnsItsPartOfTheBudget(t *testing.T) {
	t.Parallel()
	b := rpc.NewBudget(0)
	c, w := dial(t, handler{notify: func(ctx context.Context, _ string, _ json.RawMessage) error {
		<-ctx.Done()
		return nil
	}}, rpc.Options{Budget: b})
	for i := range 10 {
		w.update("s", i)
	}
	eventually(t, "all are read", func() bool { return c.Stats().Received == 10 })
	if b.Used() == 0 {
		t.Error("what is read is not counted")
	}
	c.Close()
	if n := b.Used(); n != 0 {
		t.Errorf("%d bytes are still counted", n)
	}
}
