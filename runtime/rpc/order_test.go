package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

const prompt = `{"sessionId":"s"}`

func TestNotificationsOfASessionAreHandledOneAtATimeInWireOrder(t *testing.T) {
	t.Parallel()
	const n = 2000
	next, running := 0, 0
	done := make(chan struct{})
	_, w := dial(t, handler{notify: func(_ context.Context, _ string, p json.RawMessage) error {
		if running++; running != 1 || number(p) != next {
			t.Errorf("handled %d with %d running, want %d alone", number(p), running, next)
		}
		next++
		if running--; next == n {
			close(done)
		}
		return nil
	}}, rpc.Options{})
	for i := range n {
		w.update("s", i)
	}
	receive(t, "last update", done)
}

func TestUpdatesPrecedeThePromptResponse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		handled := 0
		c, w := dial(t, handler{notify: func(context.Context, string, json.RawMessage) error {
			time.Sleep(100 * time.Microsecond)
			handled++
			return nil
		}}, rpc.Options{})
		done := call(t.Context(), c, "session/prompt", prompt)
		w.hear()
		for i := range 500 {
			w.update("s", i)
		}
		w.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		if err := receive(t, "answer", done); err != nil || handled != 500 {
			t.Fatalf("Call returned %v after %d of 500 updates", err, handled)
		}
	})
}

func TestTheResponseOfANewSessionFollowsTheUpdatesOfThatSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log journal
		c, w := dial(t, handler{notify: func(context.Context, string, json.RawMessage) error {
			time.Sleep(shortly)
			log.add("update")
			return nil
		}}, rpc.Options{})
		done := call(t.Context(), c, "session/new", `{}`)
		w.hear()
		w.update("fresh", 1)
		w.say(`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"fresh"}}`)
		receive(t, "answer", done)
		log.add("answer")
		if got := log.String(); got != "update answer" {
			t.Fatal(got)
		}
	})
}

func TestTheResponseOfAForkFollowsTheUpdatesOfBothSessions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log journal
		c, w := dial(t, handler{notify: func(_ context.Context, _ string, p json.RawMessage) error {
			time.Sleep(time.Duration(number(p)) * time.Millisecond)
			log.add("update")
			return nil
		}}, rpc.Options{})
		for i, slow := range [][2]int{{40, 5}, {5, 40}} {
			done := call(t.Context(), c, "session/fork", `{"sessionId":"old"}`)
			w.hear()
			w.update("old", slow[0])
			w.update("new", slow[1])
			w.say(`{"jsonrpc":"2.0","id":%d,"result":{"sessionId":"new"}}`, i+1)
			receive(t, "answer", done)
			log.add("answer")
		}
		if got := log.String(); got != "update update answer update update answer" {
			t.Fatal(got)
		}
	})
}

func TestUpdatesAfterAResponseDoNotDelayTheCaller(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	defer close(release)
	c, w := dial(t, handler{notify: func(context.Context, string, json.RawMessage) error {
		<-release
		return nil
	}}, rpc.Options{})
	done := call(t.Context(), c, "session/prompt", prompt)
	w.hear()
	w.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	w.update("s", 1)
	if err := receive(t, "answer", done); err != nil {
		t.Fatal(err)
	}
}

func TestRequestsStartAfterEarlierUpdatesOfTheirSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		handled := 0
		_, w := dial(t, handler{
			notify: func(context.Context, string, json.RawMessage) error {
				time.Sleep(time.Millisecond)
				handled++
				return nil
			},
			request: func(context.Context, string, json.RawMessage) (acp.Appender, error) {
				return raw(fmt.Sprint(handled)), nil
			},
		}, rpc.Options{})
		for i := range 50 {
			w.update("s", i)
		}
		w.say(`{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s"}}`)
		w.expect(`{"jsonrpc":"2.0","id":0,"result":50}`)
	})
}

func TestARequestDoesNotHoldUpItsSession(t *testing.T) {
	t.Parallel()
	seen := make(chan struct{})
	_, w := dial(t, handler{
		notify: func(context.Context, string, json.RawMessage) error { close(seen); return nil },
		request: func(context.Context, string, json.RawMessage) (acp.Appender, error) {
			<-seen
			return raw(`{}`), nil
		},
	}, rpc.Options{})
	w.say(`{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s"}}`)
	w.update("s", 1)
	w.expect(`{"jsonrpc":"2.0","id":0,"result":{}}`)
}

func TestSessionsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	defer close(release)
	seen := make(chan string, 10)
	_, w := dial(t, handler{notify: func(_ context.Context, _ string, p json.RawMessage) error {
		if strings.Contains(string(p), `"slow"`) {
			<-release
		}
		seen <- string(p)
		return nil
	}}, rpc.Options{})
	w.update("slow", 1)
	w.update("quick", 2)
	w.say(`{"jsonrpc":"2.0","method":"_none","params":{}}`)
	receive(t, "update of the other session", seen)
	receive(t, "notification without session", seen)
}

