package rpc_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// C009 of the conformance list.
func TestAMessageOverSeveralLinesIsSoManyBadLines(t *testing.T) {
	t.Parallel()
	const pretty = "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 7,\n  \"method\": \"m\"\n}\n"
	in := pretty + `{"jsonrpc":"2.0","id":8,"method":"m","params":{"x":1}}` + "\n"
	var out strings.Builder
	c := rpc.NewConn(transport.NewStream(strings.NewReader(in), &out), echo, patient(rpc.Options{Server: true}))
	receive(t, "end", c.Done())
	c.Close()
	answers := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(answers) != 6 {
		t.Fatalf("%q", answers)
	}
	bad := 0
	for _, a := range answers {
		switch got := verdict(a); got {
		case "null -32700", "null -32600":
			bad++
		case "8 ok":
		default:
			t.Errorf("answered %s", a)
		}
	}
	if bad != 5 {
		t.Errorf("%d errors for 5 bad lines: %q", bad, answers)
	}
}

// C011 of the conformance list.
func TestAMessageThatWasTooLargePassesAHigherLimit(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]string{1000: "1 -32600", 3000: "1 ok"} {
		_, w := dial(t, echo, rpc.Options{Limits: rpc.Limits{Message: limit}})
		w.say(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":%q}}`, strings.Repeat("x", 2000))
		if got := verdict(w.hear()); got != want {
			t.Errorf("limit %d: %s, want %s", limit, got, want)
		}
	}
}

// C080 of the conformance list.
func TestACancelledTurnIsEndedByItsHandlerAlone(t *testing.T) {
	t.Parallel()
	var c *rpc.Conn
	ready, finish := make(chan struct{}), make(chan struct{})
	c, w := dial(t, handler{
		request: func(ctx context.Context, method string, _ json.RawMessage) (acp.Appender, error) {
			if method != "session/prompt" {
				return nil, acp.MethodNotFound(method)
			}
			<-ready
			<-ctx.Done()
			c.Notify(ctx, "session/update", raw(`{"sessionId":"s","n":1}`))
			<-finish
			return raw(`{"stopReason":"cancelled","_meta":{"mine":true}}`), nil
		},
		notify: func(context.Context, string, json.RawMessage) error { return nil },
	}, rpc.Options{Server: true})
	close(ready)
	w.say(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s"}}`)
	w.say(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`)
	w.expect(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","n":1}}`)
	w.quiet() // the turn goes on until its handler is done
	close(finish)
	w.expect(`{"jsonrpc":"2.0","id":1,"result":{"stopReason":"cancelled","_meta":{"mine":true}}}`)
}

// C081 of the conformance list.
func TestACancelReachesThePromptThatIsLeft(t *testing.T) {
	t.Parallel()
	first, started := make(chan struct{}), make(chan struct{}, 3)
	_, w := dial(t, handler{
		request: func(ctx context.Context, method string, p json.RawMessage) (acp.Appender, error) {
			if method != "session/prompt" {
				return nil, acp.MethodNotFound(method)
			}
			started <- struct{}{}
			done := ctx.Done()
			if number(p) == 1 {
				done = nil
			}
			select {
			case <-first:
				if number(p) == 1 {
					return raw(`"ended"`), nil
				}
				<-done
			case <-done:
			}
			return raw(`"cancelled"`), nil
		},
		notify: func(context.Context, string, json.RawMessage) error { return nil },
	}, rpc.Options{Server: true})
	for n := 1; n <= 3; n++ {
		w.say(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s","n":%d}}`, n, n)
		receive(t, "start", started)
	}
	close(first)
	w.expect(`{"jsonrpc":"2.0","id":1,"result":"ended"}`)
	w.quiet() // the end of one ends no other
	w.say(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`)
	got := []string{verdict(w.hear()), verdict(w.hear())}
	if (got[0] != "2 ok" || got[1] != "3 ok") && (got[0] != "3 ok" || got[1] != "2 ok") {
		t.Error(got)
	}
}
