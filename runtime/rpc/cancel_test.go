package rpc_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

func TestEndingTheContextOfACallSendsCancelRequest(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]error{"cancel": context.Canceled, "deadline": context.DeadlineExceeded} {
		t.Run(name, func(t *testing.T) {
			// In a bubble the deadline passes when the peer has the request, however
			// slow the machine is.
			synctest.Test(t, func(t *testing.T) {
				c, w := dial(t, nil, rpc.Options{})
				ctx, cancel := context.WithCancel(t.Context())
				if want == context.DeadlineExceeded {
					ctx, cancel = context.WithTimeout(t.Context(), shortly)
				}
				defer cancel()
				done := call(ctx, c, "session/prompt", prompt)
				w.hear()
				if want == context.Canceled {
					cancel()
				}
				if err := receive(t, "error", done); !errors.Is(err, want) {
					t.Fatalf("Call returned %v, want %v", err, want)
				}
				w.expect(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`)
				// Whatever the peer answers now comes too late.
				w.say(`{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"cancelled"}}`)
				w.quiet()
				if n := c.Stats().Count(rpc.FaultLate); n != 1 {
					t.Fatalf("%d late answers counted, want 1", n)
				}
			})
		})
	}
}

func TestACallWithAnEndedContextSendsNothing(t *testing.T) {
	t.Parallel()
	c, w := dial(t, nil, rpc.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Call(ctx, "session/prompt", raw(prompt), nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	w.quiet()
}

// jam fills the way to the peer, which does not read, and returns how many
// messages it took; the last of them is still queued. The test runs in a bubble.
func jam(t *testing.T, c *rpc.Conn) int {
	t.Helper()
	big := raw(`{"filler":"` + strings.Repeat("x", 300<<10) + `"}`)
	const n = 8
	for range n {
		if err := c.Notify(t.Context(), "_filler", big); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Wait() // the writer takes what it can
	return n
}

// after returns what the peer hears once the filler is through, by method.
func heard(w *wire, n int) []string {
	var methods []string
	for range n {
		var m struct{ Method string }
		json.Unmarshal([]byte(w.hear()), &m)
		methods = append(methods, m.Method)
	}
	return methods
}

func index(list []string, want string) int {
	for i, s := range list {
		if s == want {
			return i
		}
	}
	return -1
}

func TestCancelOvertakesWhatIsQueued(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, w := dial(t, nil, rpc.Options{})
		n := jam(t, c)
		if err := c.Notify(t.Context(), "session/cancel", raw(prompt)); err != nil {
			t.Fatal(err)
		}
		methods := heard(w, n+1)
		if at := index(methods, "session/cancel"); at < 0 || at == n {
			t.Fatalf("session/cancel was number %d of %d", at+1, len(methods))
		}
	})
}

// A session that is cancelled, and whose call is then given up, hears of it in
// this order: the first is how a turn ends.
func TestCancelsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	for _, behind := range []string{"a request on the wire", "one in the queue"} {
		t.Run(behind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, w := dial(t, nil, rpc.Options{})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				n := 0
				if behind == "one in the queue" {
					n = jam(t, c)
				}
				done := queued(ctx, t, c, "session/prompt", prompt)
				if n == 0 {
					heard(w, 1)
					n = jam(t, c)
				} else {
					n++
				}
				c.Notify(ctx, "session/cancel", raw(prompt))
				cancel()
				receive(t, "error", done)
				methods := heard(w, n+2)
				if first, second := index(methods, "session/cancel"), index(methods, "$/cancel_request"); first < 0 || second < first {
					t.Fatal(methods)
				}
			})
		})
	}
}

func TestCancelNeverOvertakesTheRequestItIsAbout(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"session/cancel", "$/cancel_request"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, w := dial(t, nil, rpc.Options{})
				n := jam(t, c)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				done := queued(ctx, t, c, "session/prompt", prompt)
				other := queued(t.Context(), t, c, "session/prompt", `{"sessionId":"other"}`)
				if how == "session/cancel" {
					c.Notify(ctx, how, raw(prompt))
				} else {
					cancel()
					receive(t, "error", done)
				}
				for range 3 {
					c.Notify(t.Context(), "_filler", raw(`{}`))
				}
				methods := heard(w, n+6)
				if at, want := index(methods, how), index(methods, "session/prompt"); at < 0 || at < want || at > want+2 {
					t.Fatalf("%s does not follow its request: %v", how, methods)
				}
				c.Close()
				receive(t, "end of the other call", other)
				if how == "session/cancel" {
					receive(t, "end of the call", done)
				}
			})
		})
	}
}

func TestCancelDoesNotWaitForAPeerThatDoesNotRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := dial(t, nil, rpc.Options{Limits: rpc.Limits{QueueMessages: 4, Grace: 50 * time.Millisecond}})
		big := raw(`{"filler":"` + strings.Repeat("x", 1<<20) + `"}`)
		full, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer stop()
		for c.Notify(full, "_filler", big) == nil { // until the queue is full
		}
		for range 100 {
			ends(t, "session/cancel", func() error { return c.Notify(t.Context(), "session/cancel", raw(prompt)) })
		}
		ctx, cancel := context.WithTimeout(t.Context(), shortly)
		defer cancel()
		if err := receive(t, "error", call(ctx, c, "session/prompt", prompt)); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	})
}

func TestNotifyWorksWithAnEndedContext(t *testing.T) {
	t.Parallel()
	c, w := dial(t, nil, rpc.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Notify(ctx, "session/update", raw(`{}`)); err != nil {
		t.Fatal(err)
	}
	w.expect(`{"jsonrpc":"2.0","method":"session/update","params":{}}`)
}

// waiting is a handler whose requests wait for their context and tell why it
// ended; session/cancel is recorded.
func waiting(started chan<- string, cancelled chan<- string) handler {
	return handler{
		request: func(ctx context.Context, method string, _ json.RawMessage) (acp.Appender, error) {
			started <- method
			<-ctx.Done()
			if context.Cause(ctx) == rpc.ErrSessionCancelled {
				return raw(`{"stopReason":"cancelled"}`), nil
			}
			return nil, fmt.Errorf("gave up: %w", ctx.Err())
		},
		notify: func(_ context.Context, method string, p json.RawMessage) error {
			if method == "session/cancel" {
				cancelled <- string(p)
			}
			return nil
		},
	}
}

func TestAnIncomingCancelRequestEndsTheContextOfTheRequest(t *testing.T) {
	t.Parallel()
	for _, id := range []string{`7`, `"7"`, `7.0`, `70e-1`, `""`, `9007199254740993`} {
		t.Run(id, func(t *testing.T) {
			started := make(chan string, 2)
			_, w := dial(t, waiting(started, nil), rpc.Options{})
			w.say(`{"jsonrpc":"2.0","id":%s,"method":"terminal/wait_for_exit","params":{}}`, id)
			w.say(`{"jsonrpc":"2.0","id":"other","method":"terminal/wait_for_exit","params":{}}`)
			receive(t, "start", started)
			receive(t, "start", started)
			same := id
			if id == `7.0` || id == `70e-1` {
				same = `7`
			}
			w.say(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%s}}`, same)
			w.expect(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32800,"message":"request cancelled"}}`)
		})
	}
}

func TestACancelThatFitsNoRequestIsIgnored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		started := make(chan string, 2)
		_, w := dial(t, waiting(started, nil), rpc.Options{})
		w.say(`{"jsonrpc":"2.0","id":1,"method":"session/load","params":{}}`)
		receive(t, "start", started)
		for _, params := range []string{`{"requestId":2}`, `{"requestId":"1"}`, `{"requestId":null}`, `{"requestId":{}}`, `{}`, `{"RequestId":1}`, `{"requestid":1}`, `[]`, `null`} {
			w.say(`{"jsonrpc":"2.0","method":"$/cancel_request","params":%s}`, params)
		}
		w.say(`{"jsonrpc":"2.0","method":"$/cancel_request"}`)
		w.say(`{"jsonrpc":"2.0","id":3,"method":"session/load","params":{}}`)
		receive(t, "start", started)
		w.say(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":3}}`)
		w.expect(`{"jsonrpc":"2.0","id":3,"error":{"code":-32800,"message":"request cancelled"}}`)
		// A cancel for an answered request does not hit the next user of its id.
		w.say(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":3}}`)
		w.say(`{"jsonrpc":"2.0","id":3,"method":"session/load","params":{}}`)
		receive(t, "start", started)
		synctest.Wait()
		w.say(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`)
		w.expect(`{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"request cancelled"}}`)
	})
}

func TestACancelRightAfterItsRequestIsNeverLost(t *testing.T) {
	t.Parallel()
	started := make(chan string, 10_000)
	_, w := dial(t, waiting(started, nil), rpc.Options{})
	go func() {
		for i := range 3000 {
			w.say(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s"}}`, i)
			w.say(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%d}}`, i)
		}
	}()
	for range 3000 {
		if got := w.hear(); !strings.Contains(got, "-32800") {
			t.Fatal(got)
		}
	}
}

func TestSessionCancelReachesTheHandlerPastQueuedUpdates(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	defer close(release)
	cancelled := make(chan string, 1)
	_, w := dial(t, handler{notify: func(_ context.Context, method string, p json.RawMessage) error {
		if method == "session/cancel" {
			cancelled <- string(p)
			return nil
		}
		<-release
		return nil
	}}, rpc.Options{Server: true})
	for i := range 100 {
		w.update("s", i)
	}
	w.say(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`)
	if got := receive(t, "session/cancel", cancelled); got != prompt {
		t.Fatal(got)
	}
}

