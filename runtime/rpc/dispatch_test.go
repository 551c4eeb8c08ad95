package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

func isA[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

func TestUnknownRequestsAreAnsweredMethodNotFound(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]acp.Handler{
		"nobody": nil, "client": acp.ClientSide(acp.UnimplementedClientHandler{}), "agent": early{acp.AgentSide(acp.UnimplementedAgentHandler{})},
	} {
		_, w := dial(t, h, rpc.Options{Server: true})
		for _, method := range []string{"nonesuch", "_extension", "$/unknown", "session/cancel", "session/update", ""} {
			w.say(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{}}`, method)
			if got := verdict(w.hear()); got != "1 -32601" {
				t.Errorf("%s: %q answered %s", name, method, got)
			}
		}
	}
}

func TestUnknownNotificationsAreIgnored(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]acp.Handler{
		"client": acp.ClientSide(acp.UnimplementedClientHandler{}), "agent": early{acp.AgentSide(acp.UnimplementedAgentHandler{})},
	} {
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, nil))
		c, w := dial(t, h, rpc.Options{Server: name == "agent", OnFault: func(f rpc.Fault) { f.Log(logger) }})
		for _, method := range []string{"nonesuch", "$/unknown", "_ext", "session/prompt", "session/request_permission"} {
			w.say(`{"jsonrpc":"2.0","method":%q,"params":{}}`, method)
		}
		w.quiet()
		c.Close()
		if log.Len() > 0 {
			t.Errorf("%s logged: %s", name, log.String())
		}
		if n := c.Stats().Count(rpc.FaultUnknownMethod); n != 5 {
			t.Errorf("%s: %d counted", name, n)
		}
	}
}

func TestParamsThatDoNotFitAreInvalidParams(t *testing.T) {
	t.Parallel()
	_, w := dial(t, early{acp.AgentSide(acp.UnimplementedAgentHandler{})}, rpc.Options{Server: true})
	for _, params := range []string{`{}`, `{"sessionId":7,"prompt":[]}`, `[]`, `null`} {
		w.say(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":%s}`, params)
		if got := verdict(w.hear()); got != "1 -32602" {
			t.Errorf("%s answered %s", params, got)
		}
	}
	w.quiet()
}

type loggedOut struct {
	acp.UnimplementedAgentHandler
}

func (loggedOut) Logout(context.Context, *acp.LogoutRequest) (*acp.LogoutResponse, error) {
	return nil, nil
}

// sides are the handlers of both sides, with nothing in them.
var sides = map[acp.Side]acp.Handler{
	acp.SideAgent: early{acp.AgentSide(acp.UnimplementedAgentHandler{})}, acp.SideClient: acp.ClientSide(acp.UnimplementedClientHandler{}),
}

