package rpc_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/runtime/rpc"
)

// noting is a handler around another one.
type noting struct {
	acp.Handler
	seen chan error
}

func (n noting) HandleNotification(ctx context.Context, method string, params json.RawMessage) error {
	err := n.Handler.HandleNotification(ctx, method, params)
	n.seen <- err
	return err
}

// The version is known before the first message behind the answer to initialize
// is handled, whatever wraps the handler.
func TestAMessageRightBehindInitializeReachesTheAgreedVersion(t *testing.T) {
	t.Parallel()
	var ran journal
	for range 50 {
		versions := clientSpeaking(&ran, 1, 2)
		n := noting{versions, make(chan error, 1)}
		c, w := dial(t, n, rpc.Options{})
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
