package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// server is an agent with Options.Handshake that counts what reaches it. Its
// initialize answers what is sent to answer; nil is a failure.
func server(t *testing.T) (c *rpc.Conn, w *wire, answer chan acp.Appender, ran *journal) {
	answer, ran = make(chan acp.Appender, 8), new(journal)
	c, w = dial(t, handler{
		request: func(ctx context.Context, method string, _ json.RawMessage) (acp.Appender, error) {
			ran.add("%s", method)
			if method != acp.MethodInitialize {
				return raw("{}"), nil
			}
			select {
			case a := <-answer:
				if a == nil {
					return nil, acp.InvalidParams(method, fmt.Errorf("no"))
				}
				return a, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
		notify: func(_ context.Context, method string, _ json.RawMessage) error {
			ran.add("%s", method)
			return nil
		},
	}, rpc.Options{Server: true, Handshake: true})
	return c, w, answer, ran
}

func agreed(version int) acp.Appender { return raw(fmt.Sprintf(`{"protocolVersion":%d}`, version)) }

func (w *wire) ask(id, method string) {
	w.t.Helper()
	w.say(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{}}`, id, method)
}

func (w *wire) verdict(want string) {
	w.t.Helper()
	if line := w.hear(); verdict(line) != want {
		w.t.Fatalf("answered %s, want %s", line, want)
	}
}

// C101.
func TestRequestsBeforeInitializeAreRefusedAndNotificationsDropped(t *testing.T) {
	t.Parallel()
	c, w, answer, ran := server(t)
	w.say(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`)
	w.say(`{"jsonrpc":"2.0","method":"_hello"}`)
	w.ask("1", "session/new")
	w.verdict("1 -32600")
	if n := c.Stats().Count(rpc.FaultRefused); n != 3 {
		t.Errorf("%d refusals are counted", n)
	}
	answer <- agreed(1)
	w.ask("1", "initialize") // the id of what was refused is free
	w.verdict("1 ok")
	w.ask("2", "session/new")
	w.verdict("2 ok")
	if got := ran.String(); got != "initialize session/new" {
		t.Errorf("handled %q", got)
	}
}

func TestRequestsSentBehindInitializeWaitForIt(t *testing.T) {
	t.Parallel()
	_, w, answer, ran := server(t)
	w.ask("1", "initialize")
	w.ask("2", "session/new")
	answer <- agreed(1)
	w.verdict("1 ok")
	w.verdict("2 ok")
	if got := ran.String(); got != "initialize session/new" {
		t.Errorf("handled %q", got)
	}
}

// C107.
func TestAFailedInitializeCanBeTriedAgain(t *testing.T) {
	t.Parallel()
	_, w, answer, ran := server(t)
	w.ask("1", "initialize")
	w.ask("2", "session/new")
	answer <- nil
	w.verdict("1 -32602")
	w.verdict("2 -32600")
	answer <- agreed(2)
	w.ask("3", "initialize")
	w.verdict("3 ok")
	w.ask("4", "session/new")
	w.verdict("4 ok")
	if got := ran.String(); got != "initialize initialize session/new" {
		t.Errorf("handled %q", got)
	}
}

// C108.
func TestTheSecondOfTwoInitializesInFlightIsRefused(t *testing.T) {
	t.Parallel()
	_, w, answer, _ := server(t)
	w.ask("1", "initialize")
	w.ask("2", "initialize")
	w.verdict("2 -32600")
	answer <- agreed(1)
	w.verdict("1 ok")
}

// C106.
func TestASecondInitializeIsForVersion1OrBeforeOtherRequests(t *testing.T) {
	t.Parallel()
	for version, after := range map[int]string{1: "4 ok", 2: "4 -32600"} {
		t.Run(fmt.Sprint("version ", version), func(t *testing.T) {
			_, w, answer, _ := server(t)
			for _, id := range []string{"1", "2"} {
				answer <- agreed(version)
				w.ask(id, "initialize")
				w.verdict(id + " ok")
			}
			w.ask("3", "session/list")
			w.verdict("3 ok")
			answer <- agreed(version)
			w.ask("4", "initialize")
			w.verdict(after)
			w.ask("5", "session/list")
			w.verdict("5 ok")
		})
	}
}

func TestAFailedRepeatKeepsWhatWasAgreed(t *testing.T) {
	t.Parallel()
	_, w, answer, _ := server(t)
	answer <- agreed(2)
	w.ask("1", "initialize")
	w.verdict("1 ok")
	answer <- nil
	w.ask("2", "initialize")
	w.verdict("2 -32602")
	w.ask("3", "session/list")
	w.verdict("3 ok")
}

func TestVersion2HasNoNullIDs(t *testing.T) {
	t.Parallel()
	for version, want := range map[int]string{1: "null ok", 2: "null -32600"} {
		_, w, answer, _ := server(t)
		answer <- agreed(version)
		w.ask("1", "initialize")
		w.verdict("1 ok")
		w.ask("null", "session/list")
		w.verdict(want)
	}
}

func TestAnInitializeWithTheIDNullDoesNotAgreeOnVersion2(t *testing.T) {
	t.Parallel()
	c, w, answer, _ := server(t)
	answer <- agreed(2)
	w.ask("null", "initialize")
	w.verdict("null -32600")
	if n := c.Stats().Count(rpc.FaultRefused); n != 1 {
		t.Errorf("%d refusals are counted", n)
	}
	w.ask("2", "session/list")
	w.verdict("2 -32600")
	answer <- agreed(2)
	w.ask("3", "initialize")
	w.verdict("3 ok")
	w.ask("4", "session/list")
	w.verdict("4 ok")

	_, w, answer, _ = server(t)
	answer <- agreed(1)
	w.ask("null", "initialize")
	w.verdict("null ok")
}

func TestAnInitializeWithoutAVersionInItsAnswerIsVersion1(t *testing.T) {
	t.Parallel()
	_, w, answer, _ := server(t)
	answer <- raw("null")
	w.ask("1", "initialize")
	w.verdict("1 ok")
	w.ask("null", "session/list")
	w.verdict("null ok")
}

func TestARequestThatWaitsForInitializeCanBeCancelled(t *testing.T) {
	t.Parallel()
	_, w, answer, _ := server(t)
	w.ask("1", "initialize")
	w.ask("2", "session/new")
	w.say(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}`)
	w.verdict("2 -32800")
	answer <- agreed(1)
	w.verdict("1 ok")
}

func TestWithoutHandshakeNothingIsRefused(t *testing.T) {
	t.Parallel()
	_, w := dial(t, handler{request: func(context.Context, string, json.RawMessage) (acp.Appender, error) {
		return raw("{}"), nil
	}}, rpc.Options{Server: true})
	w.ask("1", "session/new")
	w.verdict("1 ok")
}

func TestARefusalNamesTheMethodAndTheRemedy(t *testing.T) {
	t.Parallel()
	_, w, _, _ := server(t)
	w.ask("1", "session/new")
	if got := w.hear(); !strings.Contains(got, "session/new: initialize comes first") {
		t.Error(got)
	}
}
