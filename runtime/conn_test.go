package runtime

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

type funcs struct {
	request func(ctx context.Context, method string, params json.RawMessage) (acp.Appender, error)
	notify  func(ctx context.Context, method string, params json.RawMessage) error
}

func (f funcs) HandleRequest(ctx context.Context, method string, params json.RawMessage) (acp.Appender, error) {
	if f.request == nil {
		return nil, acp.MethodNotFound(method)
	}
	return f.request(ctx, method, params)
}

func (f funcs) HandleNotification(ctx context.Context, method string, params json.RawMessage) error {
	if f.notify == nil {
		return acp.MethodNotFound(method)
	}
	return f.notify(ctx, method, params)
}

type raw string

func (r raw) AppendJSON(b []byte) []byte { return append(b, r...) }

func TestSmoke(t *testing.T) {
	a, b := transport.Pair()
	n := 0
	client := NewConn(a, funcs{notify: func(ctx context.Context, m string, p json.RawMessage) error { n++; return nil }}, Options{})
	var agent *Conn
	agent = NewConn(b, funcs{request: func(ctx context.Context, m string, p json.RawMessage) (acp.Appender, error) {
		for range 1000 {
			agent.Notify(ctx, "session/update", raw(`{"sessionId":"s"}`))
		}
		return raw(`{"x":1}`), nil
	}}, Options{Server: true})
	var r json.RawMessage
	if err := client.Call(context.Background(), "session/prompt", raw(`{"sessionId":"s"}`), &r); err != nil {
		t.Fatal(err)
	}
	if n != 1000 || string(r) != `{"x":1}` {
		t.Fatal(n, string(r))
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	<-agent.Done()
	t.Log(agent.Err(), client.Err())
}