func TestParamsMayBeAbsentOrNullWhereNoneAreNeeded(t *testing.T) {
	t.Parallel()
	_, w := dial(t, early{acp.AgentSide(loggedOut{})}, rpc.Options{Server: true})
	absent := []string{``, `,"params":null`, `,"params":{}`}
	for _, rest := range absent {
		w.say(`{"jsonrpc":"2.0","id":1,"method":"logout"%s}`, rest)
		w.expect(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	}
	// Params are looked at before the handler, which knows no method here.
	for side, h := range sides {
		_, w := dial(t, h, rpc.Options{Server: side == acp.SideAgent})
		for _, m := range acp.V1.Methods() {
			if m.Handler&side == 0 || !m.Request {
				continue
			}
			want := "1 -32601"
			if _, err := acp.V1.DecodeRequest(side, m.Name, json.RawMessage(`{}`)); err != nil {
				want = "1 -32602"
			}
			for _, rest := range absent {
				w.say(`{"jsonrpc":"2.0","id":1,"method":%q%s}`, m.Name, rest)
				if got := verdict(w.hear()); got != want {
					t.Errorf("%s%s is answered %s, want %s", m.Name, rest, got, want)
				}
			}
		}
		// A method outside of the protocol gets an empty object.
		_, w = dial(t, handler{request: func(_ context.Context, _ string, params json.RawMessage) (acp.Appender, error) {
			return acp.Raw(params), nil
		}}, rpc.Options{Server: side == acp.SideAgent})
		for _, rest := range absent {
			w.say(`{"jsonrpc":"2.0","id":1,"method":"_ext"%s}`, rest)
			w.expect(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		}
	}
}

// passed is the error of a context whose deadline has passed.
func passed(t *testing.T) error {
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	return fmt.Errorf("asking the model: %w", ctx.Err())
}

func TestErrorsOfHandlersReachThePeer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"typed":    {&acp.Error{Code: 400, Message: "no", Data: json.RawMessage(`{"a":[1]}`)}, `{"code":400,"message":"no","data":{"a":[1]}}`},
		"wrapped":  {fmt.Errorf("outer: %w", &acp.Error{Code: -32002, Message: "gone"}), `{"code":-32002,"message":"gone"}`},
		"plain":    {errors.New("disk full"), `{"code":-32603,"message":"disk full"}`},
		"deadline": {passed(t), `{"code":-32603,"message":"asking the model: context deadline exceeded"}`},
		"cancel":   {context.Canceled, `{"code":-32603,"message":"context canceled"}`},
	} {
		t.Run(name, func(t *testing.T) {
			_, w := dial(t, handler{request: func(context.Context, string, json.RawMessage) (acp.Appender, error) {
				return nil, test.err
			}}, rpc.Options{})
			w.say(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
			w.expect(`{"jsonrpc":"2.0","id":1,"error":` + test.want + `}`)
		})
	}
}

type panics struct{}

func (panics) AppendJSON([]byte) []byte { panic("secret in a marshaller") }

func TestAPanicBecomesAnInternalErrorWithoutDetails(t *testing.T) {
	t.Parallel()
	faults := make(chan rpc.Fault, 8)
	_, w := dial(t, handler{
		request: func(_ context.Context, method string, _ json.RawMessage) (acp.Appender, error) {
			if method == "marshal" {
				return panics{}, nil
			}
			panic("secret")
		},
		notify: func(_ context.Context, method string, _ json.RawMessage) error {
			if method == "panic" {
				panic("secret")
			}
			return nil
		},
	}, rpc.Options{OnFault: func(f rpc.Fault) { faults <- f }})
	for _, method := range []string{"panic", "marshal"} {
		w.say(`{"jsonrpc":"2.0","id":1,"method":%q}`, method)
		w.expect(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error"}}`)
	}
	w.say(`{"jsonrpc":"2.0","method":"panic"}`)
	w.quiet()
	for range 3 {
		f := receive(t, "fault", faults)
		var p *rpc.PanicError
		if f.Kind != rpc.FaultHandler || !errors.As(f.Err, &p) || !strings.Contains(string(p.Stack), "dispatch_test.go") {
			t.Errorf("reported %v: %v", f.Kind, f.Err)
		}
	}
}

func TestAFailingNotificationHandlerLosesOnlyItsMessage(t *testing.T) {
	t.Parallel()
	seen := make(chan int, 2)
	c, w := dial(t, handler{notify: func(_ context.Context, _ string, p json.RawMessage) error {
		seen <- number(p)
		return errors.New("no")
	}}, rpc.Options{})
	w.update("s", 1)
	w.update("s", 2)
	receive(t, "first", seen)
	receive(t, "second", seen)
	eventually(t, "both failures are counted", func() bool { return c.Stats().Count(rpc.FaultHandler) == 2 })
}

// The log of a message that no handler saw must not blame a handler.
func TestParamsThatDoNotDecodeAreAFaultOfTheirOwn(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a wrong type":                `{"sessionId":7}`,
		"a member twice":              `{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[],"entries":[]}}`,
		"a member twice in raw input": `{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","rawInput":{"a":1,"a":2}}}`,
		"a member twice in _meta":     `{"sessionId":"s","_meta":{"a":{"b":1,"b":2}},"update":{"sessionUpdate":"plan","entries":[]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			faults := make(chan rpc.Fault, 1)
			c, w := dial(t, acp.ClientSide(acp.UnimplementedClientHandler{}), rpc.Options{OnFault: func(f rpc.Fault) { faults <- f }})
			w.say(`{"jsonrpc":"2.0","method":"session/update","params":%s}`, text)
			f := receive(t, "fault", faults)
			if f.Kind != rpc.FaultParams || f.Kind.String() != "bad params" || !strings.HasPrefix(f.Err.Error(), "session/update: /") {
				t.Errorf("reported %v: %v", f.Kind, f.Err)
			}
			if n := c.Stats().Count(rpc.FaultParams); n != 1 {
				t.Errorf("counted %d times", n)
			}
		})
	}
}

func TestErrorsOfThePeerAreTyped(t *testing.T) {
	t.Parallel()
	c, w := dial(t, nil, rpc.Options{})
	done := call(t.Context(), c, "m", `{}`)
	w.hear()
	w.say(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"log in first","data":{"x":1}}}`)
	var e *acp.Error
	if err := receive(t, "error", done); !errors.As(err, &e) || e.Code != acp.ErrorCodeAuthenticationRequired || e.Message != "log in first" || string(e.Data) != `{"x":1}` {
		t.Fatalf("Call returned %#v", err)
	}
}

func TestAResultThatDoesNotDecodeFailsTheCallLocally(t *testing.T) {
	t.Parallel()
	c, w := dial(t, nil, rpc.Options{})
	for i, test := range []struct {
		result string
		ok     bool
	}{{`{"sessionId":"s"}`, true}, {`{}`, false}, {`null`, false}, {`[]`, false}, {`{"sessionId":1}`, false}} {
		done := make(chan error, 1)
		go func() {
			_, err := acp.Agent{Conn: c}.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
			done <- err
		}()
		w.hear()
		w.say(`{"jsonrpc":"2.0","id":%d,"result":%s}`, i+1, test.result)
		err := receive(t, "end", done)
		if test.ok != (err == nil) || !test.ok && (!isA[*rpc.ResultError](err) || isA[*acp.Error](err)) {
			t.Errorf("%s: %v", test.result, err)
		}
	}
}

// decoded decodes the result of a method.
type decoded struct {
	side   acp.Side
	method string
}

func (d decoded) UnmarshalJSON(text []byte) error {
	_, err := acp.V1.DecodeResult(d.side, d.method, text)
	return err
}

func TestNullResultsAreAcceptedWhereNothingIsRequired(t *testing.T) {
	t.Parallel()
	accepted := 0
	for side := range sides {
		for _, m := range acp.V1.Methods() {
			if m.Handler&side == 0 || !m.Request {
				continue
			}
			_, err := acp.V1.DecodeResult(side, m.Name, json.RawMessage(`{}`))
			needed := err != nil
			c, w := dial(t, nil, rpc.Options{})
			done := make(chan error, 1)
			go func() { done <- c.Call(t.Context(), m.Name, raw(`{}`), decoded{side, m.Name}) }()
			w.hear()
			w.say(`{"jsonrpc":"2.0","id":1,"result":null}`)
			err = receive(t, "end", done)
			if needed != isA[*rpc.ResultError](err) || !needed && err != nil {
				t.Errorf("%s answered null: %v", m.Name, err)
			}
			if !needed {
				accepted++
			}
		}
	}
	if accepted < 10 {
		t.Errorf("only %d results may be empty", accepted)
	}
}

func TestSendersNeverMixTheirMessages(t *testing.T) {
	t.Parallel()
	c, w := dial(t, nil, rpc.Options{})
	for i := range 20 {
		go func() {
			for range 50 {
				c.Notify(t.Context(), "_x", raw(fmt.Sprintf(`{"i":%d,"x":%q}`, i, strings.Repeat("x", 100*i))))
			}
		}()
	}
	for range 20 * 50 {
		if s := w.hear(); !json.Valid([]byte(s)) {
			t.Fatalf("heard %s", s)
		}
	}
}
