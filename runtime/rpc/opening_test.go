package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// conversation is a client that opens sessions, with a journal of what it
// handles. The messages of the agent have numbers.
type conversation struct {
	*wire
	journal
	conn *rpc.Conn
}

// converse has a conversation in which nothing happens by chance: after each
// step everything that can happen has happened.
func converse(t *testing.T, opts rpc.Options, f func(t *testing.T, v *conversation)) {
	synctest.Test(t, func(t *testing.T) {
		v := new(conversation)
		name := func(params json.RawMessage) string {
			var p struct{ SessionID string }
			json.Unmarshal(params, &p)
			return p.SessionID
		}
		v.conn, v.wire = dial(t, handler{
			notify: func(_ context.Context, _ string, p json.RawMessage) error {
				v.add("%s%d", name(p), number(p))
				return nil
			},
			request: func(ctx context.Context, _ string, p json.RawMessage) (acp.Appender, error) {
				v.add("%s?%d", name(p), number(p))
				return raw(`{}`), ctx.Err()
			},
		}, opts)
		f(t, v)
	})
}

// open starts a call that opens a session. Its end is in the journal.
func (v *conversation) open(ctx context.Context, name, method, params string) {
	ctx = rpc.WithOpened(ctx, func(_ context.Context, id acp.SessionID, result json.RawMessage) {
		v.add("%s:open(%s)", name, id)
	})
	go func() {
		err := v.conn.Call(ctx, method, raw(params), nil)
		outcome := "answered"
		if err != nil {
			outcome = "failed"
		}
		v.add("%s:%s", name, outcome)
	}()
	v.hear()
}

func (v *conversation) update(session string, n int) {
	v.wire.update(session, n)
	synctest.Wait()
}

func (v *conversation) ask(session string, n int) {
	v.say(`{"jsonrpc":"2.0","id":%d,"method":"fs/read_text_file","params":{"sessionId":%q,"n":%[1]d}}`, n, session)
	synctest.Wait()
}

func (v *conversation) answer(id int, result string) {
	v.say(`{"jsonrpc":"2.0","id":%d,%s}`, id, result)
	synctest.Wait()
}

// named is an answer that names a session.
func named(session string) string { return fmt.Sprintf(`"result":{"sessionId":%q}`, session) }

// is compares the journal, which begins anew. Requests run on their own, so each
// counts as if it came last, but must have come after what precedes it in want.
func (v *conversation) is(want string) {
	v.t.Helper()
	synctest.Wait()
	got := v.take()
	var updates, requests []string
	for i, entry := range got {
		if !strings.Contains(entry, "?") {
			updates = append(updates, entry)
			continue
		}
		requests = append(requests, entry)
		before, _, _ := strings.Cut(want, entry)
		for _, earlier := range strings.Fields(before) {
			if !strings.Contains(earlier, "?") && !slices.Contains(got[:i], earlier) {
				v.t.Errorf("%s came before %s: %q", entry, earlier, got)
			}
		}
	}
	slices.Sort(requests)
	var wanted, wantedRequests []string
	for _, entry := range strings.Fields(want) {
		if strings.Contains(entry, "?") {
			wantedRequests = append(wantedRequests, entry)
		} else {
			wanted = append(wanted, entry)
		}
	}
	if !slices.Equal(updates, wanted) || !slices.Equal(requests, wantedRequests) {
		v.t.Errorf("%q, want %q", got, want)
	}
}

// take returns the journal, which begins anew.
func (v *conversation) take() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	got := v.entries
	v.entries = nil
	return got
}

func TestWhatComesBeforeASessionIsKnownIsHandledAfterItIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ method, params string }{{"session/new", `{}`}, {"session/fork", `{"sessionId":"old"}`}} {
		converse(t, rpc.Options{}, func(t *testing.T, v *conversation) {
			v.open(t.Context(), "new", c.method, c.params)
			for i := range 10 {
				v.update("a", i)
			}
			v.ask("a", 77)
			v.is("")
			v.answer(1, named("a"))
			v.is("new:open(a) a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 a?77 new:answered")
			v.expect(`{"jsonrpc":"2.0","id":77,"result":{}}`)
			v.update("a", 11)
			v.is("a11")
		})
	}
}