func TestSessionCancelEndsTheContextOfThePromptsOfItsSessionOnly(t *testing.T) {
	t.Parallel()
	started, cancelled := make(chan string, 3), make(chan string, 1)
	_, w := dial(t, waiting(started, cancelled), rpc.Options{Server: true})
	w.say(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"other"}}`)
	w.say(`{"jsonrpc":"2.0","id":2,"method":"session/set_mode","params":{"sessionId":"s"}}`)
	// Even when the cancel is read before the handler has begun.
	w.say(`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s"}}`)
	w.say(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`)
	w.expect(`{"jsonrpc":"2.0","id":3,"result":{"stopReason":"cancelled"}}`)
	receive(t, "session/cancel", cancelled)
	w.say(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}`)
	w.expect(`{"jsonrpc":"2.0","id":2,"error":{"code":-32800,"message":"request cancelled"}}`)
}

// C074.
func TestACancelMayWriteTheIDDifferently(t *testing.T) {
	t.Parallel()
	started := make(chan string, 1)
	_, w := dial(t, waiting(started, nil), rpc.Options{})
	for _, id := range []string{"7.0", "70e-1", "7e0", "7"} {
		w.say(`{"jsonrpc":"2.0","id":7,"method":"session/load","params":{}}`)
		receive(t, "start", started)
		w.say(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%s}}`, id)
		w.expect(`{"jsonrpc":"2.0","id":7,"error":{"code":-32800,"message":"request cancelled"}}`)
	}
}

// A question that comes before the end of its turn ends with it, even if its handler begins
// after it; one that comes behind the end is another one, and so is one of another session.
func TestAQuestionEndsWithItsTurn(t *testing.T) {
	t.Parallel()
	begin := make(chan struct{})
	causes := make(chan string, 10)
	h := handler{request: func(ctx context.Context, method string, params json.RawMessage) (acp.Appender, error) {
		<-begin
		var p struct{ N string }
		json.Unmarshal(params, &p)
		select {
		case <-ctx.Done():
			causes <- p.N + ": " + context.Cause(ctx).Error()
			return nil, ctx.Err()
		default:
			causes <- p.N + ": open"
			return &acp.CreateTerminalResponse{TerminalID: "t"}, nil
		}
	}}
	c, w := dial(t, h, rpc.Options{})
	id := 0
	asks := func(method, session, n string) {
		id++
		w.say(`{"jsonrpc":"2.0","id":"q%d","method":%q,"params":{"sessionId":%q,"n":%q}}`, id, method, session, n)
	}
	var turns []<-chan error
	for range 2 {
		turns = append(turns, call(t.Context(), c, acp.MethodSessionPrompt, prompt))
		w.hear()
	}
	w.say(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"a turn runs"}}`) // the other goes on
	asks(acp.MethodSessionRequestPermission, "s", "before")
	asks(acp.MethodElicitationCreate, "s", "before, a form")
	asks(acp.MethodTerminalCreate, "s", "before, a terminal")
	asks(acp.MethodSessionRequestPermission, "other", "of another session")
	w.say(`{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}`)
	asks(acp.MethodSessionRequestPermission, "s", "behind")
	for _, turn := range turns {
		receive(t, "end of a turn", turn)
	}
	close(begin)
	got := map[string]bool{}
	for range 5 {
		got[receive(t, "cause", causes)] = true
	}
	over := ": " + rpc.ErrTurnEnded.Error()
	for _, want := range []string{"before" + over, "before, a form" + over, "before, a terminal: open", "of another session: open", "behind: open"} {
		if !got[want] {
			t.Errorf("no %q in %v", want, got)
		}
	}
}

