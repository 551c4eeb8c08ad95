package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/patience"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// received notes what a connection receives, and how it ended.
type received struct {
	acp.Handler
	name string
	log  *journal
}

func (r received) HandleRequest(ctx context.Context, method string, params json.RawMessage) (acp.Appender, error) {
	r.log.add("%s<%s", r.name, method)
	result, err := r.Handler.HandleRequest(ctx, method, params)
	r.log.add("%s<%s=%s,%v", r.name, method, encoded(result), err)
	return result, err
}

func (r received) HandleNotification(ctx context.Context, method string, params json.RawMessage) error {
	err := r.Handler.HandleNotification(ctx, method, params)
	r.log.add("%s<%s=%v", r.name, method, err)
	return err
}

func encoded(v acp.Appender) string {
	if v == nil {
		return "none"
	}
	return string(v.AppendJSON(nil))
}

// sent notes what a connection sends, and how it ended.
type sent struct {
	acp.Caller
	name string
	log  *journal
}

func (s sent) Call(ctx context.Context, method string, params acp.Appender, result json.Unmarshaler) error {
	s.log.add("%s>%s", s.name, method)
	err := s.Caller.Call(ctx, method, params, result)
	s.log.add("%s>%s=%v", s.name, method, err)
	return err
}

func (s sent) Notify(ctx context.Context, method string, params acp.Appender) error {
	err := s.Caller.Notify(ctx, method, params)
	s.log.add("%s>%s=%v", s.name, method, err)
	return err
}

func noting2(name string, log *journal) rpc.Middleware {
	return rpc.Middleware{
		Receive: func(next acp.Handler) acp.Handler { return received{next, name, log} },
		Send:    func(next acp.Caller) acp.Caller { return sent{next, name, log} },
	}
}

// callerFunc is a Caller whose calls go through a function.
type callerFunc struct {
	acp.Caller
	call func(ctx context.Context, method string, params acp.Appender, result json.Unmarshaler) error
}

func (f callerFunc) Call(ctx context.Context, method string, params acp.Appender, result json.Unmarshaler) error {
	return f.call(ctx, method, params, result)
}

func sending(call func(next acp.Caller, ctx context.Context, method string, params acp.Appender, result json.Unmarshaler) error) rpc.Options {
	return rpc.Options{Middleware: []rpc.Middleware{{Send: func(next acp.Caller) acp.Caller {
		return callerFunc{next, func(ctx context.Context, method string, params acp.Appender, result json.Unmarshaler) error {
			return call(next, ctx, method, params, result)
		}}
	}}}}
}

func TestMiddlewareWrapsBothDirectionsOutermostFirst(t *testing.T) {
	t.Parallel()
	var log journal
	h := handler{
		request: func(context.Context, string, json.RawMessage) (acp.Appender, error) { return acp.Raw(`{}`), nil },
		notify:  func(context.Context, string, json.RawMessage) error { return nil },
	}
	c, w := dial(t, h, rpc.Options{Middleware: []rpc.Middleware{noting2("a", &log), {}, noting2("b", &log)}})
	check := func(want string) {
		t.Helper()
		eventually(t, want, func() bool { return log.String() == want })
		log = journal{}
	}

	w.say(`{"jsonrpc":"2.0","id":1,"method":"_q","params":{}}`)
	w.hear()
	check("a<_q b<_q b<_q={},<nil> a<_q={},<nil>")
	w.say(`{"jsonrpc":"2.0","method":"_n","params":{}}`)
	check("b<_n=<nil> a<_n=<nil>")

	if err := c.Notify(t.Context(), "_m", acp.Raw(`{}`)); err != nil {
		t.Fatal(err)
	}
	w.hear()
	check("b>_m=<nil> a>_m=<nil>")
	done := call(t.Context(), c, "_c", "{}")
	w.hear()
	w.say(`{"jsonrpc":"2.0","id":1,"error":{"code":7,"message":"no"}}`)
	receive(t, "answer", done)
	check("a>_c b>_c b>_c=no a>_c=no")
}