func TestOnlySessionsThatMayBecomeKnownAreHeld(t *testing.T) {
	t.Parallel()
	converse(t, rpc.Options{}, func(t *testing.T, v *conversation) {
		v.update("known", 1) // nobody opens a session
		v.is("known1")
		v.open(t.Context(), "new", "session/new", `{}`)
		v.update("known", 2)
		v.is("known2")
		v.update("", 3)
		v.say(`{"jsonrpc":"2.0","method":"elicitation/complete","params":{"n":4}}`)
		v.say(`{"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{"n":5}}`)
		v.is("3 4 ?5")
		v.expect(`{"jsonrpc":"2.0","id":5,"result":{}}`)

		// The history of a session that is loaded comes before the answer.
		go v.conn.Call(t.Context(), "session/load", raw(`{"sessionId":"loaded"}`), nil)
		v.hear()
		v.update("loaded", 6)
		v.ask("loaded", 7)
		v.is("loaded6 loaded?7")
		v.expect(`{"jsonrpc":"2.0","id":7,"result":{}}`)

		// A call that names a session says that it is known.
		v.update("late", 8)
		v.is("")
		go v.conn.Call(t.Context(), "session/load", raw(`{"sessionId":"late"}`), nil)
		v.hear()
		v.is("late8")
		v.update("late", 9)
		v.is("late9")

		v.answer(1, named("a"))
		v.is("new:open(a) new:answered")
	})
}

// Without WithOpened nothing waits: the caller learns of the session after its
// updates, whatever it does.
func TestACallThatDoesNotAskForItHoldsNothing(t *testing.T) {
	t.Parallel()
	converse(t, rpc.Options{}, func(t *testing.T, v *conversation) {
		go v.conn.Call(t.Context(), "session/new", raw(`{}`), nil)
		v.hear()
		v.update("a", 1)
		v.is("a1")
	})
}

func TestSessionsAreOpenedAtTheSameTime(t *testing.T) {
	t.Parallel()
	converse(t, rpc.Options{}, func(t *testing.T, v *conversation) {
		v.open(t.Context(), "one", "session/new", `{}`)
		v.open(t.Context(), "two", "session/new", `{}`)
		v.update("a", 1)
		v.update("b", 2)
		v.update("c", 3)
		v.ask("a", 4)
		v.is("")
		v.answer(2, named("b"))
		v.is("two:open(b) b2 two:answered")
		v.update("b", 5)
		v.is("b5")
		v.update("a", 6)
		v.is("")
		v.answer(1, named("a")) // the last one: nobody will open c
		if slices.Index(v.entries, "c3") < slices.Index(v.entries, "one:open(a)") {
			t.Errorf("what is held of a session that nobody opened comes after the last opening: %q", v.entries)
		}
		v.entries = slices.DeleteFunc(v.entries, func(e string) bool { return e == "c3" })
		v.is("one:open(a) a1 a?4 a6 one:answered")
	})
}

func TestOneSessionMayBeTheAnswerToTwoCalls(t *testing.T) {
	t.Parallel()
	converse(t, rpc.Options{}, func(t *testing.T, v *conversation) {
		v.open(t.Context(), "one", "session/new", `{}`)
		v.open(t.Context(), "two", "session/new", `{}`)
		v.update("a", 1)
		v.answer(1, named("a"))
		v.is("one:open(a) a1 one:answered")
		v.update("a", 2)
		v.answer(2, named("a"))
		v.is("a2 two:open(a) two:answered")
		v.open(t.Context(), "three", "session/new", `{}`)
		v.update("a", 3)
		v.answer(3, named("a"))
		v.is("a3 three:open(a) three:answered")
	})
}

func TestAnIDThatIsUsedAgainAfterTheEndOfItsSessionIsHeldAgain(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"session/close", "session/delete"} {
		converse(t, rpc.Options{}, func(t *testing.T, v *conversation) {
			v.open(t.Context(), "one", "session/new", `{}`)
			v.answer(1, named("a"))
			v.is("one:open(a) one:answered")
			go v.conn.Call(t.Context(), method, raw(`{"sessionId":"a"}`), nil)
			v.hear()
			v.answer(2, `"result":{}`)
			v.open(t.Context(), "two", "session/new", `{}`)
			v.update("a", 1)
			v.is("")
			v.answer(3, named("a"))
			v.is("two:open(a) a1 two:answered")
		})
	}
}