func TestAQuestionOutlivesAPromptThatIsRefusedWhileATurnRuns(t *testing.T) {
	t.Parallel()
	open := make(chan context.Context, 1)
	answer := make(chan struct{})
	h := handler{request: func(ctx context.Context, _ string, _ json.RawMessage) (acp.Appender, error) {
		open <- ctx
		<-answer
		return nil, ctx.Err()
	}}
	c, w := dial(t, h, rpc.Options{})
	running := call(t.Context(), c, acp.MethodSessionPrompt, prompt)
	w.hear()
	w.say(`{"jsonrpc":"2.0","id":"q","method":"session/request_permission","params":{"sessionId":"s"}}`)
	ctx := receive(t, "question", open)
	refused := call(t.Context(), c, acp.MethodSessionPrompt, prompt)
	w.hear()
	w.say(`{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"a turn runs"}}`)
	receive(t, "refusal", refused)
	if err := ctx.Err(); err != nil {
		t.Error(context.Cause(ctx))
	}
	w.say(`{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}`)
	receive(t, "end of the turn", running)
	if cause := context.Cause(ctx); cause != rpc.ErrTurnEnded {
		t.Errorf("the question ended with %v", cause)
	}
	close(answer)
	w.hear()
}

// In version 2 a prompt is answered when it is accepted, which may be in the middle of the work.
func TestAQuestionOfVersion2EndsWithSessionCancelOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var cause error
		h := handler{request: func(ctx context.Context, _ string, _ json.RawMessage) (acp.Appender, error) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return nil, ctx.Err()
		}}
		c, w := dial(t, h, rpc.Options{})
		initialized := call(t.Context(), c, acp.MethodInitialize, `{"protocolVersion":2}`)
		w.hear()
		w.say(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":2}}`)
		receive(t, "initialize", initialized)
		w.say(`{"jsonrpc":"2.0","id":"q","method":"session/request_permission","params":{"sessionId":"s"}}`)
		accepted := call(t.Context(), c, acp.MethodSessionPrompt, prompt)
		w.hear()
		w.say(`{"jsonrpc":"2.0","id":2,"result":{"messageId":"m"}}`)
		receive(t, "the answer to the prompt", accepted)
		synctest.Wait()
		if cause != nil {
			t.Fatalf("the question ended with %v", cause)
		}
		if err := c.Notify(t.Context(), acp.MethodSessionCancel, raw(prompt)); err != nil {
			t.Fatal(err)
		}
		w.hear()
		w.expect(`{"jsonrpc":"2.0","id":"q","result":{"outcome":{"outcome":"cancelled"}}}`)
		if cause != rpc.ErrSessionCancelled {
			t.Errorf("the question ended with %v", cause)
		}
	})
}