// A wrapper that knows nothing of sides does not take an agent's away, whether the
// connection or the program wraps.
func TestAWrappedHandlerStaysOnItsSide(t *testing.T) {
	t.Parallel()
	type embedding struct{ acp.Handler }
	for name, open := range map[string]func(t *testing.T) *wire{
		"Middleware": func(t *testing.T) *wire {
			_, w := dial(t, acp.AgentSide(new(greeter)), rpc.Options{Middleware: []rpc.Middleware{{
				Receive: func(next acp.Handler) acp.Handler { return early{next} }, // even one that lies
			}}})
			return w
		},
		"by hand": func(t *testing.T) *wire {
			_, w := dial(t, embedding{acp.AgentSide(new(greeter))}, rpc.Options{})
			return w
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			w.say(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`)
			if got := verdict(w.hear()); got != "1 -32600" {
				t.Errorf("session/new before initialize was answered %s", got)
			}
			w.say(`noise`)
			if got := verdict(w.hear()); got != "null -32700" {
				t.Errorf("noise was answered %s", got)
			}
		})
	}
}

func TestMiddlewareOfAConnectionWithoutAHandlerSeesRequests(t *testing.T) {
	t.Parallel()
	var log journal
	_, w := dial(t, nil, rpc.Options{Middleware: []rpc.Middleware{noting2("a", &log)}})
	w.say(`{"jsonrpc":"2.0","id":1,"method":"_q"}`)
	if got := verdict(w.hear()); got != "1 -32601" {
		t.Errorf("answered %s", got)
	}
	if want := "a<_q a<_q=none,method not found: _q"; log.String() != want {
		t.Errorf("seen %q, want %q", log.String(), want)
	}
}

// ignorant is an agent without a Cancel, whose prompts give up when their context ends.
type ignorant struct {
	acp.UnimplementedAgentHandler
	started chan struct{}
}

func (i ignorant) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{ProtocolVersion: 1}, nil
}

func (i ignorant) Prompt(ctx context.Context, _ *acp.PromptRequest) (*acp.PromptResponse, error) {
	close(i.started)
	<-ctx.Done()
	return nil, ctx.Err()
}

// An ordinary cancel is no fault, and Middleware sees it as the peer does.
func TestAnOrdinaryCancelIsNoFault(t *testing.T) {
	t.Parallel()
	for _, wrapped := range []bool{false, true} {
		var log journal
		opts := rpc.Options{OnFault: func(f rpc.Fault) { t.Errorf("fault: %s: %v", f.Kind, f.Err) }}
		if wrapped {
			opts.Middleware = []rpc.Middleware{noting2("a", &log)}
		}
		h := ignorant{started: make(chan struct{})}
		c, w := dial(t, acp.AgentSide(h), opts)
		w.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
		w.hear()
		log = journal{}
		w.say(`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`)
		receive(t, "prompt", h.started)
		w.say(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`)
		w.expect(`{"jsonrpc":"2.0","id":2,"result":{"stopReason":"cancelled"}}`)
		if wrapped { // the answer may overtake what follows the notification
			patience.True(t, "the end of the cancel", func() bool { return strings.Contains(log.String(), "a<session/cancel=") })
		}
		c.Close()
		if got := log.String(); wrapped && (!strings.Contains(got, `a<session/prompt={"stopReason":"cancelled"},<nil>`) || !strings.Contains(got, "a<session/cancel=<nil>")) {
			t.Errorf("Middleware saw %s", got)
		}
	}
}

// Where nothing acts on a session/cancel, it is reported.
func TestACancelThatNobodyActsOnIsAFault(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		h     acp.Handler
		first string
	}{
		"a client":              {acp.ClientSide(acp.UnimplementedClientHandler{}), ""},
		"an agent of version 2": {speaking(2), `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":{}}}`},
	} {
		for _, opts := range []rpc.Options{{}, {Middleware: []rpc.Middleware{noting2("a", new(journal))}}} {
			faults := make(chan rpc.Fault, 1)
			opts.OnFault = func(f rpc.Fault) { faults <- f }
			_, w := dial(t, test.h, opts)
			if test.first != "" {
				w.say("%s", test.first)
				w.hear()
			}
			w.say(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`)
			if f := receive(t, name+": fault", faults); f.Kind != rpc.FaultUnknownMethod {
				t.Errorf("%s: %s: %v", name, f.Kind, f.Err)
			}
		}
	}
}

func TestMiddlewareMayChangeAndRefuseWhatIsSent(t *testing.T) {
	t.Parallel()
	c, w := dial(t, nil, sending(func(next acp.Caller, ctx context.Context, method string, params acp.Appender, result json.Unmarshaler) error {
		if method == "_no" {
			return errors.New("not this one")
		}
		if err := next.Call(ctx, method, acp.Raw(`{"a":2}`), result); err != nil {
			return err
		}
		return next.Notify(ctx, "_after", nil)
	}))
	if err := c.Call(t.Context(), "_no", nil, nil); err == nil || err.Error() != "not this one" {
		t.Errorf("refused with %v", err)
	}
	done := call(t.Context(), c, "_q", `{"a":1}`)
	w.expect(`{"jsonrpc":"2.0","id":1,"method":"_q","params":{"a":2}}`)
	w.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	w.expect(`{"jsonrpc":"2.0","method":"_after"}`)
	if err := receive(t, "answer", done); err != nil {
		t.Error(err)
	}
}

// Start returns as soon as the request is queued, with Middleware too.
func TestAStartedCallPassesMiddleware(t *testing.T) {
	t.Parallel()
	var log journal
	c, w := dial(t, nil, rpc.Options{Middleware: []rpc.Middleware{noting2("a", &log)}})
	ctx, stop := context.WithCancel(t.Context())
	k, err := c.Start(ctx, "_q", acp.Raw(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	stop() // the context is for the start alone
	w.expect(`{"jsonrpc":"2.0","id":1,"method":"_q","params":{}}`)
	w.say(`{"jsonrpc":"2.0","id":1,"result":{"n":1}}`)
	var result acp.Raw
	if err := k.Wait(t.Context(), &result); err != nil || string(result) != `{"n":1}` {
		t.Errorf("%s, %v", result, err)
	}
	if want := "a>_q a>_q=<nil>"; log.String() != want {
		t.Errorf("seen %q, want %q", log.String(), want)
	}

	k, err = c.Start(t.Context(), "_null", nil)
	if err != nil {
		t.Fatal(err)
	}
	w.hear()
	w.say(`{"jsonrpc":"2.0","id":2,"result":null}`)
	if err := k.Wait(t.Context(), new(acp.AuthenticateResponse)); err != nil {
		t.Errorf("null instead of an object: %v", err)
	}

	k, err = c.Start(t.Context(), "_bad", nil)
	if err != nil {
		t.Fatal(err)
	}
	w.hear()
	w.say(`{"jsonrpc":"2.0","id":3,"result":{"sessionId":7}}`)
	var bad *rpc.ResultError
	if err := k.Wait(t.Context(), new(acp.NewSessionResponse)); !errors.As(err, &bad) || bad.Method != "_bad" {
		t.Errorf("a result that does not decode: %v", err)
	}
}

func TestAStartedCallBehindMiddlewareCanBeGivenUp(t *testing.T) {
	t.Parallel()
	c, w := dial(t, nil, rpc.Options{Middleware: []rpc.Middleware{noting2("a", new(journal))}})
	k, err := c.Start(t.Context(), "_q", nil)
	if err != nil {
		t.Fatal(err)
	}
	w.hear()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := k.Wait(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("given up with %v", err)
	}
	w.expect(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`)

	k, err = c.Start(t.Context(), "_r", nil)
	if err != nil {
		t.Fatal(err)
	}
	w.hear()
	w.Close()
	var closed *rpc.ClosedError
	if err := k.Wait(t.Context(), nil); !errors.As(err, &closed) {
		t.Errorf("the end of the connection is %v", err)
	}
	if _, err := c.Start(t.Context(), "_s", nil); !errors.As(err, &closed) {
		t.Errorf("a start after the end is %v", err)
	}
}

func TestStartReturnsWhatMiddlewareSaysInsteadOfSending(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, w := dial(t, nil, sending(func(next acp.Caller, ctx context.Context, method string, params acp.Appender, result json.Unmarshaler) error {
			switch method {
			case "_refused":
				return errors.New("not this one")
			case "_cached":
				return result.UnmarshalJSON([]byte(`{"cached":true}`))
			case "_slow":
				<-ctx.Done()
				return ctx.Err()
			}
			panic(method)
		}))
		if _, err := c.Start(t.Context(), "_refused", nil); err == nil || err.Error() != "not this one" {
			t.Errorf("refused with %v", err)
		}
		k, err := c.Start(t.Context(), "_cached", nil)
		if err != nil {
			t.Fatal(err)
		}
		var result acp.Raw
		if err := k.Wait(t.Context(), &result); err != nil || string(result) != `{"cached":true}` {
			t.Errorf("%s, %v", result, err)
		}
		ctx, stop := context.WithTimeout(t.Context(), shortly)
		defer stop()
		if _, err := c.Start(ctx, "_slow", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a start that is given up is %v", err)
		}
		w.quiet()
	})
}