// However an opening ends, what was held is handled.
func TestNothingThatIsHeldIsLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(v *conversation, cancel func())
		want string // what the call does
	}{
		"refused":                   {func(v *conversation, _ func()) { v.answer(1, `"error":{"code":-32000,"message":"log in"}`) }, "new:failed"},
		"names no session":          {func(v *conversation, _ func()) { v.answer(1, `"result":{}`) }, "new:answered"},
		"names an empty session":    {func(v *conversation, _ func()) { v.answer(1, named("")) }, "new:answered"},
		"names another session":     {func(v *conversation, _ func()) { v.answer(1, named("b")) }, "new:open(b) new:answered"},
		"malformed":                 {func(v *conversation, _ func()) { v.answer(1, `"result":{},"error":{}`) }, "new:failed"},
		"too large":                 {func(v *conversation, _ func()) { v.answer(1, `"result":{"x":"`+strings.Repeat("x", 5000)+`"}`) }, "new:failed"},
		"given up":                  {func(_ *conversation, cancel func()) { cancel() }, "new:failed"},
		"not answered in time":      {func(*conversation, func()) { time.Sleep(time.Minute) }, "new:failed"},
		"the agent ends":            {func(v *conversation, _ func()) { v.Close() }, "new:failed"},
		"an ordinary call names it": {func(v *conversation, _ func()) { v.ordinary(`{}`, `{"sessionId":"a"}`) }, ""},
		"an ordinary call is of it": {func(v *conversation, _ func()) { v.ordinary(`{"sessionId":"a"}`, `{}`) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			converse(t, rpc.Options{Limits: rpc.Limits{Message: 4000}}, func(t *testing.T, v *conversation) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				v.open(ctx, "new", "session/new", `{}`)
				v.update("a", 1)
				v.ask("a", 2)
				v.is("")
				go func() { // what the connection sends is not read otherwise
					for {
						if _, err := v.Read(nil); err != nil {
							return
						}
					}
				}()
				c.end(v, cancel)
				synctest.Wait()
				got := v.take()
				update, request := slices.Index(got, "a1"), slices.Index(got, "a?2")
				early := name == "not answered in time" // the request did not wait so long
				call := strings.Join(slices.DeleteFunc(got, func(e string) bool { return e[0] == 'a' }), " ")
				if update < 0 || request < 0 || request < update != early || call != c.want {
					t.Errorf("%q", got)
				}
			})
		})
	}
}

// ordinary has a call answered that does not use WithOpened.
func (v *conversation) ordinary(params, result string) {
	go v.conn.Call(v.t.Context(), "m", raw(params), nil)
	synctest.Wait()
	v.answer(2, `"result":`+result)
}

func TestWhatIsHeldHasABound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limits rpc.Limits
		bytes  int // of one update
		fit    int // so many are held
	}{
		"messages":                 {rpc.Limits{}, 10, 1024},
		"bytes":                    {rpc.Limits{Bytes: 64 << 10}, 4000, 3},
		"the limit of the reading": {rpc.Limits{Messages: 8}, 10, 8},
	} {
		t.Run(name, func(t *testing.T) {
			converse(t, rpc.Options{Limits: c.limits}, func(t *testing.T, v *conversation) {
				v.open(t.Context(), "new", "session/new", `{}`)
				text := strings.Repeat("x", c.bytes)
				sent := 0
				send := func() {
					v.say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%c","n":%d,"x":%q}}`, 'a'+sent%2, sent, text)
					synctest.Wait()
					sent++
				}
				for range c.fit {
					send()
				}
				v.is("")
				for v.String() == "" && sent < c.fit+3 {
					send()
				}
				if got := strings.Fields(v.String()); len(got) != sent || sent > c.fit+2 {
					t.Errorf("%d of %d were handled", len(got), sent)
				}
				v.is(v.String())
				v.update("a", 1) // is a stranger from now on
				v.is("a1")
				v.answer(1, named("a"))
				v.is("new:open(a) new:answered")
			})
		})
	}
}