// C067. The client answers the questions of a turn that it cancels, whatever the agent does and
// whatever the version: with the cause of session/cancel its handlers know that nobody wants
// an answer, and what they return then is answered as the protocol demands.
func TestAnOutgoingSessionCancelEndsTheQuestionsOfItsSession(t *testing.T) {
	t.Parallel()
	const permission, elicitation = `{"outcome":{"outcome":"cancelled"}}`, `{"action":"cancel"}`
	own := errors.New("no user is here")
	for name, test := range map[string]struct {
		method, session string
		wraps           bool  // the Middleware wraps the handler
		returns         error // instead of the error of the context
		want            string
	}{
		"a permission":                    {method: acp.MethodSessionRequestPermission, session: "s", want: `"result":` + permission},
		"a form":                          {method: acp.MethodElicitationCreate, session: "s", want: `"result":` + elicitation},
		"a permission through Middleware": {method: acp.MethodSessionRequestPermission, session: "s", wraps: true, want: `"result":` + permission},
		"the cause as the error":          {method: acp.MethodSessionRequestPermission, session: "s", returns: fmt.Errorf("asking: %w", rpc.ErrSessionCancelled), want: `"result":` + permission},
		"an error of the handler":         {method: acp.MethodSessionRequestPermission, session: "s", returns: own, want: `"error":{"code":-32603,"message":"no user is here"}`},
		"a permission of another session": {method: acp.MethodSessionRequestPermission, session: "other"},
		"not a question":                  {method: acp.MethodTerminalWaitForExit, session: "s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := handler{request: func(ctx context.Context, method string, _ json.RawMessage) (acp.Appender, error) {
					if method != test.method { // the test looks whether the peer hears something
						return nil, acp.MethodNotFound(method)
					}
					<-ctx.Done()
					if cause := context.Cause(ctx); test.want != "" && cause != rpc.ErrSessionCancelled {
						t.Errorf("the cause is %v", cause)
					}
					return nil, cmp.Or(test.returns, ctx.Err())
				}}
				opts := rpc.Options{}
				if test.wraps {
					opts.Middleware = []rpc.Middleware{{Receive: func(next acp.Handler) acp.Handler { return faultless{next, t} }}}
				}
				c, w := dial(t, h, opts)
				turn := call(t.Context(), c, acp.MethodSessionPrompt, prompt)
				w.hear()
				w.say(`{"jsonrpc":"2.0","id":"q","method":%q,"params":{"sessionId":%q}}`, test.method, test.session)
				synctest.Wait()
				if err := c.Notify(t.Context(), acp.MethodSessionCancel, raw(prompt)); err != nil {
					t.Fatal(err)
				}
				w.expect(`{"jsonrpc":"2.0","method":"session/cancel","params":` + prompt + `}`)
				if test.want != "" {
					w.expect(`{"jsonrpc":"2.0","id":"q",` + test.want + `}`)
				} else {
					w.quiet()
				}
				w.say(`{"jsonrpc":"2.0","id":1,"result":{"stopReason":"cancelled"}}`)
				receive(t, "end of the turn", turn)
			})
		})
	}
}