// Messages right behind the answer to initialize know the version, even if
// Middleware has rewritten the params.
func TestMiddlewareDoesNotDelayTheAgreementOnAVersion(t *testing.T) {
	t.Parallel()
	opts := sending(func(next acp.Caller, ctx context.Context, method string, params acp.Appender, result json.Unmarshaler) error {
		return next.Call(ctx, method, acp.Raw(params.AppendJSON(nil)), result)
	})
	for range 50 {
		versions := clientSpeaking(new(journal), 1, 2)
		n := noting{versions, make(chan error, 1)}
		c, w := dial(t, n, opts)
		done := make(chan error, 1)
		go func() {
			_, _, err := versions.Initialize(t.Context(), c)
			done <- err
		}()
		w.hear()
		w.say(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}`)
		w.say(`{"jsonrpc":"2.0","method":"_x","params":{}}`)
		if err := receive(t, "notification", n.seen); err != nil {
			t.Fatal(err)
		}
		if err := receive(t, "answer", done); err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
}

// Any number of taps see the wire, each with the side that sent a message.
func TestTapsSeeTheWireWithTheSenderOfEachMessage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		h    acp.Handler
		want string
	}{
		"an agent": {acp.AgentSide(ignorant{}), `client:noise agent:{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`},
		"a client": {acp.ClientSide(acp.UnimplementedClientHandler{}), `agent:noise client:{"jsonrpc":"2.0","method":"_m"}`},
	} {
		var logs [3]journal
		opts := rpc.Options{Tap: func(d rpc.Direction, b []byte) { logs[2].add("%s:%s", d, b) }}
		for i := range 2 {
			opts.Middleware = append(opts.Middleware, rpc.Middleware{Tap: func(from acp.Side, b []byte) { logs[i].add("%s:%s", from, b) }})
		}
		c, w := dial(t, test.h, opts)
		w.say(`noise`)
		if name == "a client" {
			eventually(t, "noise", func() bool { return c.Stats().Received == 1 })
			c.Notify(t.Context(), "_m", nil)
		}
		w.hear()
		for i := range 2 {
			if got := logs[i].String(); !strings.HasPrefix(got, test.want) {
				t.Errorf("%s: tap %d saw %s, want %s", name, i, got, test.want)
			}
		}
		if got := logs[2].String(); !strings.HasPrefix(got, "in:noise out:{") {
			t.Errorf("%s: Options.Tap saw %s", name, got)
		}
	}
}

// Middleware of Serve and Open sees the typed calls of both ends.
func TestMiddlewareOfServeAndOpenSeesTypedCalls(t *testing.T) {
	t.Parallel()
	var of [2]journal
	near, far := transport.Pair()
	go rpc.Serve(t.Context(), far, func(c acp.Client) acp.AgentHandler { return &greeter{client: c} },
		rpc.Options{Middleware: []rpc.Middleware{noting2("agent", &of[0])}})
	agent, err := rpc.Open(t.Context(), near, acp.UnimplementedClientHandler{}, nil,
		rpc.Options{Middleware: []rpc.Middleware{noting2("client", &of[1])}})
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	if _, err := agent.Session("s").Prompt(t.Context(), acp.NewTextContent("hi")); err != nil {
		t.Fatal(err)
	}
	if got := of[1].String(); strings.Count(got, "client>initialize ") != 1 {
		t.Errorf("initialize did not pass once: %s", got)
	}
	for i, want := range []string{"agent<session/prompt agent>session/update=<nil>", "client>session/prompt client<session/update="} {
		if got := of[i].String(); !strings.Contains(got, want) {
			t.Errorf("seen %q, want %q in it", got, want)
		}
	}
}