// A budget that others have used up does not make a connection wait for what it
// holds itself.
func TestABudgetDoesNotWaitForWhatIsHeld(t *testing.T) {
	t.Parallel()
	budget := rpc.NewBudget(1)
	converse(t, rpc.Options{Budget: budget}, func(t *testing.T, v *conversation) {
		v.open(t.Context(), "new", "session/new", `{}`)
		for i := range 5 {
			v.wire.update("a", i)
		}
		v.answer(1, named("a"))
		if got := v.String(); !strings.HasSuffix(got, "new:answered") || !strings.Contains(got, "a0 ") || !strings.Contains(got, "a4") {
			t.Errorf("%q", got)
		}
	})
	if n := budget.Used(); n != 0 {
		t.Errorf("%d bytes are in use", n)
	}
}

func TestARequestForASessionThatIsNotKnownYet(t *testing.T) {
	t.Parallel()
	converse(t, rpc.Options{}, func(t *testing.T, v *conversation) {
		v.open(t.Context(), "new", "session/new", `{}`)
		v.update("a", 1)
		v.ask("a", 2)
		v.update("a", 3)
		v.ask("a", 4)

		v.say(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}`)
		if got := verdict(v.hear()); got != "2 -32800" {
			t.Errorf("a request that was cancelled was answered %s", got)
		}
		v.is("") // its handler did not run

		time.Sleep(4900 * time.Millisecond)
		v.is("")
		time.Sleep(200 * time.Millisecond)
		v.is("a?4") // on its own
		v.expect(`{"jsonrpc":"2.0","id":4,"result":{}}`)

		v.ask("a", 5)
		v.answer(1, named("a"))
		v.is("new:open(a) a1 a3 a?5 new:answered")
		v.expect(`{"jsonrpc":"2.0","id":5,"result":{}}`)
		time.Sleep(10 * time.Second)
		v.say(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}`)
		v.is("")
	})
}

// An agent may ask about the new session and answer session/new only then.
func TestAnAgentThatAsksBeforeItsAnswerGoesOn(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"fs/read_text_file", "session/request_permission", "terminal/create", "elicitation/create"} {
		converse(t, rpc.Options{}, func(t *testing.T, v *conversation) {
			v.open(t.Context(), "new", "session/new", `{}`)
			v.say(`{"jsonrpc":"2.0","id":9,"method":%q,"params":{"sessionId":"a"}}`, method)
			v.expect(`{"jsonrpc":"2.0","id":9,"result":{}}`)
			v.answer(1, named("a"))
			v.is("a?0 new:open(a) new:answered")
		})
	}
}

func TestTheFunctionsOfAContextAreCalledFromTheInside(t *testing.T) {
	t.Parallel()
	converse(t, rpc.Options{}, func(t *testing.T, v *conversation) {
		ctx := t.Context()
		for _, name := range []string{"outer", "inner"} {
			ctx = rpc.WithOpened(ctx, func(_ context.Context, id acp.SessionID, result json.RawMessage) { v.add("%s(%s)%s", name, id, result) })
		}
		v.open(ctx, "new", "session/new", `{}`)
		v.answer(1, `"result":{"sessionId":"\u0061"}`)
		v.is(`new:open(a) inner(a){"sessionId":"\u0061"} outer(a){"sessionId":"\u0061"} new:answered`)
	})
}

// A function that runs when its caller has gone would open a session that
// nobody closes.
func TestTheFunctionDoesNotRunForACallThatWasGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		busy := make(chan struct{})
		c, w := dial(t, handler{notify: func(context.Context, string, json.RawMessage) error {
			<-busy
			return nil
		}}, rpc.Options{})
		w.update("a", 1)
		synctest.Wait() // the session is known, and at work
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- c.Call(rpc.WithOpened(ctx, func(context.Context, acp.SessionID, json.RawMessage) {
				t.Error("it ran")
			}), "session/new", raw(`{}`), nil)
		}()
		w.hear()
		w.say(`{"jsonrpc":"2.0","id":1,%s}`, named("a"))
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		close(busy)
		synctest.Wait()
	})
}

