package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// strictClient fails the test when anything of a client is called.
type strictClient struct {
	acp.UnimplementedClientHandler
	t *testing.T
}

func (c strictClient) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	c.t.Error("a notification was handled as a request")
	return nil, nil
}

func (c strictClient) SessionUpdate(context.Context, *acp.SessionNotification) error {
	c.t.Error("a request was handled as a notification")
	return nil
}

// C043: a method in the wrong form is not executed, whichever it is.
func TestAMethodInTheWrongFormIsNotExecuted(t *testing.T) {
	t.Parallel()
	_, w := dial(t, acp.ClientSide(strictClient{t: t}), rpc.Options{})
	w.say(`{"jsonrpc":"2.0","method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]}}`)
	w.say(`{"jsonrpc":"2.0","id":1,"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"usage_update","used":1,"size":2}}}`)
	if got := verdict(w.hear()); got != "1 -32601" {
		t.Errorf("a notification sent as a request was answered %s", got)
	}
	w.quiet()

	for side, h := range sides {
		c, w := dial(t, h, rpc.Options{Server: side == acp.SideAgent})
		asNotification := 0
		for _, m := range acp.V1.Methods() {
			if m.Handler&side == 0 {
				continue
			}
			if !m.Request {
				w.say(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{}}`, m.Name)
				if got := verdict(w.hear()); got != "1 -32601" {
					t.Errorf("%s sent as a request was answered %s", m.Name, got)
				}
			} else if !m.Notification {
				w.say(`{"jsonrpc":"2.0","method":%q,"params":{}}`, m.Name)
				asNotification++
			}
		}
		w.quiet()
		// Params that nobody read cannot be wrong.
		if n, wrong := c.Stats().Count(rpc.FaultUnknownMethod), c.Stats().Count(rpc.FaultHandler); int(n) != asNotification || wrong != 0 || n == 0 {
			t.Errorf("of %d requests sent as notifications %d were passed over and %d executed", asNotification, n, wrong)
		}
	}
}

// told closes its channel when its value has been encoded.
type told struct {
	acp.Appender
	encoded chan struct{}
}

func (v told) AppendJSON(b []byte) []byte {
	defer close(v.encoded)
	return v.Appender.AppendJSON(b)
}

// C047: what is sent is what the value was when it was sent, although it waits
// behind others.
func TestAChangeAfterSendingIsNotSent(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]bool{"notification": false, "request": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, w := dial(t, nil, rpc.Options{})
				n := jam(t, c)
				text := &acp.TextContent{Text: "before", Meta: json.RawMessage(`{"raw":"before"}`)}
				v := told{&acp.PromptRequest{SessionID: "s", Prompt: []acp.ContentBlock{text}}, make(chan struct{})}
				if request {
					go c.Call(t.Context(), "_m", v, nil)
					receive(t, "encoding", v.encoded)
				} else if err := c.Notify(t.Context(), "_m", v); err != nil {
					t.Fatal(err)
				}
				text.Text = "after"
				copy(text.Meta, `{"raw":"after!"}`)
				for range n {
					w.hear()
				}
				if got := w.hear(); strings.Count(got, `"before"`) != 2 || strings.Contains(got, "after") {
					t.Error(got)
				}
			})
		})
	}
}

// C063: of two prompts that overlap one fails and the other does not notice.
func TestOverlappingPromptsEndOnTheirOwn(t *testing.T) {
	t.Parallel()
	c, w := dial(t, nil, rpc.Options{})
	first := call(t.Context(), c, acp.MethodSessionPrompt, prompt)
	w.hear()
	second := call(t.Context(), c, acp.MethodSessionPrompt, prompt)
	w.hear()
	w.say(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"overloaded"}}`)
	if err := receive(t, "end of the first", first); !isA[*acp.Error](err) {
		t.Errorf("the first returned %v", err)
	}
	w.update("s", 1)
	w.say(`{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}`)
	if err := receive(t, "end of the second", second); err != nil {
		t.Errorf("the second returned %v", err)
	}
}

// C090: a call that fails with the connection says so, whatever happens to its
// context afterwards.
func TestTheEndOfTheConnectionWinsOverALaterCancel(t *testing.T) {
	t.Parallel()
	for range 200 {
		c, w := dial(t, nil, rpc.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		done := call(ctx, c, acp.MethodSessionPrompt, prompt)
		w.hear()
		w.Close()
		receive(t, "end", c.Done())
		cancel()
		if err := receive(t, "end of the call", done); !isA[*rpc.ClosedError](err) {
			t.Fatalf("the call returned %v", err)
		}
		if err := c.Call(t.Context(), "m", nil, nil); !isA[*rpc.ClosedError](err) {
			t.Fatalf("the next call returned %v", err)
		}
	}
}

// retrying is an agent whose first initialize fails.
type retrying struct {
	acp.UnimplementedAgentHandler
	tries int
}

func (a *retrying) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	if a.tries++; a.tries == 1 {
		return nil, errors.New("not yet")
	}
	return &acp.InitializeResponse{ProtocolVersion: 1}, nil
}

// C102, C107, C110: versions that are none are refused, an initialize that
// failed can be tried again, and what an agent does not mention it cannot do.
func TestInitialize(t *testing.T) {
	t.Parallel()
	client, agent := connect(t, "Pair", nil, acp.AgentSide(&retrying{}))
	defer agent.Close()
	defer client.Close()
	for _, version := range []string{``, `"protocolVersion":"1"`, `"protocolVersion":1.5`, `"protocolVersion":-1`, `"protocolVersion":65536`, `"protocolVersion":null`} {
		err := client.Call(t.Context(), acp.MethodInitialize, raw("{"+version+"}"), nil)
		if !errors.Is(err, &acp.Error{Code: acp.ErrorCodeInvalidParams}) {
			t.Errorf("{%s}: %v", version, err)
		}
	}
	a := acp.Agent{Conn: client}
	if _, err := a.Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1}); err == nil {
		t.Error("the first try succeeded")
	}
	r, err := a.Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 1})
	if err != nil {
		t.Fatal(err)
	}
	if c := r.AgentCapabilities; c != nil && (c.LoadSession || c.PromptCapabilities != nil && c.PromptCapabilities.Image) {
		t.Errorf("capabilities nobody told: %+v", c)
	}
}