// faultless fails the test if what it wraps returns an error.
type faultless struct {
	acp.Handler
	t *testing.T
}

func (f faultless) HandleRequest(ctx context.Context, method string, params json.RawMessage) (acp.Appender, error) {
	result, err := f.Handler.HandleRequest(ctx, method, params)
	if err != nil {
		f.t.Errorf("%s: %v", method, err)
	}
	return result, err
}

// An agent may ask before it reads session/cancel. Nobody answers a question of a turn that
// is cancelled already, but the next turn asks as before.
func TestAQuestionOfACancelledTurnReachesNobody(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 3)
	h := handler{request: func(_ context.Context, _ string, params json.RawMessage) (acp.Appender, error) {
		asked <- string(params)
		return raw(`{"outcome":{"outcome":"selected","optionId":"yes"}}`), nil
	}}
	c, w := dial(t, h, rpc.Options{})
	ask := func(id, session, outcome string) {
		t.Helper()
		w.say(`{"jsonrpc":"2.0","id":%q,"method":"session/request_permission","params":{"sessionId":%q}}`, id, session)
		w.expect(`{"jsonrpc":"2.0","id":"` + id + `","result":{"outcome":` + outcome + `}}`)
	}
	const yes, cancelled = `{"outcome":"selected","optionId":"yes"}`, `{"outcome":"cancelled"}`
	turn := queued(t.Context(), t, c, acp.MethodSessionPrompt, prompt)
	w.hear()
	if err := c.Notify(t.Context(), acp.MethodSessionCancel, raw(prompt)); err != nil {
		t.Fatal(err)
	}
	w.hear()
	ask("late", "s", cancelled)
	ask("of another session", "other", yes)
	w.say(`{"jsonrpc":"2.0","id":1,"result":{"stopReason":"cancelled"}}`)
	receive(t, "end of the turn", turn)
	turn = queued(t.Context(), t, c, acp.MethodSessionPrompt, prompt)
	w.hear()
	ask("of the next turn", "s", yes)
	w.say(`{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}`)
	receive(t, "end of the turn", turn)
	if len(asked) != 2 {
		t.Errorf("%d questions reached the handler", len(asked))
	}
}