func TestTheFunctionRunsDuringTheCallOrNever(t *testing.T) {
	t.Parallel()
	for range 200 {
		converse(t, rpc.Options{}, func(t *testing.T, v *conversation) {
			ctx, cancel := context.WithCancel(t.Context())
			over, ran := false, false
			ctx = rpc.WithOpened(ctx, func(context.Context, acp.SessionID, json.RawMessage) {
				if over {
					t.Error("the call has returned")
				}
				ran = true
			})
			done := make(chan error, 1)
			go func() {
				err := v.conn.Call(ctx, "session/new", raw(`{}`), nil)
				over = true
				if err == nil && !ran {
					t.Error("the call returned before the function ran")
				}
				done <- err
			}()
			v.hear()
			v.wire.update("a", 1)
			go cancel()
			v.say(`{"jsonrpc":"2.0","id":1,%s}`, named("a"))
			<-done
		})
	}
}

func TestHandlersMayOpenSessions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log journal
		var c *rpc.Conn
		open := func(ctx context.Context, p json.RawMessage) {
			ctx = rpc.WithOpened(ctx, func(ctx context.Context, id acp.SessionID, _ json.RawMessage) {
				err := c.Call(ctx, "session/set_mode", raw(fmt.Sprintf(`{"sessionId":%q}`, id)), nil)
				log.add("open(%s):%v", id, err)
			})
			err := c.Call(ctx, "session/new", raw(`{}`), nil)
			log.add("answered:%v", err)
		}
		c, w := dial(t, handler{
			notify: func(ctx context.Context, method string, p json.RawMessage) error {
				if method == "_open" {
					open(ctx, p)
				} else {
					log.add("update")
				}
				return nil
			},
			request: func(ctx context.Context, method string, p json.RawMessage) (acp.Appender, error) {
				open(ctx, p)
				return raw(`{}`), nil
			},
		}, rpc.Options{})
		id := 0
		for _, start := range []string{`"method":"_open"`, `"method":"_open","id":7`} {
			// The second time the agent names the session in which it was asked.
			for _, session := range []string{"fresh", "own"} {
				w.say(`{"jsonrpc":"2.0",%s,"params":{"sessionId":"own"}}`, start)
				w.hear()
				id++
				w.update(session, 1)
				w.say(`{"jsonrpc":"2.0","id":%d,%s}`, id, named(session))
				w.hear() // session/set_mode
				id++
				w.say(`{"jsonrpc":"2.0","id":%d,"result":{}}`, id)
				if strings.Contains(start, "id") {
					w.hear()
				}
				synctest.Wait()
				got := log.String()
				if !strings.Contains(got, fmt.Sprintf("open(%s):<nil>", session)) || !strings.Contains(got, "answered:<nil>") || !strings.Contains(got, "update") {
					t.Errorf("%s %s: %q", start, session, got)
				}
				if open := strings.Index(got, "open"); session == "fresh" && id == 2 && open > strings.Index(got, "update") || open > strings.Index(got, "answered") {
					t.Errorf("%s %s: %q", start, session, got)
				}
				log.mu.Lock()
				log.entries = nil
				log.mu.Unlock()
			}
		}
	})
}

func TestAFunctionThatPanicsIsReportedAndNothingStops(t *testing.T) {
	t.Parallel()
	var faults []rpc.Fault
	converse(t, rpc.Options{OnFault: func(f rpc.Fault) { faults = append(faults, f) }}, func(t *testing.T, v *conversation) {
		v.open(rpc.WithOpened(t.Context(), func(context.Context, acp.SessionID, json.RawMessage) { panic("no") }), "new", "session/new", `{}`)
		v.update("a", 1)
		v.answer(1, named("a"))
		v.is("new:open(a) a1 new:answered")
	})
	var panicked *rpc.PanicError
	if len(faults) != 1 || faults[0].Kind != rpc.FaultHandler || !errors.As(faults[0].Err, &panicked) || panicked.Method != "session/new" {
		t.Errorf("%v", faults)
	}
}

func TestClosingReturnsWhatIsHeld(t *testing.T) {
	t.Parallel()
	budget := rpc.NewBudget(0)
	converse(t, rpc.Options{Budget: budget}, func(t *testing.T, v *conversation) {
		v.open(t.Context(), "new", "session/new", `{}`)
		for i := range 100 {
			v.update(fmt.Sprint("s", i%10), i)
		}
		v.conn.Close()
		v.is("new:failed")
		if n := budget.Used(); n != 0 {
			t.Errorf("%d bytes are in use", n)
		}
	})
}