func TestSessionIDsAreComparedByValue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log journal
		done := make(chan struct{})
		_, w := dial(t, handler{notify: func(_ context.Context, _ string, p json.RawMessage) error {
			if number(p) == 1 {
				time.Sleep(shortly)
			} else {
				defer close(done)
			}
			log.add("%d", number(p))
			return nil
		}}, rpc.Options{})
		w.update("sess", 1)
		w.say(`{"jsonrpc":"2.0","method":"session/update","params":{"n":2,"sessionId":"\u0073es\u0073"}}`)
		receive(t, "second update", done)
		if got := log.String(); got != "1 2" {
			t.Fatal(got)
		}
	})
}

func TestManyShortSessionsDoNotPileUp(t *testing.T) {
	t.Parallel()
	handled := make(chan struct{}, 100)
	c, w := dial(t, handler{notify: func(context.Context, string, json.RawMessage) error {
		handled <- struct{}{}
		return nil
	}}, rpc.Options{})
	for i := range 50 {
		for j := range 100 {
			w.update(fmt.Sprint(i, "-", j), j)
		}
		for range 100 {
			receive(t, "update", handled)
		}
	}
	if got := rpc.Lanes(c); got > 1500 {
		t.Fatalf("%d lanes are kept for 5000 idle sessions", got)
	}
}

func TestANotificationHandlerMayCallThePeer(t *testing.T) {
	t.Parallel()
	var c *rpc.Conn
	answers := make(chan error, 2)
	ready := make(chan struct{})
	c, w := dial(t, handler{notify: func(ctx context.Context, _ string, p json.RawMessage) error {
		<-ready
		if number(p) == 1 {
			answers <- c.Call(ctx, "session/set_mode", raw(prompt), nil)
		}
		return nil
	}}, rpc.Options{})
	close(ready)
	w.update("s", 1)
	w.update("s", 2) // its answer comes behind this one
	w.hear()
	w.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	if err := receive(t, "answer", answers); err != nil {
		t.Fatal(err)
	}
}

func TestHandlersOfTwoSessionsMayCallAboutEachOther(t *testing.T) {
	t.Parallel()
	var c *rpc.Conn
	answers := make(chan error, 2)
	ready := make(chan struct{})
	other := map[int]string{1: `{"sessionId":"b"}`, 2: `{"sessionId":"a"}`}
	c, w := dial(t, handler{notify: func(ctx context.Context, _ string, p json.RawMessage) error {
		<-ready
		answers <- c.Call(ctx, "session/set_mode", raw(other[number(p)]), nil)
		return nil
	}}, rpc.Options{})
	close(ready)
	w.update("a", 1)
	w.update("b", 2)
	w.hear()
	w.hear()
	w.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	w.say(`{"jsonrpc":"2.0","id":2,"result":{}}`)
	for range 2 {
		if err := receive(t, "answer", answers); err != nil {
			t.Fatal(err)
		}
	}
}

func TestARequestHandlerMayCallThePeer(t *testing.T) {
	t.Parallel()
	var c *rpc.Conn
	ready := make(chan struct{})
	c, w := dial(t, handler{request: func(ctx context.Context, _ string, _ json.RawMessage) (acp.Appender, error) {
		<-ready
		var r json.RawMessage
		err := c.Call(ctx, "fs/read_text_file", raw(prompt), &r)
		return raw(r), err
	}}, rpc.Options{Server: true})
	close(ready)
	w.say(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s"}}`)
	w.expect(`{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"sessionId":"s"}}`)
	w.say(`{"jsonrpc":"2.0","id":1,"result":{"content":"x"}}`)
	w.expect(`{"jsonrpc":"2.0","id":1,"result":{"content":"x"}}`)
}

func TestWhatRunsAfterAResponseFollowsItOnTheWire(t *testing.T) {
	t.Parallel()
	var c *rpc.Conn
	ready := make(chan struct{})
	c, w := dial(t, handler{request: func(ctx context.Context, _ string, _ json.RawMessage) (acp.Appender, error) {
		<-ready
		if !rpc.AfterResponse(ctx, func() { c.Notify(ctx, "session/update", raw(`{}`)) }) {
			t.Error("the context of a request handler was not recognised")
		}
		return raw(`{"sessionId":"s"}`), nil
	}}, rpc.Options{})
	close(ready)
	w.say(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{}}`)
	w.expect(`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`)
	w.expect(`{"jsonrpc":"2.0","method":"session/update","params":{}}`)
	if rpc.AfterResponse(t.Context(), func() { t.Error("ran") }) {
		t.Error("any context was taken for that of a request handler")
	}
}

func TestEachCallerGetsItsOwnAnswer(t *testing.T) {
	t.Parallel()
	c, w := dial(t, nil, rpc.Options{})
	const n = 100
	errs := make(chan error, n)
	for i := range n {
		go func() {
			var r json.RawMessage
			err := c.Call(t.Context(), "echo", raw(fmt.Sprint("[", i, "]")), &r)
			if err == nil && string(r) != fmt.Sprint("[", i, "]") {
				err = fmt.Errorf("got %s, want [%d]", r, i)
			}
			errs <- err
		}()
	}
	var answers []string
	for range n {
		var m struct {
			ID     int
			Params json.RawMessage
		}
		if err := json.Unmarshal([]byte(w.hear()), &m); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, m.ID, m.Params))
	}
	for i := range answers {
		w.say("%s", answers[n-1-i])
	}
	for range n {
		if err := receive(t, "answer", errs); err != nil {
			t.Error(err)
		}
	}
}
