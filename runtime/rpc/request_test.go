package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	goruntime "runtime"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

func TestAHandlerThatWaitsForALaterMessageGetsIt(t *testing.T) {
	t.Parallel()
	later := make(chan int, 1)
	_, w := dial(t, handler{
		request: func(ctx context.Context, _ string, _ json.RawMessage) (acp.Appender, error) {
			select {
			case n := <-later:
				return raw(fmt.Sprint(n)), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
		notify: func(_ context.Context, _ string, p json.RawMessage) error {
			later <- number(p)
			return nil
		},
	}, rpc.Options{})
	for i := range 40 {
		w.ask("1", "m")
		w.update("s", i)
		w.expect(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":%d}`, i))
	}
}

func TestAHandlerThatCallsThePeerIsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	var c *rpc.Conn
	near, far := transport.Pair()
	c = rpc.NewConn(near, handler{request: func(ctx context.Context, _ string, _ json.RawMessage) (acp.Appender, error) {
		return raw("{}"), c.Call(ctx, "back", raw("{}"), nil)
	}}, rpc.Options{})
	defer c.Close()
	w := &wire{t, far}
	defer far.Close()
	for i := range 40 {
		w.ask("7", "m")
		w.expect(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"back","params":{}}`, i+1))
		w.say(`{"jsonrpc":"2.0","id":%d,"result":{}}`, i+1)
		w.verdict("7 ok")
	}
}

func TestAHandlerThatEndsItsGoroutineIsAnsweredForAndTheNextMessageRead(t *testing.T) {
	t.Parallel()
	_, w := dial(t, handler{request: func(_ context.Context, method string, _ json.RawMessage) (acp.Appender, error) {
		if method == "exit" {
			goruntime.Goexit()
		}
		return raw("{}"), nil
	}}, rpc.Options{})
	for range 40 {
		w.ask("1", "exit")
		w.verdict("1 -32603")
		w.ask("2", "m")
		w.verdict("2 ok")
	}
}

// The peer reads the answers after it has sent everything, and no pipe holds
// even one of either.
func TestAnswersThatThePeerDoesNotReadYetDoNotStopTheReading(t *testing.T) {
	t.Parallel()
	r1, w1, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r2, w2, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := rpc.NewConn(transport.NewStream(r1, w2), handler{request: func(_ context.Context, _ string, p json.RawMessage) (acp.Appender, error) {
		return raw(bytes.Clone(p)), nil
	}}, rpc.Options{})
	w := &wire{t, transport.NewStream(r2, w1)}
	defer c.Close()
	defer w.Close()
	big := `"` + string(bytes.Repeat([]byte("x"), 300<<10)) + `"`
	sent := make(chan bool)
	go func() {
		defer close(sent)
		for i := range 20 {
			w.say(`{"jsonrpc":"2.0","id":%d,"method":"m","params":[%s]}`, i, big)
		}
	}()
	receive(t, "end of sending", sent)
	seen := map[string]bool{}
	for range 20 {
		seen[verdict(w.hear())] = true
	}
	if len(seen) != 20 {
		t.Errorf("answers: %v", seen)
	}
}
