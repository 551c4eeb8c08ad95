package rpc_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
	"github.com/hermes-nvim/hermes/runtime/transport"
)

// naming answers each request with its id.
type naming struct{ conn *rpc.Conn }

func (naming) Side() acp.Side { return acp.SideClient }

func (n naming) HandleRequest(ctx context.Context, _ string, _ json.RawMessage) (acp.Appender, error) {
	id, ok := rpc.RequestID(ctx)
	if !ok {
		return nil, acp.MethodNotFound("no id")
	}
	return id, nil
}

func (n naming) HandleNotification(context.Context, string, json.RawMessage) error { return nil }

func TestAHandlerKnowsTheIDOfItsRequest(t *testing.T) {
	t.Parallel()
	near, far := transport.Pair()
	server := rpc.Connect(far, func(c *rpc.Conn) acp.Handler { return naming{c} }, rpc.Options{})
	defer server.Close()
	for _, id := range []string{`7`, `"seven"`} {
		if err := near.Write([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"m"}`)); err != nil {
			t.Fatal(err)
		}
		answer, err := near.Read(nil)
		if want := `{"jsonrpc":"2.0","id":` + id + `,"result":` + id + `}`; err != nil || string(answer) != want {
			t.Errorf("%s, %v; want %s", answer, err, want)
		}
	}
	if _, ok := rpc.RequestID(t.Context()); ok {
		t.Error("a context that belongs to no request has an id")
	}
}