// R12: errors that agents give for sessions they do not know, and for users
// they do not know, arrive as they are.
func TestErrorCodesOfAgentsArriveAsTheyAre(t *testing.T) {
	t.Parallel()
	c, w := dial(t, nil, rpc.Options{})
	for i, code := range []acp.ErrorCode{-32002, -32602, -32603, -32000, 400} {
		done := call(t.Context(), c, acp.MethodSessionPrompt, prompt)
		w.hear()
		w.say(`{"jsonrpc":"2.0","id":%d,"error":{"code":%d,"message":"no","data":{"a":1}}}`, i+1, code)
		var e *acp.Error
		if err := receive(t, "error", done); !errors.As(err, &e) || e.Code != code || string(e.Data) != `{"a":1}` {
			t.Errorf("%d: %v", code, err)
		}
	}
}

// R15: members outside the schema in an answer are kept.
func TestUndeclaredMembersOfAnAnswerAreKept(t *testing.T) {
	t.Parallel()
	c, w := dial(t, nil, rpc.Options{})
	got := make(chan *acp.PromptResponse, 1)
	go func() {
		r, err := acp.Agent{Conn: c}.Prompt(t.Context(), &acp.PromptRequest{SessionID: "s"})
		if err != nil {
			t.Error(err)
		}
		got <- r
	}()
	w.hear()
	w.say(`{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn","usage":{"totalTokens":12}}}`)
	if text := string(receive(t, "answer", got).AppendJSON(nil)); !strings.Contains(text, `"usage":{"totalTokens":12}`) {
		t.Error(text)
	}
}
